// A command that lists files, piped into xargs: with names that end with NUL and begin with a folder, each name is one word and no flag, as
// `find -exec` passes it. Without that, a blank in a name would make other names of it. Filters between the two choose among whole names.

import type { GivenArguments } from './argument-reader.ts';
import { readGit } from './git-form.ts';
import type { JoinedPart, ListedFiles } from './joined-line.ts';
import { argumentsOf, readReader, readingOfFound, type Reading } from './read-command.ts';

interface Lister {
  /** One of these makes it list names alone. */
  readonly lists: readonly string[];
  /** Flags that choose files and change nothing else about the output. */
  readonly chooses: ReadonlySet<string>;
  readonly apart: readonly [short: string, long: string];
}

const chosen = '-i -w -F -e --regexp --fixed-strings --ignore-case -s --no-messages'.split(' ');
const grep: Lister = {
  lists: ['-l', '--files-with-matches', '-L', '--files-without-match'],
  chooses: new Set([...chosen, ...'-r --recursive -n -H -E -P -G -I -x -v --include --exclude --exclude-dir --extended-regexp'.split(' ')]),
  apart: ['-Z', '--null'],
};
const rg: Lister = {
  lists: ['-l', '--files-with-matches', '--files-without-match', '--files'],
  chooses: new Set([...chosen, ...'-n -H -S -g --glob -t --type -T --type-not --hidden --no-ignore --smart-case'.split(' ')]),
  apart: ['-0', '--null'],
};
const listers: ReadonlyMap<string, Lister> = new Map([
  ['grep', grep],
  ['egrep', grep],
  ['fgrep', grep],
  ['rg', rg],
]);

/** Flags with which a filter passes on whole lines and changes none. */
const filters: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['head', new Set(['-n', '--lines', '-NUM'])],
  ['tail', new Set(['-n', '--lines', '-NUM'])],
  ['sort', new Set(['-u', '--unique', '-r', '--reverse', '-n', '-V', '-f', '-R', '-h'])],
  ['uniq', new Set<string>()],
  ['grep', new Set('-v --invert-match -i --ignore-case -E --extended-regexp -F --fixed-strings -P -w -x -e --regexp'.split(' '))],
]);

/** Programs to which a name that begins with a letter can mean nothing but a file or a text. */
const namesOnly: ReadonlySet<string> = new Set(
  'cat tac head tail wc nl ls stat file du sed grep egrep fgrep sort cut md5sum sha1sum sha256sum basename dirname echo'.split(' '),
);

/**
 * Rewrites each such line; a part that takes names knows the files they are of. `hasFilters` tells whether the filters of this system know
 * names that end with NUL.
 */
export function withWholeNames(parts: readonly JoinedPart[], hasFilters: boolean): readonly JoinedPart[] {
  const written = [...parts];
  for (const [at, taker] of parts.entries()) {
    if (taker.joint !== '|' || taker.argv[0] !== 'xargs') continue;
    const passed = hasFilters ? filtersBefore(parts.slice(0, at)) : [];
    const first = at - 1 - passed.length;
    const source = parts[first];
    if (source === undefined) continue;
    const [lister, taken] = [listerOf(source, passed.length > 0), takerOf(taker.argv)];
    if (lister === null || taken === null || lister.isApart !== taken.isApart || (lister.isApart && passed.length > 0)) continue;
    written.splice(first, passed.length + 1, { ...source, argv: lister.argv }, ...passed);
    written[at] = { ...taker, argv: ['xargs', '-0', ...taken.flags, ...taken.command], listed: lister.listed };
  }
  return written;
}

/** The filters at the end of these parts, for names that end with NUL. */
function filtersBefore(parts: readonly JoinedPart[]): readonly JoinedPart[] {
  const last = parts.at(-1);
  const argv = last?.joint === '|' && last.redirects.length === 0 ? filterOf(last.argv) : null;
  return last === undefined || argv === null ? [] : [...filtersBefore(parts.slice(0, -1)), { ...last, argv }];
}

function filterOf([program = '', ...args]: readonly string[]): readonly string[] | null {
  const allowed = filters.get(program);
  const given = argumentsOf(program, args);
  if (allowed === undefined || given === null || args.includes('--')) return null;
  const operands = program === 'grep' && !given.has('-e', '--regexp') ? 1 : 0;
  if (given.operands.length !== operands || !given.flags.every(({ flag }) => allowed.has(flag))) return null;
  // `-5` is read only as the first word.
  const [count] = given.flags;
  return [program, '-z', ...(count?.flag === '-NUM' && args.length === 1 ? ['-n', count.value ?? ''] : args)];
}

