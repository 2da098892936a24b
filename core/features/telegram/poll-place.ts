// The position at which polling continues, stored as a note of the service. Messages are recognized by their own keys, so an outdated
// position repeats nothing.

import type { ChatDesk } from '../../contracts/channels.ts';

/** After a week without updates, the server may restart its numbering at a lower number. It has dropped the confirmed updates by then. */
const RENUMBERED_MS = 6 * 86_400_000;

interface Place {
  readonly next: number;
  readonly atMs: number;
}

export class PollPlace {
  readonly #desk: Pick<ChatDesk, 'note' | 'setNote'>;
  readonly #note: string;

  constructor(desk: Pick<ChatDesk, 'note' | 'setNote'>, botId: string) {
    this.#desk = desk;
    this.#note = `offset:${botId}`;
  }

  /** The first unconfirmed update. 0 if the bot has had no updates, or none for so long that they may be renumbered. */
  askFrom(nowMs: number): number {
    const kept = this.#desk.note(this.#note);
    const { next, atMs } = kept === null ? { next: 0, atMs: nowMs } : (JSON.parse(kept) as Place);
    return nowMs - atMs > RENUMBERED_MS ? 0 : next;
  }

  /** Records that all updates below `next` were handled. */
  moveTo(next: number, nowMs: number): void {
    this.#desk.setNote(this.#note, JSON.stringify({ next: Math.max(next, this.askFrom(nowMs)), atMs: nowMs } satisfies Place));
  }
}
