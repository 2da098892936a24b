// Updates the index of one source: reads new and changed documents and removes deleted ones. Each document is indexed in one transaction,
// so that an interruption leaves only whole documents.

import { counted } from '../../../base/counted.ts';
import { hash } from 'node:crypto';
import { join, sep } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import type { Clock } from '../../../base/clock.ts';
import { AppError, isAppError } from '../../../contracts/errors.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import type { SeenFile } from './knowledge-rows.ts';
import { cutIntoPassages } from './passages.ts';
import type { ConfiguredSource, DirectorySource, DocumentReader, InlineSource, KnowledgeStore, ReadPage, ReadOther } from './ports.ts';
import { readingVersion, type FoundFile, type ReadDocument } from './read-document.ts';

export interface SourceIndexDeps {
  readonly store: KnowledgeStore;
  readonly reader: DocumentReader;
  readonly readPage: ReadPage;
  readonly readOther: ReadOther;
  readonly clock: Clock;
  /** Folders that are never read: the program's own data. */
  readonly skipped: readonly string[];
}

/** `problem`: why the source as a whole could not be read, or null. */
export type IndexReport = OpResult<'knowledge.reindex'> & { readonly problem: string | null };

export interface IndexRun {
  /** Rereads every document. */
  readonly rereadAll: boolean;
  readonly signal: AbortSignal;
  /** Reports progress: the files done, and the total. */
  readonly onProgress: (done: number, total: number) => void;
}

/** Fails with cancelled when the run is aborted. */
export function indexSource(deps: SourceIndexDeps, source: ConfiguredSource, run: IndexRun): Promise<IndexReport> {
  throwIfAborted(run.signal);
  return source.kind === 'inline' ? Promise.resolve(indexInline(deps, source)) : indexDirectory(deps, source, run);
}

function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new AppError('cancelled', 'Reading documents was stopped.');
}

function indexInline({ store, clock }: SourceIndexDeps, { name, title, text }: InlineSource): IndexReport {
  const sha256 = hash('sha256', `${title}\n${text}`, 'hex');
  const known = store.seen(name);
  const isSame = known.length === 1 && known[0]?.sha256 === sha256 && known[0].version === readingVersion;
  const gone = known.filter(({ path }) => path !== title);
  for (const { path } of gone) store.remove(name, path);
  if (!isSame) {
    const facts = { source: name, path: title, title, mediaType: 'text/markdown', sha256, sizeBytes: Buffer.byteLength(text) };
    const passages = cutIntoPassages(text, 'markdown');
    store.replace({ ...facts, modifiedAtMs: 0, version: readingVersion, problem: null }, passages, clock.nowMs());
  }
  return { documents: 1, changed: isSame ? 0 : 1, removed: gone.length, failed: 0, problem: null };
}

/**
 * Removes documents one by one, and lets other work run after each: removing a document with a hundred passages takes some 50 ms, and a
 * folder may contain thousands. `shouldContinue` is called before each document; returning false ends the loop. Returns how many documents
 * were in the index.
 */
export async function removeDocuments(
  store: Pick<KnowledgeStore, 'remove'>,
  source: string,
  paths: readonly string[],
  shouldContinue: (done: number) => boolean,
): Promise<number> {
  let removed = 0;
  for (const [done, path] of paths.entries()) {
    if (!shouldContinue(done)) break;
    if (store.remove(source, path)) removed += 1;
    await giveWay();
  }
  return removed;
}

