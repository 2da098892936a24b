// Chooses a control for a schema, from the schema alone, so that a new setting needs no code here. Pure.

import { isPlainObject } from '../../../core/base/json.ts';

export type Unit = 'ms' | 'bytes' | 'megabytes' | 'usd' | 'tokens' | 'days' | 'hours' | 'minutes';

export interface Range {
  readonly min: number | null;
  readonly max: number | null;
  readonly isWhole: boolean;
}

export type Option = string | number;

export type Control =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly range: Range; readonly unit: Unit | null }
  /** A secret is a reference such as keychain:NAME. */
  | { readonly kind: 'text'; readonly isLong: boolean; readonly isSecret?: boolean }
  /** A global hotkey. */
  | { readonly kind: 'keys' }
  | { readonly kind: 'choice'; readonly options: readonly Option[] }
  | { readonly kind: 'choices'; readonly options: readonly string[] }
  | { readonly kind: 'list' }
  | { readonly kind: 'numbers'; readonly known: readonly string[]; readonly range: Range }
  | { readonly kind: 'fields'; readonly fields: readonly Field[] }
  /** One of several forms; the value of the field `by` determines which. */
  | { readonly kind: 'forms'; readonly by: string; readonly forms: readonly Form[] }
  /** A list of entries, or entries by name. */
  | { readonly kind: 'entries'; readonly entry: Control; readonly isNamed: boolean }
  /** A list whose absence differs from an empty list: "any tool" and "no tool". */
  | { readonly kind: 'optional'; readonly list: Control }
  /** Anything else, edited as JSON. */
  | { readonly kind: 'json' };

export interface Field {
  readonly name: string;
  /** The path within the setting, such as when.commands. */
  readonly path: string;
  readonly control: Control;
  readonly isNeeded: boolean;
  /** The default; undefined if the schema has none. */
  readonly standard: unknown;
  readonly title?: string | undefined;
  readonly help?: string | undefined;
}

export interface Form {
  readonly name: string;
  readonly fields: readonly Field[];
}

export type Schema = Readonly<Record<string, unknown>>;

const longTexts: ReadonlySet<string> = new Set(['description', 'identity', 'text']);

/** `name` is the last part of the setting's path. */
export function controlOf(schema: Schema, name: string): Control {
  const members = listAt(schema, 'oneOf') ?? listAt(schema, 'anyOf');
  if (members !== null) return unionOf(members, name);
  const options = listAt(schema, 'enum');
  if (options !== null) return { kind: 'choice', options: options.map(String) };
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'switch' };
    case 'integer':
    case 'number':
      return { kind: 'number', range: rangeOf(schema), unit: unitOf(name) };
    case 'string':
      if (name.endsWith('Keys')) return { kind: 'keys' };
      return { kind: 'text', isLong: longTexts.has(name), ...(isReference(schema) ? { isSecret: true } : {}) };
    case 'array':
      return listOf(objectAt(schema, 'items'), name);
    case 'object':
      return objectOf(schema, name);
    default:
      return { kind: 'json' };
  }
}

/** A text that refers to a secret instead of containing it. */
export const referenceForm = /^(?:keychain|env|file):/;

function isReference({ pattern }: Schema): boolean {
  return typeof pattern === 'string' && pattern.startsWith('^(keychain:');
}

function unionOf(members: readonly unknown[], name: string): Control {
  const present = members.filter(isPlainObject).filter((member) => member['type'] !== 'null');
  const [only] = present;
  // An absent value means the same as null.
  if (only !== undefined && present.length === 1) return controlOf(only, name);
  const constants = present.map((member) => member['const']);
  if (present.length > 0 && constants.every((one) => typeof one === 'number' || typeof one === 'string'))
    return { kind: 'choice', options: constants };
  if (only !== undefined && present.every((member) => member['type'] === 'string')) return controlOf({ type: 'string' }, name);
  return formsOf(present, name) ?? { kind: 'json' };
}

function listOf(items: Schema, name: string): Control {
  const options = listAt(items, 'enum');
  if (options !== null) return { kind: 'choices', options: options.map(String) };
  if (items['type'] === 'string') return { kind: 'list' };
  return entriesOf(controlOf(items, name), false);
}

