// Converts any JSON schema to the form every model server accepts, and a model's arguments back to the original schema. The form: an object
// of plain keys, one type per node, text lists as enum, no references, no unions of objects. Everything else goes into descriptions. Only
// the original schema decides whether arguments are valid.

import { isPlainObject, parseJson } from './json.ts';
import { branchOf, flatten } from './schema-branches.ts';
import { either, joined, readSchema, type ArrayKind, type Kind, type ObjectKind, type Reading, type ScalarKind } from './schema-reading.ts';
import { valueWords } from './schema-words.ts';

export interface SentSchema {
  type?: 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';
  description?: string;
  enum?: string[];
  properties?: Record<string, SentSchema>;
  required?: string[];
  items?: SentSchema;
  anyOf?: SentSchema[];
}

export interface SendableSchema {
  readonly parameters: SentSchema & { type: 'object'; properties: Record<string, SentSchema> };
  /** A note about the arguments as a whole, for the description of the tool. */
  readonly note: string;
  /** Converts a model's arguments back to the original schema. Invalid values stay invalid. */
  readonly fromModel: (args: unknown) => unknown;
}

export const descriptionCharsMax = 1024;
/** The maximum nesting of objects and arrays. Deeper values are sent as JSON text. */
const DEPTH_MAX = 5;
/** The single key for arguments that are not an object with named keys. */
const WRAP_KEY = 'input';
const VALUES_MAX = 500;

export function sendableSchema(schema: unknown): SendableSchema {
  const reading = readSchema(schema);
  const objects = reading.kinds.filter((kind) => kind.kind === 'object');
  const isObject = !reading.takesAny && objects.length > 0 && objects.length === reading.kinds.length;
  // An object that accepts any key, and names none, cannot be described by its keys.
  const isPlain =
    isObject && (objects.some(({ properties }) => properties.size > 0) || objects.every(({ others }) => typeof others === 'boolean'));
  if (!isPlain && !isEmpty(schema)) {
    const parameters = { type: 'object' as const, properties: { [WRAP_KEY]: sent(reading, 1, '') }, required: [WRAP_KEY] };
    return { parameters, note: '', fromModel: (args) => back(reading, unwrapped(args)) };
  }
  const { node, note } = sentObject(objects, 0);
  return {
    parameters: { ...node, type: 'object', properties: node.properties ?? {} },
    note: joined([reading.about, note]),
    fromModel: (args) => back(reading, args),
  };
}

/** `{}` as the whole schema, or no schema: a tool without arguments. */
function isEmpty(schema: unknown): boolean {
  return !isPlainObject(schema) || Object.keys(schema).every((word) => word.startsWith('$'));
}

function unwrapped(args: unknown): unknown {
  return isPlainObject(args) && Object.hasOwn(args, WRAP_KEY) && Object.keys(args).length === 1 ? args[WRAP_KEY] : args;
}

// Conversion to the model's form.

function sent(reading: Reading, depth: number, about: string): SentSchema {
  if (reading.takesAny) return described({ type: 'string' }, [about, '(any value, as JSON text)']);
  const nodes = sentKinds(reading, depth);
  const [only] = nodes;
  if (only === undefined) return described({ type: 'string', enum: ['null'] }, [about]);
  if (nodes.length === 1) return described(only, [about, only.description ?? '']);
  // Some servers accept no other key next to anyOf.
  return { anyOf: nodes.map((node, index) => (index === 0 ? described(node, [about, node.description ?? '']) : node)) };
}

function sentKinds({ kinds }: Reading, depth: number): SentSchema[] {
  const of = (...names: readonly Kind['kind'][]): Kind[] => kinds.filter(({ kind }) => names.includes(kind));
  const texts = of('string') as ScalarKind[];
  const numbers = of('number', 'integer') as ScalarKind[];
  const flags = of('boolean') as ScalarKind[];
  const arrays = of('array') as ArrayKind[];
  const objects = of('object') as ObjectKind[];
  const nodes: SentSchema[] = [];
  if (objects.length > 0)
    nodes.push(depth < DEPTH_MAX ? sentInnerObject(objects, depth, arrays.length > 0) : jsonText('an object', objects));
  if (arrays.length > 0) nodes.push(depth < DEPTH_MAX ? sentArray(arrays, depth) : jsonText('an array', arrays));
  if (texts.length > 0) nodes.push(sentText(texts));
  if (numbers.length > 0) nodes.push(sentNumber(numbers));
  if (flags.length > 0) nodes.push(sentFlag(flags));
  return withOneText(nodes);
}

