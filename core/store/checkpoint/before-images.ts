// Records the state of a call's paths before it writes, and again afterwards: small files at once, large files in pieces. Stores content
// through its port. Decides nothing about approvals and restores nothing.

import { dirname, join, parse, sep } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { globNameMatcher, withoutBraces } from '../../base/wildcard.ts';
import type { AfterFile, BeforeFile } from '../../contracts/checkpoints.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { fileFailure, whyItFailed } from './file-calls.ts';
import { type FileLook, type Glance } from './file-look.ts';

/** Stores content. The content is on disk on return. Fails with a `store_*` error. */
export interface ImageStore {
  keep(content: Uint8Array): { readonly sha256: string; readonly sizeBytes: number };
  keepStream(source: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<{ readonly sha256: string; readonly sizeBytes: number }>;
  /** Fails with `not_found`, `artifact_missing` or `store_corrupt`. */
  read(sha256: string, range?: { offset: number; length: number }): Uint8Array;
  has(sha256: string): boolean;
}

export interface ImageLimits {
  readonly fileBytesMax: number;
  readonly callBytesMax: number;
  /** The limit for a folder taken as a whole. */
  readonly folderEntriesMax: number;
}

export const defaultImageLimits: ImageLimits = {
  fileBytesMax: 256 * 1024 * 1024,
  callBytesMax: 1024 * 1024 * 1024,
  folderEntriesMax: 500,
};

/** Up to this size, a call's files are read at once. Larger work is divided so that it does not block other work. */
const QUICK_BYTES_MAX = 1_000_000;
const QUICK_FILES_MAX = 32;

interface Found {
  readonly path: string;
  readonly glance: Glance;
  /** Why the content is not stored. */
  readonly skipped: string | null;
}

interface Seen {
  readonly path: string;
  /** Its missing parent folders. */
  readonly folders?: readonly string[] | undefined;
}

export class BeforeImages {
  readonly #look: FileLook;
  readonly #store: ImageStore;
  readonly #limits: ImageLimits;

  constructor(look: FileLook, store: ImageStore, limits: ImageLimits) {
    this.#look = look;
    this.#store = store;
    this.#limits = limits;
  }

