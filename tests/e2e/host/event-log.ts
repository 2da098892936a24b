// A small event log in memory with the real event types: bodies are checked against the contracts, so a spec cannot pass on a made-up event.

import { eventBodySchemas, type AnyEvent, type DeltaNotice, type DraftOf, type EventType } from '../../../core/contracts/events.ts';

export type LogListener = { onEvent(event: AnyEvent): void; onDelta(delta: DeltaNotice): void };

export class EventLog {
  readonly events: AnyEvent[] = [];
  readonly #listeners = new Set<LogListener>();
  readonly #sessionSeqs = new Map<string, number>();

  get seq(): number {
    return this.events.length;
  }

  append<T extends EventType>(sessionId: string, draft: DraftOf<T>, atMs = Date.now()): AnyEvent {
    const sessionSeq = (this.#sessionSeqs.get(sessionId) ?? 0) + 1;
    this.#sessionSeqs.set(sessionId, sessionSeq);
    const event = {
      seq: this.events.length + 1,
      sessionId,
      sessionSeq,
      turnId: draft.turnId ?? null,
      step: draft.step ?? 0,
      phase: draft.phase ?? null,
      type: draft.type,
      v: 1,
      atMs,
      body: eventBodySchemas[draft.type].parse(draft.body),
    } as AnyEvent;
    this.events.push(event);
    for (const listener of this.#listeners) listener.onEvent(event);
    return event;
  }

  delta(delta: DeltaNotice): void {
    for (const listener of this.#listeners) listener.onDelta(delta);
  }

  listen(listener: LogListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  ofSession(sessionId: string): AnyEvent[] {
    return this.events.filter((event) => event.sessionId === sessionId);
  }

  countOf(sessionId: string): number {
    return this.#sessionSeqs.get(sessionId) ?? 0;
  }
}
