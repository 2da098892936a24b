// Text of a schema that names another thing: a session, an agent, a tool, a channel. The schema says of which kind it is; whether there is
// one of that name is asked once, where the text enters. Looks nothing up itself.

import * as z from 'zod';
import { isPlainObject } from '../base/json.ts';

const kinds = ['agent', 'channel', 'chat', 'model', 'provider', 'session', 'tool', 'turn'] as const;
export type NamedKind = (typeof kinds)[number];

/** Each fails if there is nothing of that name: what happened as the message, near names or where to look as the hint. */
export type NameChecks = Readonly<Record<NamedKind, (name: string) => void>>;

interface Naming {
  readonly kind: NamedKind;
  /** The name within the text; null if it names none. */
  nameIn(text: string): string | null;
}

const namings = z.registry<Naming>();

/** A copy of the schema, whose text names something that must exist. */
export function naming(kind: NamedKind, schema: z.ZodString, nameIn: Naming['nameIn'] = (text) => text): z.ZodString {
  const copy = schema.clone();
  namings.add(copy, { kind, nameIn });
  return copy;
}

interface KeyNaming {
  readonly kind: NamedKind;
  isName(key: string): boolean;
}

const keyNamings = z.registry<KeyNaming>();

/** A copy of the schema, whose keys name things that must exist, except keys for which `isName` is false. */
export function namingKeys<S extends z.ZodObject>(kind: NamedKind, schema: S, isName: KeyNaming['isName']): S {
  const copy = schema.clone();
  keyNamings.add(copy, { kind, isName });
  return copy;
}

/** Fails as the check of the first name fails. `value` is one that the schema accepted. */
export function assertNamed(schema: z.core.$ZodType, value: unknown, checks: NameChecks): void {
  for (const { kind, name } of namesIn(schema, value)) checks[kind](name);
}

export interface FoundName {
  readonly kind: NamedKind;
  readonly name: string;
  /** The keys that lead to it, joined by dots; those of a list have the place of the list. */
  readonly place: string;
}

export function namesIn(schema: z.core.$ZodType, value: unknown, place = ''): readonly FoundName[] {
  if (value === undefined || value === null || !mayName(schema)) return [];
  const known = namings.get(schema);
  const ofKeys = keyNamings.get(schema);
  if (ofKeys !== undefined) {
    const names = Object.keys(value).filter((key) => ofKeys.isName(key));
    return names.map((name) => ({ kind: ofKeys.kind, name, place }));
  }
  if (known === undefined) {
    return partsOf(schema as z.core.$ZodTypes, value).flatMap(([inner, part, key]) =>
      namesIn(inner, part, key === undefined ? place : place === '' ? key : `${place}.${key}`),
    );
  }
  const name = typeof value === 'string' ? known.nameIn(value) : null;
  return name === null ? [] : [{ kind: known.kind, name, place }];
}

const hasNames = new WeakMap<z.core.$ZodType, boolean>();

/** Computed once per schema, so that values of schemas without names are not walked. */
function mayName(schema: z.core.$ZodType): boolean {
  const known = hasNames.get(schema);
  if (known !== undefined) return known;
  // Ends the walk of a schema that contains itself.
  hasNames.set(schema, true);
  const names = namings.has(schema) || keyNamings.has(schema) || innerOf(schema as unknown as Defined).some(mayName);
  hasNames.set(schema, names);
  return names;
}

/** The definition alone, which does not build the schema. */
interface Defined {
  readonly def: z.core.$ZodTypes['_zod']['def'];
}

function innerOf({ def }: Defined): readonly z.core.$ZodType[] {
  if (def.type === 'array') return [def.element];
  if (def.type === 'union') return def.options;
  if (def.type === 'object') return Object.values(def.shape);
  if (def.type === 'record') return [def.valueType];
  return 'innerType' in def ? [def.innerType] : [];
}

type Part = readonly [schema: z.core.$ZodType, value: unknown, key?: string];

function partsOf({ _zod: { def } }: z.core.$ZodTypes, value: unknown): readonly Part[] {
  if (def.type === 'array' && Array.isArray(value)) return value.map((one: unknown): Part => [def.element, one]);
  if (def.type === 'union') {
    const fitting = def.options.find((option) => z.safeParse(option, value).success);
    return fitting === undefined ? [] : [[fitting, value]];
  }
  if ('innerType' in def) return [[def.innerType, value]];
  if (!isPlainObject(value)) return [];
  if (def.type === 'object') return Object.entries(def.shape).map(([key, inner]): Part => [inner, value[key], key]);
  return def.type === 'record' ? Object.entries(value).map(([key, one]): Part => [def.valueType, one, key]) : [];
}
