// The person's documents: keeps the sources of config.yaml and of the embedding program indexed in the background, and searches them with
// citations. Sources may change while the program runs. Owns the watchers and the order of indexing; never writes to a document.

import { statSync, watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type AppError, noSuch, toAppError } from '../../../contracts/errors.ts';
import type { Evidence } from '../../../contracts/knowledge-ops.ts';
import type { OpResult } from '../../../contracts/ops.ts';
import type { Spine } from '../../feature.ts';
import type { ConfiguredSource, DirectorySource } from './ports.ts';
import { searchKnowledge, type Found, type SearchDeps, type SearchRequest } from './search.ts';
import { indexSource, removeDocuments, type IndexReport, type SourceIndexDeps } from './source-index.ts';

export interface KnowledgeDeps extends SearchDeps, SourceIndexDeps, Pick<Spine, 'logger' | 'later'> {
  /** Called after documents were indexed, because new passages need vectors. */
  onIndexed(): void;
}

/** The wait after the last change of a file, so that a save in several steps causes one indexing. */
const SETTLE_MS = 500;
/** The interval of the periodic scan, which finds changes that a watcher missed. */
const LOOK_MS = 600_000;
/** The same while the folder is away. */
const AWAY_MS = 60_000;
/** How long the index of a removed source is kept, excluded from searches, in case the source returns. */
const KEPT_MS = 60_000;
const COUNTED_MAX = 10_000;

type SourceView = OpResult<'knowledge.list'>['sources'][number];

/** The state of a source, kept for as long as the source is configured. */
interface Entry {
  readonly source: ConfiguredSource;
  readonly gone: AbortController;
  problem: string | null;
  progress: SourceView['progress'];
  watcher: FSWatcher | null;
  /** Which folder was at the path at the last scan; null for none. */
  folderId: string | null;
  /** Cancels the next scheduled scan. */
  callOff: (() => void) | null;
}