/** JSON text and plain text are the same type, which a server cannot distinguish. */
function withOneText(nodes: readonly SentSchema[]): SentSchema[] {
  const texts = nodes.filter(({ type }) => type === 'string');
  if (texts.length < 2) return [...nodes];
  const merged = described(
    { type: 'string' },
    texts.map(({ description, enum: values }) => joined([description ?? '', values === undefined ? '' : `(${valueWords(values)})`])),
  );
  return [...nodes.filter(({ type }) => type !== 'string'), merged];
}

function sentText(kinds: readonly ScalarKind[]): SentSchema {
  const abouts = kinds.map(({ about }) => about);
  if (kinds.some(({ values }) => values === null)) {
    const known = kinds.flatMap(({ values }) => values ?? []);
    return described({ type: 'string' }, [...abouts, known.length === 0 ? '' : `(such as ${valueWords(known)})`]);
  }
  const values = [...new Set(kinds.flatMap((kind) => kind.values ?? []))].map(String);
  // Some servers refuse an empty text in a list.
  if (values.includes('') || values.length > VALUES_MAX) return described({ type: 'string' }, [...abouts, `(${valueWords(values)})`]);
  return described({ type: 'string', enum: values }, abouts);
}

function sentNumber(kinds: readonly ScalarKind[]): SentSchema {
  const type = kinds.every(({ kind }) => kind === 'integer') ? 'integer' : 'number';
  const values = kinds.every((kind) => kind.values !== null) ? `(${valueWords(kinds.flatMap((kind) => kind.values ?? []))})` : '';
  return described({ type }, [...kinds.map(({ about }) => about), values]);
}

function sentFlag(kinds: readonly ScalarKind[]): SentSchema {
  const values = new Set(kinds.flatMap((kind) => kind.values ?? [true, false]));
  return described({ type: 'boolean' }, [...kinds.map(({ about }) => about), values.size === 1 ? `(always ${[...values].join('')})` : '']);
}

function sentArray(kinds: readonly ArrayKind[], depth: number): SentSchema {
  const items = either(kinds.map((kind) => kind.items));
  const order = kinds.flatMap(({ places }) => (places.length === 0 ? [] : [`(in this order: ${places.map(placeWords).join(', ')})`]));
  return described({ type: 'array', items: sent(items, depth + 1, items.about) }, [...kinds.map(({ about }) => about), ...order]);
}

function placeWords({ about, kinds, takesAny }: Reading): string {
  if (about !== '') return about.replace(/\.$/, '');
  return takesAny ? 'any value' : [...new Set(kinds.map(({ kind }) => kind))].join(' or ') || 'null';
}

function sentInnerObject(branches: readonly ObjectKind[], depth: number, isBesideArray: boolean): SentSchema {
  if (branches.some(({ properties }) => properties.size > 0)) {
    const { node, note } = sentObject(branches, depth);
    return described(node, [note]);
  }
  const others = branches.flatMap((branch) => (typeof branch.others === 'boolean' ? [] : [branch.others]));
  if (others.length === 0 || isBesideArray || depth + 1 >= DEPTH_MAX) return jsonText('an object', branches);
  const value = either(others);
  const pair: SentSchema = {
    type: 'object',
    properties: { key: { type: 'string' }, value: sent(value, depth + 2, value.about) },
    required: ['key', 'value'],
  };
  return described(
    { type: 'array', items: pair },
    branches.map(({ about }) => about),
  );
}

function sentObject(branches: readonly ObjectKind[], depth: number): { node: SentSchema; note: string } {
  const { keys, note } = flatten(branches);
  const required = keys.filter(({ isRequired }) => isRequired).map(({ sentAs }) => sentAs);
  const properties = Object.fromEntries(keys.map(({ sentAs, reading, about }) => [sentAs, sent(reading, depth + 1, about)]));
  return { node: { type: 'object', properties, ...(required.length === 0 ? {} : { required }) }, note };
}

