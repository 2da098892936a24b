// Reads the configuration's JSON Schema into settings: one for each value a person can change, with the control it needs. Pure.

export type Unit = 'ms' | 'bytes' | 'megabytes' | 'usd' | 'tokens' | 'days';

export interface Range {
  readonly min: number | null;
  readonly max: number | null;
  readonly isWhole: boolean;
}

export type Control =
  | { readonly kind: 'switch' }
  | { readonly kind: 'number'; readonly range: Range; readonly unit: Unit | null }
  | { readonly kind: 'text'; readonly pattern: string | null }
  | { readonly kind: 'choice'; readonly options: readonly string[] }
  | { readonly kind: 'choices'; readonly options: readonly string[] }
  | { readonly kind: 'list'; readonly pattern: string | null }
  | { readonly kind: 'numbers'; readonly known: readonly string[]; readonly range: Range }
  /** One of several forms; which one is said by the value under `by`. */
  | { readonly kind: 'forms'; readonly by: string; readonly forms: readonly Form[] }
  /** Whatever has no control of its own: written as JSON. */
  | { readonly kind: 'json' };

export interface Form {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly isNeeded: boolean }[];
}

export interface Setting {
  /** A dotted path, such as models.retries. */
  readonly key: string;
  /** The first part of the path. */
  readonly section: string;
  readonly control: Control;
  /** Undefined where the schema names none. */
  readonly standard: unknown;
  readonly title: string | null;
  readonly help: string | null;
}

type Schema = Readonly<Record<string, unknown>>;

/** Kept apart: providers, the model, the routes and the channels have panels of their own. */
const elsewhere: ReadonlySet<string> = new Set(['providers', 'channels', 'models.default', 'models.routes']);

export function readSettings(schema: Schema): Setting[] {
  return settingsOf(schema, []);
}

function settingsOf(schema: Schema, path: readonly string[]): Setting[] {
  return Object.entries(objectAt(schema, 'properties')).flatMap(([name, value]) => {
    const steps = [...path, name];
    const key = steps.join('.');
    if (!isObject(value) || elsewhere.has(key)) return [];
    // A group, unless a value may have names of its own.
    if (value['type'] === 'object' && value['additionalProperties'] === false) return settingsOf(value, steps);
    return [settingOf(value, key)];
  });
}

function settingOf(schema: Schema, key: string): Setting {
  const [section = ''] = key.split('.');
  const { title, description } = schema;
  const control = controlOf(schema, key);
  const standard = control.kind === 'numbers' ? standardNumbers(schema) : schema['default'];
  return { key, section, control, standard, title: textOrNull(title), help: textOrNull(description) };
}

function controlOf(schema: Schema, key: string): Control {
  const forms = listAt(schema, 'oneOf') ?? listAt(schema, 'anyOf');
  if (forms !== null) return formsOf(forms) ?? { kind: 'json' };
  const options = listAt(schema, 'enum');
  if (options !== null) return { kind: 'choice', options: options.map(String) };
  switch (schema['type']) {
    case 'boolean':
      return { kind: 'switch' };
    case 'integer':
    case 'number':
      return { kind: 'number', range: rangeOf(schema), unit: unitOf(key) };
    case 'string':
      return { kind: 'text', pattern: textOrNull(schema['pattern']) };
    case 'array':
      return listOf(objectAt(schema, 'items'));
    case 'object':
      return numbersOf(schema) ?? { kind: 'json' };
    default:
      return { kind: 'json' };
  }
}

function listOf(items: Schema): Control {
  const options = listAt(items, 'enum');
  if (options !== null) return { kind: 'choices', options: options.map(String) };
  return items['type'] === 'string' ? { kind: 'list', pattern: textOrNull(items['pattern']) } : { kind: 'json' };
}

function numbersOf(schema: Schema): Control | null {
  const rest = objectAt(schema, 'additionalProperties');
  if (rest['type'] !== 'integer' && rest['type'] !== 'number') return null;
  return { kind: 'numbers', known: Object.keys(objectAt(schema, 'properties')), range: rangeOf(rest) };
}

/** The names that are known hold what each of them says. */
function standardNumbers(schema: Schema): Schema {
  const known = Object.entries(objectAt(schema, 'properties'));
  return Object.fromEntries(known.flatMap(([name, value]) => (isObject(value) && 'default' in value ? [[name, value['default']]] : [])));
}

/** Objects that are told apart by one constant text. */
function formsOf(members: readonly unknown[]): Control | null {
  const objects = members.filter(isObject);
  const constants = objects.map((member) => Object.entries(objectAt(member, 'properties')).filter(([, value]) => hasConstant(value)));
  const by = constants[0]?.[0]?.[0];
  if (by === undefined || objects.length !== members.length || constants.some(([first]) => first?.[0] !== by)) return null;
  const forms = objects.map((member) => {
    const fields = objectAt(member, 'properties');
    const needed = listAt(member, 'required') ?? [];
    const names = Object.keys(fields).filter((name) => name !== by);
    return { name: String(objectAt(fields, by)['const']), fields: names.map((name) => ({ name, isNeeded: needed.includes(name) })) };
  });
  return { kind: 'forms', by, forms };
}

function hasConstant(value: unknown): boolean {
  return isObject(value) && typeof value['const'] === 'string';
}

/** The limits of what a number of a computer can be are no limits of the setting. */
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
  [/Usd$/, 'usd'],
  [/Tokens$/, 'tokens'],
  [/Days$/, 'days'],
];

function unitOf(key: string): Unit | null {
  return units.find(([pattern]) => pattern.test(key))?.[1] ?? null;
}

/** The value under a dotted path; undefined where there is none. */
export function valueAt(tree: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined), tree);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same value, whatever the order of its names. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (!isObject(a) || !isObject(b)) return a === b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isSame(a[name], b[name]));
}

function objectAt(schema: Schema, name: string): Schema {
  const value = schema[name];
  return isObject(value) ? value : {};
}

function listAt(schema: Schema, name: string): readonly unknown[] | null {
  const value = schema[name];
  return Array.isArray(value) ? (value as readonly unknown[]) : null;
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
