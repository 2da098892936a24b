// Reads git command lines by the table of known ones: which words name the command, what it may show, and whether that needs no approval.
// Whether git itself is harmless in a repository is decided elsewhere.

import { flagTables, readArguments, type GivenArguments } from './argument-reader.ts';
import type { GitHistory } from './git-history.ts';
import { contentFlags, gitLooks, nameFlags, viewFlags, type GitLook } from './git-table.ts';

export interface GitForm {
  readonly family: readonly string[];
  /** Folders that git enters first, one after another. */
  readonly folders: readonly string[];
  /** Paths, revisions or both. Git distinguishes them by what exists, so all count as paths. */
  readonly operands: readonly string[];
  readonly showsContent: boolean;
  /** The content it may show, besides names. Content that was removed may have held keys, so only a grant covers it. */
  readonly reach: GitReach;
  /** The commits whose content it may show, besides files of the work tree; null if unknown. */
  readonly history: GitHistory | null;
  /** True if it would compare folders file by file, untracked ones too. */
  readonly refusesFolders?: true;
}

/**
 * present: content of the work tree, or of a file named by its path. past: also content that was removed. exist: `present` if these are
 * files or folders that exist. files: `present` if these are files, to which it is limited.
 */
export type GitReach = { readonly kind: 'present' | 'past' } | { readonly kind: 'exist' | 'files'; readonly paths: readonly string[] };

const gitFlags = flagTables(gitLooks);

/**
 * Reads a git command line, without `git`. Returns null if it may do more than read. Command lines that name a program, an output file or
 * another repository are not understood.
 */
export function readGit(args: readonly string[]): GitForm | null {
  const { folders, words } = withoutPlace(args);
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((some) => Object.hasOwn(gitLooks, some));
  const table = gitFlags.get(name ?? '');
  const known = gitLooks[name ?? ''];
  if (name === undefined || table === undefined || known === undefined) return null;
  const family = name.split(' ');
  const given = readArguments(words.slice(family.length), table);
  if (given === null || !namesNoProgram(given)) return null;
  if (!takesOperands(known, given)) return null;
  const end = words.indexOf('--');
  const limits = end < 0 ? [] : words.slice(end + 1);
  const shown = name === 'grep' ? grepped(given, limits) : { paths: given.operands, reach: reachOf(name, known, given, limits) };
  if (shown === null) return null;
  const { paths, reach } = shown;
  const history = historyOf(name, given, limits);
  const form = {
    family: ['git', ...family],
    folders,
    operands: paths.flatMap(pathsIn),
    showsContent: known.shows === 'content',
    reach,
    history,
  };
  if (!given.has('--no-index')) return form;
  return given.operands.length === 2 ? { ...form, reach: { kind: 'files', paths: given.operands }, refusesFolders: true } : null;
}

function takesOperands({ operand, operandsAfter, only: needed }: GitLook, given: GivenArguments): boolean {
  if (needed !== undefined && !given.has(...needed)) return false;
  const [only = '', ...others] = given.operands;
  if (operand !== undefined) return others.length === 0 && operand.test(only);
  return operandsAfter === undefined || given.operands.length === 0 || given.has(...operandsAfter);
}

/** The first word is the pattern, unless a flag gives it. Git refuses a word before `--` that could be a file as well as a commit. */
function grepped(given: GivenArguments, limits: readonly string[]): { readonly paths: readonly string[]; readonly reach: GitReach } | null {
  const before = given.operands.slice(0, given.operands.length - limits.length);
  const isGiven = given.has('-e');
  if (!isGiven && before.length === 0) return null;
  const named = isGiven ? before : before.slice(1);
  return { paths: [...named, ...limits], reach: { kind: 'exist', paths: named } };
}

/** Takes the words before the command: the folders that git enters, and `--no-pager`, which changes nothing here. */
function withoutPlace(args: readonly string[]): { readonly folders: readonly string[]; readonly words: readonly string[] } {
  const [first, folder = '', ...rest] = args;
  if (first === '--no-pager' || first === '-P') return withoutPlace(args.slice(1));
  if (first !== '-C' || folder === '') return { folders: [], words: args };
  const { folders, words } = withoutPlace(rest);
  return { folders: [folder, ...folders], words };
}

