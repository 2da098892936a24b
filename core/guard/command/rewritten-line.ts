// Writes a script as an equal line of literal words: known variables and `~` by their values, a loop over known words as one command after
// another, a condition on a file as the branch that holds now, `find | xargs`, `find | while read` and `$(find)` as `find -exec`, `set -e` as
// `&&`, `echo "… $(LINE)"` as one output after another, and a text that a command is fed as a pipe.
// The new line is analysed and run in place of the original, so a mistake here can change what is read or written, never what is allowed.
// Starts nothing.

import type { AndOr, Assignment, Command, CommandNode, CompoundList, Redirection, Statement, TestExpression, Word, WordPart } from 'unbash';
import { conditionOf, wordsOfTest } from './file-condition.ts';
import { quote } from './joined-command.ts';
import { outputOfGit } from './git-output.ts';
import { lexLiteral } from './literal-lexer.ts';
import { expandPatterns, type OnListed } from './pattern-words.ts';
import {
  type Carried,
  askedSafely,
  bracedWords,
  carriedBy,
  leadsNowhere,
  loopVariable,
  nameRead,
  onlyCommand,
  optionsOf,
  type Output,
  partOfPath,
  type QuotedPart,
  unquoted,
  variablesBefore,
  withinQuotes,
} from './script-forms.ts';
import { isLiteral, parseShell } from './shell-tree.ts';

export interface LinePlace {
  /** Real path of the folder the line runs in. */
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly onListed?: OnListed;
}

type Values = Map<string, string>;

const LENGTH_MAX = 8192;
const COMMANDS_MAX = 60;
/** Variables that a shell leaves as they are. */
const kept = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'PATH', 'LANG', 'TMPDIR'];
/** Variables that the shell itself reads or changes. */
const shellVariable =
  /^(?:IFS|PATH|CDPATH|ENV|TMOUT|SECONDS|COLUMNS|LINES|LINENO|REPLY|E?UID|PPID|GROUPS|S?RANDOM|(?:BASH|EPOCH|GLOB|HIST|LANG|LC_|OPT|PIPE|POSIX|PS|SHELL)\w*)$/;