function jsonText(what: string, kinds: readonly Kind[]): SentSchema {
  return described({ type: 'string' }, [...kinds.map(({ about }) => about), `(${what}, as JSON text)`]);
}

function described(node: SentSchema, texts: readonly string[]): SentSchema {
  const { description: _, ...rest } = node;
  const text = joined(texts);
  return text === '' ? rest : { ...rest, description: cutDescription(text) };
}

export function cutDescription(text: string): string {
  return text.length <= descriptionCharsMax ? text : `${text.slice(0, descriptionCharsMax - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

// Conversion from the model's form.

function back(reading: Reading, value: unknown): unknown {
  if (typeof value === 'string') return backText(reading, value);
  const arrays = reading.kinds.filter((kind) => kind.kind === 'array');
  const objects = reading.kinds.filter((kind) => kind.kind === 'object');
  if (Array.isArray(value)) {
    const pairs = arrays.length === 0 && objects.length > 0 ? fromPairs(value) : null;
    if (pairs !== null) return backObject(objects, pairs);
    return arrays.length === 0 ? value : backArray(arrays, value);
  }
  return isPlainObject(value) && objects.length > 0 ? backObject(objects, value) : value;
}

/** If a value is not text, its text is parsed as JSON: that is the sent form, and models also write numbers and lists as text. */
function backText(reading: Reading, text: string): unknown {
  if (reading.kinds.some(({ kind }) => kind === 'string')) return text;
  const parsed = parseJson(text);
  if (!parsed.ok) return text;
  return typeof parsed.value === 'string' ? (reading.takesAny ? parsed.value : text) : back(reading, parsed.value);
}

function fromPairs(value: readonly unknown[]): Record<string, unknown> | null {
  const pairs = value.map((pair) =>
    isPlainObject(pair) && typeof pair['key'] === 'string' ? ([pair['key'], pair['value']] as const) : null,
  );
  return pairs.includes(null) ? null : Object.fromEntries(pairs.filter((pair) => pair !== null));
}

function backArray(kinds: readonly ArrayKind[], value: readonly unknown[]): unknown[] {
  const items = either(kinds.map((kind) => kind.items));
  const places = kinds.length === 1 ? (kinds[0]?.places ?? []) : [];
  return value.map((item, index) => back(places[index] ?? items, item));
}

function backObject(branches: readonly ObjectKind[], given: Readonly<Record<string, unknown>>): unknown {
  const { keys } = flatten(branches);
  const original = new Map(keys.filter(({ key, sentAs }) => key !== sentAs).map(({ key, sentAs }) => [sentAs, key]));
  const value = Object.fromEntries(Object.entries(given).map(([name, one]) => [original.get(name) ?? name, one]));
  const branch = branchOf(branches, value);
  if (branch === undefined) return value;
  const { properties, required, others } = branch;
  const fallbacks = new Map(keys.map(({ key, reading }) => [key, reading.fallback]));
  const kept = Object.entries(value).flatMap(([key, one]): [string, unknown][] => {
    const reading = properties.get(key);
    if (reading === undefined) {
      if (isFiller(one, fallbacks.get(key)) && (fallbacks.has(key) || (others === false && one === null))) return [];
      return [[key, typeof others === 'boolean' ? one : back(others, one)]];
    }
    if (one === null && !reading.takesNull) return [];
    return [[key, back(reading, one)]];
  });
  const has = new Set(kept.map(([key]) => key));
  const nulls = [...required].filter(
    (key) => !has.has(key) && properties.get(key)?.takesNull === true && properties.get(key)?.takesAny === false,
  );
  return Object.fromEntries([...kept, ...nulls.map((key) => [key, null] as const)]);
}

/** Returns whether the value is a placeholder that a model puts under a key of another branch when it fills in all keys. */
function isFiller(value: unknown, fallback: unknown): boolean {
  return value === null || value === '' || (fallback !== undefined && value === fallback);
}
