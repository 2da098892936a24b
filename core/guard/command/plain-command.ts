// Determines the known effects of one plain command: what it reads, the words that can allow it, and the files it runs. In case of doubt
// the command has no known effects and needs approval.

import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import type { PathFact, PlainCommand } from '../../contracts/tools.ts';
import { bindingsOf } from './bindings.ts';
import type { ContentHashes } from './content-hash.ts';
import { namesInHistory } from './git-history.ts';
import { linksAmong, lookAtRepository, quietGit, type RepositoryLook } from './git-repository.ts';
import type { ListedFiles } from './joined-line.ts';
import { readListed } from './listed-files.ts';
import { hasPlainNpm } from './package-tasks.ts';
import { isItself, type FoundProgram } from './program-path.ts';
import { look } from './project-files.ts';
import { findProtected, type CommandPlaces } from './protected-walk.ts';
import { environmentOfQuestion, readQuestion } from './question-table.ts';
import { readTask, taskPrograms } from './project-tasks.ts';
import { readGit, type GitForm } from './git-form.ts';
import { isReader, readReader, startedBy, type FolderWalk, type Reading } from './read-command.ts';
import { isHarmlessPrefix } from './script-forms.ts';
import { unwrap } from './wrappers.ts';
import { readWriter, type Earlier } from './write-command.ts';

export interface PlainLook {
  readonly plain: PlainCommand;
  readonly paths: readonly PathFact[];
  readonly risks: readonly string[];
  /** True if it searches folders whose files its words do not name. */
  readonly walks: boolean;
  /** Added to the environment that every child process gets. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface PlainSubject {
  readonly argv: readonly string[];
  readonly program: FoundProgram;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Finds another program that the command starts. */
  readonly find: (name: string) => FoundProgram | null;
  /** Possible changes by commands before it in the same line; absent if there are none. */
  readonly earlier?: Earlier;
  /** The files whose names xargs gets, each as a whole. */
  readonly listed?: ListedFiles;
}

interface Known {
  readonly reads: string | null;
  readonly writes?: string;
  readonly family: readonly string[] | null;
  readonly paths: readonly PathFact[];
  readonly configs: readonly string[];
  readonly risks: readonly string[];
  readonly walks?: true;
  readonly environment: Readonly<Record<string, string>>;
}

const PATHS_MAX = 200;
const unknown: Known = { reads: null, family: null, paths: [], configs: [], risks: [], environment: {} };

export function lookAtPlain(given: PlainSubject, places: CommandPlaces, hashes: ContentHashes): PlainLook {
  const subject = behindPrefix(given);
  const { argv, program, cwd } = subject;
  const known = findKnown(subject, places);
  // A grant for the workspace covers nothing outside the agent's folders.
  const isAtHome = isOpen(places.fact('.', cwd, 'read'));
  const environment = { ...subject.environment, ...known.environment };
  const [name = ''] = argv;
  // A task runs what the project names in any case.
  const isTrusted = program.isTrusted && (taskPrograms.has(name) || isItself(name, program));
  const family = isTrusted && isAtHome && known.family !== null ? [...known.family] : null;
  return {
    plain: {
      argv: [...given.argv],
      reads: isTrusted ? known.reads : null,
      family,
      sayable: family !== null || isUnprofiled(argv),
      ...(known.writes !== undefined && isTrusted && isAtHome ? { writes: known.writes } : {}),
      bindings: bindingsOf({ program: program.real, argv, cwd, configs: known.configs, environment }, hashes),
    },
    paths: known.paths,
    risks: known.risks,
    walks: known.walks === true,
    environment: known.environment,
  };
}

/** `env LC_ALL=C git log` and `timeout 9 git log` count as `git log`. */
function behindPrefix(subject: PlainSubject): PlainSubject {
  const { argv, program, find } = subject;
  const [name = ''] = argv;
  const at = argv.indexOf('git');
  if (at < 2 || !program.isTrusted || !isItself(name, program) || !isHarmlessPrefix(argv.slice(0, at))) return subject;
  const git = find('git');
  return git === null ? subject : { ...subject, argv: argv.slice(at), program: git };
}

/**
 * Returns whether the words of a command without known effects describe it fully. For an unknown program, the person judges the words. The
 * words are not enough for a known program (a repository setting can run code), for one that starts another program, and for a file of the
 * project.
 */
