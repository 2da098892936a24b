// Forms of a script that are written in another way: the command that xargs or a `while read` loop runs for each name, `set -e` at its begin,
// variables before a command, and words in braces. Pure.

import { basename, dirname } from 'node:path';
import type { Command, CompoundList, Redirection, Statement, Word, WordPart } from 'unbash';
import { isLiteral } from './shell-tree.ts';

export const loopVariable = /^[a-z]\w*$/;

/** A command with `{}` in place of a name, and its end for `find -exec`. `isApart` tells of names that end with NUL. */
export interface Carried {
  readonly words: readonly string[];
  readonly isApart: boolean;
  readonly redirects: readonly Redirection[];
}

/** Returns the command if it is the only one. */
export function onlyCommand({ commands: [statement, ...more] }: Pick<CompoundList, 'commands'>): Command | null {
  const isOne = statement !== undefined && more.length === 0 && statement.background !== true;
  return isOne && statement.command.type === 'Command' ? statement.command : null;
}

/** Returns the variable of `read -r x` or `IFS= read -r x`. */
export function nameRead({ prefix, name, args, redirects }: Command): string | null {
  const isPlain = prefix.every((part) => part.type === 'Assignment' && part.text === 'IFS=') && redirects.length === 0;
  const words = args.map((word) => (word.type === 'Word' && isLiteral(word) ? word.text : ''));
  const [variable = '', ...more] = words[0] === '-r' ? words.slice(1) : words;
  return isPlain && name?.text === 'read' && more.length === 0 && loopVariable.test(variable) ? variable : null;
}

/** Returns how a script with `set -e` ends, or null for another statement. */
export function optionsOf({ command, background }: Statement): 'command' | 'pipe' | null {
  if (background === true || command.type !== 'Command' || command.name?.text !== 'set') return null;
  if (command.prefix.length > 0 || command.redirects.length > 0) return null;
  const words = command.args.map(({ text }) => text).join(' ');
  if (/^-(?:e|eu|ue)$/.test(words)) return 'command';
  return /^-(?:eo|euo) pipefail$/.test(words) ? 'pipe' : null;
}

/** Returns the command that xargs runs, with the place of the names and the end, or null if a flag is not known. */
export function carriedBy(args: readonly string[]): Omit<Carried, 'redirects'> | null {
  const pending = [...args].reverse();
  const flags = { mark: '', isApart: false, end: '+' };
  while (pending.at(-1)?.startsWith('-') === true) if (!takeFlag(pending, flags)) return null;
  const command = pending.reverse();
  if (command.length === 0) return null;
  const words = flags.mark === '' ? [...command, '{}'] : command.map((word) => (unquoted(word) === flags.mark ? '{}' : word));
  return { words: [...words, flags.end], isApart: flags.isApart };
}

const apart = new Set(['-0', '--null']);
/** `find -exec` runs nothing if it finds nothing. */
const withoutEffect = new Set(['-r', '--no-run-if-empty']);

/** Returns false if the flag is not known. */
function takeFlag(pending: string[], flags: { mark: string; isApart: boolean; end: string }): boolean {
  const flag = pending.pop() ?? '';
  if (apart.has(flag)) flags.isApart = true;
  if (apart.has(flag) || withoutEffect.has(flag)) return true;
  const [, letter, attached = ''] = /^-([nPI])(.*)$/.exec(flag) ?? [];
  if (letter === undefined) return false;
  const value = attached === '' ? (pending.pop() ?? '') : attached;
  if (letter === 'I') flags.mark = unquoted(value);
  if (letter === 'I' || (letter === 'n' && value === '1')) flags.end = "';'";
  return letter !== 'I' || flags.mark !== '';
}

export function unquoted(word: string): string {
  return /^'[^']*'$|^"[^"$`\\]*"$/.test(word) ? word.slice(1, -1) : word;
}

/** Returns whether a redirect goes to nothing, or joins the two outputs. */
export function leadsNowhere(redirect: Redirection): boolean {
  if (redirect.type !== 'Redirect') return false;
  return (redirect.operator === '>&' ? /^[12]$/ : /^\/dev\/null$/).test(redirect.target?.text ?? '');
}

/** A part of a word. `isQuoted` is true within double quotes. */
export interface QuotedPart {
  readonly part: WordPart;
  readonly isQuoted: boolean;
}

export function withinQuotes(part: WordPart): readonly QuotedPart[] {
  return part.type === 'DoubleQuoted' ? part.parts.map((child) => ({ part: child, isQuoted: true })) : [{ part, isQuoted: false }];
}