function objectOf(schema: Schema, name: string): Control {
  const rest = schema['additionalProperties'];
  if (rest === false) return { kind: 'fields', fields: fieldsOf(schema, name) };
  if (!isPlainObject(rest)) return { kind: 'json' };
  if (rest['type'] === 'integer' || rest['type'] === 'number')
    return { kind: 'numbers', known: Object.keys(objectAt(schema, 'properties')), range: rangeOf(rest) };
  return entriesOf(controlOf(rest, name), true);
}

function entriesOf(entry: Control, isNamed: boolean): Control {
  return entry.kind === 'json' ? entry : { kind: 'entries', entry, isNamed };
}

function fieldsOf(schema: Schema, parent: string, leftOut?: string): Field[] {
  const needed = listAt(schema, 'required') ?? [];
  return Object.entries(objectAt(schema, 'properties')).flatMap(([name, value]) => {
    if (name === leftOut || !isPlainObject(value)) return [];
    const isNeeded = needed.includes(name);
    const control = controlOf(value, name);
    const standard = value['default'];
    const isOptional = !isNeeded && standard === undefined && mayBeEmptyList(value);
    const { title, description: help } = value as { readonly title?: string; readonly description?: string };
    const told = { ...(title === undefined ? {} : { title }), ...(help === undefined ? {} : { help }) };
    const shape: Control = isOptional ? { kind: 'optional', list: control } : control;
    return [{ name, path: `${parent}.${name}`, isNeeded, standard, control: shape, ...told }];
  });
}

function mayBeEmptyList(schema: Schema): boolean {
  const members = listAt(schema, 'anyOf')?.filter(isPlainObject) ?? [schema];
  return members.some((member) => member['type'] === 'array' && !((member['minItems'] ?? 0) as number));
}

/** Objects that are distinguished by one constant text. */
function formsOf(members: readonly Schema[], parent: string): Control | null {
  const constants = members.map((member) => Object.entries(objectAt(member, 'properties')).filter(([, value]) => hasConstant(value)));
  const by = constants[0]?.[0]?.[0];
  if (by === undefined || constants.some(([first]) => first?.[0] !== by)) return null;
  const nameOf = (member: Schema): string => String(objectAt(objectAt(member, 'properties'), by)['const']);
  return { kind: 'forms', by, forms: members.map((member) => ({ name: nameOf(member), fields: fieldsOf(member, parent, by) })) };
}

function hasConstant(value: unknown): boolean {
  return isPlainObject(value) && typeof value['const'] === 'string';
}

/** The limits of safe integers are not limits of the setting. */
function rangeOf(schema: Schema): Range {
  const { minimum, maximum, exclusiveMinimum } = schema;
  const isWhole = schema['type'] === 'integer';
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + (isWhole ? 1 : 0) : null;
  return {
    min: typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? minimum : above,
    max: typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? maximum : null,
    isWhole,
  };
}

const units: readonly (readonly [RegExp, Unit])[] = [
  [/Ms$/, 'ms'],
  [/[bB]ytesMax$/, 'bytes'],
  [/Mb$/, 'megabytes'],
  [/(?:^u|U)sd$/, 'usd'],
  [/(?:^t|T)okens$/, 'tokens'],
  [/Days$/, 'days'],
  [/Hours$/, 'hours'],
  [/(?:^m|M)inutes$/, 'minutes'],
];

function unitOf(name: string): Unit | null {
  return units.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** The value of a new entry. */
export function emptyOf(control: Control): unknown {
  switch (control.kind) {
    case 'fields':
      return {};
    case 'forms':
      return { [control.by]: control.forms[0]?.name };
    case 'list':
    case 'choices':
      return [];
    default:
      return undefined;
  }
}

/** Whether a value means the same as its absence; the value is then omitted. */
export function saysNothing(value: unknown, { control, isNeeded }: Pick<Field, 'control' | 'isNeeded'>): boolean {
  if (value === undefined || value === '') return true;
  if (isNeeded || control.kind === 'optional') return false;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

export function objectAt(schema: Schema, name: string): Schema {
  const value = schema[name];
  return isPlainObject(value) ? value : {};
}

function listAt(schema: Schema, name: string): readonly unknown[] | null {
  const value = schema[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : null;
}
