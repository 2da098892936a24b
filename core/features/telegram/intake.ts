// Incoming updates: the channel takes each update before it is confirmed. Each intake is limited in time, so that a panic stop among newer
// updates is seen soon.

import type { ChannelInbound, ChatDesk } from '../../contracts/channels.ts';
import { isAppError } from '../../contracts/errors.ts';
import type { Spine } from '../feature.ts';
import type { Update } from './bot-api.ts';
import type { PollPlace } from './poll-place.ts';
import { readMessage, type Bot } from './read-message.ts';

export interface IntakeDeps extends Pick<Spine, 'clock' | 'logger'> {
  readonly desk: Pick<ChatDesk, 'take' | 'press' | 'stopFirst'>;
  readonly place: PollPlace;
  readonly bot: Bot;
  /** Best effort: the text shown after a button was pressed. */
  readonly answerPress: (queryId: string, words: string) => Promise<void>;
}

/** After this time, newer updates are fetched, because one of them may be the panic stop. */
const TAKING_MS_MAX = 40;

/** `partly`: the remaining updates are requested again. `later`: all of them are, because something is more urgent. */
export type Taken = 'taken' | 'partly' | 'later';

export class Intake {
  readonly #deps: IntakeDeps;

  constructor(deps: IntakeDeps) {
    this.#deps = deps;
  }

  /** Rejects with a store error. Unconfirmed updates are received again; those already taken are recognized by their keys. */
  async take(updates: readonly Update[], waitedMs: number): Promise<Taken> {
    const { clock, desk, place } = this.#deps;
    // A stop that is the first update is handled in order, so it is not searched for.
    if (desk.stopFirst(updates.slice(1).flatMap((update) => this.#read(update, waitedMs) ?? []))) return 'later';
    const endMs = clock.monotonicMs() + TAKING_MS_MAX;
    let last: Update | undefined;
    for (const update of updates) {
      if (last !== undefined && clock.monotonicMs() >= endMs) break;
      await this.#takeSafely(update, waitedMs);
      last = update;
    }
    if (last !== undefined) place.moveTo(last.update_id + 1, clock.nowMs());
    return last === updates.at(-1) ? 'taken' : 'partly';
  }

  /** Ignores edits, because the original message was already handled. */
  #read({ message, update_id: updateId }: Update, waitedMs: number): ChannelInbound | null {
    const read = message === undefined ? null : readMessage(message, updateId, this.#deps.bot);
    return read === null ? null : { ...read, waitedMs };
  }

  /** Skips an update that cannot be handled; otherwise it would be received forever. Rejects if the update could not be stored. */
  async #takeSafely(update: Update, waitedMs: number): Promise<void> {
    try {
      if (update.callback_query !== undefined) {
        this.#press(update.callback_query, waitedMs);
        return;
      }
      const message = this.#read(update, waitedMs);
      if (message !== null) await this.#deps.desk.take(message);
    } catch (cause) {
      if (isAppError(cause) && (cause.code.startsWith('store_') || cause.code === 'shutting_down')) throw cause;
      this.#deps.logger.log('error', 'an update of Telegram could not be handled', { update: update.update_id, cause: String(cause) });
    }
  }

  /**
   * Takes effect before this returns, and only then the update is confirmed. If it is received again after a crash, the question is already
   * answered.
   */
  #press(query: NonNullable<Update['callback_query']>, waitedMs: number): void {
    const { desk, answerPress, logger } = this.#deps;
    const chatId = String(query.message?.chat.id ?? '');
    void desk
      .press({ userId: String(query.from.id), chatId, data: query.data ?? '', waitedMs })
      .then((words) => answerPress(query.id, words))
      .catch((cause: unknown) => logger.log('error', 'a button could not be answered', { cause: String(cause) }));
  }
}
