// Writes a line as an equal one of literal words: known variables and `~` by their values, a loop over known words as one command after
// another, `find | xargs` as `find -exec`. The new line is analysed and run in place of the original, so a mistake here can change what is
// read, never what is allowed. Starts nothing.

import type { Command, CommandNode, Redirection, Statement, Word, WordPart } from 'unbash';
import { quote } from './joined-command.ts';
import { lexLiteral } from './literal-lexer.ts';
import { expandPatterns } from './pattern-words.ts';
import { isLiteral, parseShell } from './shell-tree.ts';

export interface LinePlace {
  /** Real path of the folder the line runs in. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

type Values = ReadonlyMap<string, string>;

const LENGTH_MAX = 8192;
const COMMANDS_MAX = 60;
/** Variables that a shell leaves as they are. */
const kept = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'PATH', 'LANG', 'TMPDIR'];
const loopVariable = /^[a-z]\w*$/;
/** Text that a shell reads as it is, without quotes. */
const plainText = /^[\w./:,@%+-]+$/;

/** Returns null if the line needs no rewriting, or has a form that cannot be rewritten. */
export function rewriteLine(line: string, place: LinePlace): string | null {
  if (line.length > LENGTH_MAX || !/[$~]|\bfor\b|\bxargs\b|\bcommand -v\b|^\s*[({]/.test(line)) return null;
  const tree = parseShell(line);
  if (tree === null || (tree.errors?.length ?? 0) > 0 || tree.shebang !== undefined) return null;
  const writer = new Writer(line, place);
  try {
    const given = kept.flatMap((name) => (place.environment[name] === undefined ? [] : [[name, place.environment[name]] as const]));
    const written = writer.statements(tree.commands, new Map([...given, ['PWD', place.cwd]]));
    return written === null || written === line ? null : written;
  } catch {
    // The parser reads parts lazily. If it fails here, it has not understood the line.
    return null;
  }
}

class Writer {
  readonly #line: string;
  readonly #place: LinePlace;
  #commands = 0;

  constructor(line: string, place: LinePlace) {
    this.#line = line;
    this.#place = place;
  }

  /** Returns null if one of them cannot be written. */
  statements(list: readonly Statement[], values: Values): string | null {
    return all(
      list.map((statement) => this.#statement(statement, values, list.length === 1)),
      '; ',
    );
  }

  #statement({ command, background }: Statement, values: Values, isAlone: boolean): string | null {
    if (background === true) return null;
    if (command.type === 'AndOr') {
      const parts = command.commands.map((one) => this.#pipeline(one, values));
      return parts.includes(null) ? null : parts.map((part, at) => (at === 0 ? part : `${command.operators[at - 1]} ${part}`)).join(' ');
    }
    if (command.type === 'For') return this.#loop(command, values);
    // A group may enter a folder, and only a subshell leaves it at its end.
    if (isAlone && (command.type === 'Subshell' || command.type === 'BraceGroup')) return this.statements(command.body.commands, values);
    return this.#pipeline(command, values);
  }

  #loop({ name, wordlist, body }: Extract<CommandNode, { type: 'For' }>, values: Values): string | null {
    if (wordlist === undefined || !loopVariable.test(name.value)) return null;
    const listed = all(wordlist.map((word) => this.#word(word, values)));
    const words = listed === null ? null : lexLiteral(expandPatterns(listed, this.#place.cwd) ?? listed);
    if (words?.ok !== true) return null;
    const rounds: (string | null)[] = [];
    for (const { text } of words.value) {
      if (this.#commands > COMMANDS_MAX) return null;
      rounds.push(this.statements(body.commands, new Map([...values, [name.value, text]])));
    }
    return rounds.length === 0 ? null : all(rounds, '; ');
  }

  #pipeline(node: Exclude<Statement['command'], { type: 'AndOr' }>, values: Values): string | null {
    if (node.type !== 'Pipeline') return node.type === 'Command' ? this.#command(node, values) : null;
    if (node.prefixes.length > 0 || node.operators.some((operator) => operator !== '|')) return null;
    const [first, second, ...rest] = node.commands;
    const merged = first?.type === 'Command' && second?.type === 'Command' ? this.#foundFiles(first, second, values) : null;
    const parts = merged === null ? node.commands : rest;
    const written = parts.map((part) => (part.type === 'Command' ? this.#command(part, values) : null));
    return all(merged === null ? written : [merged, ...written], ' | ');
  }

  #command(command: Command, values: Values): string | null {
    this.#commands += 1;
    const words = this.#words(command, values);
    if (words === null || this.#commands > COMMANDS_MAX) return null;
    const [program, flag, ...names] = words;
    // The shell's own way to ask the same.
    const asked = program === 'command' && flag === '-v' ? ['which', ...names] : words;
    return all([...asked, ...command.redirects.map((redirect) => this.#redirect(redirect, values))]);
  }

  #words({ prefix, name, args }: Command, values: Values): readonly string[] | null {
    // A program that is only known by a variable is not one that reads.
    if (prefix.length > 0 || name === undefined || !isLiteral(name)) return null;
    const words = args.map((word) => (word.type === 'Word' ? this.#word(word, values) : null));
    return words.includes(null) ? null : [name.text, ...words.filter((word) => word !== null)];
  }

  #redirect(redirect: Redirection, values: Values): string | null {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) return null;
    const target = this.#word(redirect.target, values);
    // The target of an input must stand without quotes.
    if (target === null || (redirect.operator === '<' && !plainText.test(unquoted(target)))) return null;
    const before = this.#line.slice(redirect.pos, redirect.target.pos).trimEnd();
    return `${before}${redirect.operator === '<' ? unquoted(target) : target}`;
  }

  /** Writes a word without expansions, or as it was if it has none. Patterns remain. */
  #word(word: Word, values: Values): string | null {
    const isHome = /^~(?:\/|$)/.test(word.text);
    if (isLiteral(word) && !isHome) return word.text;
    const parts = (word.parts ?? [{ type: 'Literal', value: word.value, text: word.text, pos: word.pos, end: word.end } as const]).map(
      (part) => textOf(part, values, false),
    );
    if (parts.includes(null)) return null;
    const home = isHome ? values.get('HOME') : '';
    if (home === undefined) return null;
    const text = `${home}${parts.join('').slice(isHome ? 1 : 0)}`;
    const hasPattern = word.parts?.some((part) => part.type === 'Glob') === true;
    if (!hasPattern) return quote(text);
    return plainText.test(text.replace(/[*?]/g, '')) ? text : null;
  }

  /** `find … | xargs READER` as `find … -exec READER {} +`, which passes each name as it is. */
  #foundFiles(find: Command, xargs: Command, values: Values): string | null {
    if (find.name?.text !== 'find' || xargs.name?.text !== 'xargs') return null;
    const given = this.#words(find, values);
    const carried = carriedBy(this.#words(xargs, values)?.slice(1) ?? []);
    if (given === null || carried === null) return null;
    const isApart = given.at(-1) === '-print0';
    if (isApart !== carried.isApart) return null;
    const redirects = [...find.redirects, ...xargs.redirects].map((redirect) => this.#redirect(redirect, values));
    return all([...(isApart ? given.slice(0, -1) : given), '-exec', ...carried.words, ...new Set(redirects)]);
  }
}

/** Returns the command that xargs runs, with the place of the names and the end, or null if a flag is not known. */
function carriedBy(args: readonly string[]): { readonly words: readonly string[]; readonly isApart: boolean } | null {
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

/** Returns the text of a part, or null if it is not known. A shell splits an unquoted value that has blanks or patterns. */
function textOf(part: WordPart, values: Values, isQuoted: boolean): string | null {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'Glob':
      return part.value;
    case 'DoubleQuoted': {
      const texts = part.parts.map((child) => textOf(child, values, true));
      return texts.includes(null) ? null : texts.join('');
    }
    case 'SimpleExpansion':
      return valueOf(part.text.slice(1), values, isQuoted);
    case 'ParameterExpansion':
      return part.text === `\${${part.parameter}}` ? valueOf(part.parameter, values, isQuoted) : null;
    default:
      return null;
  }
}

function valueOf(name: string, values: Values, isQuoted: boolean): string | null {
  const value = values.get(name);
  return value !== undefined && (isQuoted || plainText.test(value)) ? value : null;
}

function unquoted(word: string): string {
  return /^'[^']*'$|^"[^"$`\\]*"$/.test(word) ? word.slice(1, -1) : word;
}

function all(texts: readonly (string | null)[], joint = ' '): string | null {
  return texts.includes(null) ? null : texts.join(joint);
}