  /**
   * Records the state of the paths. If `expands`, folders are recorded with everything in them. Fails with `tool_failed` if something
   * cannot be read, `cancelled`, or a `store_*` error. A path over a limit does not fail; its image states the reason.
   */
  take(paths: readonly string[], expands: boolean, signal?: AbortSignal): BeforeFile[] | Promise<BeforeFile[]> {
    const found = attempt(() => this.#find(paths, expands), paths[0] ?? '');
    if (isQuick(found)) return found.map((item) => attempt(() => this.#keepNow(item), item.path));
    return this.#takeSlowly(found, signal);
  }

  /**
   * Returns the current state of the recorded paths, and of new entries in folders that were taken as a whole or are new. Never fails: the
   * image of an unreadable path states the reason.
   */
  after(taken: readonly BeforeFile[], expands: boolean, signal?: AbortSignal): AfterFile[] | Promise<AfterFile[]> {
    const known = new Set(taken.map(({ path }) => path));
    const folders = expands
      ? taken.filter(({ before }) => before.kind === 'folder' || before.kind === 'absent').map(({ path }) => path)
      : [];
    const seen = taken.filter(({ before }) => before.kind !== 'unknown');
    const unseen = taken.flatMap(({ path, before }) => (before.kind === 'unknown' ? [{ path, after: before }] : []));
    const wanted: Seen[] = [...seen, ...this.#newIn(folders, known).map((path) => ({ path }))];
    const glances = wanted.map(({ path }) => this.#glanceIfPossible(path));
    const bytes = glances.reduce((sum, glance) => sum + (glance?.kind === 'file' ? glance.sizeBytes : 0), 0);
    if (wanted.length > QUICK_FILES_MAX || bytes > QUICK_BYTES_MAX) return this.#afterSlowly(unseen, wanted, signal);
    return [...unseen, ...wanted.map((item, index) => this.#seeNow(item, glances[index] ?? null))];
  }

  async #takeSlowly(found: readonly Found[], signal?: AbortSignal): Promise<BeforeFile[]> {
    const taken: BeforeFile[] = [];
    for (const item of found) {
      if (signal?.aborted === true) throw new AppError('cancelled', 'It was stopped before it began; nothing was changed.');
      try {
        const isLarge = item.skipped === null && item.glance.kind === 'file' && item.glance.sizeBytes > QUICK_BYTES_MAX;
        taken.push(isLarge ? await this.#keepInPieces(item, signal) : this.#keepNow(item));
      } catch (cause) {
        throw refusal(cause, item.path);
      }
    }
    return taken;
  }

  async #keepInPieces({ path, glance }: Found, signal?: AbortSignal): Promise<BeforeFile> {
    const kept = await this.#store.keepStream(this.#look.pieces(path, signal), signal);
    return { path, before: { kind: 'file', ...kept, mode: glance.mode } };
  }

  #keepNow({ path, glance, skipped }: Found): BeforeFile {
    if (skipped !== null) return { path, before: { kind: 'unknown', reason: skipped } };
    if (glance.kind === 'absent') {
      const folders = this.#missingAbove(path);
      return { path, before: { kind: 'absent' }, ...(folders.length === 0 ? {} : { folders }) };
    }
    if (glance.kind !== 'file') return { path, before: this.#look.imageWithoutContent(path, glance) };
    const { sha256, sizeBytes } = this.#store.keep(this.#look.read(path));
    return { path, before: { kind: 'file', sha256, sizeBytes, mode: glance.mode } };
  }

  async #afterSlowly(unseen: readonly AfterFile[], wanted: readonly Seen[], signal?: AbortSignal): Promise<AfterFile[]> {
    const seen: AfterFile[] = [...unseen];
    for (const item of wanted) {
      const glance = this.#glanceIfPossible(item.path);
      const isLarge = glance?.kind === 'file' && glance.sizeBytes > QUICK_BYTES_MAX;
      seen.push(isLarge ? await this.#seeLarge(item, glance, signal) : this.#seeNow(item, glance));
      if (seen.length % QUICK_FILES_MAX === 0) await giveWay();
    }
    return seen;
  }

  async #seeLarge({ path, folders }: Seen, glance: Glance, signal?: AbortSignal): Promise<AfterFile> {
    if (glance.sizeBytes > this.#limits.fileBytesMax) return { path, after: { kind: 'unknown', reason: 'it is too large' } };
    try {
      return { path, after: await this.#look.image(path, signal), ...this.#madeOf(folders) };
    } catch (cause) {
      return { path, after: { kind: 'unknown', reason: whyItFailed(cause) } };
    }
  }

  #seeNow({ path, folders }: Seen, glance: Glance | null): AfterFile {
    try {
      return { path, after: this.#look.imageNow(path, glance ?? this.#look.glance(path)), ...this.#madeOf(folders) };
    } catch (cause) {
      return { path, after: { kind: 'unknown', reason: whyItFailed(cause) } };
    }
  }

  #madeOf(folders: readonly string[] = []): { made?: { path: string; identity: string; mode: number }[] } {
    const made = folders.flatMap((path) => {
      const { kind, identity, mode } = this.#look.glance(path);
      return kind === 'folder' ? [{ path, identity, mode }] : [];
    });
    return made.length === 0 ? {} : { made };
  }

  #glanceIfPossible(path: string): Glance | null {
    try {
      return this.#look.glance(path);
    } catch {
      // The final check reports the error.
      return null;
    }
  }

  #find(paths: readonly string[], expands: boolean): Found[] {
    const found = new Map<string, Found>();
    let bytes = 0;
    const add = (path: string, glance: Glance): void => {
      if (found.has(path)) return;
      const skipped = this.#whySkipped(glance, bytes);
      if (skipped === null && glance.kind === 'file') bytes += glance.sizeBytes;
      found.set(path, { path, glance, skipped });
    };
    for (const path of paths) {
      const glance = this.#look.glance(path);
      const inside = expands ? this.#within(path, glance) : [];
      if (inside === null) {
        const skipped = `it ${glance.kind === 'folder' ? 'is a folder of' : 'names'} more than ${this.#limits.folderEntriesMax} files`;
        found.set(path, { path, glance, skipped });
        continue;
      }
      add(path, glance);
      for (const below of inside) add(below, this.#look.glance(below));
    }
    return [...found.values()];
  }

  /** Returns everything below a folder, or everything that a pattern of a shell names now; null if there is too much. */
  #within(path: string, { kind }: Glance): string[] | null {
    if (kind === 'folder') return this.#inside(path);
    return kind === 'absent' && /[*?[{]/.test(path) ? this.#namedBy(path) : [];
  }

  #namedBy(pattern: string): string[] | null {
    const named: string[] = [];
    for (const one of withoutBraces(pattern)) {
      for (const path of this.#matching(one)) {
        const inside = this.#glanceIfPossible(path)?.kind === 'folder' ? this.#inside(path) : [];
        if (inside === null || named.length + inside.length >= this.#limits.folderEntriesMax) return null;
        named.push(path, ...inside);
      }
    }
    return named;
  }

  /** Returns what a pattern without braces matches, at most one more than may be kept. Follows no links. */
  #matching(pattern: string): string[] {
    const { root } = parse(pattern);
    let found = [root];
    for (const segment of pattern.slice(root.length).split(sep)) {
      const isLike = segment === '**' || !/[*?[]/.test(segment) ? null : globNameMatcher(segment);
      const next: string[] = [];
      for (const folder of found) {
        if (next.length > this.#limits.folderEntriesMax) break;
        if (segment === '**') next.push(folder, ...(this.#inside(folder) ?? []));
        else if (isLike === null) next.push(join(folder, segment));
        else if (this.#glanceIfPossible(folder)?.kind === 'folder')
          next.push(...this.#look.names(folder).flatMap((name) => (isLike(name) ? [join(folder, name)] : [])));
      }
      found = next;
    }
    return found.filter((path) => (this.#glanceIfPossible(path)?.kind ?? 'absent') !== 'absent');
  }

  #whySkipped(glance: Glance, bytesSoFar: number): string | null {
    if (glance.kind === 'other') return 'it is a pipe, a socket or a device';
    if (glance.kind !== 'file') return null;
    const { fileBytesMax, callBytesMax } = this.#limits;
    if (glance.sizeBytes > fileBytesMax)
      return `it has ${megabytes(glance.sizeBytes)}, and copies are kept of up to ${megabytes(fileBytesMax)}`;
    if (bytesSoFar + glance.sizeBytes > callBytesMax) return `of one call up to ${megabytes(callBytesMax)} are kept`;
    return null;
  }

  /** Returns everything below a folder, without following links, or null if there is too much. */
  #inside(folder: string): string[] | null {
    const below: string[] = [];
    const open = [folder];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      for (const name of this.#look.names(next)) {
        const path = join(next, name);
        below.push(path);
        if (below.length > this.#limits.folderEntriesMax) return null;
        if (this.#look.glance(path).kind === 'folder') open.push(path);
      }
    }
    return below;
  }

  #newIn(folders: readonly string[], known: ReadonlySet<string>): string[] {
    const added = new Set<string>();
    for (const folder of folders) {
      try {
        const fresh = (this.#inside(folder) ?? []).filter((path) => !known.has(path));
        if (this.#bytesOf(fresh) <= this.#limits.callBytesMax) for (const path of fresh) added.add(path);
      } catch (cause) {
        // The call removed the folder or its permissions. Its former entries are checked by name.
        void cause;
      }
    }
    return [...added];
  }

  #bytesOf(paths: readonly string[]): number {
    return paths.reduce((sum, path) => sum + this.#look.glance(path).sizeBytes, 0);
  }

  /** The deepest folder first. */
  #missingAbove(path: string): string[] {
    const missing: string[] = [];
    for (let folder = dirname(path); dirname(folder) !== folder; folder = dirname(folder)) {
      if (this.#look.glance(folder).kind !== 'absent') return missing;
      missing.push(folder);
    }
    return missing;
  }
}

function isQuick(found: readonly Found[]): boolean {
  if (found.length > QUICK_FILES_MAX) return false;
  return (
    found.reduce((bytes, { glance, skipped }) => bytes + (skipped === null && glance.kind === 'file' ? glance.sizeBytes : 0), 0) <=
    QUICK_BYTES_MAX
  );
}

function attempt<T>(work: () => T, path: string): T {
  try {
    return work();
  } catch (cause) {
    throw refusal(cause, path);
  }
}

function refusal(cause: unknown, path: string): AppError {
  const hint = 'Nothing was changed. TrayClaw changes a file only when it can keep a copy of it for undo.';
  if (!isAppError(cause)) return fileFailure(cause, `keep a copy of ${path} before it is changed`, hint);
  if (cause.code === 'cancelled') return cause;
  return new AppError(cause.code, `No copy of ${path} could be kept before it is changed. ${cause.message}`, { cause, hint });
}

function megabytes(bytes: number): string {
  return bytes < 1_000_000 ? `${bytes} bytes` : `${Math.round(bytes / 1_000_000)} MB`;
}
