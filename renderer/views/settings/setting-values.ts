// A setting's value in words, with its unit. Pure.

import type { Language } from '../../lib/i18n/language.ts';
import { isObject, type Control, type Unit } from './schema-settings.ts';
import { optionName } from './setting-names.ts';

export function describeValue(value: unknown, control: Control, language: Language): string {
  const { settings: words, settingNames: names } = language.words;
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return words.nothing;
  if (typeof value === 'boolean') return value ? words.on : words.off;
  if (typeof value === 'number') return describeNumber(value, control.kind === 'number' ? control.unit : null, language);
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? optionName(item, names) : JSON.stringify(item))).join(', ');
  if (isObject(value)) {
    const pairs = Object.entries(value);
    return pairs.length === 0 ? words.nothing : pairs.map(([name, one]) => `${optionName(name, names)} ${String(one)}`).join(', ');
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  return control.kind === 'choice' ? optionName(value, names) : value;
}

export function describeNumber(value: number, unit: Unit | null, { format, words }: Language): string {
  switch (unit) {
    case 'ms':
      return format.duration(value);
    case 'bytes':
      return format.size(value);
    case 'megabytes':
      return `${format.number(value)} MB`;
    case 'usd':
      return format.usd(value);
    case 'tokens':
      return format.tokens(value);
    case 'days':
      return words.settings.days(value);
    case null:
      return format.number(value);
  }
}

/** What stands behind a field. */
export function unitName(unit: Unit, words: Language['words']): string {
  return { ms: 'ms', bytes: 'B', megabytes: 'MB', usd: 'US$', tokens: words.settings.tokensUnit, days: words.settings.daysUnit }[unit];
}
