// An older part of a long session, loaded around one place without everything between it and the end. A contiguous run of events that grows
// on both sides by scrolling; once it meets the loaded newest part, the two are joined.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpClient } from '../client.ts';
import { createConversation, type Conversation } from '../fold/conversation.ts';
import { ConversationLog } from '../fold/conversation-log.ts';
import { readableEvents } from '../fold/readable-events.ts';

const pageEvents = 200;
/** Enough for the beginning of the target turn, and some events before it. */
const eventsBefore = 80;

export interface FarPlace {
  readonly client: OpClient;
  readonly sessionId: string;
  /** Takes the events once they meet the loaded newest part. */
  join(events: readonly AnyEvent[], hasEarlier: boolean): boolean;
}

export class FarPart {
  readonly view: Conversation;
  hasEarlier = $state(true);
  hasLater = $state(true);
  loadingEarlier = $state(false);
  readonly #place: FarPlace;
  readonly #log: ConversationLog;
  #events: AnyEvent[] = [];
  #loading: Promise<void> | null = null;

  private constructor(place: FarPlace) {
    this.#place = place;
    const view = $state(createConversation(place.sessionId));
    this.view = view;
    this.#log = new ConversationLog(view);
  }

  /** Rejects as the operation does. */
  static async around(place: FarPlace, seq: number): Promise<FarPart> {
    const part = new FarPart(place);
    part.#append(await part.#page({ after: Math.max(0, seq - 1), limit: pageEvents }));
    await part.#loadBefore(eventsBefore);
    return part;
  }

  /** Rejects as the operation does. */
  static async since(place: FarPlace, fromMs: number): Promise<FarPart> {
    const part = new FarPart(place);
    part.#append(await part.#page({ fromMs, limit: pageEvents }));
    await part.#loadBefore(eventsBefore);
    return part;
  }

  holds(seq: number): boolean {
    return (this.#log.first?.seq ?? Infinity) <= seq && seq <= (this.#log.last?.seq ?? 0);
  }

  turnOfEvent(seq: number): string | null {
    return this.#log.turnOfEvent(seq);
  }

  eventsOfTurn(turnId: string): readonly AnyEvent[] {
    return this.#log.eventsOfTurn(turnId);
  }

  loadEarlier(): Promise<void> {
    return this.#once(async () => {
      this.loadingEarlier = true;
      await this.#loadBefore(pageEvents);
    });
  }

  loadLater(): Promise<void> {
    return this.#once(async () => {
      this.#append(await this.#page({ after: this.#log.last?.seq ?? 0, limit: pageEvents }));
      if (this.#place.join(this.#events, this.hasEarlier)) this.hasLater = false;
    });
  }

  /** One page at a time; scrolling again requests a page that failed to load. */
  #once(load: () => Promise<void>): Promise<void> {
    this.#loading ??= load()
      .catch(() => undefined)
      .finally(() => {
        this.#loading = null;
        this.loadingEarlier = false;
      });
    return this.#loading;
  }

  async #loadBefore(limit: number): Promise<void> {
    const { first } = this.#log;
    if (first === null || first.sessionSeq <= 1) {
      this.hasEarlier = false;
      return;
    }
    const page = await this.#page({ before: first.seq, limit });
    this.#events = [...page, ...this.#events];
    this.hasEarlier = this.#log.prepend(page) === 'added' && (this.#log.first?.sessionSeq ?? 1) > 1;
  }

  #append(page: readonly AnyEvent[]): void {
    this.#log.takeNewest(page);
    this.#events.push(...page);
    if (page.length < pageEvents) this.hasLater = false;
  }

  async #page(wanted: { after?: number; before?: number; fromMs?: number; limit: number }): Promise<AnyEvent[]> {
    const { client, sessionId } = this.#place;
    const { events } = await client.op('session.get', { sessionId, ...wanted });
    return readableEvents(events);
  }
}
