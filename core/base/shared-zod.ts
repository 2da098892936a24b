// Zod, with its plain parts made once: `z.string().min(1)` is the same object wherever it is written. A schema never changes, and a start
// makes thousands of them: strings, numbers and their bounds are most, and most of them are equal.

import * as zod from 'zod';

export * from 'zod';

/** The methods whose result is remembered. A description is not among them: it belongs to one place. */
const methods = ['int', 'min', 'max', 'optional', 'nullable', 'array', 'default'] as const;

type Make = (...args: readonly unknown[]) => object;

/** Null where equal arguments cannot be told: objects, patterns, functions. */
function keyOf(args: readonly unknown[]): string | null {
  return args.every((arg) => typeof arg === 'string' || typeof arg === 'boolean' || Number.isFinite(arg)) ? JSON.stringify(args) : null;
}

/** The schema, which from now on answers what it has answered before. */
function shared<S extends object>(schema: S): S {
  for (const method of methods) if (method in schema) share(schema, method);
  return schema;
}

function share(schema: object, method: string): void {
  const known = new Map<string, object>();
  const remember: Make = (...args) => {
    const key = keyOf(args);
    const before = key === null ? undefined : known.get(key);
    if (before !== undefined) return before;
    // Without this property Zod's method is read, which binds itself to the schema.
    Reflect.deleteProperty(schema, method);
    const make: unknown = Reflect.get(schema, method);
    Object.defineProperty(schema, method, property);
    const next = (make as Make)(...args);
    if (key !== null) known.set(key, shared(next));
    return next;
  };
  const property = { value: remember, configurable: true };
  Object.defineProperty(schema, method, property);
}

const plain = { string: shared(zod.string()), number: shared(zod.number()), boolean: shared(zod.boolean()), never: zod.never() };

export const string: typeof zod.string = (params?: string | zod.core.$ZodStringParams) =>
  params === undefined ? plain.string : zod.string(params);

export const number: typeof zod.number = (params) => (params === undefined ? plain.number : zod.number(params));

export const boolean: typeof zod.boolean = (params) => (params === undefined ? plain.boolean : zod.boolean(params));

/** Its compiled type is that of the original; of the parts only the one that refuses other keys is shared. */
export const strictObject = ((shape, params) =>
  params === undefined
    ? new zod.ZodObject({ type: 'object', shape, catchall: plain.never })
    : zod.strictObject(shape, params)) as typeof zod.strictObject;
