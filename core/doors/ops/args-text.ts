// The arguments of a call as JSON text, as an operation got them: text that is JSON already, or a value of a program on this machine.

import { AppError } from '../../contracts/errors.ts';

/** Fails with invalid_params for a value that JSON cannot express, such as a BigInt. */
export function argsText(args: unknown): string {
  if (typeof args === 'string') return args;
  try {
    const text = JSON.stringify(args ?? {}) as string | undefined;
    if (text !== undefined) return text;
  } catch {
    // Reported below.
  }
  throw new AppError('invalid_params', 'args: must be JSON, or a value that JSON can express.');
}
