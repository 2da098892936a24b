// Reads the arguments of read-only programs by the table of known flags. Returns the files they read, or null if not all are understood.

import { awkFiles } from './awk-program.ts';
import { flagTables, readArguments, type GivenArguments } from './argument-reader.ts';
import { readers, type Operands } from './command-table.ts';

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
  /** Set if a program opens the files that are found: those whose names end so, and only plain files if `areFiles`. */
  readonly opens?: { readonly ending: string; readonly areFiles: boolean };
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

/** Reads the arguments, without the program. Returns null if they are not all known to be harmless. */
export function readReader(program: string, args: readonly string[]): Reading | null {
  const known = isReader(program) ? readers[program] : undefined;
  if (known === undefined) return null;
  const table = readerFlags.get(program);
  const words = program === 'tar' ? withDash(args) : args;
  const given = table === undefined ? wordsAlone(args) : readArguments(words, table);
  if (given === null || (known.only !== undefined && !given.has(...known.only))) return null;
  const meant = meanings[known.operands ?? 'files'](given, program === '[' ? withoutBracket(args) : args);
  if (meant === null) return null;
  // `-` is the input, which is empty.
  const starts = [...(known.starts ?? []), ...(meant.starts ?? [])];
  const files = [...given.files, ...meant.files].filter((file) => file !== '-');
  return { ...meant, reads: known.reads, files, ...(starts.length === 0 ? {} : { starts }) };
}

/** The first word of tar may be a bundle of flags without its dash. A value follows only the last letter here. */
function withDash([first = '', ...rest]: readonly string[]): readonly string[] {
  return [/^[tvzjJ]+f?$/.test(first) ? `-${first}` : first, ...rest];
}

/** Returns no words if the bracket is not closed at the end. */
function withoutBracket(args: readonly string[]): readonly string[] {
  return args.at(-1) === ']' ? args.slice(0, -1) : [];
}

function wordsAlone(args: readonly string[]): GivenArguments {
  return { flags: [], operands: args, files: [], has: () => false };
}

const files = (names: readonly string[]): Meant => ({ files: names, walks: [] });
const nothing = files([]);
const filesIf = (isKnown: boolean, names: readonly string[]): Meant | null => (isKnown ? files(names) : null);
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
    return walkPlaces(operands, { shows: 'content', entersHidden: true });
  },
  'pattern, then files without hidden ones': (given) => {
    if (given.has('--type-list')) return nothing;
    const operands = behindPattern(given, '-e', '--regexp', '-f', '--file', '--files');
    // A glob or a type that matches a hidden name includes it again.
    const entersHidden = given.has('--hidden', '-u', '--unrestricted', '-g', '--glob', '--iglob', '-t', '--type', '-T', '--type-not');
    return operands === null ? null : walkPlaces(operands, { shows: 'content', entersHidden });
  },
  'find expression': ({ operands }) => findExpression(operands),
  'sed script': ({ operands }) => sedFiles(operands),
  'awk program': ({ operands }) => {
    const names = awkFiles(operands);
    return filesIf(names !== null, names ?? []);
  },
  'jq filter, then files': ({ operands: [filter, ...rest] }, args) => {
    if (filter === undefined || jqReaches.test(filter)) return null;
    // The treatment of `--` differs between versions of jq.
    return filesIf(!args.includes('--') && !rest.some((file) => file.startsWith('-')), rest);
  },
};

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
  const [first = '', second = '', third = '', ...more] = words[0] === '!' && words.length > 1 ? words.slice(1) : words;
  if (first === '' || more.length > 0 || first === '!' || first === '(') return null;
  if (third === '') {
    if (words.at(-1) === '') return null;
    if (second === '') return filesIf(!first.startsWith('-'), []);
    if (first === '-n' || first === '-z') return nothing;
    return filesIf(fileTest.test(first), [second]);
  }
  if (comparesFiles.test(second)) return files([first, third]);
  const isNumeric = second.startsWith('-');
  return filesIf(comparison.test(second) && (!isNumeric || [first, third].every((number) => /^-?\d{1,9}$/.test(number))), []);
}

/** Returns the operands after the pattern, or null if there is no pattern and no flag gave one. */
function behindPattern(given: GivenArguments, ...patternFlags: readonly string[]): readonly string[] | null {
  if (given.has(...patternFlags)) return given.operands;
  return given.operands.length === 0 ? null : given.operands.slice(1);
}

/**
 * A pattern of sed and the mark that ends it. Brackets must be closed before that mark, because some versions of sed ignore it in brackets:
 * in `/[/s|]/w x|y|p` they find the command `w`.
 */
const sedPattern = (mark: string): string =>
  String.raw`(?:[^${mark}\\\n[]|\\[^\n]|\[\^?\]?(?:[^\]\\${mark}\n[]|\\[^\]\\${mark}\n[]|\[:[a-z]+:\])*\])*[${mark}]`;
