// A setting's value in words, and the units in which its number is edited. Pure.

import { isPlainObject } from '../../../core/base/json.ts';
import type { Language } from '../../lib/i18n/language.ts';
import type { Control, Unit } from './controls.ts';
import { fieldName, optionName } from './setting-names.ts';

export function describeValue(value: unknown, control: Control, language: Language): string {
  const { settings: words, settingNames: names } = language.words;
  if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) return words.nothing;
  if (typeof value === 'boolean') return value ? words.on : words.off;
  if (typeof value === 'number') return describeNumber(value, control.kind === 'number' ? control.unit : null, language);
  if (Array.isArray(value))
    return value.map((item) => (typeof item === 'string' ? optionName(item, names) : JSON.stringify(item))).join(', ');
  if (isPlainObject(value)) {
    const pairs = Object.entries(value);
    return pairs.length === 0 ? words.nothing : pairs.map(([name, one]) => `${optionName(name, names)} ${String(one)}`).join(', ');
  }
  if (typeof value !== 'string') return JSON.stringify(value);
  return control.kind === 'choice' ? optionName(value, names) : value;
}

export function describeNumber(value: number, unit: Unit | null, { format, words }: Language): string {
  switch (unit) {
    case 'ms':
    case 'minutes':
    case 'hours':
    case 'bytes':
    case 'megabytes': {
      const { factor, symbol } = scaleFor(value, unit);
      return format.amount(format.number(value / factor), symbol);
    }
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

/** A unit that can be chosen for a number, and its size in the setting's own unit. */
export interface Scale {
  readonly name: keyof Language['words']['settings']['units'];
  readonly factor: number;
  readonly symbol: string;
}

const one = (name: Scale['name'], symbol = ''): readonly [Scale] => [{ name, factor: 1, symbol }];
const scales: Readonly<Record<Unit, readonly [Scale, ...Scale[]]>> = {
  ms: [
    { name: 'ms', factor: 1, symbol: 'ms' },
    { name: 'seconds', factor: 1_000, symbol: 's' },
    { name: 'minutes', factor: 60_000, symbol: 'min' },
    { name: 'hours', factor: 3_600_000, symbol: 'h' },
  ],
  bytes: [
    { name: 'bytes', factor: 1, symbol: 'B' },
    { name: 'kB', factor: 1_000, symbol: 'kB' },
    { name: 'MB', factor: 1_000_000, symbol: 'MB' },
  ],
  megabytes: one('MB', 'MB'),
  usd: one('usd'),
  tokens: one('tokens'),
  days: one('days'),
  hours: one('hours', 'h'),
  minutes: one('minutes', 'min'),
};

export function scalesOf(unit: Unit): readonly Scale[] {
  return scales[unit];
}

/** The largest unit that shows the value with at most two decimals. */
export function scaleFor(value: number, unit: Unit): Scale {
  const [smallest, ...larger] = scales[unit];
  const fits = ({ factor }: Scale): boolean => value >= factor && Number.isInteger((value * 100) / factor);
  return larger.findLast(fits) ?? smallest;
}

/** An entry in one line: its values in order, and the names of nested ones. */
export function summaryOf(entry: unknown, language: Language): string {
  const { settingNames: names } = language.words;
  if (Array.isArray(entry)) return entry.map((item) => summaryOf(item, language)).join(' ');
  if (!isPlainObject(entry)) return typeof entry === 'string' ? optionName(entry, names) : String(entry);
  return Object.entries(entry)
    .map(([name, value]) => {
      if (!isPlainObject(value)) return summaryOf(value, language);
      const parts = Object.entries(value).map(
        ([inner, held]) => `${fieldName({ name: inner, path: `${name}.${inner}` }, names)}: ${summaryOf(held, language)}`,
      );
      return parts.join(', ');
    })
    .filter((part) => part !== '')
    .join(' · ');
}
