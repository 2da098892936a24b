// For tests only: the data Discord stores: chats with their messages, files and button presses. Notifies the gateway of changes.

export interface Author {
  readonly id: string;
  readonly username: string;
  readonly bot?: boolean;
}

export const botUser: Author = { id: '900', username: 'tray', bot: true };

export interface Message {
  readonly id: string;
  readonly channel_id: string;
  readonly author: Author & { readonly global_name: string | null };
  content: string;
  readonly timestamp: string;
  readonly type: number;
  flags: number;
  readonly attachments: {
    readonly id: string;
    readonly filename: string;
    readonly size: number;
    readonly url: string;
    readonly bytes: string;
  }[];
  components: { readonly components: { readonly custom_id: string; readonly label: string }[] }[];
  readonly mentions: Author[];
  readonly referenced_message: Message | null;
  readonly nonce?: string;
  readonly guild_id?: string;
  /** The content of forwarded messages, without their authors. */
  readonly message_snapshots?: readonly { readonly message: { readonly content: string; readonly attachments: readonly object[] } }[];
}

interface Chat {
  readonly id: string;
  readonly guildId: string | null;
  readonly messages: Message[];
}

/** `isDirect` is null for events that are not messages; every session receives those. */
type Tell = (type: string, data: object, isDirect: boolean | null) => void;

const EPOCH_MS = 1_420_070_400_000;

export class DiscordChats {
  readonly #tell: Tell;
  readonly #chats = new Map<string, Chat>();
  /** Presses that still wait for their single answer, by `ID/TOKEN`. */
  readonly presses = new Map<string, { answer: string | null }>();
  /** The files people sent, by path. */
  readonly files = new Map<string, Buffer>();
  #ids = 0n;

  constructor(tell: Tell) {
    this.#tell = tell;
  }

  /** Creates ids like Discord's: the time and a counter. */
  newId(): string {
    this.#ids += 1n;
    return String((BigInt(Date.now() - EPOCH_MS) << 22n) + this.#ids);
  }

  open(id: string, guildId: string | null = null): Chat {
    const known = this.#chats.get(id);
    if (known !== undefined) return known;
    const chat = { id, guildId, messages: [] };
    this.#chats.set(id, chat);
    return chat;
  }

  chat(id: string): Chat | null {
    return this.#chats.get(id) ?? null;
  }

  add(chat: Chat, author: Author, more: Partial<Message>): Message {
    const message: Message = {
      id: this.newId(),
      channel_id: chat.id,
      author: { ...author, global_name: null },
      content: '',
      timestamp: new Date().toISOString(),
      type: more.referenced_message === undefined || more.referenced_message === null ? 0 : 19,
      flags: 0,
      attachments: [],
      components: [],
      mentions: [],
      referenced_message: null,
      ...(chat.guildId === null ? {} : { guild_id: chat.guildId }),
      ...more,
    };
    chat.messages.push(message);
    this.#tell('MESSAGE_CREATE', wireOf(message), chat.guildId === null);
    return message;
  }

  press(user: Author, message: Message, customId: string): { answer: string | null } {
    const id = this.newId();
    const token = `press-token-${id}`;
    const waiting = { answer: null };
    this.presses.set(`${id}/${token}`, waiting);
    const channel = { id: message.channel_id, type: 1 };
    const about = { id, token, application_id: '900', type: 3, version: 1, channel_id: message.channel_id, channel };
    this.#tell('INTERACTION_CREATE', { ...about, user, data: { custom_id: customId, component_type: 2 }, message: wireOf(message) }, null);
    return waiting;
  }
}

const SUPPRESS_EMBEDS = 4;

/** Discord fetches the addresses in a text and shows their pages below it, unless the message says not to. */
export function previewsOf({ content, flags }: Pick<Message, 'content' | 'flags'>): { url: string }[] {
  return (flags & SUPPRESS_EMBEDS) === 0 ? Array.from(content.matchAll(/https?:\/\/[^\s<>]+/g), ([url]) => ({ url })) : [];
}

export function wireOf(message: Message): object {
  const { attachments, referenced_message: answered, ...rest } = message;
  return {
    ...rest,
    author: { discriminator: '0', avatar: null, ...rest.author },
    attachments: attachments.map(({ bytes: _bytes, ...attachment }) => attachment),
    edited_timestamp: null,
    tts: false,
    mention_everyone: false,
    mention_roles: [],
    embeds: previewsOf(message),
    pinned: false,
    ...(answered === null ? {} : { referenced_message: wireOf(answered) }),
  };
}