/** A commit by its place in history; `git show` prints any other name of an object, whatever it is. */
const place = String.raw`(?:HEAD|@)(?:[~^]\d*)*`;
/** A file of a commit. A path here is literal, so a second colon could only be part of the name of the commit. */
const ofCommit = new RegExp(String.raw`^(?:${place}|[A-Za-z0-9][\w./-]*(?:[~^]\d*)*):[^:]*$`);
const aCommit = new RegExp(`^${place}$`);
/** Characters with a meaning in a path given to git. */
const magic = /^:|[*?[\\]/;

function reachOf(name: string, { shows }: GitLook, given: GivenArguments, limits: readonly string[]): GitReach {
  const { operands } = given;
  const showsNames = given.has(...nameFlags);
  const isOnlyNames = shows === 'names' || ((name === 'log' || showsNames) && !given.has(...contentFlags));
  // The names of the file are checked, at whatever commit.
  if (name === 'blame') return { kind: 'present' };
  if (name === 'show') return { kind: operands.length > 0 && operands.every((one) => showsKnown(one, isOnlyNames)) ? 'present' : 'past' };
  if (isOnlyNames) return { kind: 'present' };
  // With both kinds of flags, the content is shown as well.
  if (showsNames) return { kind: 'past' };
  if (operands.some((one) => magic.test(one)) || given.has('--follow')) return { kind: 'past' };
  if (limits.length > 0) return limitedReach(name, given, limits);
  return name === 'log' || given.has('--cached', '--staged', '--merge-base') ? { kind: 'past' } : { kind: 'exist', paths: operands };
}

function limitedReach(name: string, given: GivenArguments, limits: readonly string[]): GitReach {
  // Without a revision, git compares the work tree with its list of tracked files.
  const isPresent = name === 'diff' && given.operands.length === limits.length && !given.has('--cached', '--staged', '--merge-base');
  return isPresent ? { kind: 'present' } : { kind: 'files', paths: limits };
}

const countFlags = ['-n', '--max-count', '-NUM'];
const logFlags: ReadonlySet<string> = new Set([...viewFlags, ...countFlags]);

/** Finds the commits that a command shows. Flags that choose other commits, such as `--all`, are not understood. */
function historyOf(name: string, all: GivenArguments, limits: readonly string[]): GitHistory | null {
  // Of a log, a path chooses other commits.
  if (limits.length > 0 && name === 'log') return null;
  const given = { ...all, operands: all.operands.slice(0, all.operands.length - limits.length) };
  if (name === 'diff') return comparedBy(given);
  // With a count, `git show` shows the ancestors of a commit too.
  const views = name === 'log' ? logFlags : viewFlags;
  if (!given.flags.every(({ flag }) => views.has(flag))) return null;
  if (name === 'log') return loggedBy(given);
  const revisions = given.operands.length === 0 ? ['HEAD'] : given.operands;
  return name === 'show' ? { kind: 'commits', revisions, depthMax: 1 } : null;
}

function comparedBy(given: GivenArguments): GitHistory | null {
  const [first = 'HEAD', second, ...more] = given.operands;
  if (more.length > 0 || given.has('--merge-base', '--no-index')) return null;
  if (second !== undefined) return { kind: 'between', revisions: [first, second] };
  const [, from = '', dots, to = 'HEAD'] = /^([^.]+(?:\.[^.]+)*)(\.\.\.?)([^.]+(?:\.[^.]+)*)?$/.exec(first) ?? [];
  if (dots === undefined) return { kind: 'files', revisions: [first] };
  return { kind: dots === '..' ? 'between' : 'parted', revisions: [from, to] };
}

/** Git shows no commit before one of its children, so the first three are within three generations. */
function loggedBy({ flags, operands: [revision = 'HEAD', ...more] }: GivenArguments): GitHistory | null {
  if (more.length > 0) return null;
  const counts = flags.filter(({ flag }) => countFlags.includes(flag)).map(({ value }) => Number(value));
  const isCounted = counts.length > 0 && counts.every((count) => Number.isInteger(count) && count >= 0);
  return { kind: 'commits', revisions: [revision], depthMax: isCounted ? Math.max(...counts) : Infinity };
}

function showsKnown(operand: string, isOnlyNames: boolean): boolean {
  return ofCommit.test(operand) || (isOnlyNames && aCommit.test(operand));
}

/** Fields of a branch or tag that need no program. */
const refFields =
  /%\((?:refname|objectname|objecttype|upstream|push|HEAD|symref|subject|(?:author|committer|tagger)(?:name|email|date)|creatordate)(?::[\w,=-]+)*\)/g;

/** Formats and orders of signatures start the program that checks them. A sign may precede the letter: `%+G?`. */
function namesNoProgram(given: GivenArguments): boolean {
  return given.flags.every(({ flag, value }) => {
    if (flag === '--sort') return !/signature/.test(value ?? '');
    return (flag !== '--format' && flag !== '--pretty') || !/%[-+ ]?[G(]/.test((value ?? '').replaceAll(refFields, ''));
  });
}

/** In `HEAD:notes/a.md`, the path follows the colon. `:(top)x` and `:/x` name a path from the top of the repository. */
function pathsIn(operand: string): readonly string[] {
  const colon = operand.indexOf(':');
  if (colon < 0) return [operand];
  const path = operand.slice(colon + 1).replace(/^(?:\([^)]*\)|[/!^]+)/, '');
  return path === '' ? [operand] : [operand, path];
}
