// Reads the arguments of read-only programs by the table of known flags. Returns the files they read, or null if not all are understood.

import { awkFiles } from './awk-program.ts';
import { flagTables, readArguments, type GivenArguments } from './argument-reader.ts';
import { gitLooks, readers, type Operands } from './command-table.ts';

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
}

interface Meant {
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
const gitFlags = flagTables(gitLooks);

export const isReader = (program: string): boolean => Object.hasOwn(readers, program);

/** Reads the arguments, without the program. Returns null if they are not all known to be harmless. */
export function readReader(program: string, args: readonly string[]): Reading | null {
  const known = isReader(program) ? readers[program] : undefined;
  if (known === undefined) return null;
  const table = readerFlags.get(program);
  const given = table === undefined ? wordsAlone(args) : readArguments(args, table);
  const meant = given === null ? null : meanings[known.operands ?? 'files'](given, args);
  if (given === null || meant === null) return null;
  // `-` is the input, which is empty.
  return { ...meant, reads: known.reads, files: [...given.files, ...meant.files].filter((file) => file !== '-') };
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
/**
 * One sed command that only prints: lines by number or pattern, or the input with replacements. Other flags of `s` write or run something.
 */
const sedCommand = new RegExp(String.raw`^(?:${sedAddress}(?:,${sedAddress})?)?(?:[pdq=]|s(?:${sedReplacement})(?:g|p|i|I|\d){0,4})$`);

function sedFiles(words: readonly string[]): Meant | null {
  const start = words.findIndex((word) => !/^-(?:n|E|r|nE|nr|En|rn)$/.test(word));
  const [first = '', ...rest] = start < 0 ? [] : words.slice(start);
  const [script, ...names] = first === '-e' ? rest : [first, ...rest];
  return filesIf(script !== undefined && sedCommand.test(script) && !names.some((file) => file.startsWith('-')), names);
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
  const pending = start < 0 ? [] : words.slice(start).reverse();
  for (let word = pending.pop(); word !== undefined; word = pending.pop()) {
    const kind = findWords.get(word);
    if (kind === undefined) return null;
    if (kind === 'alone') continue;
    const value = pending.pop();
    if (value === undefined || (kind === 'number' && !/^\d{1,4}$/.test(value))) return null;
    if (kind === 'path') compared.push(value);
    if (word === '-maxdepth') depths.push(Number(value));
  }
  const depth = depths.length === 0 ? {} : { depthMax: Math.max(...depths) };
  const gone = walkPlaces(roots, { shows: 'names', entersHidden: true, ...depth });
  return { ...gone, files: [...gone.files, ...compared] };
}

export interface GitForm {
  readonly family: readonly string[];
  /** Paths, revisions or both. Git distinguishes them by what exists, so all count as paths. */
  readonly operands: readonly string[];
  readonly showsContent: boolean;
}

/**
 * Reads a git command line, without `git`. Returns null if it may do more than read. Whether git itself is harmless in a repository is
 * decided elsewhere. Command lines that name a program, an output file or another repository are not understood.
 */
export function readGit(args: readonly string[]): GitForm | null {
  const [name = '', ...rest] = args[0] === '--no-pager' ? args.slice(1) : args;
  const table = gitFlags.get(name);
  const known = table === undefined ? undefined : gitLooks[name];
  const given = table === undefined ? null : readArguments(rest, table);
  if (known === undefined || given === null || !namesNoProgram(given)) return null;
  if (known.operandsAfter !== undefined && given.operands.length > 0 && !given.has(...known.operandsAfter)) return null;
  return { family: ['git', name], operands: given.operands.flatMap(pathsIn), showsContent: known.shows === 'content' };
}

/** Formats that show signatures start the program that checks them. */
function namesNoProgram(given: GivenArguments): boolean {
  return given.flags.every(({ flag, value }) => (flag !== '--format' && flag !== '--pretty') || !/%G|%\(/.test(value ?? ''));
}

/** In `HEAD:notes/a.md`, the path follows the colon. `:(top)x` and `:/x` name a path from the top of the repository. */
function pathsIn(operand: string): readonly string[] {
  const colon = operand.indexOf(':');
  if (colon < 0) return [operand];
  const path = operand.slice(colon + 1).replace(/^(?:\([^)]*\)|[/!^]+)/, '');
  return path === '' ? [operand] : [operand, path];
}
