// The only way to parse a given value with its schema. An invalid value is refused with the sentences of describe-issues.ts.

import * as z from 'zod';
import { describeIssues } from './describe-issues.ts';
import { AppError, type ErrorCode } from './errors.ts';

export interface Refusal {
  /** The beginning of the message, without the colon: `The parameters of session.get are not valid`. */
  readonly says: string;
  /** The name of the whole value, for issues without a key. */
  readonly whole: string;
  /** `invalid_params` by default. */
  readonly code?: ErrorCode;
  /** The next step. By default, the one of the code. */
  readonly hint?: string;
}

/** Fails with the code of the refusal. The error's data lists the issues. */
export function parseGiven<S extends z.core.$ZodType>(
  schema: S,
  given: unknown,
  { says, whole, code = 'invalid_params', hint }: Refusal,
): z.output<S> {
  const parsed = z.safeParse(schema, given);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error.issues, { given, whole, schema });
  throw new AppError(code, `${says}: ${issues.join('; ')}.`, { data: { issues }, ...(hint === undefined ? {} : { hint }) });
}
