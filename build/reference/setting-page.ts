// docs/reference/settings.md: every key of config.yaml with its type, its default and its meaning.

import * as z from 'zod';
import { isPlainObject } from '../../core/base/json.ts';
import { configSchema } from '../../core/contracts/config.ts';
import { settingNames } from '../../renderer/lib/i18n/english/setting-names.ts';
import { code, page, sections, sentence, table, typeWords } from './markdown.ts';
import { settingTexts, type SettingText } from './setting-texts.ts';

export interface Setting {
  readonly path: string;
  readonly fallback: unknown;
  readonly type: string;
  /** The description in the schema. */
  readonly about: unknown;
  readonly title: unknown;
}

export function settingPage(): string {
  const settings = settingsOf(z.toJSONSchema(configSchema, { io: 'input' }));
  const body = [
    '`config.yaml` is in the data folder, and every setting is optional. TrayClaw reads it at the start; `trayclaw config set KEY VALUE`',
    'changes one key and keeps your comments. Models, providers and document sources hold at once, all other changes from the next start.',
    'An unknown key is refused by name. NAME and MODEL are names of your choice; times are in milliseconds.',
    '`trayclaw config schema` prints the JSON Schema.',
    '',
    ...sections(
      settings,
      ({ path }) => path,
      (members) => table(['key', 'type', 'default', 'means'], members.map(row)),
    ),
  ];
  return page({ title: 'Settings', source: 'the schema of config.yaml (`core/contracts/config.ts`)', body });
}

function row(setting: Setting): string[] {
  const { path, type, fallback } = setting;
  const text = settingTexts[path] ?? wordsOf(setting);
  if (text === null) throw new Error(`${path} has no text; describe it in the schema, or in build/reference/setting-texts.ts`);
  const shown = fallback === undefined ? (text.fallback ?? '') : code(typeof fallback === 'string' ? fallback : JSON.stringify(fallback));
  return [code(path), type, shown, text.means];
}

/** The window's text for the setting, or else the schema's. */
function wordsOf({ path, title, about }: Setting): SettingText | null {
  const named: Readonly<Record<string, { readonly title: string; readonly help: string }>> = settingNames.settings;
  const words = [named[path]?.title ?? title, named[path]?.help ?? about].filter((word) => typeof word === 'string');
  return words.length === 0 ? null : { means: words.map(sentence).join(' '), fallback: 'none' };
}

/** The leaves of the schema by their dotted paths. A key that a person chooses is shown as NAME, and as MODEL under prices. */
export function settingsOf(schema: unknown, path = ''): Setting[] {
  if (!isPlainObject(schema)) return [];
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const variants = schema['oneOf'] ?? schema['anyOf'];
  if (Array.isArray(variants)) return unique(variants.flatMap((variant: unknown) => settingsOf(variant, path)));
  const { properties, additionalProperties } = schema as { properties?: unknown; additionalProperties?: unknown };
  if (isPlainObject(properties)) return Object.entries(properties).flatMap(([key, value]) => settingsOf(value, below(key)));
  if (isPlainObject(additionalProperties) && additionalProperties['type'] !== 'string')
    return settingsOf(additionalProperties, below(path.endsWith('prices') ? 'MODEL' : 'NAME'));
  return [{ path, fallback: schema['default'], type: typeWords(schema), about: schema['description'], title: schema['title'] }];
}

/** Merges a key with several forms into one row with all their types. */
function unique(settings: readonly Setting[]): Setting[] {
  const rows = new Map<string, Setting>();
  for (const setting of settings) {
    const known = rows.get(setting.path);
    const types = known === undefined ? [setting.type] : [...new Set([...known.type.split(' or '), ...setting.type.split(' or ')])];
    rows.set(setting.path, { ...(known ?? setting), type: types.join(' or ') });
  }
  return [...rows.values()];
}
