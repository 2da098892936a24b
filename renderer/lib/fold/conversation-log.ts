// The loaded part of one session: a contiguous run of its events and the conversation folded from them. A new event costs the same however
// long the session is; an older page is folded separately. Plain objects, so that the same code runs in tests and under runes.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import { applyToConversation, createConversation, type Conversation } from './conversation.ts';
import { isOpen, type TurnView } from '../../../core/contracts/turn-view.ts';

/** The result for an event or a page: added, already known, or after a gap, so that the newest page must be loaded. */
export type Taken = 'added' | 'known' | 'hole';

interface Place {
  readonly seq: number;
  readonly sessionSeq: number;
}

export class ConversationLog {
  /** Changed in place as events arrive; a proxy under runes, so that readers are updated. */
  readonly view: Conversation;
  readonly #byTurn = new Map<string, AnyEvent[]>();
  #first: Place | null = null;
  #last: Place | null = null;
  #count = 0;

  constructor(view: Conversation) {
    this.view = view;
  }

  /** The number of loaded events. */
  get count(): number {
    return this.#count;
  }

  /** The oldest loaded event; null if there is none. */
  get first(): Place | null {
    return this.#first;
  }

  get last(): Place | null {
    return this.#last;
  }

  eventsOfTurn(turnId: string): readonly AnyEvent[] {
    return this.#byTurn.get(turnId) ?? [];
  }

  /** The turn of a loaded event; null if it is not loaded. */
  turnOfEvent(seq: number): string | null {
    for (const [turnId, events] of this.#byTurn) {
      if (events.some((event) => event.seq === seq)) return turnId;
    }
    return null;
  }

  /** Adds the next event of the session. */
  append(event: AnyEvent): Taken {
    if (this.#last !== null && event.seq <= this.#last.seq) return 'known';
    if (this.#last !== null && event.sessionSeq !== this.#last.sessionSeq + 1) return 'hole';
    this.#add(event);
    return 'added';
  }

  /**
   * Adds the newest page, oldest event first. If it does not connect to the loaded events, it replaces them. Gaps within a page, such as
   * unreadable rows, are final.
   */
  takeNewest(page: readonly AnyEvent[]): Taken {
    const [oldest] = page;
    if (oldest === undefined) return 'known';
    const meets = this.#last === null || oldest.sessionSeq <= this.#last.sessionSeq + 1;
    if (!meets) this.clear();
    let taken: Taken = 'known';
    for (const event of page) {
      if (this.#last !== null && event.seq <= this.#last.seq) continue;
      this.#add(event);
      taken = 'added';
    }
    return meets ? taken : 'hole';
  }

  /** Adds the page before the oldest loaded event, oldest event first. */
  prepend(page: readonly AnyEvent[]): Taken {
    const before = this.#first;
    const older = before === null ? page : page.filter((event) => event.seq < before.seq);
    const [oldest] = older;
    if (oldest === undefined) return 'known';
    const fresh = this.#foldPage(older);
    for (const turn of fresh.turns) keepLive(turn, this.view.turns);
    const again = new Set(fresh.turns.map(({ turnId }) => turnId));
    const rest = this.view.turns.filter(({ turnId }) => !again.has(turnId));
    giveMessages(fresh, rest);
    this.view.turns = [...fresh.turns, ...rest];
    this.view.waiting = [...fresh.waiting, ...this.view.waiting];
    this.view.summaries = [...fresh.summaries, ...this.view.summaries];
    this.#first = oldest;
    this.#last ??= older.at(-1) ?? oldest;
    return 'added';
  }

  /** Drops the oldest turns until at most this many events are loaded. Keeps open turns and turns with newer events. */
  trimTo(eventsMax: number): boolean {
    if (this.#count <= eventsMax) return false;
    const { turns } = this.view;
    let left = this.#count;
    let cut = 0;
    while (cut < turns.length - 1 && left > eventsMax) {
      left -= this.#byTurn.get(turns[cut]?.turnId ?? '')?.length ?? 0;
      cut += 1;
    }
    const boundary = this.#byTurn.get(turns[cut]?.turnId ?? '')?.[0];
    if (cut === 0 || boundary === undefined) return false;
    const goes = (turn: TurnView): boolean => !isOpen(turn) && turn.lastSeq < boundary.seq;
    for (const turn of turns.slice(0, cut)) {
      if (goes(turn)) this.#forget(turn.turnId);
    }
    this.view.turns = turns.filter((turn, index) => index >= cut || !goes(turn));
    this.view.summaries = this.view.summaries.filter(({ seq }) => seq >= boundary.seq);
    this.#first = boundary;
    return true;
  }

  clear(): void {
    this.#byTurn.clear();
    this.#first = null;
    this.#last = null;
    this.#count = 0;
    this.view.turns = [];
    this.view.waiting = [];
    this.view.summaries = [];
  }

  /** Folds a page separately, together with the loaded events of the turns it begins. */
  #foldPage(page: readonly AnyEvent[]): Conversation {
    const ids = new Set(page.map(({ turnId }) => turnId));
    const held = [...ids].flatMap((turnId) => (turnId === null ? [] : this.eventsOfTurn(turnId)));
    const known = new Set(held.map(({ seq }) => seq));
    const fresh = createConversation(this.view.sessionId);
    for (const turnId of ids) if (turnId !== null) this.#forget(turnId);
    const all = [...page.filter(({ seq }) => !known.has(seq)), ...held].toSorted((a, b) => a.seq - b.seq);
    for (const event of all) {
      this.#keep(event);
      applyToConversation(fresh, event);
    }
    return fresh;
  }

  #add(event: AnyEvent): void {
    this.#keep(event);
    this.#first ??= event;
    this.#last = event;
    applyToConversation(this.view, event);
  }

  #keep(event: AnyEvent): void {
    if (event.turnId === null) return;
    const events = this.#byTurn.get(event.turnId);
    if (events === undefined) this.#byTurn.set(event.turnId, [event]);
    else events.push(event);
    this.#count += 1;
  }

  #forget(turnId: string): void {
    this.#count -= this.#byTurn.get(turnId)?.length ?? 0;
    this.#byTurn.delete(turnId);
  }
}

/** Keeps streamed text of a refolded turn on screen until it is recorded, and a message that named no turn. */
function keepLive(turn: TurnView, before: readonly TurnView[]): void {
  const old = before.find(({ turnId }) => turnId === turn.turnId);
  if (old === undefined) return;
  if (turn.messages.length === 0) turn.messages.push(...old.messages);
  if (turn.answer !== '') return;
  turn.live = old.live;
  turn.liveTo = old.liveTo;
  turn.liveReasoning = old.liveReasoning;
  for (const call of Object.values(turn.calls)) call.output = old.calls[call.callId]?.output ?? '';
}

/** Moves messages whose turn starts on the next page to that page. */
function giveMessages(page: Conversation, turns: readonly TurnView[]): void {
  for (const turn of turns) {
    if (page.waiting.length === 0) return;
    if (turn.kind === 'chat' && turn.hasStart && turn.messages.length === 0) turn.messages.push(...page.waiting.splice(0, 1));
  }
}
