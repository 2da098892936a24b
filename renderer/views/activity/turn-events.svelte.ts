// The events of one turn of any age: read once from the log, then extended by the stream.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import { createTurnView, type TurnView } from '../../../core/contracts/turn-view.ts';
import { applyToTurnView } from '../../../core/contracts/turn-view-fold.ts';
import { readableEvents } from '../../lib/fold/readable-events.ts';
import { toOpFailure, type OpClient, type OpFailure } from '../../lib/client.ts';

const pageEvents = 2000;
/** Limits the events shown for a turn; an exported file contains all. */
const pagesMax = 5;

export class TurnEvents {
  loading = $state(true);
  failure = $state.raw<OpFailure | null>(null);
  readonly turnId: string;
  #read = $state.raw<readonly AnyEvent[]>([]);
  #folded: TurnView;
  #firstSeq = 0;
  readonly #client: OpClient;
  readonly #live: () => readonly AnyEvent[];

  /** Stored and streamed events. Empty until the first one is known, because a turn is not shown from its middle. */
  readonly all = $derived.by(() => {
    const live = this.#live();
    return this.#read.length === 0 && !hasBeginning(live) ? [] : merge(this.#read, live);
  });

  /** The same events as a view; only new events are folded. A copy, because the same object would not count as a change. */
  readonly view = $derived.by((): TurnView => ({ ...this.#fold(this.all) }));

  /** `live` returns the turn's streamed events; it is called reactively, so that changes are noticed. */
  constructor(client: OpClient, turnId: string, live: () => readonly AnyEvent[]) {
    this.#client = client;
    this.turnId = turnId;
    this.#folded = createTurnView(turnId, 0);
    this.#live = live;
  }

  #fold(events: readonly AnyEvent[]): TurnView {
    const first = events[0]?.seq ?? 0;
    if (first !== this.#firstSeq) {
      this.#firstSeq = first;
      this.#folded = createTurnView(this.turnId, events[0]?.atMs ?? 0);
    }
    for (let at = events.findLastIndex(({ seq }) => seq <= this.#folded.lastSeq) + 1; at < events.length; at++) {
      const event = events[at];
      if (event !== undefined) applyToTurnView(this.#folded, event);
    }
    return this.#folded;
  }

  /** Resolves to false if it failed. */
  async load(): Promise<boolean> {
    this.loading = true;
    const held = this.#live();
    if (hasBeginning(held)) {
      // Stored, because the stream drops old turns.
      this.#read = held.slice();
      this.loading = false;
      return true;
    }
    const read: AnyEvent[] = [];
    try {
      for (let page = 0; page < pagesMax; page++) {
        const after = read.at(-1)?.seq;
        const params = { turnId: this.turnId, limit: pageEvents, ...(after === undefined ? {} : { after }) };
        const { events, hasMore } = await this.#client.op('turn.events', params);
        read.push(...readableEvents(events));
        if (!hasMore) break;
      }
      this.#read = read;
      this.failure = null;
    } catch (cause) {
      this.failure = toOpFailure(cause);
    }
    this.loading = false;
    return this.failure === null;
  }
}

function hasBeginning(events: readonly AnyEvent[]): boolean {
  return events[0]?.type === 'user.message' || events[0]?.type === 'turn.started';
}

/** Merges two ordered runs; each event occurs once. */
function merge(read: readonly AnyEvent[], live: readonly AnyEvent[]): readonly AnyEvent[] {
  const last = read.at(-1)?.seq ?? 0;
  const first = read[0]?.seq ?? Number.POSITIVE_INFINITY;
  const newer = live.filter(({ seq }) => seq > last);
  const older = live.filter(({ seq }) => seq < first && seq <= last);
  return newer.length === 0 && older.length === 0 ? read : [...older, ...read, ...newer];
}
