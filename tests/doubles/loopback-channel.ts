// The smallest complete channel: a chat program of a few lines in this process. For tests, and as the example of the recipe "A channel" in
// CONTRIBUTING.md. A real channel differs in `send`, which reaches a server, and in where its messages come from.

import { assert } from '../../core/base/assert.ts';
import type {
  Channel,
  ChannelInbound,
  ChannelLink,
  ChannelPort,
  ChannelReceipt,
  ChannelRules,
  OutboundItem,
  OutboundPart,
  PartContent,
  SendOutcome,
} from '../../core/contracts/channels.ts';

export interface LoopbackOptions {
  readonly owners?: readonly string[];
  readonly rules?: Partial<ChannelRules>;
  /** Sends a part; by default every part is delivered. */
  readonly send?: (part: OutboundPart) => SendOutcome | Promise<SendOutcome>;
}

const TEXT_MAX = 200;

export class LoopbackChannel implements Channel, ChannelPort {
  readonly name = 'loopback';
  readonly maxFileBytes = 1_000;
  readonly rules: ChannelRules;
  readonly identities: Channel['identities'];
  /** The parts that arrived, as the chat shows them. */
  readonly shown: OutboundPart[] = [];
  readonly #send: (part: OutboundPart) => SendOutcome | Promise<SendOutcome>;
  #link: ChannelLink | null = null;
  #close: () => void = () => undefined;
  #updates = 0;

  constructor(options: LoopbackOptions = {}) {
    const owners = new Set(options.owners ?? ['7']);
    this.identities = { isOwner: (senderId) => owners.has(senderId) };
    this.rules = { groups: 'off', allowFrom: [], ...options.rules };
    this.#send = options.send ?? ((part) => ({ kind: 'sent', messageId: `m-${part.idempotencyKey}` }));
  }

  join(link: ChannelLink): { dispose(): void } {
    this.#link = link;
    this.goOnline();
    return {
      dispose: () => {
        this.goOffline();
        this.#link = null;
      },
    };
  }

  goOnline(): void {
    assert(this.#link !== null, 'the channel has joined');
    this.#close = this.#link.open(this);
  }

  goOffline(): void {
    this.#close();
  }

  /** Pairs a person who has not written yet. */
  pair(senderId: string, title: string): void {
    assert(this.#link !== null, 'the channel has joined');
    this.#link.introduce({ chatId: senderId }, { kind: 'private', title, senderId });
  }

  /** Simulates a message from a person; by default from the owner in their own chat. */
  write(text: string, more: Partial<ChannelInbound> = {}): ChannelReceipt {
    assert(this.#link !== null, 'the channel has joined');
    this.#updates += 1;
    const place = { channel: this.name, chatId: '7', kind: 'private' as const, mentioned: false };
    const sender = { senderId: '7', senderName: 'Ada' };
    const message = { text, attachments: [], dedupeKey: `1:${this.#updates}`, messageId: `in-${this.#updates}`, atMs: 0 };
    return this.#link.receive({ ...place, ...sender, ...message, ...more });
  }

  split({ text, files }: OutboundItem): PartContent[] {
    const parts = text.match(new RegExp(`[^]{1,${TEXT_MAX}}`, 'g')) ?? [''];
    return parts.map((piece, index) => ({ text: piece, files: index === 0 ? files : [] }));
  }

  async send(part: OutboundPart): Promise<SendOutcome> {
    const outcome = await this.#send(part);
    if (outcome.kind === 'sent') this.shown.push(part);
    return outcome;
  }
}
