// Artifacts: content addressed by its SHA-256, stored in files and described by rows. Owns storing, naming, reading and removing. Never
// decides what is still needed: garbage collection asks its caller and removes nothing that is referenced.

import type Database from 'better-sqlite3';
import { createHash, hash } from 'node:crypto';
import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { ArtifactRef, ArtifactSink } from '../../contracts/tools.ts';
import { ArtifactFiles, type FileCalls, type Range } from './artifact-files.ts';
import { ArtifactRows, type ArtifactInfo } from './artifact-rows.ts';
import { collectGarbage, type GarbageQuery, type GarbageReport } from './garbage.ts';
import { storeFailure } from './store-failure.ts';
import { textPage } from './text-page.ts';

export { auditArtifacts, setAsideArtifacts, type DamagedArtifact } from './artifact-audit.ts';
export { artifactMigrations } from './artifact-rows.ts';
export type { ArtifactInfo } from './artifact-rows.ts';
export type { FileCalls, Range } from './artifact-files.ts';
export type { GarbageQuery, GarbageReport } from './garbage.ts';

export interface ArtifactAbout {
  readonly name: string;
  readonly mediaType: string;
  readonly callId?: string;
  readonly sessionId?: string;
}

export interface KeptContent {
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** One page of an artifact: text if it is UTF-8, otherwise base64. */
export interface ArtifactPage {
  readonly artifact: ArtifactInfo;
  readonly text: string | null;
  readonly base64: string | null;
  readonly nextOffset: number | null;
}

export interface ArtifactStoreOptions {
  readonly db: Database.Database;
  /** The folder `artifacts/`. Created when first needed. */
  readonly folder: string;
  readonly clock: Clock;
  readonly fs?: FileCalls;
  /** Larger content is refused with `payload_too_large`. */
  readonly sizeBytesMax?: number;
}

const NAME_LENGTH_MAX = 500;
const PAGE_BYTES_DEFAULT = 200_000;

export class ArtifactStore implements ArtifactSink {
  readonly #files: ArtifactFiles;
  readonly #rows: ArtifactRows;
  readonly #clock: Clock;
  readonly #sizeBytesMax: number;

  constructor(options: ArtifactStoreOptions) {
    this.#files = new ArtifactFiles(options.folder, options.fs);
    this.#rows = new ArtifactRows(options.db);
    this.#clock = options.clock;
    this.#sizeBytesMax = options.sizeBytesMax ?? 256 * 1024 * 1024;
  }

  /**
   * Stores content once and records this use of it. Its name becomes an alias in its session. Synchronous and synced, so meant for small
   * content. The row is written after the file, so a crash in between leaves at most an unreferenced file.
   * Fails with `store_full`, `store_readonly`, `store_failed` or `payload_too_large`; nothing is changed then.
   */
  put(content: Uint8Array | string, about: ArtifactAbout): ArtifactRef {
    const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
    this.#checkSize(bytes.length);
    const sha256 = hash('sha256', bytes, 'hex');
    return this.#attempt(`store ${quote(about.name)}`, () => {
      if (!this.#holds(sha256, bytes)) this.#files.write(sha256, bytes);
      return this.#record(sha256, bytes.length, about);
    });
  }