export class Knowledge {
  readonly #deps: KnowledgeDeps;
  readonly #closing = new AbortController();
  readonly #entries = new Map<string, Entry>();
  #cancelRemoval: (() => void) | null = null;
  #queue: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps;
    for (const source of deps.sources) this.#entries.set(source.name, newEntry(source));
  }

  get hasSources(): boolean {
    return this.#entries.size + this.#deps.resolvers.length > 0;
  }

  get isIndexing(): boolean {
    return this.#pending > 0;
  }

  /** Deletes the index of sources that are no longer configured, updates the others, and watches them for changes. Returns at once. */
  start(): void {
    this.#removeUnconfigured();
    for (const entry of this.#entries.values()) this.#begin(entry);
  }

  /**
   * Replaces the list of sources. New ones are read; removed ones are excluded from searches at once and deleted a minute later. Returns at
   * once.
   */
  take(sources: readonly ConfiguredSource[]): void {
    const wanted = new Map(sources.map((source) => [source.name, source]));
    for (const [name, entry] of this.#entries) {
      if (isDeepStrictEqual(wanted.get(name), entry.source)) continue;
      end(entry);
      this.#entries.delete(name);
    }
    for (const source of sources) {
      if (this.#entries.has(source.name)) continue;
      const entry = newEntry(source);
      this.#entries.set(source.name, entry);
      this.#begin(entry);
    }
    this.#cancelRemoval?.();
    this.#cancelRemoval = this.#deps.later(KEPT_MS, () => this.#removeUnconfigured());
  }

  list(): SourceView[] {
    const nothing = { path: null, documents: 0, chunks: 0, failed: 0, indexedAtMs: null, problem: null, progress: null };
    const resolved = this.#deps.resolvers.map(({ name }): SourceView => ({ name, kind: 'resolver', ...nothing }));
    return [...[...this.#entries.values()].map((entry) => this.#view(entry)), ...resolved];
  }

  status(name: string, limit: number): OpResult<'knowledge.status'> {
    const entry = this.#find(name);
    const documents = this.#deps.store
      .documents(name, limit)
      .map(({ path, title, mediaType, sizeBytes, passages: chunks, indexedAtMs, problem }) => {
        return { path, title, mediaType, sizeBytes, chunks, indexedAtMs, problem };
      });
    return { source: this.#view(entry), documents };
  }

  async search(request: SearchRequest): Promise<Evidence[]> {
    const { source } = request;
    const isKnown = source === undefined || this.#entries.has(source) || this.#deps.resolvers.some(({ name }) => name === source);
    if (!isKnown) throw this.#noSource(source);
    return (await this.find(request)).evidence;
  }

  find(request: SearchRequest): Promise<Found> {
    const { store, findMeaning, resolvers, untrustedOf } = this.#deps;
    const sources = [...this.#entries.values()].map(({ source }) => source);
    return searchKnowledge({ store, findMeaning, sources, resolvers, untrustedOf }, request);
  }

  /** Counts the files of a folder that could be read as documents, up to an upper bound. */
  async countFiles(folder: string, endings: readonly string[] | null): Promise<{ files: number; more: boolean; problem: string | null }> {
    const { reader, skipped } = this.#deps;
    const job = { kind: 'scan', folder, only: null, endings, filesMax: COUNTED_MAX, skipped } as const;
    try {
      const { files, more, problem } = await reader.run<'scan'>(job);
      return { files: files.length, more, problem };
    } finally {
      if (this.#pending === 0) await reader.rest();
    }
  }

  /** Rereads every document of one source or of all. Resolves when done. */
  async reindex(name: string | undefined): Promise<OpResult<'knowledge.reindex'>> {
    const wanted = name === undefined ? [...this.#entries.values()] : [this.#find(name)];
    const sum = { documents: 0, changed: 0, removed: 0, failed: 0 };
    for (const entry of wanted) {
      const report = await this.#index(entry, true);
      for (const key of ['documents', 'changed', 'removed', 'failed'] as const) sum[key] += report[key];
    }
    return sum;
  }

  /** Resolves when all work in progress is done. */
  async settled(): Promise<void> {
    while (this.#pending > 0) await this.#queue;
  }

  async dispose(): Promise<void> {
    this.#closing.abort();
    this.#cancelRemoval?.();
    for (const entry of this.#entries.values()) end(entry);
    await this.#queue;
  }

  #view({ source, problem, progress }: Entry): SourceView {
    const { name } = source;
    const path = source.kind === 'directory' ? pathOf(source) : null;
    return { name, kind: kindOf(source), path, ...this.#deps.store.counts(name), problem, progress };
  }

  #find(name: string): Entry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw this.#noSource(name);
    return entry;
  }

  #begin(entry: Entry): void {
    this.#look(entry);
  }

  /** Runs one job at a time. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    this.#pending += 1;
    const ran = this.#queue.then(work);
    this.#queue = ran
      .catch(() => undefined)
      .then(async () => {
        this.#pending -= 1;
        if (this.#pending === 0) await this.#deps.reader.rest();
      });
    return ran;
  }

  /** Fails with cancelled if the source was removed or the program is closing, and with the errors of the store. */
  #index(entry: Entry, rereadAll: boolean): Promise<IndexReport> {
    const signal = AbortSignal.any([this.#closing.signal, entry.gone.signal]);
    return this.#enqueue(async () => {
      try {
        const onProgress = (done: number, total: number): void => void (entry.progress = { done, total });
        const report = await indexSource(this.#deps, entry.source, { rereadAll, signal, onProgress });
        entry.problem = report.problem;
        if (report.changed > 0) this.#deps.onIndexed();
        return report;
      } finally {
        entry.progress = null;
      }
    });
  }

  /** Scans a source in the background. A failure is kept in the entry, which shows it. */
  #look(entry: Entry): void {
    const { source } = entry;
    // Before the scan, so that no change falls between the two.
    if (source.kind === 'directory') this.#follow(entry, source);
    this.#index(entry, false).catch((cause: unknown) => {
      if (this.#closing.signal.aborted || entry.gone.signal.aborted) return;
      entry.problem = toAppError(cause).message;
      this.#deps.logger.log('warn', 'documents could not be indexed', { source: source.name, cause: String(cause) });
    });
    if (source.kind === 'directory') this.#lookIn(entry.folderId === null ? AWAY_MS : LOOK_MS, entry);
  }

  #lookIn(delayMs: number, entry: Entry): void {
    if (this.#closing.signal.aborted || entry.gone.signal.aborted) return;
    entry.callOff?.();
    entry.callOff = this.#deps.later(delayMs, () => this.#look(entry));
  }

  /** Watches the folder that is at the path now: a watcher stays with a folder that was moved away or replaced. */
  #follow(entry: Entry, { folder, only, watch: isWatched }: DirectorySource): void {
    const folderId = idOf(folder);
    if (folderId === entry.folderId) return;
    entry.folderId = folderId;
    entry.watcher?.close();
    entry.watcher = null;
    if (folderId === null || !isWatched) return;
    try {
      const watcher = watch(folder, { recursive: only === null, persistent: false }, () => this.#lookIn(SETTLE_MS, entry));
      watcher.on('error', () => watcher.close());
      entry.watcher = watcher;
    } catch {
      // The folder cannot be watched. The periodic scan finds its changes.
    }
  }

  #noSource(name: string): AppError {
    const hint = 'trayclaw knowledge list shows the sources there are; trayclaw knowledge add NAME PATH adds one.';
    return noSuch('source', name, [...this.#entries.keys(), ...this.#deps.resolvers.map((one) => one.name)], hint);
  }

  /** Deletes the indexes of sources that are no longer configured. */
  #removeUnconfigured(): void {
    const { store, logger } = this.#deps;
    this.#enqueue(async () => {
      for (const name of store.sources()) {
        const paths = store.seen(name).map(({ path }) => path);
        // Checked before each document, because the source may have been added again in the meantime.
        await removeDocuments(store, name, paths, () => !this.#entries.has(name) && !this.#closing.signal.aborted);
      }
    }).catch((cause: unknown) => {
      logger.log('warn', 'documents of a source that is gone could not be taken out', { cause: String(cause) });
    });
  }
}

function newEntry(source: ConfiguredSource): Entry {
  return { source, gone: new AbortController(), problem: null, progress: null, watcher: null, folderId: null, callOff: null };
}

function idOf(folder: string): string | null {
  try {
    const { dev, ino, birthtimeNs } = statSync(folder, { bigint: true });
    // File systems give the number of a deleted folder to the next one.
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return null;
  }
}

function end({ gone, watcher, callOff }: Entry): void {
  gone.abort();
  watcher?.close();
  callOff?.();
}

function kindOf(source: ConfiguredSource): 'inline' | 'directory' | 'file' {
  return source.kind === 'directory' && source.only !== null ? 'file' : source.kind;
}

function pathOf({ folder, only }: DirectorySource): string {
  return only === null ? folder : join(folder, only);
}