function isUnprofiled(argv: readonly string[]): boolean {
  const [program = ''] = argv;
  if (unwrap(argv.map((text) => ({ text, isLiteral: true, isHome: false }))) !== null) return false;
  return !/[/\\]/.test(program) && program !== 'git' && !isReader(program) && !taskPrograms.has(program);
}

function findKnown(subject: PlainSubject, places: CommandPlaces): Known {
  const { argv, cwd, find, earlier } = subject;
  const [program = '', ...args] = argv;
  const shown = asked(subject);
  if (shown !== null) return { ...unknown, reads: shown, environment: environmentOfQuestion(program) };
  if (program === 'git') return gitKnown(args, cwd, places);
  const task = readTask(argv, cwd);
  if (task !== null) {
    const paths = task.operands.map((operand) => places.fact(operand, cwd, 'read'));
    const risks = task.remark === null ? [] : [task.remark];
    return { ...unknown, paths, risks, configs: task.bindings, family: paths.every(isOpen) ? task.family : null };
  }
  const writing = readWriter(program, args, cwd, earlier);
  if (writing !== null) {
    const read = writing.read.map((file) => places.fact(file, cwd, 'read'));
    const paths = [...read, ...writing.changed.map((file) => places.fact(file, cwd, 'write'))];
    if (paths.length <= PATHS_MAX && paths.every(isOpen)) return { ...unknown, paths, writes: writing.writes };
    return { ...unknown, paths, risks: subject.program.isTrusted ? [`It ${writing.writes}; it runs no code.`] : [] };
  }
  const reading = readingOf(subject, places);
  const startsKnown = reading?.starts?.every((name) => isMissingOrItself(name, find(name))) !== false;
  return reading === null || !startsKnown ? unknown : readerKnown(program, reading, cwd, places);
}

function readingOf({ argv: [program = '', ...args], argv, cwd, listed }: PlainSubject, places: CommandPlaces): Reading | null {
  if (listed === undefined) return readReader(program, args);
  return listed.areTracked === true && !areOpenByName(cwd, places) ? null : readListed(argv, listed);
}

function isMissingOrItself(name: string, found: FoundProgram | null): boolean {
  return found === null || (found.isTrusted && isItself(name, found));
}

function asked({ argv, program, find, cwd }: PlainSubject): string | null {
  const [name = ''] = argv;
  const reads = readQuestion(argv);
  if (reads === null || !isItself(name, program)) return null;
  const starts = name === 'npm' ? ['node'] : startedBy(name);
  if (!starts.every((one) => isMissingOrItself(one, find(one)))) return null;
  return name !== 'npm' || hasPlainNpm(cwd) ? reads : null;
}

/** Files outside the workspace that only tell about the machine. */
const ofMachine: ReadonlySet<string> = new Set(
  '/etc/os-release /etc/lsb-release /etc/debian_version /proc/cpuinfo /proc/meminfo /proc/loadavg /proc/uptime /proc/version'.split(' '),
);

function readerKnown(program: string, reading: Reading, cwd: string, places: CommandPlaces): Known {
  if (reading.files.length > PATHS_MAX) return unknown;
  const files = reading.files.filter((file) => !ofMachine.has(file)).map((file) => places.fact(file, cwd, 'read'));
  if (reading.refusesFolders === true && files.some(({ real }) => isFolder(real))) return { ...unknown, paths: files };
  const walked = walkAll(reading.walks, cwd, places);
  const paths = [...files, ...walked.paths];
  if (!walked.isComplete) return { ...unknown, paths, risks: ['It walks more folders than could be checked in advance.'] };
  const walks = reading.walks.length > 0 ? { walks: true as const } : {};
  return { ...unknown, reads: reading.reads, family: paths.every(isOpen) ? [program] : null, paths, ...walks };
}

function walkAll(walks: readonly FolderWalk[], cwd: string, places: CommandPlaces): { paths: PathFact[]; isComplete: boolean } {
  const paths: PathFact[] = [];
  for (const walk of walks) {
    const root = places.fact(walk.root, cwd, 'read');
    // A command that needs approval anyway needs no search.
    if (!isOpen(root) || !isFolder(root.real)) continue;
    const found = findProtected(root.real, walk, (real) => places.protectionOf(real));
    paths.push(...found.places.map((place) => places.fact(place, cwd, 'read')));
    if (!found.isComplete) return { paths, isComplete: false };
  }
  return { paths, isComplete: true };
}

