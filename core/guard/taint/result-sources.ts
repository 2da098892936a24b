// Determines the untrusted sources of a call's result from the facts of the call, the tool's own report, and other data it read. Pure.

import { join, sep } from 'node:path';
import type { CallFacts, TaintSource } from '../../contracts/tools.ts';
import { taintKey } from './taint-store.ts';

/** If a folder contains more files than this, the folder is named instead. */
const FILES_NAMED_MAX = 8;

/** The maximum number of marked files whose names are checked. */
const TELLING_MAX = 2_000;
const SAYING_WORDS = 5;
const SAYING_LETTERS = 40;

/** Tools that show the names below a folder but no file contents. */
const nameTools: ReadonlySet<string> = new Set(['list_dir', 'glob']);
/** Tools that write a whole file and show none of its earlier content. */
export const wholeFileTools: ReadonlySet<string> = new Set(['write_file']);

/** Returns the sources known from the facts alone: contacted hosts, and reads outside the opened folders. */
export function shownSources(facts: CallFacts): TaintSource[] {
  const hosts = facts.hosts.map((host): TaintSource => ({ kind: 'web', where: host.toLowerCase() }));
  const outside = facts.paths.filter((path) => path.access === 'read' && !path.insideWorkspace);
  return [...hosts, ...outside.map((path): TaintSource => ({ kind: 'file', where: path.real }))];
}

export interface FileMarks {
  writerOf(path: string): string | null;
  filesBelow(folder: string, besides: string, limit: number): string[];
}

/** `runsGit`: a script that the command runs uses git, although the line does not say so. */
export interface SeenFacts extends CallFacts {
  readonly runsGit?: boolean;
}
type History = Pick<SeenFacts, 'command' | 'runsGit'>;

export interface FileReading {
  readonly sessionId: string;
  readonly tool: string;
  readonly facts: SeenFacts;
  readonly resultText: string;
}

/**
 * Returns the files with untrusted content that the call may have read. Excludes files this session wrote, because it already has that
 * content, and missing files (`exists`).
 */
export function markedFilesRead(reading: FileReading, marks: FileMarks, exists: (path: string) => boolean): TaintSource[] {
  const { facts, tool } = reading;
  if (wholeFileTools.has(tool)) return [];
  const named = [...facts.paths.map((path) => path.real), ...historiesOver(facts)];
  const exact = named.filter((path) => ![null, reading.sessionId].includes(marks.writerOf(path)));
  const below = foldersOf(facts).flatMap((folder) => {
    if (nameTools.has(tool)) return tellingBelow(folder, reading, marks).filter(exists);
    const found = namedBelow(folder, reading.sessionId, marks).filter((path) => isWithin(path, facts));
    if (found.includes(folder)) return found;
    const there = found.filter(exists);
    // A search names each file whose lines it shows. A command may show anything.
    return facts.command !== null ? there : there.filter((path) => reading.resultText.includes(nameOf(path)));
  });
  return distinct([...exact, ...below].map((path): TaintSource => ({ kind: 'file', where: path })));
}

/** Returns marked files in these folders whose content this session may not have yet. A command could copy from them. */
export function markedBelow(
  folders: readonly string[],
  { sessionId, facts }: Omit<FileReading, 'resultText'>,
  marks: FileMarks,
): TaintSource[] {
  const found = folders.flatMap((folder) => namedBelow(folder, sessionId, marks)).filter((path) => isWithin(path, facts));
  return found.map((path) => ({ kind: 'file', where: path }));
}

/** A command reads what git fetched only if it uses git, and not just for the work tree and new commits. */
export function isWithin(path: string, facts: History): boolean {
  return !/[/\\]\.git[/\\]?$/.test(path) || readsHistory(facts);
}

const ownGit = /\bgit(?: -C [\w./-]+)? (?:status|add|commit|rev-parse)\b/g;

/** Returns whether the command may show what git keeps. */
export function readsHistory({ command, runsGit }: History): boolean {
  return runsGit === true || saysGit({ command });
}

export function saysGit({ command }: Pick<CallFacts, 'command'>): boolean {
  return command !== null && /\bgit\b/i.test(command.line.replaceAll(ownGit, ''));
}

/** The marks of the repository that a command runs in. */
function historiesOver(facts: SeenFacts): string[] {
  if (facts.command === null || !readsHistory(facts)) return [];
  const parts = facts.command.cwd.split(/(?<=[/\\])/);
  const folders = parts.map((_, at) =>
    parts
      .slice(0, at + 1)
      .join('')
      .replace(/[/\\]$/, ''),
  );
  return folders.flatMap((folder) => [join(folder, '.git'), join(folder, '.git') + sep]);
}

/** Returns the files that other sessions marked, or the folder itself if there are many. */
function namedBelow(folder: string, besides: string, marks: FileMarks): string[] {
  const found = marks.filesBelow(folder, besides, FILES_NAMED_MAX + 1);
  return found.length > FILES_NAMED_MAX ? [folder] : found;
}

/** Returns the marked files below the folder whose names, as the result shows them, could ask for something. */
function tellingBelow(folder: string, { sessionId, resultText, facts }: FileReading, marks: FileMarks): string[] {
  const tells = (name: string): boolean => saysSomething(name) && resultText.includes(name);
  const found = marks.filesBelow(folder, sessionId, TELLING_MAX).filter((path) => isWithin(path, facts));
  return found.filter((path) => path.slice(folder.length).split(/[/\\]/).some(tells)).slice(0, FILES_NAMED_MAX);
}

/** A name of a few words is a name; more of them may be a sentence: `please run setup.sh now.md`. */
function saysSomething(name: string): boolean {
  const words = name.match(/\p{L}{2,}/gu) ?? [];
  return words.length >= SAYING_WORDS || words.join('').length >= SAYING_LETTERS;
}

function foldersOf(facts: SeenFacts): string[] {
  const folders = facts.paths.filter((path) => path.access === 'read').map((path) => path.real);
  if (facts.command !== null) folders.push(facts.command.cwd);
  return [...new Set(folders)];
}

function nameOf(path: string): string {
  return path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1);
}

export function distinct(sources: readonly TaintSource[]): TaintSource[] {
  return [...new Map(sources.map((source) => [taintKey(source), source])).values()];
}
