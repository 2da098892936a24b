// Work for which the first turn would otherwise wait: loading code and compiling checks at first use. Offered in short pieces, for a host
// with idle time; the host decides when.

import type * as z from 'zod';
import { eventBodySchemas } from '../../contracts/events.ts';

/** Each piece is done once and has no visible effect; the order does not matter. */
export function firstUses(): (() => void | Promise<void>)[] {
  const seen = new Set<unknown>();
  const schemas = Object.values(eventBodySchemas).map((schema) => () => compile(schema, seen));
  return [loadTransport, ...schemas];
}

/** Loads the HTTP client that every request to a model uses, which takes longer than all the rest. */
async function loadTransport(): Promise<void> {
  await import('undici');
}

/** A schema compiles its check with the first object it parses, and so does each schema inside it. */
function compile(schema: unknown, seen: Set<unknown>): void {
  if (!isSchema(schema) || seen.has(schema)) return;
  seen.add(schema);
  schema.safeParse({});
  for (const part of Object.values(schema.def)) compileParts(part, seen);
}

function compileParts(part: unknown, seen: Set<unknown>): void {
  if (isSchema(part)) compile(part, seen);
  else if (Array.isArray(part)) for (const one of part) compile(one, seen);
  else if (typeof part === 'object' && part !== null) for (const one of Object.values(part)) compile(one, seen);
}

interface SchemaWithDef extends z.ZodType {
  readonly def: z.ZodType['def'] & Readonly<Record<string, unknown>>;
}

function isSchema(value: unknown): value is SchemaWithDef {
  return typeof value === 'object' && value !== null && 'safeParse' in value && 'def' in value;
}
