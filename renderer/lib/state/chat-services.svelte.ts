// The chat services besides Telegram, their people and codes. Read from the host while they are shown. A code is kept only here, and only until
// it is used or the page is left.

import type { ChannelStatus } from '../../../core/contracts/features/channels.ts';
import type { OpResult } from '../../../core/contracts/ops.ts';
import type { OpClient } from '../client.ts';
import type { PairedPeople } from './paired-people.ts';

export class ChatServices {
  list = $state.raw<readonly ChannelStatus[]>([]);
  #people = $state.raw<OpResult<'channel.people'>['people']>([]);
  #codes = $state.raw<Readonly<Record<string, OpResult<'channel.pair'>>>>({});
  readonly #client: OpClient;

  constructor(client: OpClient) {
    this.#client = client;
  }

  async load(): Promise<void> {
    const [{ channels }, { people }] = await Promise.all([this.#client.op('channel.list', {}), this.#client.op('channel.people', {})]);
    this.list = channels;
    this.#people = people;
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
