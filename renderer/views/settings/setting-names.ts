// The titles of settings and the names of values: from the language, else the schema, else the key. Also searches them. Pure.

import type { Words } from '../../lib/i18n/words.ts';
import type { Field } from './controls.ts';
import type { Setting } from './schema-settings.ts';

type Names = Words['settingNames'];

export function namesOf(setting: Setting, names: Names): { title: string; help: string } {
  const known: Readonly<Record<string, { readonly title: string; readonly help: string }>> = names.settings;
  const own = known[setting.key];
  return own ?? { title: setting.title ?? spell(setting.key), help: setting.help ?? '' };
}

export function sectionTitle(section: string, names: Names): string {
  const known: Readonly<Record<string, string>> = names.sections;
  return known[section] ?? spell(section);
}

/** The display name of a choice. */
export function optionName(option: string, names: Names): string {
  const known: Readonly<Record<string, string>> = names.options;
  return Object.hasOwn(known, option) ? (known[option] ?? option) : option;
}

/** The display name of a field inside a setting. */
export function fieldName({ name, path, title }: Pick<Field, 'name' | 'path' | 'title'>, names: Names): string {
  const known: Readonly<Record<string, string | undefined>> = names.fields;
  return known[path] ?? title ?? known[name] ?? spell(name);
}

/** True if every word of the query occurs in its names, its key or its section. */
export function isFound(setting: Setting, query: string, names: Names): boolean {
  const { title, help } = namesOf(setting, names);
  const text = `${title} ${help} ${setting.key} ${sectionTitle(setting.section, names)}`.toLowerCase();
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Spells a key: limits.turnMs becomes "Turn ms". */
function spell(key: string): string {
  const last = key.split('.').at(-1) ?? key;
  const spelled = last.replaceAll(/([a-z])([A-Z])/g, (_pair, a: string, b: string) => `${a} ${b.toLowerCase()}`);
  return spelled.charAt(0).toUpperCase() + spelled.slice(1);
}
