// The arguments and options of a command: names, kinds and choices from the schema, texts from the form.

import type { CommandForm, OptionForm } from '../../../contracts/command-form.ts';
import { idWords } from '../short-ids.ts';
import { takenBy, type Entry, type Taken } from './entries.ts';

export interface Field {
  /** pairs: names with texts, one `NAME=VALUE` at a time. */
  readonly kind: 'switch' | 'count' | 'number' | 'text' | 'list' | 'pairs' | 'json';
  readonly choices: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export type Fields = Readonly<Record<string, Field>>;

const plainText: Field = { kind: 'text', choices: [] };

export interface ArgumentSpec extends Taken {
  /** The displayed name: `<session-id>`. */
  readonly label: string;
  readonly about: string;
  readonly field: Field;
  readonly fallback: unknown;
  readonly isPath: boolean;
}

export interface OptionSpec {
  /** The parameter; null if the command converts the value. */
  readonly parameter: string | null;
  /** The notation for commander: `--limit <n>`. */
  readonly flags: string;
  /** The option without its value: `--limit`. */
  readonly label: string;
  /** The key under which commander stores the value. */
  readonly key: string;
  readonly about: string;
  readonly field: Field;
  readonly sets: Readonly<Record<string, unknown>> | null;
  readonly repeats: boolean;
  readonly fallback: unknown;
  readonly isPath: boolean;
}

export function argumentsOf({ form, source }: Entry, fields: Fields): ArgumentSpec[] {
  return takenBy(form).map((taken) => {
    const field = (taken.isParameter ? fields[taken.name] : undefined) ?? plainText;
    const fallback = taken.isParameter ? valueIn(form, taken.name) : undefined;
    const about = form.words?.[taken.name] ?? ('op' in source ? idWords(source.op, taken.name) : '');
    const isPath = isPathIn(form, taken.isParameter ? taken.name : `:${taken.name}`);
    return { ...taken, label: kebab(taken.name), about, field, fallback, isPath };
  });
}

/** The notation for commander: `<name>`, `[name]`, `<name...>`. */
export function shapeOf({ label, isVariadic, isOptional }: ArgumentSpec): string {
  const name = `${label}${isVariadic ? '...' : ''}`;
  return isOptional ? `[${name}]` : `<${name}>`;
}

export function optionsOf({ form }: Entry, fields: Fields): OptionSpec[] {
  const options = Object.entries(form.options ?? {}).flatMap(([name, option]) =>
    option === undefined ? [] : [optionOf(form, [name, option], fields)],
  );
  return form.confirm === undefined ? options : [...options, optionOf(form, ['--yes', 'without asking'], fields)];
}

function optionOf(form: CommandForm, [name, option]: readonly [string, OptionForm], fields: Fields): OptionSpec {
  const named = typeof option === 'string' ? { about: option } : option;
  const isOwn = name.startsWith('-');
  const field = (isOwn ? undefined : fields[name]) ?? plainText;
  // For an option without a parameter, the name of its value tells.
  const isPath = isOwn ? /<(?:file|path|folder)>/.test(name) : isPathIn(form, name);
  const valueName = isPath ? 'path' : name.endsWith('Id') ? 'id' : null;
  const flags = isOwn ? name : `--${flagsOf(named.flag ?? kebab(name.replace(/(?<=.)Id$/, '')), field, valueName)}`;
  const label = /--[^ ]+/.exec(flags)?.[0] ?? flags;
  return {
    parameter: isOwn ? null : name,
    flags,
    label,
    key: camel(label.replace(/^--(?:no-)?/, '')),
    about: named.about,
    field,
    sets: named.sets ?? null,
    repeats: named.repeats === true || field.kind === 'pairs',
    fallback: isOwn ? undefined : valueIn(form, name),
    isPath,
  };
}

function flagsOf(flag: string, field: Field, valueName: string | null): string {
  if (flag.includes(' ') || field.kind === 'switch') return flag;
  if (field.kind === 'list') return `${flag} <${flag}...>`;
  if (field.kind === 'count' || field.kind === 'number') return `${flag} <n>`;
  if (field.kind === 'pairs') return `${flag} <name=value>`;
  return `${flag} <${valueName ?? (field.kind === 'json' ? 'json' : flag)}>`;
}

function isPathIn({ paths = [] }: CommandForm, name: string): boolean {
  return paths.some((path) => path === name);
}

function valueIn({ sets }: CommandForm, name: string): unknown {
  return sets?.[name];
}

export function kebab(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camel(flag: string): string {
  return flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}
