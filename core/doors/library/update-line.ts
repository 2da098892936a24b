// The queue between a turn and a program that reads its updates one by one. Bounded: unread text is merged, and events wait for room.

import type { AgentUpdate } from '../../contracts/library.ts';
import type { DeltaNotice } from '../../contracts/events.ts';

const WAITING_MAX = 500;

export class UpdateLine {
  readonly #waiting: AgentUpdate[] = [];
  #isClosed = false;
  #wakeTaker: (() => void) | null = null;
  #wakeGiver: (() => void) | null = null;

  /** Adds a delta. Text may be dropped if the program reads too slowly. */
  delta({ kind, text, callId }: DeltaNotice): void {
    if (this.#isClosed) return;
    const last = this.#waiting.at(-1);
    if (last?.kind === kind && last.callId === callId) this.#waiting.splice(-1, 1, { ...last, text: last.text + text });
    else if (this.#waiting.length < WAITING_MAX) this.#waiting.push({ kind, text, callId });
    this.#wakeTaker?.();
  }

  /** Waits for room and adds the update. */
  async put(update: AgentUpdate): Promise<void> {
    while (this.#waiting.length >= WAITING_MAX && !this.#isClosed) {
      await new Promise<void>((resolve) => (this.#wakeGiver = resolve));
    }
    if (this.#isClosed) return;
    this.#waiting.push(update);
    this.#wakeTaker?.();
  }

  /** Null if the queue is closed and empty. */
  async take(): Promise<AgentUpdate | null> {
    for (;;) {
      const [update] = this.#waiting.splice(0, 1);
      this.#wakeGiver?.();
      if (update !== undefined) return update;
      if (this.#isClosed) return null;
      await new Promise<void>((resolve) => (this.#wakeTaker = resolve));
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#wakeTaker?.();
    this.#wakeGiver?.();
  }
}
