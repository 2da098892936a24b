// A search that lists the files it has read, piped into xargs: with names that end with NUL and begin with a folder, each name is one word and
// no flag, as `find -exec` passes it. Without that, a blank in a name would make other names of it.

import type { GivenArguments } from './argument-reader.ts';
import type { JoinedPart } from './joined-line.ts';
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

/** Rewrites each such pair; a part that takes names knows the folders they are in. */
export function withWholeNames(parts: readonly JoinedPart[]): readonly JoinedPart[] {
  const written = [...parts];
  for (const [at, taker] of parts.entries()) {
    const source = parts[at - 1];
    if (source === undefined || taker.joint !== '|' || taker.argv[0] !== 'xargs') continue;
    const [listed, taken] = [listerOf(source), takerOf(taker.argv)];
    if (listed === null || taken === null || listed.isApart !== taken.isApart) continue;
    written[at - 1] = { ...source, argv: listed.argv };
    written[at] = { ...taker, argv: ['xargs', '-0', ...taken.flags, ...taken.command], listed: listed.roots };
  }
  return written;
}

/** Reads the command of xargs, which gets files in these folders. Returns null if it may do more than read them. */
export function readListed(argv: readonly string[], roots: readonly string[]): Reading | null {
  const [program = '', ...args] = takerOf(argv)?.command ?? [];
  if (!/^[a-z][\w-]*$/.test(program) || program === 'find' || program === 'xargs') return null;
  const readings = roots.map((root) => readingOfFound(program, [...args, '{}'], root, true));
  const known = readings.filter((reading) => reading !== null);
  if (known.length < readings.length) return null;
  const starts = known.flatMap((reading) => reading.starts ?? []);
  return { reads: 'passes on names of files', files: known.flatMap(({ files }) => files), walks: [], starts };
}

function listerOf({ argv: [program = '', ...args], redirects }: JoinedPart) {
  const lister = listers.get(program);
  const given = argumentsOf(program, args);
  const roots = (readReader(program, args)?.walks ?? []).map(({ root }) => root);
  if (lister === undefined || given === null || roots.length === 0 || roots.some((root) => root.startsWith('-'))) return null;
  const isApart = given.has(...lister.apart);
  const isNames = given.has(...lister.lists) && given.flags.every(({ flag }) => isOf(flag, lister));
  if (!isNames || redirects.some((redirect) => redirect !== '2>/dev/null')) return null;
  return { argv: [program, lister.apart[0], ...args, ...(namesFolder(given) ? [] : ['.'])], roots, isApart };
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
