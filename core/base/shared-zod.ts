// Zod with shared plain schemas: `z.string().min(1)` is the same object wherever it is written. A schema never changes, and the program
// creates thousands of them at the start. Most are strings, numbers and their bounds, and most of these are equal.

import * as zod from 'zod';

export * from 'zod';

/** The methods whose result is cached. Excludes descriptions, which belong to a single place. */
const methods = ['int', 'min', 'max', 'optional', 'nullable', 'array', 'default'] as const;

type Make = (...args: readonly unknown[]) => object;

/** Returns null if arguments cannot be compared: objects, patterns, functions. */
function keyOf(args: readonly unknown[]): string | null {
  return args.every((arg) => typeof arg === 'string' || typeof arg === 'boolean' || Number.isFinite(arg)) ? JSON.stringify(args) : null;
}

/** The results of each shared schema, by method and arguments. */
const results = new WeakMap<object, Map<string, object>>();

/** By method. Zod defines its methods on the schema in the same way when they are first read. */
const remembering = methods.map((method) => {
  const property = { value: remember, writable: true, enumerable: true, configurable: true };
  function remember(this: object, ...args: readonly unknown[]): object {
    const key = keyOf(args);
    const known = results.get(this) ?? new Map<string, object>();
    const before = key === null ? undefined : known.get(method + key);
    if (before !== undefined) return before;
    const make: unknown = Reflect.get(Object.getPrototypeOf(this) as object, method, this);
    Object.defineProperty(this, method, property);
    const next = (make as Make)(...args);
    if (key !== null) results.set(this, known.set(method + key, shared(next)));
    return next;
  }
  return { method, property };
});

/** Makes the schema return cached results of its methods. */
function shared<S extends object>(schema: S): S {
  for (const { method, property } of remembering) if (method in schema) Object.defineProperty(schema, method, property);
  return schema;
}

const plain = { string: shared(zod.string()), number: shared(zod.number()), boolean: shared(zod.boolean()), never: zod.never() };

export const string: typeof zod.string = (params?: string | zod.core.$ZodStringParams) =>
  params === undefined ? plain.string : zod.string(params);

export const number: typeof zod.number = (params) => (params === undefined ? plain.number : zod.number(params));

export const boolean: typeof zod.boolean = (params) => (params === undefined ? plain.boolean : zod.boolean(params));

/** Has the compiled type of the original. Only the part that refuses other keys is shared. */
export const strictObject = ((shape, params) =>
  params === undefined
    ? new zod.ZodObject({ type: 'object', shape, catchall: plain.never })
    : zod.strictObject(shape, params)) as typeof zod.strictObject;
