// Passes kept memories on to the stores of the embedding program, and reports which are forgotten. Follows the log with one cursor per
// store, delivers in order and at least once, and never runs on the path of a turn. Candidates, which still wait for a person, are not
// passed on.

import { orAborted } from '../../../base/waits.ts';
import type { AnyEvent, EventType } from '../../../contracts/events.ts';
import type { KeptMemory, MemorySource, RememberedText } from '../../../contracts/memory-ports.ts';
import type { Spine } from '../../feature.ts';

export interface MirrorDeps extends Pick<Spine, 'logger' | 'later'> {
  readonly sources: readonly MemorySource[];
  readonly reads: {
    afterOfTypes(seq: number, limit: number, types: readonly EventType[]): { events: AnyEvent[]; scannedTo: number };
  };
  /** Null if the memory is forgotten. */
  find(memoryId: string): KeptMemory | null;
  readonly cursors: { get(source: string): number; set(source: string, seq: number): void };
}

type Hand = (signal: AbortSignal) => Promise<void>;

const BATCH = 200;
const types: readonly EventType[] = ['memory.remembered', 'memory.promoted', 'memory.forgotten', 'memory.settled'];
const WITHIN_MS = 10_000;
const FIRST_WAIT_MS = 5_000;
const LONGEST_WAIT_MS = 300_000;

export class MemoryMirror {
  readonly #deps: MirrorDeps;
  readonly #lines: readonly Line[];

  constructor(deps: MirrorDeps) {
    this.#deps = deps;
    this.#lines = deps.sources.filter((source) => 'remember' in source).map((source) => new Line(deps, source));
  }

  /** Starts passing on new memories. Returns at once. */
  poke(): void {
    for (const line of this.#lines) line.poke();
  }

  /** Stops the work in progress. The next start continues from the cursor. */
  async dispose(): Promise<void> {
    const ended = await Promise.allSettled(this.#lines.map((line) => line.dispose()));
    for (const one of ended) if (one.status === 'rejected') this.#deps.logger.log('warn', 'a memory store did not end', {});
  }
}

/** The deliveries to one store, one at a time. */
class Line {
  readonly #deps: MirrorDeps;
  readonly #source: MemorySource;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #callOff: (() => void) | null = null;
  #waitMs = FIRST_WAIT_MS;

  constructor(deps: MirrorDeps, source: MemorySource) {
    this.#deps = deps;
    this.#source = source;
  }

  poke(): void {
    if (this.#running !== null || this.#callOff !== null || this.#closing.signal.aborted) return;
    this.#running = this.#run().finally(() => {
      this.#running = null;
    });
  }

  async dispose(): Promise<void> {
    this.#closing.abort();
    this.#callOff?.();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { reads, cursors, logger, later } = this.#deps;
    const { name } = this.#source;
    try {
      for (;;) {
        const from = cursors.get(name);
        const { events, scannedTo } = reads.afterOfTypes(from, BATCH, types);
        if (scannedTo === from) return;
        for (const event of events) {
          for (const hand of this.#handsOf(event)) await this.#within(hand);
          if (this.#closing.signal.aborted) return;
          cursors.set(name, event.seq);
        }
        cursors.set(name, scannedTo);
        this.#waitMs = FIRST_WAIT_MS;
      }
    } catch (cause) {
      if (this.#closing.signal.aborted) return;
      logger.log('warn', 'a memory store did not take a memory; it is tried again', { source: name, cause: String(cause) });
      this.#callOff = later(this.#waitMs, () => {
        this.#callOff = null;
        this.poke();
      });
      this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
    }
  }

  #handsOf(event: AnyEvent): Hand[] {
    switch (event.type) {
      case 'memory.remembered':
        return event.body.state === 'kept' ? this.#remember(event.body.memory.memoryId) : [];
      case 'memory.promoted':
        return this.#remember(event.body.memoryId);
      case 'memory.forgotten':
        return this.#forget(event.body.memoryId);
      case 'memory.settled': {
        const { keep, memoryId, otherId } = event.body;
        return keep === 'both' ? [] : this.#forget(keep === 'this' ? otherId : memoryId);
      }
      default:
        return [];
    }
  }

  /** Passes the memory on in its current state. A memory that has been forgotten since is skipped. */
  #remember(memoryId: string): Hand[] {
    const memory = this.#deps.find(memoryId);
    return memory === null ? [] : [(signal) => Promise.resolve(this.#source.remember?.(textOf(memory), signal))];
  }

  #forget(memoryId: string): Hand[] {
    return [(signal) => Promise.resolve(this.#source.forget?.(memoryId, signal))];
  }

  /** A store that never answers delays the next delivery only for this long. */
  async #within(hand: Hand): Promise<void> {
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(WITHIN_MS)]);
    await orAborted(hand(signal), signal, () => new Error('it took too long'));
  }
}

function textOf({ memoryId, text, kind, scope, importance, createdAtMs, untrusted }: KeptMemory): RememberedText {
  return { id: memoryId, text, kind, scope, importance, atMs: createdAtMs, untrusted };
}