function gitKnown(args: readonly string[], startedIn: string, places: CommandPlaces): Known {
  const form = readGit(args);
  const entered = enteredFolders(form?.folders ?? [], startedIn, places);
  if (!entered.every((folder) => isOpen(folder) && isFolder(folder.real))) return { ...unknown, paths: entered };
  const cwd = entered.at(-1)?.real ?? startedIn;
  const repository = lookAtRepository(cwd, places.opened);
  const risks = repository.problem === null ? [] : [`This repository ${repository.problem}.`];
  const configs = repository.bindings;
  if (form === null || repository.problem !== null) return { ...unknown, configs, risks };
  const paths = form.operands.slice(0, PATHS_MAX).map((operand) => places.fact(operand, cwd, 'read'));
  if (form.showsContent) paths.push(...closedPaths(form, repository, cwd, places));
  const isCompared = (path: PathFact): boolean => form.refusesFolders !== true || !isFolder(path.real);
  const isOnlyLook =
    form.operands.length <= PATHS_MAX &&
    paths.every((path) => isOpen(path) && isCompared(path)) &&
    (!form.showsContent || areWithin(paths, repository.root));
  const known = { paths: [...entered, ...paths], configs, risks };
  if (!isOnlyLook) return { ...unknown, ...known };
  const reads = showsOpen(form, cwd, repository, places) ? 'reads this repository' : null;
  return { ...known, reads, family: form.family, environment: quietGit };
}

/** Returns a few of the tracked places whose content needs an approval. */
function closedPaths({ family }: GitForm, { tracked }: RepositoryLook, cwd: string, places: CommandPlaces): readonly PathFact[] {
  const fact = (path: string): PathFact => places.fact(path, cwd, 'read');
  const guarded = tracked.filter((path) => places.protectionOf(path) !== null);
  // A search opens the tracked files without a look at what their folders are now.
  const links = family.includes('grep') ? linksAmong(tracked).map(fact) : [];
  return [...guarded.slice(0, 3).map(fact), ...links.filter((link) => !isOpen(link)).slice(0, 3)];
}

const TRACKED_MAX = 5_000;

/** Returns whether a program may open every tracked file by its name, and takes none of the names for a flag. */
function areOpenByName(cwd: string, places: CommandPlaces): boolean {
  const { tracked, root, problem } = lookAtRepository(cwd, places.opened);
  if (root === null || problem !== null || tracked.length > TRACKED_MAX) return false;
  const links = [...tracked.filter((path) => look(path)?.isSymbolicLink() === true), ...linksAmong(tracked)];
  return (
    tracked.every((path) => places.protectionOf(path) === null && !/^[-+@]/.test(relative(cwd, path))) &&
    links.every((link) => isOpen(places.fact(link, cwd, 'read')))
  );
}

function enteredFolders(folders: readonly string[], startedIn: string, places: CommandPlaces): readonly PathFact[] {
  const entered: PathFact[] = [];
  for (const folder of folders) entered.push(places.fact(folder, entered.at(-1)?.real ?? startedIn, 'read'));
  return entered;
}

function showsOnlyPresent({ reach }: GitForm, cwd: string, root: string | null): boolean {
  if (root === null) return false;
  if (!('paths' in reach)) return reach.kind === 'present';
  const real = reach.paths.map((path) => resolve(cwd, path));
  return real.every((path) => existsSync(path) && (reach.kind === 'exist' || !isFolder(path)));
}

function showsOpen(form: GitForm, cwd: string, repository: RepositoryLook, places: CommandPlaces): boolean {
  return showsOnlyPresent(form, cwd, repository.root) || showsOpenPast(form, repository, places);
}

/** Returns whether all files of the commits that it shows have names that may be read freely. */
function showsOpenPast({ history }: GitForm, { root, folders }: RepositoryLook, places: CommandPlaces): boolean {
  if (history === null || root === null || folders === null) return false;
  return namesInHistory(history, folders)?.every((name) => places.protectionOf(join(root, name)) === null) === true;
}

/** Outside a repository, git compares any files and folders it is given, tracked or not. */
function areWithin(paths: readonly PathFact[], root: string | null): boolean {
  return root !== null && paths.every(({ real }) => isInside(real, root));
}

/** Returns whether the path is in the opened folders and not protected. */
export function isOpen(path: PathFact): boolean {
  return path.insideWorkspace && path.protectedBy === null;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    // Treats an unreadable place as a folder, the worse case.
    return true;
  }
}
