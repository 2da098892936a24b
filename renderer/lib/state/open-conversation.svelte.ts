// One session as it is looked at: the newest events, older pages on demand, live text laid over at most twenty times a second.

import type { AnyEvent, DeltaNotice } from '../../../core/contracts/events.ts';
import { toOpFailure, type OpClient, type OpFailure } from '../client.ts';
import { applyDelta, applyToConversation, createConversation, findTurn, type Conversation } from '../fold/conversation.ts';

const pageEvents = 300;
const deltaEveryMs = 50;
/** Beyond this many events in memory the oldest go; they can be paged in again. */
const eventsMax = 6000;
const eventsKept = 4000;
/** How far back a search hit is followed, in pages of the largest size. */
const reachPagesMax = 4;
const reachPageEvents = 5000;

export class OpenConversation {
  view = $state<Conversation>(createConversation(''));
  loading = $state(true);
  loadingEarlier = $state(false);
  hasEarlier = $state(false);
  failure = $state.raw<OpFailure | null>(null);
  readonly sessionId: string;
  readonly #client: OpClient;
  #loaded: Promise<void> = Promise.resolve();
  #events: AnyEvent[] = [];
  readonly #seen = new Set<number>();
  #deltas: DeltaNotice[] = [];
  #deltaTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(client: OpClient, sessionId: string) {
    this.#client = client;
    this.sessionId = sessionId;
    this.view = createConversation(sessionId);
  }

  /** Loads the newest page; also after a gap in the stream. */
  async load(): Promise<void> {
    this.loading = true;
    this.#loaded = this.#loadNewest();
    await this.#loaded;
    this.loading = false;
  }

  async #loadNewest(): Promise<void> {
    try {
      const { session, events } = await this.#client.op('session.get', { sessionId: this.sessionId, limit: pageEvents });
      this.failure = null;
      const added = this.#merge(events as AnyEvent[]);
      this.hasEarlier = this.#firstSessionSeq() > 1 && session.events > this.#events.length;
      if (added) this.#refold();
    } catch (cause) {
      this.failure = toOpFailure(cause);
    }
  }

  /** Loads as far back as an event; the turn it belongs to, or null where it is not found or too far back. */
  async reach(seq: number): Promise<string | null> {
    await this.#loaded;
    for (let page = 0; page < reachPagesMax && this.hasEarlier && (this.#events[0]?.seq ?? 0) > seq; page++) {
      await this.loadEarlier(reachPageEvents);
    }
    return this.#events.find((event) => event.seq === seq)?.turnId ?? null;
  }

  /** Loads the page before the oldest event held. */
  async loadEarlier(limit = pageEvents): Promise<void> {
    const first = this.#events[0];
    if (first === undefined || this.loadingEarlier) return;
    this.loadingEarlier = true;
    try {
      const { events } = await this.#client.op('session.get', { sessionId: this.sessionId, before: first.seq, limit });
      const added = this.#merge(events as AnyEvent[]);
      // A page that brings nothing new is the end, whatever the count said.
      this.hasEarlier = added && this.#firstSessionSeq() > 1;
      if (added) this.#refold();
    } catch (cause) {
      this.failure = toOpFailure(cause);
    } finally {
      this.loadingEarlier = false;
    }
  }

  take(event: AnyEvent): void {
    if (this.#seen.has(event.seq)) return;
    const isNext = event.seq > (this.#events.at(-1)?.seq ?? 0);
    this.#merge([event]);
    this.#flushDeltas();
    if (!isNext || this.#trim()) this.#refold();
    else applyToConversation(this.view, event);
  }

  takeDelta(delta: DeltaNotice): void {
    this.#deltas.push(delta);
    this.#deltaTimer ??= setTimeout(() => this.#flushDeltas(), deltaEveryMs);
  }

  eventsOfTurn(turnId: string): AnyEvent[] {
    return this.#events.filter((event) => event.turnId === turnId);
  }

  #flushDeltas(): void {
    clearTimeout(this.#deltaTimer);
    this.#deltaTimer = undefined;
    const deltas = this.#deltas;
    this.#deltas = [];
    for (const delta of joinNeighbours(deltas)) applyDelta(this.view, delta);
  }

  /** True when something was new. Events stay in order of their sequence. */
  #merge(events: readonly AnyEvent[]): boolean {
    const fresh = events.filter((event) => !this.#seen.has(event.seq));
    if (fresh.length === 0) return false;
    for (const event of fresh) this.#seen.add(event.seq);
    const isAppend = (fresh[0]?.seq ?? 0) > (this.#events.at(-1)?.seq ?? 0);
    this.#events.push(...fresh);
    if (!isAppend || fresh.length > 1) this.#events.sort((a, b) => a.seq - b.seq);
    return true;
  }

  #trim(): boolean {
    if (this.#events.length <= eventsMax) return false;
    for (const event of this.#events.slice(0, -eventsKept)) this.#seen.delete(event.seq);
    this.#events = this.#events.slice(-eventsKept);
    this.hasEarlier = true;
    return true;
  }

  #refold(): void {
    const fresh = createConversation(this.sessionId);
    for (const event of this.#events) applyToConversation(fresh, event);
    for (const turn of fresh.turns) {
      const before = findTurn(this.view, turn.turnId);
      if (before === undefined || turn.answer !== '') continue;
      turn.live = before.live;
      turn.liveReasoning = before.liveReasoning;
      for (const call of Object.values(turn.calls)) call.output = before.calls[call.callId]?.output ?? '';
    }
    this.view = fresh;
  }

  #firstSessionSeq(): number {
    return this.#events[0]?.sessionSeq ?? 1;
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
