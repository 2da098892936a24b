// The keys that an object may have at a place within a schema. Used to suggest the name that was meant.

import type * as z from 'zod';

/**
 * The keys that the objects at `path` may have; those of all branches of a union. Null if any key is allowed there, or if the schema has
 * no objects there.
 */
export function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] | null {
  const {
    _zod: { def },
  } = schema as z.core.$ZodTypes;
  if ('innerType' in def) return keysAt(def.innerType, path);
  if (def.type === 'pipe') return keysAt(def.in, path);
  if (def.type === 'union') {
    const all = def.options.map((option) => keysAt(option, path)).filter((keys) => keys !== null);
    return all.length === 0 ? null : [...new Set(all.flat())];
  }
  const [key, ...rest] = path;
  if (def.type === 'object') {
    if (key === undefined) return Object.keys(def.shape);
    const inner = def.shape[String(key)] ?? def.catchall;
    return inner === undefined ? null : keysAt(inner, rest);
  }
  if (key === undefined) return null;
  if (def.type === 'array') return keysAt(def.element, rest);
  return def.type === 'record' ? keysAt(def.valueType, rest) : null;
}