/** A sign that a line has something to rewrite. */
const rewritable =
  /[$~\n#`]|\[\[|<<|\{[^{}]*,|[|;&]\s*[A-Z_]+=|\b(?:for|if|xargs|while|set)\b|\bcommand -v\b|(?<!-)\btype\b|\bsqlite3\b|^\s*(?:[({]|\w+=)/;
/** Signs that the folder of a later command may be another. */
const entersFolder = /\b(?:cd|pushd|popd)\b/;
/** Text that a shell reads as it is, without quotes. */
const plainText = /^[\w./:,@%+-]+$/;

/** Returns null if the line needs no rewriting, or has a form that cannot be rewritten. */
export function rewriteLine(line: string, place: LinePlace): string | null {
  if (line.length > LENGTH_MAX || !rewritable.test(line)) return null;
  const tree = parseShell(line);
  if (tree === null || (tree.errors?.length ?? 0) > 0 || tree.shebang !== undefined) return null;
  const writer = new Writer(line, place);
  try {
    const given = kept.flatMap((name) => (place.environment[name] === undefined ? [] : [[name, place.environment[name]] as const]));
    const folder = entersFolder.test(line) ? [] : [['PWD', place.cwd] as const];
    const written = writer.script(tree.commands, new Map([...given, ...folder]));
    return written === null || written === '' || written === line ? null : written;
  } catch {
    // The parser reads parts lazily. If it fails here, it has not understood the line.
    return null;
  }
}

class Writer {
  readonly #line: string;
  readonly #place: LinePlace;
  #commands = 0;
  /** Set by `set -e`: the line ends at the first command that fails, with `pipefail` also at the first in a pipe. */
  #stops: 'never' | 'command' | 'pipe' = 'never';

  constructor(line: string, place: LinePlace) {
    this.#line = line;
    this.#place = place;
  }

  /** Returns null if one of them cannot be written. */
  script(list: readonly Statement[], values: Values): string | null {
    const [first, ...rest] = list;
    const options = first === undefined ? null : optionsOf(first);
    if (options === null) return this.statements(list, values);
    this.#stops = options;
    return this.statements(rest, values);
  }

  statements(list: readonly Statement[], values: Values): string | null {
    return this.#sequence(list.map((statement) => this.#statement(statement, values, list.length === 1)));
  }

  /** Returns an empty text for a statement that only sets variables. */
  #statement({ command, background }: Statement, values: Values, isAlone: boolean): string | null {
    if (background === true) return null;
    if (this.#stops !== 'never' && (command.type === 'AndOr' || command.type === 'If')) return null;
    if (command.type === 'AndOr') return this.#list(command, values);
    if (command.type === 'For') return this.#loop(command, values);
    if (command.type === 'If') return this.#branch(command, values);
    // A group may enter a folder, and only a subshell leaves it at its end.
    if (isAlone && (command.type === 'Subshell' || command.type === 'BraceGroup')) return this.statements(command.body.commands, values);
    return this.#sets(command, values) ? '' : (this.#printed(command, values) ?? this.#pipeline(command, values));
  }

  #list({ commands, operators }: AndOr, values: Values): string | null {
    let first = 0;
    for (let one = commands[0]; one !== undefined && operators[first] === '&&' && this.#sets(one, values); one = commands[first])
      first += 1;
    // After `||`, only the first of several commands would depend on it.
    const printed = (one: AndOr['commands'][number], at: number) =>
      operators[first + at - 1] === '||' ? null : this.#printed(one, values);
    const parts = commands.slice(first).map((one, at) => printed(one, at) ?? this.#pipeline(one, values));
    return parts.includes(null) ? null : parts.map((part, at) => (at === 0 ? part : `${operators[first + at - 1]} ${part}`)).join(' ');
  }

  /** Sets the variables if the command does nothing else. */
  #sets(command: AndOr['commands'][number], values: Values): boolean {
    if (command.type !== 'Command' || command.name !== undefined || command.redirects.length > 0) return false;
    return command.prefix.length > 0 && command.prefix.every((part) => part.type === 'Assignment' && this.#set(part, values));
  }

  #set({ name, value, append, index }: Assignment, values: Values): boolean {
    // A variable of the environment would reach the programs.
    const isOwn = !shellVariable.test(name) && this.#place.environment[name] === undefined && name !== 'PWD';
    const text = !isOwn || append === true || index !== undefined || value.type !== 'Word' ? null : textOfWord(value, values);
    if (text !== null) values.set(name, text);
    return text !== null;
  }

  #loop({ name, wordlist, body }: Extract<CommandNode, { type: 'For' }>, values: Values): string | null {
    if (wordlist === undefined || !loopVariable.test(name.value)) return null;
    const listed = all(wordlist.map((word) => this.#word(word, values)));
    const words = listed === null ? null : lexLiteral(expandPatterns(listed, this.#place.cwd, this.#place.onListed) ?? listed);
    if (words?.ok !== true) return null;
    const rounds: (string | null)[] = [];
    for (const { text } of words.value) {
      if (this.#commands > COMMANDS_MAX) return null;
      rounds.push(this.statements(body.commands, values.set(name.value, text)));
    }
    return rounds.length === 0 ? null : this.#sequence(rounds);
  }

  /** Writes the conditions up to the one that holds, and its branch. A line that only reads cannot change what they say. */
  #branch({ clause, then, elif, else: otherwise }: Extract<CommandNode, { type: 'If' }>, values: Values): string | null {
    const conditions: string[] = [];
    for (const one of [{ clause, then }, ...elif]) {
      const condition = this.#condition(one.clause, values);
      const holds = condition === null ? null : conditionOf(condition, this.#place.cwd);
      if (condition === null || holds === null) return null;
      conditions.push(condition);
      if (holds) return this.#sequence([...conditions, this.statements(one.then.commands, values)]);
    }
    if (otherwise !== undefined) return this.#sequence([...conditions, this.statements(otherwise.commands, values)]);
    return `${conditions.join('; ')} || true`;
  }

  #condition({ commands: [statement, ...more] }: CompoundList, values: Values): string | null {
    if (statement === undefined || more.length > 0 || statement.background === true) return null;
    const { command } = statement;
    const isTest = command.type === 'TestCommand' || (command.type === 'Command' && command.redirects.length === 0);
    return isTest ? this.#pipeline(command, values) : null;
  }

  /** `echo "a $(LINE)"` as `printf %s 'a ' && LINE | … && echo`. Awk puts the lines of an output together as a shell does. */
  #printed(command: AndOr['commands'][number], values: Values): string | null {
    if (command.type !== 'Command' || command.name?.text !== 'echo' || command.prefix.length + command.redirects.length > 0) return null;
    const pieces = piecesOf(command.args, values);
    if (pieces?.some((piece) => typeof piece !== 'string') !== true) return null;
    const written = pieces
      .filter((piece) => piece !== '')
      .map((piece) => (typeof piece === 'string' ? `printf %s ${quote(piece)}` : this.#output(piece, values)));
    return all([...written, 'echo'], ' && ');
  }

  #output({ script, isQuoted }: Output, values: Values): string | null {
    const [statement, ...more] = script.commands;
    if (statement === undefined || more.length > 0 || statement.background === true || statement.command.type === 'AndOr') return null;
    const line = this.#pipeline(statement.command, values);
    return line === null
      ? null
      : `${line} | awk '${isQuoted ? '{printf "%s%s", s, $0; s = RS}' : '{$1 = $1; printf "%s%s", s, $0; s = OFS}'}'`;
  }

  #pipeline(node: Exclude<Statement['command'], { type: 'AndOr' }>, values: Values): string | null {
    if (node.type === 'TestCommand') return this.#test(node.expression, values);
    if (node.type !== 'Pipeline') return node.type === 'Command' ? this.#command(node, values) : null;
    if (node.prefixes.length > 0 || node.operators.some((operator) => operator !== '|')) return null;
    const [first, second, ...rest] = node.commands;
    const merged = first?.type === 'Command' && second !== undefined ? this.#foundFiles(first, second, values) : null;
    if (this.#stops === 'pipe' && (merged === null || rest.length > 0)) return null;
    const parts = merged === null ? node.commands : rest;
    const written = parts.map((part) => (part.type === 'Command' ? this.#command(part, values) : null));
    return all(merged === null ? written : [merged, ...written], ' | ');
  }

  #command(command: Command, values: Values): string | null {
    this.#commands += 1;
    const words = this.#words(command, values);
    if (this.#commands > COMMANDS_MAX) return null;
    if (words === null) return this.#onFound(command, values);
    const [program, flag, ...names] = words;
    const asked = askedSafely(words) ?? (program === 'command' && flag === '-v' ? ['which', ...names] : words);
    const fed = command.redirects.length === 0 ? null : fedLines(command.redirects, values);
    const redirects = fed === null ? command.redirects : command.redirects.slice(1);
    const written = all([...asked, ...redirects.map((redirect) => this.#redirect(redirect, values))]);
    return fed === null || written === null ? written : `printf '%s\\n' ${fed.map(quote).join(' ')} | ${written}`;
  }

  /** `READER a $(find …)` as `find … -exec READER a {} +`. */
  #onFound(command: Command, values: Values): string | null {
    const last = command.args.at(-1);
    const [part, ...more] = last?.type === 'Word' ? (last.parts ?? []) : [];
    const find = part?.type === 'CommandExpansion' && part.script !== undefined && more.length === 0 ? onlyCommand(part.script) : null;
    if (find === null || find.name?.text !== 'find') return null;
    const [found, taker] = [this.#words(find, values), this.#words(command, values, command.args.slice(0, -1))];
    if (found === null || taker === null) return null;
    const redirects = [...find.redirects, ...command.redirects].map((redirect) => this.#redirect(redirect, values));
    return all([...found, '-exec', ...taker, '{}', '+', ...new Set(redirects)]);
  }

  /** Writes `[[ … ]]` as `[ … ]`, if it is one test. */
  #test(expression: TestExpression, values: Values): string | null {
    this.#commands += 1;
    const words = wordsOfTest(expression)?.map((word) => (typeof word === 'string' ? word : quoted(textOfWord(word, values))));
    return words === undefined ? null : all(['[', ...words, ']']);
  }

  #words(command: Command, values: Values, given = command.args): readonly string[] | null {
    const { name } = command;
    const variables = variablesBefore(command);
    // A program that is only known by a variable is not one that reads.
    if (variables === null || name === undefined || name.text === 'set' || !isLiteral(name)) return null;
    const words = given.map((word) => (word.type === 'Word' ? this.#word(word, values) : null));
    return words.includes(null) ? null : [...variables, name.text, ...words.filter((word) => word !== null)];
  }

  #redirect(redirect: Redirection, values: Values): string | null {
    if (redirect.type !== 'Redirect' || redirect.target === undefined) return null;
    const target = this.#word(redirect.target, values);
    const isFile = /^(?:<|>>?)$/.test(redirect.operator);
    // The name of a file must stand without quotes.
    if (target === null || (isFile && !plainText.test(unquoted(target)))) return null;
    const before = this.#line.slice(redirect.pos, redirect.target.pos).trimEnd();
    return `${before}${isFile ? unquoted(target) : target}`;
  }

  /** Writes a word without expansions, or as it was if it has none. Patterns remain. */
  #word(word: Word, values: Values): string | null {
    if (isLiteral(word) && !isInHome(word)) return word.text;
    const braced = bracedWords(word);
    if (braced !== null) return braced.join(' ');
    const text = textOfWord(word, values);
    if (text === null || word.parts?.some((part) => part.type === 'Glob') !== true) return quoted(text);
    return plainText.test(text.replace(/[*?]/g, '')) ? text : null;
  }

  /** `find … | xargs READER` as `find … -exec READER {} +`, which passes each name as it is. */
  #foundFiles(find: Command, taker: CommandNode, values: Values): string | null {
    if (find.name?.text !== 'find' || (taker.type !== 'Command' && taker.type !== 'While')) return null;
    const given = this.#words(find, values);
    const carried = taker.type === 'While' ? this.#eachLine(taker, values) : this.#byXargs(taker, values);
    if (given === null || carried === null) return null;
    const isApart = given.at(-1) === '-print0';
    if (isApart !== carried.isApart) return null;
    const redirects = [...find.redirects, ...carried.redirects].map((redirect) => this.#redirect(redirect, values));
    return all([...(isApart ? given.slice(0, -1) : given), '-exec', ...carried.words, ...new Set(redirects)]);
  }

  #byXargs(xargs: Command, values: Values): Carried | null {
    const carried = xargs.name?.text === 'xargs' ? carriedBy(this.#words(xargs, values)?.slice(1) ?? []) : null;
    return carried === null ? null : { ...carried, redirects: xargs.redirects };
  }

  /** `while read -r x; do READER "$x"; done` runs one command for each name, which is one word of it. */
  #eachLine({ kind, clause, body }: Extract<CommandNode, { type: 'While' }>, values: Values): Carried | null {
    const [read, command] = [onlyCommand(clause), onlyCommand(body)];
    const name = read === null ? null : nameRead(read);
    if (kind !== 'while' || name === null || command === null || command.prefix.length > 0) return null;
    const texts = [command.name, ...command.args].map((word) => (word?.type === 'Word' ? word.text : ''));
    const isMark = (text: string): boolean => [`"$${name}"`, `"\${${name}}"`].includes(text);
    if (texts.filter(isMark).length !== 1 || texts.some((text) => !isMark(text) && text.includes('$'))) return null;
    const known = this.#words(command, new Map([...values, [name, 'found']]));
    if (known === null || known.length !== texts.length) return null;
    return {
      words: [...known.map((word, at) => (isMark(texts[at] ?? '') ? '{}' : word)), "';'"],
      isApart: false,
      redirects: command.redirects,
    };
  }

  #sequence(texts: readonly (string | null)[]): string | null {
    return sequence(texts, this.#stops === 'never' ? '; ' : ' && ');
  }
}

/** Returns the known texts and the outputs that these words consist of, or null if there is something else. */
function piecesOf(words: Command['args'], values: Values): readonly (string | Output)[] | null {
  const pieces: (string | Output)[] = [];
  let text = '';
  for (const [at, word] of words.entries()) {
    if (word.type !== 'Word' || (at === 0 && word.text.startsWith('-'))) return null;
    text += at > 0 ? ' ' : '';
    const whole = textOfWord(word, values);
    const found = whole === null ? (word.parts ?? []).flatMap(withinQuotes).map((one) => pieceOf(one, values)) : [whole];
    for (const piece of found) {
      if (piece === null) return null;
      if (typeof piece !== 'string') pieces.push(text, piece);
      text = typeof piece === 'string' ? text + piece : '';
    }
  }
  return [...pieces, text];
}

function pieceOf({ part, isQuoted }: QuotedPart, values: Values): string | Output | null {
  const script = part.type === 'CommandExpansion' ? part.script : undefined;
  return textOf(part, values, isQuoted) ?? (script === undefined ? null : { script, isQuoted });
}

/** Returns the lines of a here-document or here-string if it comes first, its text is known and the output goes to no file. */
function fedLines([fed, ...others]: readonly Redirection[], values: Values): readonly string[] | null {
  if (fed === undefined || fed.descriptor !== undefined || !others.every(leadsNowhere)) return null;
  if (fed.type === 'HereString') return fed.target === undefined ? null : (textOfWord(fed.target, values)?.split('\n') ?? null);
  if (fed.type !== 'HereDoc' || fed.operator !== '<<' || /[$`\\]/.test(fed.body.text) || !fed.body.text.endsWith('\n')) return null;
  return fed.body.text.slice(0, -1).split('\n');
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
    case 'CommandExpansion': {
      const value = part.script === undefined ? null : outputOf(part.script, values);
      return value !== null && (isQuoted || plainText.test(value)) ? value : null;
    }
    default:
      return null;
  }
}

/** Returns the text of a word, with its patterns, or null if it is not known. */
function textOfWord(word: Word, values: Values): string | null {
  const parts = (word.parts ?? [{ type: 'Literal', value: word.value, text: word.text, pos: word.pos, end: word.end } as const]).map(
    (part) => textOf(part, values, false),
  );
  const home = isInHome(word) ? values.get('HOME') : '';
  return parts.includes(null) || home === undefined ? null : `${home}${parts.join('').slice(isInHome(word) ? 1 : 0)}`;
}

/** Returns the output of `pwd`, of a git command that is known, and of `basename` and `dirname` of a known path. */
function outputOf(script: Pick<CompoundList, 'commands'>, values: Values): string | null {
  const command = onlyCommand(script);
  if (command === null || command.prefix.length > 0 || command.redirects.length > 0) return null;
  const [path, ...others] = command.args.map((word) => (word.type === 'Word' ? textOfWord(word, values) : null));
  const name = command.name?.text;
  if (name === 'pwd' && path === undefined) return values.get('PWD') ?? null;
  const pwd = values.get('PWD');
  if (name === 'git') return pwd === undefined ? null : outputOfGit([path, ...others], pwd);
  return typeof path === 'string' && others.length === 0 ? partOfPath(name, path) : null;
}

function valueOf(name: string, values: Values, isQuoted: boolean): string | null {
  const value = values.get(name);
  return value !== undefined && (isQuoted || plainText.test(value)) ? value : null;
}

const isInHome = (word: Word): boolean => /^~(?:\/|$)/.test(word.text);

function quoted(text: string | null): string | null {
  return text === null ? null : quote(text);
}

/** Statements that only set variables are empty. */
function sequence(texts: readonly (string | null)[], joint: string): string | null {
  return all(
    texts.filter((text) => text !== ''),
    joint,
  );
}

/** Returns null if one of them is null. */
function all(texts: readonly (string | null)[], joint = ' '): string | null {
  return texts.includes(null) ? null : texts.join(joint);
}
