// The state of the Telegram bot and its paired people, reloaded from the host whenever the log has an event of it. A pairing code is kept
// only here, and only until it is used or this window is closed.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import type { TelegramPairing, TelegramPerson, TelegramStatus } from '../../../core/contracts/features/telegram.ts';
import type { OpClient } from '../client.ts';
import { soon } from './soon.ts';

/** Several events of one update come together. */
const readAfterMs = 150;

export class TelegramChannel {
  status = $state.raw<TelegramStatus | null>(null);
  people = $state.raw<readonly TelegramPerson[]>([]);
  pairings = $state.raw<readonly TelegramPairing[]>([]);
  /** As it was offered last, with the code in it. */
  offered = $state.raw<OpResult<'telegram.pair'> | null>(null);
  readonly #client: OpClient;
  readonly #loadSoon: () => void;

  /** The code that has not been sent to the bot yet. */
  readonly code = $derived(
    this.pairings.some(({ pairingId, claimedBy }) => pairingId === this.offered?.pairingId && claimedBy === null) ? this.offered : null,
  );

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#loadSoon = soon(readAfterMs, () => this.load(), onError);
  }

  async load(): Promise<void> {
    const [status, list] = await Promise.all([this.#client.op('telegram.status', {}), this.#client.op('telegram.list', {})]);
    this.status = status;
    this.#show(list);
  }

  async pair(): Promise<void> {
    this.offered = await this.#client.op('telegram.pair', {});
    await this.load();
  }

  async answer(pairingId: string, isConfirmed: boolean): Promise<void> {
    this.#show(await this.#client.op(isConfirmed ? 'telegram.confirm' : 'telegram.refuse', { pairingId }));
  }

  async revoke(userId: string): Promise<void> {
    this.#show(await this.#client.op('telegram.revoke', { userId }));
  }

  async setPaused(isPaused: boolean): Promise<void> {
    this.status = await this.#client.op(isPaused ? 'telegram.pause' : 'telegram.resume', {});
  }

  apply(event: AnyEvent): void {
    // It was not loaded yet.
    if (this.status !== null && event.type.startsWith('telegram.')) this.#loadSoon();
  }

  #show({ people, pairings }: OpResult<'telegram.list'>): void {
    this.people = people;
    this.pairings = pairings;
  }
}
