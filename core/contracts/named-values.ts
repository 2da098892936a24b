// Named values in config.yaml, such as headers and environment variables. A value whose name suggests a secret must be a reference; any
// other value may be plain text.

import * as z from 'zod';
import { isSecretReference, secretRefWords } from './secret-ref.ts';

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
