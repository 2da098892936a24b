// The open session: the newest events, older pages on demand, live text on top. Live text updates the page at most thirteen times a second,
// and less often if that takes long, so that a stream never takes more than a small share of the processor.

import { flushSync } from 'svelte';
import type { AnyEvent, DeltaNotice } from '../../../core/contracts/events.ts';
import { toOpFailure, type OpClient, type OpFailure } from '../client.ts';
import { applyDelta, createConversation, markMissing, markUnseen, type Conversation } from '../fold/conversation.ts';
import { ConversationLog } from '../fold/conversation-log.ts';
import { readableEvents } from '../fold/readable-events.ts';

const pageEvents = 200;
const deltaEveryMs = 75;
const deltaEveryMsMax = 500;
/** Showing live text may take this share of the time; what the browser then lays out and paints comes on top. */
const deltaShareMax = 0.08;
/** Beyond this many events in memory the oldest go; they can be paged in again. */
const eventsMax = 1500;
const eventsKept = 1000;
/** Events that arrive before the first page; beyond it the page is asked for again. */
const earlyMax = 1000;
/** How far back a search hit is followed, in pages of the largest size. */
const reachPagesMax = 4;
const reachPageEvents = 5000;

export class OpenConversation {
  readonly view: Conversation;
  loading = $state(true);
  loadingEarlier = $state(false);
  hasEarlier = $state(false);
  failure = $state.raw<OpFailure | null>(null);
  readonly sessionId: string;
  /** False while an earlier part is read: nothing is then taken away above. */
  isAtEnd = true;
  readonly #client: OpClient;
  readonly #log: ConversationLog;
  #loaded: Promise<void> = Promise.resolve();
  #earlier: Promise<void> | null = null;
  #early: AnyEvent[] | null = [];
  #deltas: DeltaNotice[] = [];
  #deltaTimer: ReturnType<typeof setTimeout> | undefined;
  #nextDeltaMs = deltaEveryMs;

  constructor(client: OpClient, sessionId: string) {
    this.#client = client;
    this.sessionId = sessionId;
    const view = $state(createConversation(sessionId));
    this.view = view;
    this.#log = new ConversationLog(view);
  }

  /** Loads the newest page; also after a gap in the stream. */
  async load(): Promise<void> {
    this.loading = true;
    this.#early ??= [];
    this.#loaded = this.#loadNewest();
    await this.#loaded;
    this.loading = false;
  }

  async #loadNewest(): Promise<void> {
    try {
      const { events } = await this.#client.op('session.get', { sessionId: this.sessionId, limit: pageEvents });
      this.failure = null;
      this.#log.takeNewest(readableEvents(events));
      this.hasEarlier = (this.#log.first?.sessionSeq ?? 1) > 1;
      markUnseen(this.view, Date.now());
      const early = this.#early ?? [];
      this.#early = null;
      for (const event of early) this.take(event);
      this.#flushDeltas();
    } catch (cause) {
      this.failure = toOpFailure(cause);
    }
  }

  /** Loads as far back as an event; the turn it belongs to, or null where it is not found or too far back. */
  async reach(seq: number): Promise<string | null> {
    await this.#loaded;
    await this.#earlier;
    for (let page = 0; page < reachPagesMax && this.hasEarlier && (this.#log.first?.seq ?? 0) > seq; page++) {
      await this.loadEarlier(reachPageEvents);
    }
    return this.#log.turnOfEvent(seq);
  }

  /** Loads the page before the oldest event held; where one is on its way already, that one is waited for. */
  loadEarlier(limit = pageEvents): Promise<void> {
    this.#earlier ??= this.#loadPageBefore(limit).finally(() => (this.#earlier = null));
    return this.#earlier;
  }

  async #loadPageBefore(limit: number): Promise<void> {
    const { first } = this.#log;
    if (first === null) return;
    this.loadingEarlier = true;
    try {
      const { events } = await this.#client.op('session.get', { sessionId: this.sessionId, before: first.seq, limit });
      const taken = this.#log.prepend(readableEvents(events));
      // A page that brings nothing new is the end, whatever the count said.
      this.hasEarlier = taken === 'added' && (this.#log.first?.sessionSeq ?? 1) > 1;
    } catch (cause) {
      this.failure = toOpFailure(cause);
    } finally {
      this.loadingEarlier = false;
    }
  }

  take(event: AnyEvent): void {
    if (this.#early !== null) {
      // Text streamed before this is in the record.
      if (event.type === 'model.finished') this.#deltas = this.#deltas.filter((delta) => delta.turnId !== event.turnId);
      if (this.#early.length < earlyMax) this.#early.push(event);
      return;
    }
    this.#flushDeltas();
    // Something was missed: the newest page tells what.
    if (this.#log.append(event) === 'hole') void this.load();
    else if (this.isAtEnd && this.#log.count > eventsMax && this.#log.trimTo(eventsKept)) this.hasEarlier = true;
  }

  takeDelta(delta: DeltaNotice): void {
    this.#deltas.push(delta);
    // Before there is anything to lay it over, it waits.
    if (this.#early !== null) return;
    this.#deltaTimer ??= setTimeout(() => this.#showDeltas(), this.#nextDeltaMs);
  }

  /** The stream was cut; live text may be missing from here on. */
  linkLost(): void {
    this.#flushDeltas();
    markMissing(this.view);
  }

  eventsOfTurn(turnId: string): readonly AnyEvent[] {
    return this.#log.eventsOfTurn(turnId);
  }

  #showDeltas(): void {
    const startMs = performance.now();
    flushSync(() => this.#flushDeltas());
    const wantedMs = (performance.now() - startMs) / deltaShareMax;
    // Half of the way at a time: one slow moment of the machine is no reason to stutter.
    this.#nextDeltaMs = Math.min(deltaEveryMsMax, Math.max(deltaEveryMs, (this.#nextDeltaMs + wantedMs) / 2));
  }

  #flushDeltas(): void {
    clearTimeout(this.#deltaTimer);
    this.#deltaTimer = undefined;
    const deltas = this.#deltas;
    this.#deltas = [];
    for (const delta of joinNeighbours(deltas)) applyDelta(this.view, delta);
  }
}

function joinNeighbours(deltas: readonly DeltaNotice[]): DeltaNotice[] {
  const joined: DeltaNotice[] = [];
  for (const delta of deltas) {
    const last = joined.at(-1);
    const isSame = last?.kind === delta.kind && last.turnId === delta.turnId && last.callId === delta.callId;
    if (last !== undefined && isSame) joined[joined.length - 1] = { ...last, text: last.text + delta.text };
    else joined.push(delta);
  }
  return joined;
}
