// The chat services, their people and codes, reloaded from the host whenever the log has an event about one. A code is kept only here,
// until it is used or this window is closed.

import type { AnyEvent } from '../../../core/contracts/events.ts';
import type { ChannelStatus } from '../../../core/contracts/features/channels.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../client.ts';
import type { PairedPeople } from './paired-people.ts';
import { soon } from './soon.ts';

export class ChatServices {
  loaded = $state(false);
  list = $state.raw<readonly ChannelStatus[]>([]);
  #people = $state.raw<OpResult<'channel.people'>['people']>([]);
  #codes = $state.raw<Readonly<Record<string, OpResult<'channel.pair'>>>>({});
  readonly #client: OpClient;
  readonly #loadSoon: () => void;
  /** Nothing is loaded before a view asks. */
  #isAsked = false;

  constructor(client: OpClient, onError: (cause: unknown) => void) {
    this.#client = client;
    this.#loadSoon = soon(() => this.load(), onError);
  }

  apply(event: AnyEvent): void {
    if (this.#isAsked && event.type.startsWith('channel.')) this.#loadSoon();
  }

  async load(): Promise<void> {
    this.#isAsked = true;
    const [{ channels }, { people }] = await Promise.all([this.#client.op('channel.list', {}), this.#client.op('channel.people', {})]);
    this.list = channels;
    this.#people = people;
    this.loaded = true;
  }

  async setPaused(channel: string, isPaused: boolean): Promise<void> {
    this.list = (await this.#client.op(isPaused ? 'channel.pause' : 'channel.resume', { channel })).channels;
  }

  peopleOf(channel: string): PairedPeople {
    const own = this.#people.filter((one) => one.channel === channel);
    const code = this.#codes[channel];
    const isUnused = own.some(({ pairingId, state }) => pairingId === code?.pairingId && state === 'code not used');
    return {
      code: code !== undefined && isUnused ? code : null,
      pairings: own.flatMap(({ state, pairingId, userId, name, atMs }) =>
        state === 'paired' ? [] : [{ pairingId, expiresAtMs: atMs, claimedBy: state === 'code not used' ? null : { userId, name } }],
      ),
      people: own.flatMap(({ state, userId, name, atMs }) => (state === 'paired' ? [{ userId, name, pairedAtMs: atMs }] : [])),
      pair: async () => {
        this.#codes = { ...this.#codes, [channel]: await this.#client.op('channel.pair', { channel }) };
        await this.load();
      },
      answer: async (pairingId, isConfirmed) => {
        this.#people = (await this.#client.op(isConfirmed ? 'channel.confirm' : 'channel.refuse', { pairingId })).people;
      },
      revoke: async (userId) => {
        this.#people = (await this.#client.op('channel.revoke', { channel, userId })).people;
      },
    };
  }
}
