// Reads the arguments of read-only programs by the table of known flags. Returns the files they read, or null if not all are understood.

import { awkFiles } from './awk-program.ts';
import { areWords, flagTables, readArguments, type GivenArguments } from './argument-reader.ts';
import { readers } from './command-table.ts';
import type { Operands, Reader } from './reader-form.ts';
import { sedFiles } from './sed-script.ts';
import { behindPriority, isHarmlessVariable, timeLimit } from './script-forms.ts';

/** A folder that the command walks, although its arguments name no file in it. */
export interface FolderWalk {
  /** As given, relative to the folder the command runs in. */
  readonly root: string;
  /** content: the command reads the files. names: it only lists them. */
  readonly shows: 'content' | 'names';
  /** False if names that begin with a dot are skipped unless an ignore file includes them. */
  readonly entersHidden: boolean;
  /** The maximum depth; unlimited if absent. */
  readonly depthMax?: number;
  /** Names of folders that are skipped. */
  readonly leavesOut?: readonly string[];
  /** Set if only files whose names end so are read. */
  readonly endings?: readonly string[];
  /** True if folders named in an ignore file are skipped. */
  readonly obeysIgnoreFiles?: true;
  /** Set if a program opens the files that are found: those whose names end so (all if null), and only plain files if `areFiles`. */
  readonly opens?: { readonly endings: readonly string[] | null; readonly areFiles: boolean };
}

interface Meant {
  /** Programs that it may start, found on the search path. */
  readonly starts?: readonly string[];
  /** Paths as given, relative to the folder the command runs in. */
  readonly files: readonly string[];
  readonly walks: readonly FolderWalk[];
  /** True if the command would walk a folder among its files and follow links. */
  readonly refusesFolders?: boolean;
}

/** The files that a command with harmless arguments reads. */
export interface Reading extends Meant {
  /** For example "lists files". Shown to the person. */
  readonly reads: string;
}

const readerFlags = flagTables(readers);

export const isReader = (program: string): boolean => Object.hasOwn(readers, program);
/** Programs that a reader starts in any case. */
export const startedBy = (program: string): readonly string[] => (isReader(program) ? (readers[program]?.starts ?? []) : []);

/** The arguments of a program that has known flags. */
export function argumentsOf(program: string, args: readonly string[]): GivenArguments | null {
  const table = readerFlags.get(program);
  return table === undefined ? null : readArguments(args, table);
}

/** Reads the arguments, without the program. Returns null if they are not all known to be harmless. */
export function readReader(program: string, args: readonly string[]): Reading | null {
  const known = isReader(program) ? readers[program] : undefined;
  if (known === undefined) return null;
  if (known.words === undefined) return readFlags(program, args, known);
  return areWords(args, known.words) ? { ...nothing, reads: known.reads } : null;
}

function readFlags(program: string, args: readonly string[], known: Reader): Reading | null {
  const table = readerFlags.get(program);
  const words = rewordings[program]?.(args) ?? args;
  const given = table === undefined ? wordsAlone(args) : readArguments(words, table);
  if (given === null || (known.only !== undefined && !given.has(...known.only))) return null;
  const meant = meanings[known.operands ?? 'files'](given, program === '[' ? withoutBracket(args) : args);
  if (meant === null) return null;
  // `-` is the input, which is empty.
  const starts = [...(known.starts ?? []), ...(meant.starts ?? [])];
  const read = [...given.files, ...meant.files].filter((file) => file !== '-');
  return { ...meant, reads: known.reads, files: read, ...(starts.length === 0 ? {} : { starts }) };
}

/** The first word of tar may be a bundle of flags without its dash. A value follows only the last letter here. */
function withDash([first = '', ...rest]: readonly string[]): readonly string[] {
  return [/^[tvzjJ]+f?$/.test(first) ? `-${first}` : first, ...rest];
}

/** `--arg NAME TEXT` gives a variable; a name that is also one of jq is refused with the filter. After `--` it names a file. */
function withoutVariables(args: readonly string[]): readonly string[] {
  const at = args.findIndex((word, index) => word === '--' || (/^--arg(?:json)?$/.test(word) && args.length > index + 2));
  return at < 0 || args[at] === '--' ? args : [...args.slice(0, at), ...withoutVariables(args.slice(at + 3))];
}