const sedText = (mark: string): string => String.raw`(?:[^${mark}\\\n]|\\[^\n])*[${mark}]`;
const sedAddress = String.raw`(?:\d+|\$|/${sedPattern('/')})`;
const sedReplacement = ['/', '|'].map((mark) => `[${mark}]${sedPattern(mark)}${sedText(mark)}`).join('|');
/** Flags of `s` other than these write or run something. */
const sedOne = String.raw`(?:${sedAddress}(?:,${sedAddress})?)?(?:[pdq=]|s(?:${sedReplacement})(?:g|p|i|I|\d){0,4})`;
/** sed commands that only print: lines by number or pattern, or the input with replacements. */
const sedCommands = new RegExp(String.raw`^${sedOne}(?:; ?${sedOne})*;?$`);

function sedFiles(words: readonly string[]): Meant | null {
  const scripts: string[] = [];
  const pending = [...words].reverse();
  for (let flag = pending.at(-1); flag !== undefined && /^-(?:n|E|r|nE|nr|En|rn|e|ne)$/.test(flag); flag = pending.at(-1)) {
    pending.pop();
    if (flag.endsWith('e')) scripts.push(pending.pop() ?? '');
  }
  if (scripts.length === 0) scripts.push(pending.pop() ?? '');
  const names = pending.reverse();
  return filesIf(scripts.every((script) => sedCommands.test(script)) && !names.some((file) => file.startsWith('-')), names);
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
  const compared: string[] = [];
  const depths: number[] = [];
  const carried: Meant[] = [];
  // Conditions on the files that a command gets. After an `or` or a `not`, a condition may hold for other files as well.
  const opens = { ending: '', areFiles: false };
  let isConjunction = true;
  const pending = start < 0 ? [] : words.slice(start).reverse();
  for (let word = pending.pop(); word !== undefined; word = pending.pop()) {
    if (word === '-exec') {
      const reading = execReading(pending, placesOf(roots));
      if (reading === null) return null;
      carried.push(reading);
      continue;
    }
    const kind = findWords.get(word);
    if (kind === undefined) return null;
    if (kind === 'alone') {
      isConjunction &&= !/^(?:-o|-or|,|[()!]|-not)$/.test(word);
      continue;
    }
    const value = pending.pop();
    if (value === undefined || (kind === 'number' && !/^\d{1,4}$/.test(value))) return null;
    if (kind === 'path') compared.push(value);
    if (word === '-maxdepth') depths.push(Number(value));
    if (carried.length > 0) continue;
    if (word === '-name' && opens.ending === '') opens.ending = /^\*(\.[\w.-]+)$/.exec(value)?.[1] ?? '';
    if (word === '-type' && value === 'f') opens.areFiles = true;
  }
  const depth = depths.length === 0 ? {} : { depthMax: Math.max(...depths) };
  const opened = isConjunction ? opens : { ending: '', areFiles: false };
  const gone = walkPlaces(roots, { shows: 'names', entersHidden: true, ...depth, ...(carried.length === 0 ? {} : { opens: opened }) });
  const names = [...gone.files, ...compared, ...carried.flatMap(({ files: named }) => named)];
  return { ...gone, files: names, ...(carried.length === 0 ? {} : { starts: carried.flatMap(({ starts }) => starts ?? []) }) };
}

/** Replaces a file that is found. No argument contains this character. */
const found = '\0';

/** Takes the command of `-exec` from the words. Returns what it reads besides the files that are found, or null if it may do more. */
function execReading(pending: string[], roots: readonly string[]): Meant | null {
  const command: string[] = [];
  let end = pending.pop();
  // A `+` ends the command only after `{}`.
  for (; end !== undefined && end !== ';' && !(end === '+' && command.at(-1) === '{}'); end = pending.pop()) command.push(end);
  const [program = '', ...args] = command;
  const isClear = args.filter((word) => word.includes('{}')).length === 1 && args.includes('{}');
  if (end === undefined || !isClear || !/^[a-z][\w-]*$/.test(program) || program === 'find') return null;
  const named: string[] = [];
  const starts = [program];
  for (const root of roots) {
    // If the files come all at once, the program must accept several.
    const files = [`${root}/${found}`, ...(end === '+' ? [`${root}/${found}2`] : [])];
    const reading = readReader(
      program,
      args.flatMap((word) => (word === '{}' ? files : [word])),
    );
    const isText = readers[program]?.operands === 'text';
    if (reading === null || reading.walks.length > 0 || reading.refusesFolders === true) return null;
    if (!isText && !files.every((file) => reading.files.includes(file))) return null;
    named.push(...reading.files.filter((file) => !file.includes(found)));
    starts.push(...(reading.starts ?? []));
  }
  return { files: named, walks: [], starts };
}
