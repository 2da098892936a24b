// The form of a reference to a secret. The secret itself is never in config.yaml.

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
