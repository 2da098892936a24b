// Parses a JSON schema of any draft into one plain form: the kinds of values it accepts, each kind once per way to accept it. Follows
// references and merges combinations. Does not know who uses the result.

import { decodeComponent } from './decode-component.ts';
import { isPlainObject } from './json.ts';
import { limitWords } from './schema-words.ts';

export type Scalar = string | number | boolean;

export interface ScalarKind {
  readonly kind: 'string' | 'number' | 'integer' | 'boolean';
  /** The only accepted values, if they are listed. */
  readonly values: readonly Scalar[] | null;
  readonly about: string;
}

export interface ArrayKind {
  readonly kind: 'array';
  readonly items: Reading;
  /** The readings of the first items, if each has its own schema. */
  readonly places: readonly Reading[];
  readonly about: string;
}

export interface ObjectKind {
  readonly kind: 'object';
  readonly properties: ReadonlyMap<string, Reading>;
  readonly required: ReadonlySet<string>;
  /** The reading of additional keys, or whether they are allowed at all. */
  readonly others: Reading | boolean;
  readonly about: string;
}

export type Kind = ScalarKind | ArrayKind | ObjectKind;

export interface Reading {
  readonly takesAny: boolean;
  readonly takesNull: boolean;
  /** One entry per kind of value. Several objects are the branches of a union. */
  readonly kinds: readonly Kind[];
  readonly about: string;
  readonly fallback: unknown;
}

interface Place {
  readonly root: unknown;
  /** The references followed to get here. */
  readonly refs: readonly string[];
  readonly depth: number;
}

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'] as const;
type TypeName = (typeof TYPES)[number];

/** A schema that contains itself is followed this many times. Any deeper value is accepted. */
const RECURSION_MAX = 2;
const DEPTH_MAX = 40;
const BRANCHES_MAX = 64;

const anything: Reading = { takesAny: true, takesNull: true, kinds: [], about: '', fallback: undefined };

export function readSchema(schema: unknown): Reading {
  return read(schema, { root: schema, refs: [], depth: 0 });
}

function read(schema: unknown, from: Place): Reading {
  if (!isPlainObject(schema) || from.depth > DEPTH_MAX) return anything;
  const at = { ...from, depth: from.depth + 1 };
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  if (typeof $ref === 'string') return readReference($ref, own, at);
  const about = textOf(own['description']);
  const parts = list(allOf).map((part) => read(part, at));
  for (const branches of [anyOf, oneOf])
    if (list(branches).length > 0) parts.push(either(list(branches).map((branch) => read(branch, at))));
  const whole = parts.reduce(both, readOwn(own, at));
  return { ...whole, about: joined([about, ...(about === '' ? [whole.about] : [])]), fallback: own['default'] ?? whole.fallback };
}

function readReference($ref: string, own: Record<string, unknown>, at: Place): Reading {
  const about = textOf(own['description']);
  const target = followed($ref, at.root);
  const isTooDeep = at.refs.filter((ref) => ref === $ref).length >= RECURSION_MAX;
  if (target === undefined || isTooDeep) return { ...anything, about };
  const there = read(target, { ...at, refs: [...at.refs, $ref] });
  return { ...there, about: about === '' ? there.about : about, fallback: own['default'] ?? there.fallback };
}

/** Follows only references in the same document; nothing is fetched. */
function followed($ref: string, root: unknown): unknown {
  if ($ref !== '#' && !$ref.startsWith('#/')) return undefined;
  let value = root;
  for (const step of $ref.split('/').slice(1)) {
    const key = decodeComponent(step).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = value[Number(key)];
    else if (isPlainObject(value) && Object.hasOwn(value, key)) value = value[key];
    else return undefined;
  }
  return value;
}

function readOwn(schema: Record<string, unknown>, at: Place): Reading {
  const listed = 'const' in schema ? [schema['const']] : Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]) : null;
  const types = typesOf(schema, listed);
  if (types.length === 0) return { ...anything, fallback: schema['default'] };
  const takesNull =
    schema['nullable'] === true || (listed === null ? types.includes('null') : types.includes('null') && listed.includes(null));
  const kinds = types.flatMap((type): Kind[] => {
    if (type === 'null') return [];
    if (type === 'object') return [readObject(schema, at)];
    if (type === 'array') return [readArray(schema, at)];
    const values = listed?.filter((value) => isOf(type, value)) ?? null;
    if (values?.length === 0) return [];
    return [{ kind: type, values: values as readonly Scalar[] | null, about: limitWords(schema, type) }];
  });
  return { takesAny: false, takesNull, kinds, about: '', fallback: schema['default'] };
}

