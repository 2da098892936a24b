// The open session: the newest events, older pages on demand, live text on top. Live text updates the page at most thirteen times a second,
// and less often if that is slow, so that a stream never uses more than a small share of the processor.

import { flushSync } from 'svelte';
import type { AnyEvent, DeltaNotice, EventOf } from '../../../core/contracts/events.ts';
import type { TurnView } from '../../../core/contracts/turn-view.ts';
import { toOpFailure, type OpClient, type OpFailure } from '../client.ts';
import { applyDelta, createConversation, markMissing, takeLive, type Conversation } from '../fold/conversation.ts';
import { ConversationLog } from '../fold/conversation-log.ts';
import { readableEvents } from '../fold/readable-events.ts';
import type { FarPart, FarPlace } from './far-part.svelte.ts';

const pageEvents = 200;
const deltaEveryMs = 75;
const deltaEveryMsMax = 500;
/** Showing live text may take this share of the time, not counting the browser's layout and painting. */
const deltaShareMax = 0.08;
/** With more events in memory the oldest are dropped; they can be loaded again. */
const eventsMax = 1500;
const eventsKept = 1000;
/** Streamed text that waits for the event that announces it. */
const deltasKept = 200;
/** Events that arrive before the first page; beyond this number the page is requested again. */
const earlyMax = 1000;
/** An older place is loaded separately, unless it is so near that everything up to it can be loaded. */
const nearPages = 2;

/** The run of turns that is shown: the newest, or an older part of a long session. */
export interface ReadPart {
  readonly view: Conversation;
  readonly hasEarlier: boolean;
  readonly hasLater: boolean;
  readonly loadingEarlier: boolean;
  loadEarlier(): Promise<void>;
  loadLater(): Promise<void>;
}