/** Reads the command of xargs, which gets the names of these files. Returns null if it may do more than read them. */
export function readListed(argv: readonly string[], { roots, found, areTracked }: ListedFiles): Reading | null {
  const [program = '', ...args] = takerOf(argv)?.command ?? [];
  if (!/^[a-z][\w-]*$/.test(program) || program === 'find' || program === 'xargs') return null;
  if (areTracked === true && !namesOnly.has(program)) return null;
  // It opens what `find` itself could pass to it.
  if (found !== undefined) return readReader('find', [...found, '-exec', program, ...args, '{}', '+']);
  const readings = roots.map((root) => readingOfFound(program, [...args, '{}'], root, true));
  const known = readings.filter((reading) => reading !== null);
  if (known.length < readings.length) return null;
  const starts = known.flatMap((reading) => reading.starts ?? []);
  return { reads: 'passes on names of files', files: known.flatMap(({ files }) => files), walks: [], starts };
}

interface NameLister {
  readonly argv: readonly string[];
  readonly listed: ListedFiles;
  /** True if its names end with NUL as given. */
  readonly isApart: boolean;
}

function listerOf({ argv: [program = '', ...args], redirects }: JoinedPart, isFiltered: boolean): NameLister | null {
  if (redirects.some((redirect) => redirect !== '2>/dev/null')) return null;
  if (program === 'git') return gitLister(args);
  // Without a filter, `find` is written with `-exec`.
  return program === 'find' && isFiltered ? findLister(args) : searchLister(program, args);
}

function searchLister(program: string, args: readonly string[]): NameLister | null {
  const lister = listers.get(program);
  const given = argumentsOf(program, args);
  const roots = rootsOf(program, args);
  if (lister === undefined || given === null || roots === null) return null;
  const isNames = given.has(...lister.lists) && given.flags.every(({ flag }) => isOf(flag, lister));
  if (!isNames) return null;
  const argv = [program, lister.apart[0], ...args, ...(namesFolder(given) ? [] : ['.'])];
  return { argv, listed: { roots }, isApart: given.has(...lister.apart) };
}

/** The folders that it searches, or null if there are none. A name in a folder that begins with a dash looks like a flag. */
function rootsOf(program: string, args: readonly string[]): readonly string[] | null {
  const roots = (readReader(program, args)?.walks ?? []).map(({ root }) => root);
  return roots.length === 0 || roots.some((root) => root.startsWith('-')) ? null : roots;
}

/** Words of find that print or run something, or join conditions so that a word at the end belongs to the last one alone. */
const notAlone = /^(?:-exec|-print0?|-printf|-ls|-quit|-or?|,)$/;

function findLister(args: readonly string[]): NameLister | null {
  const roots = rootsOf('find', args);
  const found = args.at(-1) === '-print' ? args.slice(0, -1) : args;
  if (roots === null || found.some((word) => notAlone.test(word))) return null;
  return { argv: ['find', ...found, '-print0'], listed: { roots, found }, isApart: false };
}

const gitNames: Readonly<Record<string, RegExp>> = {
  'ls-files': /^(?:-[cmz]+|--cached|--modified)$/,
  grep: /^(?:-[lLiwFEPIez]+|--name-only|--files-with(?:out)?-match(?:es)?|--null)$/,
};

function gitLister(args: readonly string[]): NameLister | null {
  const [name = '', ...rest] = args;
  const end = rest.indexOf('--');
  const flags = (end < 0 ? rest : rest.slice(0, end)).filter((word) => word.startsWith('-'));
  const isKnown = Object.hasOwn(gitNames, name) && flags.every((flag) => gitNames[name]?.test(flag)) && readGit(args) !== null;
  if (!isKnown || (name === 'grep' && !flags.some((flag) => /^-\w*[lL]|^--(?:name|files)/.test(flag)))) return null;
  const isApart = flags.some((flag) => /^-\w*z|^--null/.test(flag));
  return { argv: ['git', name, '-z', ...rest], listed: { roots: ['.'], areTracked: true }, isApart };
}

const isOf = (flag: string, { lists, chooses, apart }: Lister): boolean =>
  lists.includes(flag) || apart.includes(flag) || chooses.has(flag);

/** Without a folder, the names of a search begin with no folder either, and the first may look like a flag. */
function namesFolder(given: GivenArguments): boolean {
  return given.operands.length > (given.has('-e', '--regexp', '--files') ? 0 : 1);
}

function takerOf([, ...args]: readonly string[]) {
  const flags: string[] = [];
  let at = 0;
  let isApart = false;
  for (; args[at]?.startsWith('-') === true; at++) {
    const flag = args[at] ?? '';
    if (/^(?:-0|--null)$/.test(flag)) isApart = true;
    else if (/^(?:-r|--no-run-if-empty|-n\d+)$/.test(flag)) flags.push(flag);
    else return null;
  }
  return { flags, isApart, command: args.slice(at) };
}