  /**
   * Stores content under its hash only: it has no name and is not listed. The caller must report it as needed during garbage collection.
   * Synced; fails like `put`.
   */
  keep(content: Uint8Array): KeptContent {
    this.#checkSize(content.length);
    const sha256 = hash('sha256', content, 'hex');
    return this.#attempt('keep a copy', () => {
      if (!this.#holds(sha256, content)) this.#files.write(sha256, content);
      this.#rows.recordContent(sha256, content.length, this.#clock.nowMs());
      return { sha256, sizeBytes: content.length };
    });
  }

  /** Like `keep`, in pieces and with bounded memory. An abort fails with `cancelled` and leaves nothing. */
  async keepStream(source: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<KeptContent> {
    const kept = await this.#writeStream(source, 'keep a copy', signal);
    this.#attempt('keep a copy', () => {
      this.#rows.recordContent(kept.sha256, kept.sizeBytes, this.#clock.nowMs());
    });
    return kept;
  }

  /** Updates rows for an event of the log: a fork uses what its original used, so that the original may be deleted. */
  apply(event: AnyEvent): void {
    if (event.type !== 'session.created' || event.body.forkedFrom === null) return;
    this.#rows.share(event.body.forkedFrom.sessionId, event.sessionId);
  }

  /** Returns whether there is content with this hash, according to its row. */
  has(sha256: string): boolean {
    return this.#rows.sizeBytes(sha256) !== null;
  }

  /** Gives stored content another name. The newest alias wins among those with the same session and name. Fails with `not_found`. */
  alias(idOrAlias: string, alias: string, sessionId?: string): void {
    const sha256 = this.#resolve(idOrAlias, sessionId);
    const sizeBytes = this.#rows.sizeBytes(sha256) ?? 0;
    this.#attempt(`name an artifact ${quote(alias)}`, () =>
      this.#rows.recordAlias(sha256, sizeBytes, { name: cleanName(alias), sessionId: sessionId ?? '', atMs: this.#clock.nowMs() }),
    );
  }

  /**
   * Returns the whole content, verified against its hash, or a part of it, verified only against its size. Fails with `not_found` (no such
   * artifact), `artifact_missing` (its file is missing) or `store_corrupt` (its file was changed).
   */
  read(idOrAlias: string, range?: Range, sessionId?: string): Uint8Array {
    return this.#read(this.#resolve(idOrAlias, sessionId), range);
  }

  /** Returns a page for display: text split at whole characters, or base64. `length` defaults to 200,000 bytes. */
  readPage(idOrAlias: string, range: Partial<Range> = {}): ArtifactPage {
    const artifact = this.get(idOrAlias);
    if (artifact === null) throw notFound(idOrAlias);
    const offset = range.offset ?? 0;
    const length = range.length ?? PAGE_BYTES_DEFAULT;
    const isWhole = offset === 0 && length >= artifact.sizeBytes;
    const bytes = this.#read(artifact.sha256, isWhole ? undefined : { offset, length });
    const mark = offset === 0 ? bytes : this.#read(artifact.sha256, { offset: 0, length: 2 });
    const { text, usedBytes } = textPage(bytes, { isLast: offset + bytes.length >= artifact.sizeBytes, mark });
    const next = offset + usedBytes;
    return {
      artifact,
      text,
      base64: text === null ? Buffer.from(bytes).toString('base64') : null,
      nextOffset: next < artifact.sizeBytes && usedBytes > 0 ? next : null,
    };
  }

  get(idOrAlias: string, sessionId?: string): ArtifactInfo | null {
    const sha256 = this.#lookUp(idOrAlias, sessionId);
    return sha256 === null ? null : this.#rows.info(sha256);
  }

  /** Returns at most 100 sessions that used this content. Empty if the content is unknown. */
  sessionsOf(idOrAlias: string): string[] {
    const sha256 = this.#lookUp(idOrAlias, undefined);
    return sha256 === null ? [] : this.#rows.sessionsOf(sha256);
  }

  /** Newest first, one entry per content. */
  list(query: { readonly sessionId?: string | undefined; readonly limit?: number | undefined } = {}): ArtifactInfo[] {
    return this.#rows.list(query.sessionId ?? null, query.limit ?? 100);
  }

  /**
   * Removes unreferenced content not used for `olderThanDays`, at most `limit` pieces per call, rows before files, and files without a row.
   * `isReferenced` is called before anything is removed.
   */
  collectGarbage(query: GarbageQuery): GarbageReport {
    return this.#attempt('remove old artifacts', () => collectGarbage(this.#rows, this.#files, query));
  }

  async #writeStream(source: AsyncIterable<Uint8Array>, doing: string, signal?: AbortSignal): Promise<KeptContent> {
    const draft = this.#attempt(doing, () => this.#files.openDraft());
    try {
      const digest = createHash('sha256');
      let sizeBytes = 0;
      for await (const piece of source) {
        if (signal?.aborted === true) throw new AppError('cancelled', `Could not ${doing}: it was cancelled.`);
        sizeBytes += piece.length;
        this.#checkSize(sizeBytes);
        digest.update(piece);
        draft.append(piece);
      }
      const sha256 = digest.digest('hex');
      draft.commit(sha256);
      return { sha256, sizeBytes };
    } catch (cause) {
      draft.discard();
      throw storeFailure(cause, doing);
    }
  }

  #read(sha256: string, range?: Range): Uint8Array {
    assert(range === undefined || (range.offset >= 0 && range.length >= 0), 'a range starts at zero or later');
    const expectedBytes = this.#rows.sizeBytes(sha256);
    if (expectedBytes === null) throw notFound(sha256);
    const found = this.#attempt('read an artifact', () => this.#files.read(sha256, range));
    if (found === null) throw damaged('artifact_missing', sha256, 'is no longer on the disk');
    const isWhole = range === undefined;
    if (found.sizeBytes !== expectedBytes || (isWhole && hash('sha256', found.bytes, 'hex') !== sha256)) {
      throw damaged('store_corrupt', sha256, 'was changed on the disk after it was stored');
    }
    return found.bytes;
  }

  /**
   * Compares the bytes, so that storing content again also repairs a damaged file. A file without a row does not count: the write that left
   * it may have failed before its directory entry was synced.
   */
  #holds(sha256: string, bytes: Uint8Array): boolean {
    if (this.#rows.sizeBytes(sha256) === null) return false;
    const found = this.#files.read(sha256);
    return found !== null && Buffer.compare(found.bytes, bytes) === 0;
  }

  #record(sha256: string, sizeBytes: number, about: ArtifactAbout): ArtifactRef {
    const name = cleanName(about.name);
    const use = { name, mediaType: about.mediaType, sessionId: about.sessionId ?? '', callId: about.callId ?? '' };
    this.#rows.recordUse(sha256, sizeBytes, { ...use, atMs: this.#clock.nowMs() });
    return { sha256, name, mediaType: about.mediaType, sizeBytes };
  }

  #resolve(idOrAlias: string, sessionId?: string): string {
    const sha256 = this.#lookUp(idOrAlias, sessionId);
    if (sha256 === null) throw notFound(idOrAlias);
    return sha256;
  }

  #lookUp(idOrAlias: string, sessionId?: string): string | null {
    const id = idOrAlias.replace(/^sha256:/, '');
    if (/^[0-9a-f]{64}$/.test(id) && this.#rows.sizeBytes(id) !== null) return id;
    return this.#rows.resolveAlias(idOrAlias, sessionId ?? null);
  }

  #checkSize(sizeBytes: number): void {
    if (sizeBytes <= this.#sizeBytesMax) return;
    throw new AppError('payload_too_large', `An artifact may hold at most ${this.#sizeBytesMax} bytes.`);
  }

  #attempt<T>(doing: string, work: () => T): T {
    try {
      return work();
    } catch (cause) {
      throw storeFailure(cause, doing);
    }
  }
}

function cleanName(name: string): string {
  const trimmed = name.trim().slice(0, NAME_LENGTH_MAX);
  return trimmed === '' ? 'untitled' : trimmed;
}

const quote = (name: string): string => JSON.stringify(name.slice(0, 100));

function notFound(idOrAlias: string): AppError {
  return new AppError('not_found', `There is no artifact ${quote(idOrAlias)}.`, { hint: 'See: trayclaw artifacts list' });
}

function damaged(code: 'artifact_missing' | 'store_corrupt', sha256: string, what: string): AppError {
  const hint = 'Run the step that made it again, or restore a backup. Everything else is intact.';
  return new AppError(code, `The file of artifact ${sha256.slice(0, 12)}… ${what}.`, { data: { sha256 }, hint });
}