export class OpenConversation implements ReadPart {
  readonly view: Conversation;
  /** An older part that is shown instead; new events still arrive in `view`. */
  far = $state.raw<FarPart | null>(null);
  readonly part: ReadPart = $derived(this.far ?? this);
  readonly hasLater = false;
  loading = $state(true);
  loadingEarlier = $state(false);
  hasEarlier = $state(false);
  failure = $state.raw<OpFailure | null>(null);
  readonly sessionId: string;
  /** False while the person reads further up: nothing is then removed above. */
  isAtEnd = true;
  /** Called after live text was put into the page. */
  onShown: () => void = () => undefined;
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
      await this.#takeLive();
      const early = this.#early ?? [];
      this.#early = null;
      for (const event of early) this.take(event);
      this.#flushDeltas();
    } catch (cause) {
      this.failure = toOpFailure(cause);
    }
  }

  /** Loads the text streamed before the window was opened; if that fails, the text is marked as lacking its beginning. */
  async #takeLive(): Promise<void> {
    const open = this.view.turns.filter((turn) => turn.status === 'running');
    for (const { turnId } of open) {
      const live = await this.#client.op('turn.live', { turnId }).catch(() => null);
      if (live !== null) takeLive(this.view, turnId, live.texts);
    }
  }

  /** Loads the part around an event; resolves to its turn, or null if it is not found. */
  async reach(seq: number): Promise<string | null> {
    await this.#loaded;
    await this.#earlier;
    for (let page = 0; page < nearPages && this.hasEarlier && this.#isBeforeFirst(seq); page++) await this.loadEarlier();
    if (!this.#isBeforeFirst(seq)) {
      this.far = null;
      return this.#log.turnOfEvent(seq);
    }
    if (this.far?.holds(seq) !== true) await this.#readFar((begin) => begin.around(this.#farPlace, seq));
    return this.far?.turnOfEvent(seq) ?? null;
  }

  /** Loads the part that begins at a time; resolves to its first turn, or null if there is none since. */
  async reachTime(atMs: number): Promise<string | null> {
    await this.#loaded;
    await this.#earlier;
    const since = (turn: TurnView): boolean => turn.startedAtMs >= atMs;
    const firstAtMs = this.view.turns[0]?.startedAtMs ?? 0;
    if (!this.hasEarlier || firstAtMs < atMs) {
      this.far = null;
      return this.view.turns.find(since)?.turnId ?? null;
    }
    await this.#readFar((begin) => begin.since(this.#farPlace, atMs));
    return this.far?.view.turns.find(since)?.turnId ?? null;
  }

  async #readFar(begin: (far: typeof FarPart) => Promise<FarPart>): Promise<void> {
    try {
      this.far = await begin((await import('./far-part.svelte.ts')).FarPart);
    } catch (cause) {
      this.failure = toOpFailure(cause);
    }
  }

  get #farPlace(): FarPlace {
    return { client: this.#client, sessionId: this.sessionId, join: (events, hasEarlier) => this.#join(events, hasEarlier) };
  }

  /** The older part has reached the beginning of the newest one. */
  #join(events: readonly AnyEvent[], hasEarlier: boolean): boolean {
    const [first, last] = [this.#log.first, events.at(-1)];
    if (first === null || last === undefined || last.sessionSeq + 1 < first.sessionSeq) return false;
    this.#log.prepend(events);
    this.hasEarlier = hasEarlier;
    this.far = null;
    return true;
  }

  #isBeforeFirst(seq: number): boolean {
    return this.hasEarlier && seq < (this.#log.first?.seq ?? 0);
  }

  /** The newest part is always complete at its end. */
  loadLater(): Promise<void> {
    return Promise.resolve();
  }

  /** Loads the page before the oldest loaded event; waits for a page that is already in flight. */
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
      // A page without new events is the end, whatever the count says.
      this.hasEarlier = taken === 'added' && (this.#log.first?.sessionSeq ?? 1) > 1;
    } catch (cause) {
      this.failure = toOpFailure(cause);
    } finally {
      this.loadingEarlier = false;
    }
  }

  take(event: AnyEvent): void {
    if (this.#early !== null) {
      // Text streamed before this event is in the record.
      if (event.type === 'model.finished') this.#deltas = this.#deltas.filter((delta) => !isTextOf(delta, event));
      if (this.#early.length < earlyMax) this.#early.push(event);
      return;
    }
    this.#flushDeltas();
    // Something was missed; the newest page contains it.
    if (this.#log.append(event) === 'hole') void this.load();
    else if (this.isAtEnd && this.#log.count > eventsMax && this.#log.trimTo(eventsKept)) this.hasEarlier = true;
    if (this.#deltas.length > 0) this.#flushDeltas();
  }

  takeDelta(delta: DeltaNotice): void {
    this.#deltas.push(delta);
    // The text waits until there are turns to show it in.
    if (this.#early !== null) return;
    this.#deltaTimer ??= setTimeout(() => this.#showDeltas(), this.#nextDeltaMs);
  }

  /** The stream opened for the first time: live text loaded before may lack what was sent since. */
  linkOpened(): void {
    if (this.view.turns.some((turn) => turn.status === 'running')) void this.load();
  }

  /** The host can be reached: loads again what could not be loaded. */
  linkBack(): void {
    if (this.failure !== null) void this.load();
  }

  /** The stream was cut; live text may be missing from here on. */
  linkLost(): void {
    this.#flushDeltas();
    markMissing(this.view);
  }

  eventsOfTurn(turnId: string): readonly AnyEvent[] {
    const events = this.#log.eventsOfTurn(turnId);
    return events.length > 0 ? events : (this.far?.eventsOfTurn(turnId) ?? []);
  }

  #showDeltas(): void {
    const startMs = performance.now();
    flushSync(() => this.#flushDeltas());
    const wantedMs = (performance.now() - startMs) / deltaShareMax;
    this.onShown();
    // Moves only half the way each time, because one slow moment of the machine should not cause stutter.
    this.#nextDeltaMs = Math.min(deltaEveryMsMax, Math.max(deltaEveryMs, (this.#nextDeltaMs + wantedMs) / 2));
  }

  #flushDeltas(): void {
    clearTimeout(this.#deltaTimer);
    this.#deltaTimer = undefined;
    this.#deltas = joinNeighbours(this.#deltas)
      .filter((delta) => !applyDelta(this.view, delta))
      .slice(-deltasKept);
  }
}

function isTextOf({ kind, turnId, requestId }: DeltaNotice, { body, ...event }: EventOf<'model.finished'>): boolean {
  return kind !== 'output' && turnId === event.turnId && (requestId === undefined || requestId === body.requestId);
}

function joinNeighbours(deltas: readonly DeltaNotice[]): DeltaNotice[] {
  const joined: DeltaNotice[] = [];
  for (const delta of deltas) {
    const last = joined.at(-1);
    const isSame =
      last?.kind === delta.kind && last.turnId === delta.turnId && last.callId === delta.callId && last.requestId === delta.requestId;
    const isNext = last?.from === undefined || delta.from === undefined || last.from + last.text.length === delta.from;
    if (last !== undefined && isSame && isNext) joined[joined.length - 1] = { ...last, text: last.text + delta.text };
    else joined.push(delta);
  }
  return joined;
}
