// Embeds every text in the background, one batch at a time, and takes vectors from the cache where possible. Pins the model when its first
// vectors arrive. A failure is kept to be shown, and retried later; searches use full text in the meantime.

import { toAppError } from '../../../contracts/errors.ts';
import type { Spine } from '../../feature.ts';
import { measureFloor, referenceName, referenceTexts } from './relevance.ts';
import type { VectorStore } from './vector-store.ts';

export interface WaitingText {
  readonly row: number;
  readonly text: string;
  readonly textHash: string;
  readonly scope: string;
}

/** A table of texts that need vectors. */
export interface EmbeddedTexts {
  waiting(limit: number): readonly WaitingText[];
  countWaiting(): number;
  /**
   * Whether this row, or another one, still contains the text. The row may have been deleted, and its number reused for a different text.
   */
  whereIs(text: WaitingText): 'in-its-row' | 'elsewhere' | 'gone';
  /** Adds the vector to the index and marks the row as embedded. */
  put(text: WaitingText, vector: Int8Array): void;
  /** Marks every text as waiting, after all vectors were deleted. */
  reset(): void;
}

export interface VectorKeeperDeps extends Pick<Spine, 'logger' | 'later'> {
  readonly embedder: { readonly model: string; embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> };
  readonly place: Pick<VectorStore, 'pin' | 'pinned' | 'setFloor' | 'cached' | 'keep'>;
  readonly tables: readonly EmbeddedTexts[];
  readonly transact: <T>(work: () => T) => T;
}

const BATCH = 64;
const PAUSE_MS = 5;
const RETRY_MS = 30_000;

export class VectorKeeper {
  readonly #deps: VectorKeeperDeps;
  readonly #closing = new AbortController();
  #problem: string | null = null;
  #isRunning = false;
  #callOff: (() => void) | null = null;

  constructor(deps: VectorKeeperDeps) {
    this.#deps = deps;
  }

  get state(): { model: string; dimensions: number | null; waiting: number; problem: string | null } {
    const { embedder, place, tables } = this.#deps;
    const dimensions = place.pinned?.model === embedder.model ? place.pinned.dimensions : null;
    const waiting = tables.reduce((sum, table) => sum + table.countWaiting(), 0);
    return { model: embedder.model, dimensions, waiting, problem: this.#problem };
  }

  /** Starts the work, because there may be new texts. */
  poke(): void {
    if (this.#isRunning || this.#callOff !== null || this.#closing.signal.aborted) return;
    void this.#run();
  }

  dispose(): void {
    this.#closing.abort();
    this.#callOff?.();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    let again: number | null = null;
    try {
      if (await this.#batch()) again = PAUSE_MS;
      this.#problem = null;
    } catch (cause) {
      if (!this.#closing.signal.aborted) {
        this.#problem = toAppError(cause).message;
        this.#deps.logger.log('warn', 'texts could not be embedded', { cause: String(cause) });
        again = RETRY_MS;
      }
    }
    this.#isRunning = false;
    if (again === null || this.#closing.signal.aborted) return;
    this.#callOff = this.#deps.later(again, () => {
      this.#callOff = null;
      this.poke();
    });
  }

  /** Returns whether there may be more texts. */
  async #batch(): Promise<boolean> {
    // Measured before anything else, because no vector is used without a floor.
    await this.#measure();
    for (const table of this.#deps.tables) {
      const waiting = table.waiting(BATCH);
      if (waiting.length === 0) continue;
      await this.#embed(table, waiting);
      return true;
    }
    return false;
  }

  /** Measures the floor once per model. */
  async #measure(): Promise<void> {
    const { embedder, place, transact } = this.#deps;
    if (place.pinned?.model !== embedder.model || place.pinned.floorBy === referenceName) return;
    const vectors = await embedder.embed(referenceTexts, this.#closing.signal);
    if (!this.#closing.signal.aborted) transact(() => place.setFloor(embedder.model, measureFloor(vectors), referenceName));
  }

  async #embed(table: EmbeddedTexts, waiting: readonly WaitingText[]): Promise<void> {
    const { embedder, place, transact, tables } = this.#deps;
    // Cached vectors of another model are useless; they are ignored.
    const usable = place.pinned?.model === embedder.model;
    const unknown = waiting.filter(({ textHash }) => !usable || place.cached(textHash) === null);
    const missing = new Map(unknown.map(({ textHash, text }) => [textHash, text]));
    const made = await embedder.embed([...missing.values()], this.#closing.signal);
    const [first] = made;
    if (this.#closing.signal.aborted) return;
    transact(() => {
      if (first !== undefined && place.pin(embedder.model, first.length)) for (const each of tables) each.reset();
      const placed = waiting.map((text) => ({ text, at: table.whereIs(text) }));
      const wanted = new Set(placed.flatMap(({ text, at }) => (at === 'gone' ? [] : [text.textHash])));
      for (const [index, textHash] of [...missing.keys()].entries()) {
        const vector = made[index];
        if (vector !== undefined && wanted.has(textHash)) place.keep(textHash, vector);
      }
      for (const { text, at } of placed) {
        const vector = at === 'in-its-row' ? place.cached(text.textHash) : null;
        if (vector !== null) table.put(text, vector);
      }
    });
  }
}