/** The output of a line, in place of which a shell puts it. */
export interface Output {
  readonly script: Pick<CompoundList, 'commands'>;
  readonly isQuoted: boolean;
}

/** Variables that change the language, the time zone, the width or the colours of an output, with values that name no file. */
const harmless: readonly RegExp[] = [
  /^(?:LANG|LC_[A-Z]+)=(?:C|POSIX|(?:C|[a-z]{2}_[A-Z]{2})\.(?:UTF-8|utf8))$/,
  /^TZ=[A-Z][A-Za-z_]*(?:\/[A-Z][A-Za-z_]*)?$/,
  /^(?:NO_COLOR|CLICOLOR|CLICOLOR_FORCE|FORCE_COLOR)=\d$/,
  /^(?:COLUMNS|LINES)=\d{1,4}$/,
];

export function isHarmlessVariable(text: string): boolean {
  return harmless.some((form) => form.test(text));
}

/**
 * Returns other words for `type`, the shell's own way to ask `which`, and for a query of a database. Without -safe, a view of the database can
 * run a command, and the person's start file is read before -safe holds.
 */
export function askedSafely([program, ...args]: readonly string[]): readonly string[] | null {
  if (program === 'type') return ['which', ...args];
  const isQuery = program === 'sqlite3' && args.includes('-readonly') && !args.includes('-safe');
  return isQuery ? [program, '-safe', '-init', '/dev/null', ...args] : null;
}

export const timeLimit = /^\d+(?:\.\d+)?[smh]?$/;

/** Returns the command that `nice` starts; its flags, if they are not a priority of a few known forms. */
export function behindPriority(words: readonly string[]): readonly string[] {
  const [first = '', second = ''] = words;
  if (first === '-n' && /^\d{1,2}$/.test(second)) return words.slice(2);
  return /^(?:-n?\d{1,2}|--adjustment=\d{1,2})$/.test(first) ? words.slice(1) : words;
}

/** Returns whether these words before a command only limit its time, or change the look of its output. */
export function isHarmlessPrefix([program, ...words]: readonly string[]): boolean {
  if (program === 'nice') return behindPriority(words).length === 0;
  if (program === 'timeout') return words.length === 1 && timeLimit.test(words[0] ?? '');
  return program === 'env' && words.length > 0 && words.every(isHarmlessVariable);
}

/** Returns the variables before a command as words of `env`, or null if one of them could change more than the look of the output. */
export function variablesBefore({ prefix, name }: Command): readonly string[] | null {
  const texts = prefix.map((part) => (part.type === 'Assignment' ? part.text : ''));
  // Git runs with this pager in any case.
  const others = texts.filter((text) => name?.text !== 'git' || !/^(?:GIT_)?PAGER=cat$/.test(text));
  if (!others.every(isHarmlessVariable)) return null;
  return others.length === 0 ? [] : ['env', ...others];
}

const bracedMax = 100;

/** Returns the words that a shell makes of a plain word with lists in braces (`{a,b}.txt`), or null for any other word. */
export function bracedWords({ parts = [] }: Word): readonly string[] | null {
  if (!parts.some(({ type }) => type === 'BraceExpansion')) return null;
  let words = [''];
  for (const part of parts) {
    const listed = part.type === 'BraceExpansion' ? listedIn(part.text) : null;
    const isPlain = (part.type === 'Literal' || part.type === 'Glob') && /^[\w./:,@%+*?-]+$/.test(part.text);
    if (listed === null && !isPlain) return null;
    const texts = listed ?? [part.text];
    words = words.flatMap((word) => texts.map((text) => word + text));
    if (words.length > bracedMax) return null;
  }
  return words;
}

/** Returns the words of `{a,b}` and `{1..9}`. */
function listedIn(braces: string): readonly string[] | null {
  if (/^\{[\w./-]+(?:,[\w./-]+)+\}$/.test(braces)) return braces.slice(1, -1).split(',');
  const [from, to] = /^\{([1-9]\d?)\.\.([1-9]\d?)\}$/.exec(braces)?.slice(1).map(Number) ?? [];
  if (from === undefined || to === undefined) return null;
  const step = Math.sign(to - from);
  return Array.from({ length: Math.abs(to - from) + 1 }, (_, at) => String(from + at * step));
}

/** Without patterns, flags and slashes at the end. */
const plainPath = /^[\w./](?:[\w./ -]*[\w-])?$/;

export function partOfPath(program: string | undefined, path: string): string | null {
  if (!plainPath.test(path)) return null;
  if (program === 'dirname') return dirname(path);
  return program === 'basename' ? basename(path) : null;
}