const rewordings: Readonly<Record<string, (args: readonly string[]) => readonly string[]>> = { tar: withDash, jq: withoutVariables };

/** Returns no words if the bracket is not closed at the end. */
const withoutBracket = (args: readonly string[]): readonly string[] => (args.at(-1) === ']' ? args.slice(0, -1) : []);

function wordsAlone(args: readonly string[]): GivenArguments {
  return { flags: [], operands: args, files: [], has: () => false };
}

const files = (names: readonly string[]): Meant => ({ files: names, walks: [] });
const nothing = files([]);
const filesIf = (isKnown: boolean, names: readonly string[]): Meant | null => (isKnown ? files(names) : null);
const filesOrNull = (names: readonly string[] | null): Meant | null => filesIf(names !== null, names ?? []);
/** The operands, or the folder the command runs in. */
const placesOf = (operands: readonly string[]): readonly string[] => (operands.length === 0 ? ['.'] : operands);

function walkPlaces(operands: readonly string[], walk: Omit<FolderWalk, 'root'>): Meant {
  const places = placesOf(operands);
  return { files: places, walks: places.map((root) => ({ ...walk, root })) };
}

const meanings: Readonly<Record<Operands, (given: GivenArguments, args: readonly string[]) => Meant | null>> = {
  files: ({ operands }) => files(operands),
  text: () => nothing,
  none: ({ operands }) => filesIf(operands.length === 0, []),
  'at most one file': ({ operands }) => filesIf(operands.length <= 1, operands),
  'test expression': (_, args) => testFiles(args),
  'archive members': ({ operands, files: named, flags }) => {
    const isNamed = flags.some(({ flag }) => flag === '-f' || flag === '--file');
    const [archive, ...more] = isNamed ? named : operands;
    if (archive === undefined || (isNamed && more.length > 0) || !archiveName.test(archive)) return null;
    // A program that finds no such archive adds the suffix.
    return isNamed ? nothing : files([archive, `${archive}.zip`, `${archive}.ZIP`]);
  },
  // A name without the suffix may mean a file with it.
  'compressed files': ({ operands }) =>
    filesIf(
      operands.every((name) => /\.t?gz$/.test(name)),
      operands,
    ),
  'files, no line number': ({ operands }) => filesIf(!operands.some((operand) => operand.startsWith('+')), operands),
  'files, no lists': ({ operands }, args) => filesIf(!args.some((word) => word.startsWith('@')), operands),
  'files, no folders': ({ operands }) => ({ ...files(operands), refusesFolders: true }),
  'folders listed': (given) => (given.has('-R', '--recursive') ? meanings['folders walked'](given, []) : files(placesOf(given.operands))),
  'folders walked': ({ operands }) => walkPlaces(operands, { shows: 'names', entersHidden: true }),
  // Operands with a folder in them are read; a bare name is only compared.
  'program names': ({ operands }) => files(operands.filter((name) => name.includes('/'))),
  'date format': ({ operands }) =>
    filesIf(
      operands.every((format) => format.startsWith('+')),
      [],
    ),
  'print format': ({ operands: [format] }) => filesIf(format !== undefined && !format.startsWith('-'), []),
  'pattern, then files': (given) => {
    const operands = behindPattern(given, '-e', '--regexp', '-f', '--file');
    if (operands === null || !given.has('-r', '--recursive')) return operands === null ? null : files(operands);
    const leavesOut = valuesOf(given, '--exclude-dir').filter((name) => /^[\w.-]+$/.test(name));
    // Names that match no pattern are read if the first pattern excludes.
    const endings = given.has('--exclude') ? null : endingsOf(valuesOf(given, '--include'));
    return walkPlaces(operands, {
      shows: 'content',
      entersHidden: true,
      ...(leavesOut.length === 0 ? {} : { leavesOut }),
      ...(endings === null ? {} : { endings }),
    });
  },
  'pattern, then files without hidden ones': (given) => {
    if (given.has('--type-list')) return nothing;
    const operands = behindPattern(given, '-e', '--regexp', '-f', '--file', '--files');
    const globs = valuesOf(given, '-g', '--glob', '--iglob');
    const wanted = globs.filter((glob) => !glob.startsWith('!'));
    // A glob or a type that matches a hidden name includes it again.
    const entersHidden = wanted.length > 0 || given.has('--hidden', '-u', '--unrestricted', '-t', '--type', '-T', '--type-not');
    const endings = given.has('--iglob') ? null : endingsOf(wanted);
    // A glob also includes again what an ignore file leaves out.
    const obeysIgnoreFiles = globs.length === 0 && !given.has('-u', '--unrestricted', '--no-ignore');
    return operands === null
      ? null
      : walkPlaces(operands, {
          shows: 'content',
          entersHidden,
          ...(endings === null ? {} : { endings }),
          ...(obeysIgnoreFiles ? { obeysIgnoreFiles } : {}),
        });
  },
  'command for any words': (_, args) => passedOn(args),
  'time limit, then command': (_, [limit = '', program = '', ...args]) =>
    timeLimit.test(limit) && program !== 'timeout' ? startedWith(program, args) : null,
  'priority, then command': (_, args) => {
    const [program = '', ...rest] = behindPriority(args);
    return program === 'nice' ? null : startedWith(program, rest);
  },
  'variables, then command': (_, args) => {
    const [program = '', ...rest] = args.slice(args.findIndex((word) => !isHarmlessVariable(word)));
    return isHarmlessVariable(args[0] ?? '') && program !== 'env' ? startedWith(program, rest) : null;
  },
  'variable names': ({ operands }) => filesIf(operands.length > 0 && operands.every((name) => plainVariable.test(name)), []),
  'database, then queries': (given, args) => {
    const [file = '', ...queries] = given.operands;
    // Its start file, and an argument that it takes for a flag, could hold other commands.
    const isSafe = given.has('-safe') && given.has('-readonly') && valuesOf(given, '-init').join() === '/dev/null' && !args.includes('--');
    const isKnown = isSafe && !/^file:/i.test(file) && queries.length > 0 && queries.every((query) => sqlQuery.test(query));
    return filesIf(isKnown, [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]);
  },
  'find expression': ({ operands }) => findExpression(operands),
  'sed script': ({ operands }) => filesOrNull(sedFiles(operands)),
  'awk program': ({ operands }) => filesOrNull(awkFiles(operands)),
  'jq filter, then files': ({ operands: [filter, ...rest] }, args) => {
    if (filter === undefined || jqReaches.test(filter)) return null;
    // The treatment of `--` differs between versions of jq.
    return filesIf(!args.includes('--') && !rest.some((file) => file.startsWith('-')), rest);
  },
};

