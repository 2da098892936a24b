// Defines operations with their schemas and forms, and the building blocks of their parameters.

import * as z from 'zod';
import type { OpForm } from './command-form.ts';
import { naming } from './named-things.ts';

export const id = z.string().min(1).max(100);
/** Those that must exist. */
export const sessionName = naming('session', id);
export const turnName = naming('turn', id);
export const agentName = naming('agent', id);
export const none = z.strictObject({});
/** When a changed setting takes effect. */
export const holdsSchema = z.enum(['now', 'next-start']);
export const messageTextMax = 1_000_000;
/** The help text of options that limit the number of results. */
export const most = 'how many at most';

type KeysOf<T> = T extends unknown ? keyof T & string : never;

/** The minimal form of a schema. Comparing each schema with the full `ZodType` would take the compiler seconds. */
interface AnySchema {
  readonly _zod: { readonly input: unknown; readonly output: unknown };
}

interface OpSchemas {
  readonly params: AnySchema;
  readonly result: AnySchema;
}

type WithForms<T extends Readonly<Record<string, OpSchemas>>> = {
  readonly [N in keyof T]: OpForm<KeysOf<z.input<T[N]['params']>>, KeysOf<z.infer<T[N]['result']>>>;
};

/** Defines operations with their forms. The types ensure that each argument or option is a parameter of its operation. */
export function defineOps<const T extends Readonly<Record<string, OpSchemas>>>(table: T & WithForms<T>): T {
  return table;
}
