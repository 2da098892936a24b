// Turns a caller's JSON schema into the output wanted from a model. A schema that the schema library cannot read is refused, never ignored.

import * as z from 'zod';
import { AppError } from '../../contracts/errors.ts';
import { outputOf, type Output } from './ask-value.ts';

const SCHEMA_CHARS_MAX = 100_000;

/** Fails with `invalid_params`. */
export function outputOfJsonSchema(schema: Readonly<Record<string, unknown>>): Output<unknown> {
  const chars = JSON.stringify(schema).length;
  if (chars > SCHEMA_CHARS_MAX) throw refused(`is longer than ${SCHEMA_CHARS_MAX} characters`);
  if (Object.keys(schema).every((word) => word.startsWith('$'))) throw refused('says nothing of the value');
  try {
    return outputOf('value', z.fromJSONSchema(schema as z.core.JSONSchema.JSONSchema), schema);
  } catch (cause) {
    throw refused(`cannot be used: ${cause instanceof Error ? cause.message : String(cause)}`);
  }
}

function refused(why: string): AppError {
  return new AppError('invalid_params', `The JSON schema ${why}.`.replace(/\.\.$/, '.'));
}