/** Variables that hold no secret. */
const plainVariable = /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|LANG|LC_\w+|TERM|TMPDIR|TZ)$/;

/** One query, or a command of sqlite3 that shows the tables. */
const sqlQuery =
  /^\s*(?:(?:select|with|values|explain)\b[^;]*(?:;\s*)?|pragma \w+(?:\(\w+\))?;?|\.(?:tables|schema|indexes|dump|databases)(?: \w+)?)$/i;

/** Programs that only print, whatever their arguments. */
const onlyPrints: ReadonlySet<string> = new Set(['echo', 'basename', 'dirname']);

/** A reader that another program starts. */
function startedWith(program: string, args: readonly string[]): Meant | null {
  const reading = readReader(program, args);
  return reading === null ? null : { ...reading, starts: [program, ...(reading.starts ?? [])] };
}

/** `xargs` with one of these programs. Its input may be any words, which become arguments. */
function passedOn(args: readonly string[]): Meant | null {
  const pending = [...args].reverse();
  for (let flag = pending.at(-1); flag?.startsWith('-') === true; flag = pending.at(-1)) {
    pending.pop();
    const isCounted = /^-[nL]$/.test(flag) && /^\d+$/.test(pending.pop() ?? '');
    if (!isCounted && !/^(?:-0|--null|-r|--no-run-if-empty|-[nL]\d+|--max-args=\d+)$/.test(flag)) return null;
  }
  const program = pending.pop() ?? 'echo';
  // The words follow the format.
  const format = program === 'printf' ? pending.pop() : undefined;
  const isKnown = onlyPrints.has(program) || (format !== undefined && !format.startsWith('-'));
  return isKnown ? { ...nothing, starts: [program] } : null;
}

/** Excludes patterns, and names of archives on other machines (`host:file`). */
const archiveName = /^[^:*?[\]\\]+$/;

const fileTest = /^-[bcdefghkprsuwxGLNOS]$/;
const comparison = /^(?:==?|!=|-(?:eq|ne|lt|le|gt|ge))$/;
const comparesFiles = /^-(?:nt|ot|ef)$/;

