// Parses the arguments of a program by a list of its known flags: short flags in bundles, long flags by their full name. Arguments with an
// unlisted flag, an abbreviation or a missing value are not understood.

import type { ShortFlags } from './reader-form.ts';

export interface FlagTable {
  readonly flags: ReadonlyMap<string, FlagForm>;
  /** True if `-5` stands alone for a number of lines. */
  readonly hasNumber: boolean;
  readonly shortFlags: ShortFlags;
}

export interface FlagForm {
  /**
   * none: takes no value. needed: the value is attached, follows `=` or is the next argument. attached: the value is optional and is
   * attached or follows `=`.
   */
  readonly value: 'none' | 'needed' | 'attached';
  /** The kind of value: `FILE` is a path that is read, `N` is a number, `ENCODING` is a name, anything else is text. */
  readonly kind: string;
}

export interface GivenFlag {
  readonly flag: string;
  readonly value: string | null;
}

export interface GivenArguments {
  readonly flags: readonly GivenFlag[];
  readonly operands: readonly string[];
  /** Values of flags that name files. */
  readonly files: readonly string[];
  has(...names: readonly string[]): boolean;
}

const numberValue = /^[+-]?\d+(?:\.\d+)?[A-Za-z]{0,3}$/;
const wholeNumber = /^-\d+$/;
const encoding = /^[\w.:-]+(?:\/\/[A-Z]*)*$/i;

/**
 * Parses a table written as in a manual: `-a, --all, -n N, --lines=N, --color[=WHEN], -f FILE, -I[FORM], -NUM`. A word in capitals is a
 * value. In brackets it is optional and is never the next argument.
 */
export function flagTable(text: string, shortFlags: ShortFlags = 'bundled'): FlagTable {
  const flags = new Map<string, FlagForm>();
  let hasNumber = false;
  for (const item of text.split(/[\s]*,[\s]*/)) {
    if (item === '') continue;
    const form = /^(--?[A-Za-z0-9@.][A-Za-z0-9-]*?)(?:\[=?([A-Z]+)\]|[ =]([A-Z]+))?$/.exec(item);
    if (item === '-NUM') hasNumber = true;
    else if (form?.[1] !== undefined) flags.set(form[1], formOf(form[2], form[3]));
    else throw new TypeError(`no flag: ${item}`);
  }
  return { flags, hasNumber, shortFlags };
}

interface KnownFlags {
  readonly flags?: string | RegExp;
  readonly shortFlags?: ShortFlags;
}

/** Parses the tables of all entries whose flags are given as text. */
export function flagTables(known: Readonly<Record<string, KnownFlags>>): ReadonlyMap<string, FlagTable> {
  return new Map(
    Object.entries(known).flatMap(([name, { flags, shortFlags }]) =>
      typeof flags === 'string' ? [[name, flagTable(flags, shortFlags)] as const] : [],
    ),
  );
}

function formOf(attached: string | undefined, needed: string | undefined): FlagForm {
  if (attached !== undefined) return { value: 'attached', kind: attached };
  return needed === undefined ? { value: 'none', kind: '' } : { value: 'needed', kind: needed };
}

/** Returns whether the arguments are these words. One with a blank would count as several. */
export function areWords(args: readonly string[], words: RegExp): boolean {
  return !args.some((word) => /\s/.test(word)) && words.test(args.join(' '));
}

export function readArguments(args: readonly string[], table: FlagTable): GivenArguments | null {
  const given: GivenFlag[] = [];
  const operands: string[] = [];
  const late: string[] = [];
  const pending = [...args].reverse();
  for (let argument = pending.pop(); argument !== undefined; argument = pending.pop()) {
    if (argument === '--') {
      operands.push(...pending.reverse());
      break;
    }
    if (!argument.startsWith('-') || argument === '-') {
      operands.push(argument);
      continue;
    }
    const next = pending.at(-1);
    const before = pending.length;
    const found = argument.startsWith('--') ? longFlag(argument, pending, table) : readShortFlags(argument, pending, table);
    if (found === null) return null;
    given.push(...found);
    // On some systems, flags end at the first operand, and this value is one more file.
    const isText = table.flags.get(found.at(-1)?.flag ?? '')?.kind !== 'N';
    if (operands.length > 0 && pending.length < before && next !== undefined && isText) late.push(next);
  }
  const names = new Set(given.map(({ flag }) => flag));
  const named = given.flatMap(({ flag, value }) => (value !== null && table.flags.get(flag)?.kind === 'FILE' ? [value] : []));
  const files = [...new Set([...named, ...late])];
  return { flags: given, operands, files, has: (...wanted) => wanted.some((name) => names.has(name)) };
}

function longFlag(argument: string, pending: string[], table: FlagTable): GivenFlag[] | null {
  const cut = argument.indexOf('=');
  const flag = cut < 0 ? argument : argument.slice(0, cut);
  const form = table.flags.get(flag);
  if (form === undefined) return null;
  if (cut < 0) return form.value === 'needed' ? withNext(flag, form, pending) : [{ flag, value: null }];
  return form.value === 'none' ? null : checked(flag, form, argument.slice(cut + 1));
}

function readShortFlags(argument: string, pending: string[], table: FlagTable): GivenFlag[] | null {
  if (table.hasNumber && wholeNumber.test(argument)) return [{ flag: '-NUM', value: argument.slice(1) }];
  const found: GivenFlag[] = [];
  const whole = table.shortFlags === 'one a word' ? table.flags.get(argument) : undefined;
  if (whole !== undefined && (whole.value === 'none' || argument.length > 2)) return lastFlag(argument, whole, pending);
  for (let at = 1; at < argument.length; at++) {
    const flag = `-${argument[at]}`;
    const form = table.flags.get(flag);
    if (form === undefined) return null;
    const rest = argument.slice(at + 1);
    if (rest !== '' && !mayContinue(form, table)) return null;
    if (form.value === 'none') {
      found.push({ flag, value: null });
      continue;
    }
    const valued = rest === '' ? lastFlag(flag, form, pending) : checked(flag, form, rest);
    return valued === null ? null : [...found, ...valued];
  }
  return found;
}

/** Whether letters after a short flag in the same word mean what they do to getopt. */
function mayContinue(form: FlagForm, { shortFlags }: FlagTable): boolean {
  return shortFlags === 'bundled' || (form.value === 'none') === (shortFlags === 'values apart');
}

function lastFlag(flag: string, form: FlagForm, pending: string[]): GivenFlag[] | null {
  return form.value === 'needed' ? withNext(flag, form, pending) : [{ flag, value: null }];
}

/** Rejects a value that looks like a flag: some programs treat such a word as a flag even where a value is expected. */
function withNext(flag: string, form: FlagForm, pending: string[]): GivenFlag[] | null {
  const value = pending.pop();
  const isFlagLike = value !== undefined && /^-./.test(value) && !(form.kind === 'N' && wholeNumber.test(value));
  return value === undefined || isFlagLike ? null : checked(flag, form, value);
}

function checked(flag: string, form: FlagForm, value: string): GivenFlag[] | null {
  if (form.kind === 'N' && !numberValue.test(value)) return null;
  // With a slash, it can be a file.
  if (form.kind === 'ENCODING' && !encoding.test(value)) return null;
  // Some programs read `-f=x` as the file `=x`, others as the file `x`.
  return form.kind === 'FILE' && value.startsWith('=') ? null : [{ flag, value }];
}
