// Values by name in config.yaml, such as headers and variables: those whose names speak of a secret are references, all others may be plain text.

import * as z from 'zod';
import { isSecretReference, secretRefWords } from './secret-ref.ts';

const secretName = /key|token|secret|passw|credential|auth|cookie/i;

/** Whether a value with this name has to be a reference. */
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