/**
 * Reads one test of a file or a text, or one comparison, possibly with a `!`. Excludes forms that shells evaluate (`-v`, numbers that are
 * no digits) and longer expressions, which shells read in different ways.
 */
function testFiles(words: readonly string[]): Meant | null {
  const [first = '', second = '', third, ...more] = words[0] === '!' && words.length > 1 ? words.slice(1) : words;
  if (first === '' || first === '!' || first === '(' || more.length > 0 || words.at(-1) === '') return null;
  if (third !== undefined) return comparedFiles(first, second, third);
  if (second === '') return filesIf(!first.startsWith('-'), []);
  return first === '-n' || first === '-z' ? nothing : filesIf(fileTest.test(first), [second]);
}

function comparedFiles(first: string, sign: string, second: string): Meant | null {
  if (comparesFiles.test(sign)) return files([first, second]);
  const isNumeric = sign.startsWith('-');
  return filesIf(comparison.test(sign) && (!isNumeric || [first, second].every((number) => /^-?\d{1,9}$/.test(number))), []);
}

/** Returns the operands after the pattern, or null if there is no pattern and no flag gave one. */
function behindPattern(given: GivenArguments, ...patternFlags: readonly string[]): readonly string[] | null {
  if (given.has(...patternFlags)) return given.operands;
  return given.operands.length === 0 ? null : given.operands.slice(1);
}

function valuesOf({ flags }: GivenArguments, ...names: readonly string[]): readonly string[] {
  return flags.flatMap(({ flag, value }) => (value !== null && names.includes(flag) ? [value] : []));
}

/** Returns the endings of names that match one of the patterns, or null if they are not known. */
function endingsOf(patterns: readonly string[]): readonly string[] | null {
  const endings = patterns.map((pattern) => /^\*(\.[\w.-]+)$/.exec(pattern)?.[1]);
  return endings.length === 0 || endings.includes(undefined) ? null : endings.filter((ending) => ending !== undefined);
}

/** Words of jq that read other files or the environment. */
const jqReaches = /\b(?:import|include|env|ENV|modulemeta|get_search_list|input_filename|debug|stderr)\b|\$__/;

/** Words of find that only read, by the kind of word that follows: none, a text, a number or a path. */
const findWords: ReadonlyMap<string, 'alone' | 'text' | 'number' | 'path'> = new Map(
  Object.entries({
    alone: `! ( ) , -a -and -o -or -not -true -false -print -print0 -ls -prune -quit -empty -depth -mount -xdev -daystart -noleaf
      -readable -writable -executable -nouser -nogroup`,
    text: `-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -size -perm -user -group -printf -fstype
      -newermt -newerat -newerct -mtime -atime -ctime -mmin -amin -cmin -links -inum -uid -gid`,
    number: '-maxdepth -mindepth',
    path: '-newer -anewer -cnewer -samefile',
  } as const).flatMap(([kind, words]) => words.split(/\s+/).map((word) => [word, kind as 'alone' | 'text' | 'number' | 'path'] as const)),
);

function findExpression(words: readonly string[]): Meant | null {
  const start = words.findIndex((word) => word.startsWith('-') || word === '(' || word === ')' || word === '!' || word === ',');
  const roots = start < 0 ? words : words.slice(0, start);
  const reader = new FindReader(placesOf(roots), start < 0 ? [] : words.slice(start));
  return reader.readAll() ? reader.meaning(roots) : null;
}

/** Takes the place of a file that is found. No argument contains this character. */
const foundFile = '\0';

class FindReader {
  readonly #roots: readonly string[];
  readonly #pending: string[];
  readonly #compared: string[] = [];
  readonly #depths: number[] = [];
  readonly #carried: Meant[] = [];
  /** Conditions on the files that a command gets. In parentheses, after an `or` or a `not`, a condition may hold for other files as well. */
  readonly #opens: { endings: readonly string[] | null; areFiles: boolean } = { endings: null, areFiles: false };
  #isConjunction = true;
  #isNegated = false;
  #parentheses = 0;

  constructor(roots: readonly string[], expression: readonly string[]) {
    this.#roots = roots;
    this.#pending = [...expression].reverse();
  }