function typesOf(schema: Record<string, unknown>, listed: readonly unknown[] | null): readonly TypeName[] {
  const given = [schema['type']].flat().filter((type): type is TypeName => TYPES.some((known) => known === type));
  if (given.length > 0) return given;
  if (listed !== null) return TYPES.filter((type) => type !== 'number' && listed.some((value) => isOf(type, value)));
  if (['properties', 'required', 'patternProperties', 'additionalProperties'].some((word) => schema[word] !== undefined)) return ['object'];
  if (schema['items'] !== undefined || schema['prefixItems'] !== undefined) return ['array'];
  if (['minLength', 'maxLength', 'pattern', 'format'].some((word) => schema[word] !== undefined)) return ['string'];
  return ['minimum', 'maximum', 'multipleOf'].some((word) => schema[word] !== undefined) ? ['number'] : [];
}

export function isOf(type: TypeName, value: unknown): boolean {
  if (type === 'null') return value === null;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return isPlainObject(value);
  if (type === 'integer') return typeof value === 'number' && (Number.isInteger(value) || !Number.isFinite(value));
  return typeof value === type;
}

function readArray(schema: Record<string, unknown>, at: Place): ArrayKind {
  const tuple = Array.isArray(schema['items']) ? schema['items'] : schema['prefixItems'];
  const rest = Array.isArray(schema['items']) ? schema['additionalItems'] : schema['items'];
  const places = list(tuple).map((place) => read(place, at));
  const more = isPlainObject(rest) || places.length === 0 ? [read(rest, at)] : [];
  return { kind: 'array', items: either([...places, ...more]), places, about: limitWords(schema, 'array') };
}

function readObject(schema: Record<string, unknown>, at: Place): ObjectKind {
  const given = isPlainObject(schema['properties']) ? Object.entries(schema['properties']) : [];
  const patterns = isPlainObject(schema['patternProperties']) ? Object.values(schema['patternProperties']) : [];
  const more = schema['additionalProperties'];
  const others = patterns.length > 0 ? either(patterns.map((one) => read(one, at))) : isPlainObject(more) ? read(more, at) : more !== false;
  return {
    kind: 'object',
    properties: new Map(given.map(([key, value]) => [key, read(value, at)])),
    required: new Set(list(schema['required']).filter((key): key is string => typeof key === 'string')),
    others,
    about: limitWords(schema, 'object'),
  };
}

/** Returns the union of the readings. */
export function either(readings: readonly Reading[]): Reading {
  const [first] = readings;
  if (first === undefined) return anything;
  if (readings.length === 1) return first;
  return {
    takesAny: readings.some(({ takesAny }) => takesAny),
    takesNull: readings.some(({ takesNull }) => takesNull),
    kinds: readings.flatMap(({ kinds, about }) => kinds.map((kind) => ({ ...kind, about: joined([about, kind.about]) }))),
    about: '',
    fallback: undefined,
  };
}

/** Returns the intersection of two readings. */
function both(a: Reading, b: Reading): Reading {
  const about = joined([a.about, b.about]);
  const fallback = a.fallback ?? b.fallback;
  if (a.takesAny) return { ...b, about, fallback };
  if (b.takesAny) return { ...a, about, fallback };
  const kinds = a.kinds.flatMap((one) => b.kinds.flatMap((other) => bothKinds(one, other) ?? []));
  const takesNull = a.takesNull && b.takesNull;
  // If the intersection is empty, the schema is contradictory and is described by its first part.
  return { takesAny: false, takesNull, kinds: (kinds.length === 0 ? a.kinds : kinds).slice(0, BRANCHES_MAX), about, fallback };
}

function bothKinds(a: Kind, b: Kind): Kind | null {
  const about = joined([a.about, b.about]);
  if (a.kind === 'object') return b.kind === 'object' ? bothObjects(a, b, about) : null;
  if (a.kind === 'array') {
    if (b.kind !== 'array') return null;
    return { kind: 'array', items: both(a.items, b.items), places: a.places.length > 0 ? a.places : b.places, about };
  }
  return b.kind === 'object' || b.kind === 'array' ? null : bothScalars(a, b, about);
}

function bothScalars(a: ScalarKind, b: ScalarKind, about: string): ScalarKind | null {
  const areNumbers = [a.kind, b.kind].every((kind) => kind === 'number' || kind === 'integer');
  if (a.kind !== b.kind && !areNumbers) return null;
  const values = a.values === null ? b.values : b.values === null ? a.values : a.values.filter((value) => b.values?.includes(value));
  return values?.length === 0 ? null : { kind: a.kind === b.kind ? a.kind : 'integer', values, about };
}

function bothObjects(a: ObjectKind, b: ObjectKind, about: string): ObjectKind {
  const properties = new Map(a.properties);
  for (const [key, value] of b.properties) {
    const known = properties.get(key);
    properties.set(key, known === undefined ? value : both(known, value));
  }
  // If both sides are closed, each knows only its own keys. The keys of both together are meant.
  const others = a.others === true ? b.others : a.others;
  return { kind: 'object', properties, required: new Set([...a.required, ...b.required]), others, about };
}

/** Joins the distinct texts. */
export function joined(texts: readonly string[]): string {
  return [...new Set(texts.filter((text) => text !== ''))].join(' ');
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
