// The person's documents: sources from config.yaml and from the program around, kept in step in the background and searched with citations.
// Owns the watchers and the order of indexing; never writes to a document.

import { watch, type FSWatcher } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Later } from '../../base/later.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { Evidence } from '../../contracts/memory-ops.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { ConfiguredSource, DocumentReader, KnowledgeResolver, KnowledgeStore, ReadPage, UntrustedOf } from './ports.ts';
import { searchKnowledge, type Found, type SearchRequest } from './search.ts';
import { indexSource, type IndexReport } from './source-index.ts';

export { DocumentThread } from './document-thread.ts';
export { KnowledgePackSource } from './knowledge-pack-source.ts';
export type { ConfiguredSource, KnowledgeResolver, KnowledgeStore, ResolvedEvidence } from './ports.ts';

export interface KnowledgeDeps {
  readonly store: KnowledgeStore;
  readonly reader: DocumentReader;
  readonly readPage: ReadPage;
  readonly sources: readonly ConfiguredSource[];
  readonly resolvers: readonly KnowledgeResolver[];
  readonly untrustedOf: UntrustedOf;
  readonly skipped: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly later: Later;
  /** Something was indexed, and its passages want vectors. */
  onIndexed(): void;
}

/** After the last change of a file, so that a save in several steps is one. */
const SETTLE_MS = 500;
/** What a watcher did not tell of is found by a look from time to time. */
const LOOK_MS = 600_000;

type SourceView = OpResult<'knowledge.list'>['sources'][number];

export class Knowledge {
  readonly #deps: KnowledgeDeps;
  readonly #closing = new AbortController();
  readonly #problems = new Map<string, string>();
  readonly #watchers: FSWatcher[] = [];
  readonly #waiting = new Map<string, () => void>();
  #queue: Promise<unknown> = Promise.resolve();
  #pending = 0;

  constructor(deps: KnowledgeDeps) {
    this.#deps = deps;
  }

  get hasSources(): boolean {
    return this.#deps.sources.length + this.#deps.resolvers.length > 0;
  }

  get isIndexing(): boolean {
    return this.#pending > 0;
  }

  /** Takes out what is configured no more, brings the rest in step, and follows what changes. Returns at once. */
  start(): void {
    const { store, sources } = this.#deps;
    const named = new Set(sources.map(({ name }) => name));
    for (const gone of store.sources().filter((name) => !named.has(name))) {
      for (const { path } of store.seen(gone)) store.remove(gone, path);
    }
    for (const source of sources) {
      this.#look(source);
      if (source.kind === 'directory' && source.watch) this.#follow(source.name, source.folder);
    }
  }

  list(): SourceView[] {
    const { sources, resolvers } = this.#deps;
    const resolved = resolvers.map(({ name }): SourceView => ({
      name,
      kind: 'resolver',
      path: null,
      documents: 0,
      chunks: 0,
      failed: 0,
      indexedAtMs: null,
      problem: null,
    }));
    return [...sources.map((source) => this.#view(source)), ...resolved];
  }

  status(name: string, limit: number): OpResult<'knowledge.status'> {
    const source = this.#find(name);
    const documents = this.#deps.store.documents(name, limit).map((document) => ({
      path: document.path,
      title: document.title,
      mediaType: document.mediaType,
      sizeBytes: document.sizeBytes,
      chunks: document.passages,
      indexedAtMs: document.indexedAtMs,
      problem: document.problem,
    }));
    return { source: this.#view(source), documents };
  }

  async search(request: SearchRequest): Promise<Evidence[]> {
    const { sources, resolvers } = this.#deps;
    const known = [...sources, ...resolvers].some(({ name }) => name === request.source);
    if (request.source !== undefined && !known) throw noSource(request.source);
    return (await this.find(request)).evidence;
  }

  find(request: SearchRequest): Promise<Found> {
    return searchKnowledge(this.#deps, request);
  }

  /** Reads every document anew; resolves when that is done. */
  async reindex(name: string | undefined): Promise<OpResult<'knowledge.reindex'>> {
    const wanted = name === undefined ? this.#deps.sources : [this.#find(name)];
    const sum = { documents: 0, changed: 0, removed: 0, failed: 0 };
    for (const source of wanted) {
      const report = await this.#index(source, true);
      for (const key of ['documents', 'changed', 'removed', 'failed'] as const) sum[key] += report[key];
    }
    return sum;
  }

  /** Resolves when everything that was begun is done. */
  async settled(): Promise<void> {
    while (this.#pending > 0) await this.#queue;
  }

  async dispose(): Promise<void> {
    this.#closing.abort();
    for (const watcher of this.#watchers) watcher.close();
    for (const callOff of this.#waiting.values()) callOff();
    await this.#queue;
  }

  #view(source: ConfiguredSource): SourceView {
    const { name, kind } = source;
    const path = kind === 'directory' ? source.folder : null;
    return { name, kind, path, ...this.#deps.store.counts(name), problem: this.#problems.get(name) ?? null };
  }

  #find(name: string): ConfiguredSource {
    const source = this.#deps.sources.find((one) => one.name === name);
    if (source === undefined) throw noSource(name);
    return source;
  }

  /** One source after the other. Fails with cancelled, and as the store does. */
  #index(source: ConfiguredSource, anew: boolean): Promise<IndexReport> {
    this.#pending += 1;
    const ran = this.#queue.then(async () => {
      const { signal } = this.#closing;
      if (signal.aborted) throw new AppError('cancelled', 'Reading documents was stopped.');
      const report = await indexSource(this.#deps, source, anew, signal);
      if (report.problem === null) this.#problems.delete(source.name);
      else this.#problems.set(source.name, report.problem);
      if (report.changed > 0) this.#deps.onIndexed();
      return report;
    });
    this.#queue = ran
      .catch(() => undefined)
      .then(async () => {
        this.#pending -= 1;
        if (this.#pending === 0) await this.#deps.reader.rest();
      });
    return ran;
  }

  /** In the background: what fails is kept to be shown. */
  #look(source: ConfiguredSource): void {
    this.#index(source, false).catch((cause: unknown) => {
      if (this.#closing.signal.aborted) return;
      this.#problems.set(source.name, toAppError(cause).message);
      this.#deps.logger.log('warn', 'documents could not be indexed', { source: source.name, cause: String(cause) });
    });
    if (source.kind === 'directory') this.#lookIn(LOOK_MS, source.name);
  }

  #lookIn(delayMs: number, name: string): void {
    if (this.#closing.signal.aborted) return;
    this.#waiting.get(name)?.();
    const callOff = this.#deps.later(delayMs, () => {
      this.#waiting.delete(name);
      this.#look(this.#find(name));
    });
    this.#waiting.set(name, callOff);
  }

  #follow(name: string, folder: string): void {
    try {
      const watcher = watch(folder, { recursive: true, persistent: false }, () => this.#lookIn(SETTLE_MS, name));
      watcher.on('error', () => watcher.close());
      this.#watchers.push(watcher);
    } catch {
      // No folder yet, or none of this kind can be watched: the look from time to time finds what changed.
    }
  }
}

function noSource(name: string): AppError {
  return new AppError('not_found', `There is no source ${name}.`, {
    data: { hint: 'Sources stand in knowledge.sources of config.yaml; trayclaw knowledge list shows them.' },
  });
}
