// Unfinished work: failed turns, and messages to chats that were not delivered or whose delivery is uncertain. Reloaded from the host
// whenever the log has an event about one; decisions are sent through operations.

import type { DeadLetter } from '../../../core/contracts/features/dead-letters.ts';
import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { OpParams } from '../../../core/contracts/ops.ts';
import type { OutboundInfo } from '../../../core/contracts/outbox-ops.ts';
import type { OpClient } from '../client.ts';
import { soon } from './soon.ts';

const listedMax = 200;

export class Unfinished {
  letters = $state.raw<readonly DeadLetter[]>([]);
  /** Messages that are not sent yet or have an unknown outcome. */
  outbound = $state.raw<readonly OutboundInfo[]>([]);
  loaded = $state(false);
  readonly #client: OpClient;
  readonly #loadSoon: () => void;

  /** Messages about which a person must decide. */
  readonly undelivered = $derived(this.outbound.filter(({ state }) => state === 'uncertain' || state === 'failed'));
  /** The number of items that wait for a person; other turns are retried automatically. */
  readonly leftCount = $derived(this.letters.filter(({ state }) => state === 'left').length + this.undelivered.length);

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#loadSoon = soon(() => this.load(), onError);
  }

  async load(): Promise<void> {
    const [{ letters }, { items }] = await Promise.all([
      this.#client.op('dlq.list', { limit: listedMax }),
      this.#client.op('outbox.list', { limit: listedMax }),
    ]);
    this.letters = letters;
    this.outbound = items;
    this.loaded = true;
  }

  async retry(letterId: string): Promise<void> {
    await this.#client.op('dlq.retry', { letterId });
    await this.load();
  }

  /** Null dismisses all of them except those being retried. */
  async clear(letterId: string | null): Promise<void> {
    await this.#client.op('dlq.clear', letterId === null ? {} : { letterId });
    await this.load();
  }

  async settle(outboundId: string, answer: OpParams<'outbox.settle'>['answer']): Promise<void> {
    await this.#client.op('outbox.settle', { outboundId, answer });
    await this.load();
  }

  apply({ type }: AnyEvent): void {
    if (/^(?:dead_letter|outbound)\./.test(type) || type === 'turn.superseded' || type === 'session.deleted') this.#loadSoon();
  }
}