  /** Returns false at a word that is not known to only read. */
  readAll(): boolean {
    for (let word = this.#pending.pop(); word !== undefined; word = this.#pending.pop()) {
      const isKnown = word === '-exec' ? this.#command() : this.#condition(word, findWords.get(word));
      if (!isKnown) return false;
      this.#isNegated = word === '!' || word === '-not';
    }
    return true;
  }

  meaning(roots: readonly string[]): Meant {
    const depth = this.#depths.length === 0 ? {} : { depthMax: Math.max(...this.#depths) };
    const opened = this.#isConjunction ? this.#opens : { endings: null, areFiles: false };
    const carries = this.#carried.length > 0;
    const gone = walkPlaces(roots, { shows: 'names', entersHidden: true, ...depth, ...(carries ? { opens: opened } : {}) });
    const names = [...gone.files, ...this.#compared, ...this.#carried.flatMap((one) => one.files)];
    return { ...gone, files: names, ...(carries ? { starts: this.#carried.flatMap(({ starts }) => starts ?? []) } : {}) };
  }

  #condition(word: string, kind: 'alone' | 'text' | 'number' | 'path' | undefined): boolean {
    if (kind === 'alone') this.#join(word);
    if (kind === undefined || kind === 'alone') return kind !== undefined;
    const value = this.#pending.pop();
    if (value === undefined || (kind === 'number' && !/^\d{1,4}$/.test(value))) return false;
    if (kind === 'path') this.#compared.push(value);
    if (word === '-maxdepth') this.#depths.push(Number(value));
    if (this.#carried.length === 0 && this.#parentheses === 0 && !this.#isNegated) this.#limit(word, value);
    return true;
  }

  #join(word: string): void {
    if (word === '(' && this.#carried.length === 0 && this.#parentheses === 0 && !this.#isNegated)
      this.#opens.endings ??= this.#namesAhead();
    if (word === '(') this.#parentheses += 1;
    if (word === ')') this.#parentheses -= 1;
    if (/^(?:-o|-or|,)$/.test(word)) this.#isConjunction &&= this.#parentheses > 0;
  }

  /** Returns the endings of `( -name '*.a' -o -name '*.b' )`, or null if the parentheses hold anything else. */
  #namesAhead(): readonly string[] | null {
    const ahead = this.#pending.toReversed();
    const inside = ahead.slice(0, ahead.indexOf(')'));
    const isList = inside.length % 3 === 2 && inside.every((word, at) => [word === '-name', true, /^-or?$/.test(word)][at % 3]);
    return isList ? endingsOf(inside.filter((_, at) => at % 3 === 1)) : null;
  }

  #limit(word: string, value: string): void {
    if (word === '-name') this.#opens.endings ??= endingsOf([value]);
    if (word === '-type' && value === 'f') this.#opens.areFiles = true;
  }

  /** Takes the command of `-exec` from the words. Returns false if it may do more than read the files that are found. */
  #command(): boolean {
    const command: string[] = [];
    let end = this.#pending.pop();
    // A `+` ends the command only after `{}`.
    for (; end !== undefined && end !== ';' && !(end === '+' && command.at(-1) === '{}'); end = this.#pending.pop()) command.push(end);
    const [program = '', ...args] = command;
    const isClear = args.filter((word) => word.includes('{}')).length === 1 && args.includes('{}');
    if (end === undefined || !isClear || !/^[a-z][\w-]*$/.test(program) || program === 'find') return false;
    const readings = this.#roots.map((root) => readingOfFound(program, args, root, end === '+'));
    for (const reading of readings) if (reading !== null) this.#carried.push(reading);
    return !readings.includes(null);
  }
}

/** If the files come all at once, the program must accept several. */
export function readingOfFound(program: string, args: readonly string[], root: string, areMany: boolean): Meant | null {
  const found = [`${root}/${foundFile}`, ...(areMany ? [`${root}/${foundFile}2`] : [])];
  const words = args.flatMap((word) => (word === '{}' ? found : [word]));
  const reading = readReader(program, words);
  if (reading === null || reading.walks.length > 0 || reading.refusesFolders === true) return null;
  const isText = readers[program]?.operands === 'text';
  if (!isText && !found.every((file) => reading.files.includes(file))) return null;
  return { files: reading.files.filter((file) => !file.includes(foundFile)), walks: [], starts: [program, ...(reading.starts ?? [])] };
}
