// Parses the parameters of an operation from the typed values: numbers, choices, JSON and paths. The schema checks the bounds.

import { givenPath } from '../../../base/given-path.ts';
import { didYouMean, nearNames } from '../../../base/near-names.ts';
import { AppError } from '../../../contracts/errors.ts';
import { parseCount, parseJsonArgument, parseNumber } from '../command-context.ts';
import type { CliIo } from '../ports.ts';
import type { Entry, Given } from './entries.ts';
import { argumentsOf, optionsOf, type Field, type Fields } from './options.ts';

/** Fails with `invalid_params`. */
export function readParams(
  entry: Entry,
  fields: Fields,
  { given, cwd, userFolder }: { readonly given: Given } & Pick<CliIo, 'cwd' | 'userFolder'>,
): Record<string, unknown> {
  const { form } = entry;
  const params: Record<string, unknown> = { ...form.sets };
  for (const { name, label, field, isParameter } of argumentsOf(entry, fields)) {
    const value = given[name];
    if (isParameter && isGiven(value)) params[name] = readValue(value, field, `<${label}>`);
  }
  for (const { parameter, key, label, field, sets } of optionsOf(entry, fields)) {
    const value = given[key];
    if (sets !== null && value === !label.startsWith('--no-')) Object.assign(params, sets);
    else if (parameter !== null && value !== undefined) params[parameter] = readValue(value, field, label);
  }
  for (const name of form.paths ?? []) {
    const path = params[name];
    if (typeof path === 'string') params[name] = givenPath({ cwd, userFolder }, path);
  }
  return params;
}

/** An empty list for a variadic argument counts as omitted. */
function isGiven(value: unknown): boolean {
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

function readValue(value: unknown, field: Field, label: string): unknown {
  if (Array.isArray(value)) {
    const words = value.map(String);
    if (field.kind === 'pairs') return Object.assign({}, ...words.map((word) => readPair(word, label))) as Record<string, unknown>;
    return field.kind === 'list' ? words.map((word) => oneOf(field.choices, word, label)) : readValue(words.join(' '), field, label);
  }
  if (typeof value !== 'string') return value;
  switch (field.kind) {
    case 'count':
      return parseCount(value, label);
    case 'number':
      return parseNumber(value, label, field);
    case 'json':
      return parseJsonArgument(value, label);
    case 'pairs':
      return readPair(value, label);
    case 'list':
      return [oneOf(field.choices, value, label)];
    case 'switch':
    case 'text':
      return oneOf(field.choices, value, label);
  }
}

/** `NAME=VALUE`, also `NAME: VALUE` as headers are written, or a JSON object of several. */
function readPair(text: string, label: string): unknown {
  if (text.trimStart().startsWith('{')) return parseJsonArgument(text, label);
  const [, name, value] = /^([^=:\s]+)(?:=|:\s*)(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new AppError('invalid_params', `${label} takes NAME=VALUE, not "${text}".`);
  return { [name]: value };
}

/** Fails with `invalid_params` if the word is not one of the choices. */
export function oneOf(choices: readonly string[], word: string, label: string): string {
  if (choices.length === 0 || choices.includes(word)) return word;
  const hint = didYouMean(nearNames(word, choices));
  const data = hint === null ? {} : { hint };
  throw new AppError('invalid_params', `${label} takes one of ${choices.join(', ')}, not "${word}".`, { data });
}