async function indexDirectory(
  deps: SourceIndexDeps,
  source: DirectorySource,
  { rereadAll, signal, onProgress }: IndexRun,
): Promise<IndexReport> {
  const { store, reader, skipped } = deps;
  const { name, folder, only, endings, filesMax, refused } = source;
  const removeAll = (paths: readonly string[]): Promise<number> =>
    removeDocuments(store, name, paths, (done) => {
      throwIfAborted(signal);
      onProgress(done, paths.length);
      return true;
    });
  if (refused !== null) {
    const removed = await removeAll(store.seen(name).map(({ path }) => path));
    return { documents: 0, changed: 0, removed, failed: 0, problem: refused };
  }
  const { files, more, problem } = await reader.run<'scan'>({ kind: 'scan', folder, only, endings, filesMax, skipped });
  // A folder that is temporarily unavailable, such as an unmounted disk, keeps its index.
  if (problem !== null) return { documents: 0, changed: 0, removed: 0, failed: 0, problem };
  const known = new Map(store.seen(name).map((file) => [file.path, file]));
  let changed = 0;
  for (const [done, file] of files.entries()) {
    throwIfAborted(signal);
    onProgress(done, files.length);
    const before = known.get(file.path);
    known.delete(file.path);
    if (!rereadAll && before !== undefined && isAsBefore(file, before)) continue;
    if (await indexFile(deps, source, { file, before: rereadAll ? undefined : before }, signal)) changed += 1;
  }
  throwIfAborted(signal);
  const removed = more ? 0 : await removeAll([...known.keys()]);
  const { documents, failed } = store.counts(name);
  return {
    documents,
    changed,
    removed,
    failed,
    problem: more ? `There are more than ${counted(filesMax, 'file')}; the rest is left out.` : null,
  };
}

function isAsBefore(file: FoundFile, before: SeenFile): boolean {
  return before.version === readingVersion && before.sizeBytes === file.sizeBytes && before.modifiedAtMs === file.modifiedAtMs;
}

interface FileLook {
  readonly file: FoundFile;
  /** The state of the file when it was last read; undefined if it must be reread. */
  readonly before: SeenFile | undefined;
}

/** Returns whether its content changed. */
async function indexFile(deps: SourceIndexDeps, source: DirectorySource, look: FileLook, signal: AbortSignal): Promise<boolean> {
  const { name, folder, fileBytesMax } = source;
  const { before } = look;
  const { path, sizeBytes, modifiedAtMs } = look.file;
  const { store, clock } = deps;
  const file = join(folder, ...path.split('/'));
  const read = await readSafely(deps, file, fileBytesMax, signal);
  if (before !== undefined && before.sha256 === read.sha256 && before.version === readingVersion && read.problem === null) {
    store.touch({ source: name, path, sizeBytes, modifiedAtMs });
    return false;
  }
  const { sha256, title, mediaType, problem, passages } = read;
  store.replace(
    { source: name, path, title, mediaType, sha256, sizeBytes, modifiedAtMs, version: readingVersion, problem },
    passages,
    clock.nowMs(),
  );
  return true;
}

async function readSafely(
  { reader, readPage, readOther }: SourceIndexDeps,
  file: string,
  bytesMax: number,
  signal: AbortSignal,
): Promise<ReadDocument> {
  try {
    const read = await reader.run<'read'>({ kind: 'read', file, bytesMax });
    if (read.other !== null) {
      const { title, pages, unit, problem } = await readOther(read.other, signal);
      const { passages } = await reader.run<'cut'>(unit === null ? { kind: 'cut', markdown: pages.join('\n') } : { kind: 'cut', pages });
      return { ...read, other: null, title: title ?? read.title, passages, problem };
    }
    if (read.html === null) return read;
    const { title, markdown } = await readPage(read.html, `file://${file.split(sep).join('/')}`, signal);
    const { passages } = await reader.run<'cut'>({ kind: 'cut', markdown });
    return { ...read, html: null, title: title === '' ? read.title : title, passages };
  } catch (cause) {
    if (signal.aborted || !isAppError(cause) || cause.code === 'cancelled') throw cause;
    const title = file.slice(file.lastIndexOf(sep) + 1);
    return { sha256: '', title, mediaType: 'application/octet-stream', passages: [], html: null, other: null, problem: cause.message };
  }
}
