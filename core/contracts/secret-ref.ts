// The form of a reference to a secret. The secret itself is never in config.yaml: a named value, such as a header or an environment
// variable, whose name suggests a secret must be a reference too.

import * as z from 'zod';

const pattern = /^(keychain:[A-Za-z0-9._-]+|env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/;
export const secretRefWords = 'must be keychain:NAME, env:NAME or file:PATH, never the secret itself';

/** Secrets in the configuration are always references. */
export const secretRefSchema = z.string().regex(pattern, secretRefWords);

export function isSecretReference(value: string): boolean {
  return pattern.test(value);
}

/** Resolves a reference to its secret. Any other text is returned unchanged. */
export async function resolvedValue(value: string, resolve: (reference: string) => Promise<string>): Promise<string> {
  return isSecretReference(value) ? resolve(value) : value;
}

const secretName = /key|token|secret|passw|credential|auth|cookie/i;

/** Whether a value with this name must be a reference. */
export function needsReference(name: string, value: string): boolean {
  return value !== '' && secretName.test(name) && !isSecretReference(value);
}

export function namedValuesSchema(value: z.ZodType<string, string>) {
  return z.record(z.string().min(1).max(200), value).superRefine((values, context) => {
    for (const [name, given] of Object.entries(values)) {
      if (!needsReference(name, given)) continue;
      context.addIssue({ code: 'custom', path: [name], message: secretRefWords });
    }
  });
}
