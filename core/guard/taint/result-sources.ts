// The untrusted sources of a call's result: from the facts of the call, the tool's own report, and anything else it was given to read.
// Pure.

import type { CallFacts, TaintSource } from '../../contracts/tools.ts';
import { taintKey } from './taint-store.ts';

/** More of them below one folder are named by the folder. */
const FILES_NAMED_MAX = 8;

/** Tools that show the names below a folder and no file contents. */
const nameTools: ReadonlySet<string> = new Set(['list_dir', 'glob']);
/** Tools that write a whole file and show none of its earlier content. */
export const wholeFileTools: ReadonlySet<string> = new Set(['write_file']);

/** Sources known from the facts alone: contacted hosts, and reads outside the opened folders. */
export function shownSources(facts: CallFacts): TaintSource[] {
  const hosts = facts.hosts.map((host): TaintSource => ({ kind: 'web', where: host.toLowerCase() }));
  const outside = facts.paths.filter((path) => path.access === 'read' && !path.insideWorkspace);
  return [...hosts, ...outside.map((path): TaintSource => ({ kind: 'file', where: path.real }))];
}

export interface FileMarks {
  writerOf(path: string): string | null;
  filesBelow(folder: string, besides: string, limit: number): string[];
}

export interface FileReading {
  readonly sessionId: string;
  readonly tool: string;
  readonly facts: CallFacts;
  readonly resultText: string;
}

/**
 * Files with untrusted content that the call may have read. Files this session wrote are left out: the session holds that content already.
 * `exists` leaves out missing files.
 */
export function markedFilesRead(reading: FileReading, marks: FileMarks, exists: (path: string) => boolean): TaintSource[] {
  const { facts, tool } = reading;
  if (wholeFileTools.has(tool)) return [];
  const exact = facts.paths.map((path) => path.real).filter((path) => ![null, reading.sessionId].includes(marks.writerOf(path)));
  const folders = nameTools.has(tool) ? [] : foldersOf(facts);
  const below = folders.flatMap((folder) => {
    const found = namedBelow(folder, reading.sessionId, marks);
    if (found.includes(folder)) return found;
    const there = found.filter(exists);
    // A search names each file whose lines it shows; a command may show anything.
    return facts.command !== null ? there : there.filter((path) => reading.resultText.includes(nameOf(path)));
  });
  return distinct([...exact, ...below].map((path): TaintSource => ({ kind: 'file', where: path })));
}

/** Files in these folders with untrusted content that this session may not hold yet: a command could copy from them. */
export function markedBelow(folders: readonly string[], sessionId: string, marks: FileMarks): TaintSource[] {
  return folders.flatMap((folder) => namedBelow(folder, sessionId, marks)).map((path) => ({ kind: 'file', where: path }));
}

/** Marked files of other sessions; the folder itself where there are many. */
function namedBelow(folder: string, besides: string, marks: FileMarks): string[] {
  const found = marks.filesBelow(folder, besides, FILES_NAMED_MAX + 1);
  return found.length > FILES_NAMED_MAX ? [folder] : found;
}

function foldersOf(facts: CallFacts): string[] {
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
