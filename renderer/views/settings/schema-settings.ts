// Derives the settings from the configuration's JSON Schema: one for each value a person can change, with its control. Pure.

import { isPlainObject } from '../../../core/base/json.ts';
import { controlOf, objectAt, type Control, type Schema } from './controls.ts';

export interface Setting {
  /** A dotted path, such as models.retries. */
  readonly key: string;
  /** The first part of the path. */
  readonly section: string;
  readonly control: Control;
  /** The default; undefined if the schema has none. */
  readonly standard: unknown;
  readonly title: string | null;
  readonly help: string | null;
}

/** Providers, the model, the routes and the channels have separate panels. */
const elsewhere: ReadonlySet<string> = new Set(['providers', 'channels', 'models.default', 'models.routes']);

export function readSettings(schema: Schema): Setting[] {
  return settingsOf(schema, []);
}

function settingsOf(schema: Schema, path: readonly string[]): Setting[] {
  return Object.entries(objectAt(schema, 'properties')).flatMap(([name, value]) => {
    const steps = [...path, name];
    const key = steps.join('.');
    if (!isPlainObject(value) || elsewhere.has(key)) return [];
    const isGroup = value['type'] === 'object' && value['additionalProperties'] === false;
    // An object with required fields is valid only as a whole.
    if (isGroup && value['required'] === undefined) return settingsOf(value, steps);
    return [settingOf(value, key)];
  });
}

function settingOf(schema: Schema, key: string): Setting {
  const [section = ''] = key.split('.');
  const { title, description } = schema;
  const control = controlOf(schema, key.split('.').at(-1) ?? key);
  const standard = control.kind === 'numbers' ? standardNumbers(schema) : schema['default'];
  return { key, section, control, standard, title: textOrNull(title), help: textOrNull(description) };
}

/** The defaults of the known names. */
function standardNumbers(schema: Schema): Schema {
  const known = Object.entries(objectAt(schema, 'properties'));
  return Object.fromEntries(
    known.flatMap(([name, value]) => (isPlainObject(value) && 'default' in value ? [[name, value['default']]] : [])),
  );
}

/** Deep equality, regardless of the order of keys. */
export function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((item, index) => isSame(item, b[index]));
  if (!isPlainObject(a) || !isPlainObject(b)) return a === b;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => isSame(a[name], b[name]));
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
