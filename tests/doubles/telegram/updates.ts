// For tests only: the update queue of one bot. An update is kept until a poll with a higher offset confirms it; of two simultaneous polls
// the earlier ends with 409; while a webhook is set, no poll is answered.

import { BotApiError, badRequest, type Json } from './wire.ts';

interface Held {
  readonly end: (outcome: Json[] | BotApiError) => void;
  readonly limit: number;
}

const conflictWords = 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
const webhookWords = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

export class Updates {
  webhookUrl = '';
  /** The number of answered polls, and of polls that ended with 409. */
  polls = 0;
  conflicts = 0;
  #pending: (Json & { update_id: number })[] = [];
  #nextId = 500_000_001;
  #held: Held | null = null;

  add(update: Json): number {
    const update_id = this.#nextId++;
    this.#pending.push({ update_id, ...update });
    const held = this.#held;
    if (held !== null) {
      this.#held = null;
      held.end(this.#pending.slice(0, held.limit));
    }
    return update_id;
  }

  get unconfirmed(): readonly Json[] {
    return this.#pending;
  }

  /** Sets the id of the next update: after a week without updates, the real server restarts its numbering at a random id. */
  restartIdsAt(updateId: number): void {
    this.#nextId = updateId;
  }

  releaseHeld(): void {
    this.#held?.end([]);
    this.#held = null;
  }

  async take({ offset = 0, limit = 100, timeout = 0 }: Json, gone: AbortSignal): Promise<Json[]> {
    this.polls += 1;
    if (this.webhookUrl !== '') {
      this.conflicts += 1;
      throw new BotApiError(409, webhookWords);
    }
    const [from, count, seconds] = [Number(offset), Number(limit), Number(timeout)];
    if (!(count >= 1 && count <= 100)) throw badRequest('limit must be between 1 and 100');
    if (this.#held !== null) {
      this.conflicts += 1;
      this.#held.end(new BotApiError(409, conflictWords));
      this.#held = null;
    }
    this.#pending = from < 0 ? this.#pending.slice(from) : this.#pending.filter((update) => update.update_id >= from);
    if (this.#pending.length > 0 || seconds <= 0) return this.#pending.slice(0, count);
    return this.#hold(count, seconds * 1000, gone);
  }

  #hold(limit: number, ms: number, gone: AbortSignal): Promise<Json[]> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => held.end([]), ms);
      const onGone = (): void => held.end([]);
      const held: Held = {
        limit,
        end: (outcome) => {
          clearTimeout(timer);
          gone.removeEventListener('abort', onGone);
          if (this.#held === held) this.#held = null;
          if (outcome instanceof BotApiError) reject(outcome);
          else resolve(outcome);
        },
      };
      gone.addEventListener('abort', onGone, { once: true });
      this.#held = held;
    });
  }
}
