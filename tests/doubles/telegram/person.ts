// For tests only: a person with the messenger's app: writes, presses buttons, sends files, and reads what the chat currently shows.

import type { BotApiDouble } from './bot-api-double.ts';
import type { ShownMessage } from './chats.ts';
import type { Entity } from './entities.ts';
import { toWire } from './methods.ts';
import type { Json } from './wire.ts';

export interface SaidMore {
  /** The id of the message it replies to. */
  readonly replyTo?: number;
  readonly forwardedFrom?: string;
  /** Seconds; defaults to now. */
  readonly date?: number;
  /** The album that a photo belongs to. */
  readonly album?: string;
  /** The topic in a forum. */
  readonly topic?: number;
  /** Addresses behind words of the text. */
  readonly links?: Readonly<Record<string, string>>;
}

const TEXT_MAX = 4096;

/** Finds mentions, as the server does in text that people write. */
function mentionsIn(text: string): Entity[] {
  return Array.from(text.matchAll(/(?<!\w)@\w{3,32}/g), (found) => ({ type: 'mention', offset: found.index, length: found[0].length }));
}

function linksIn(text: string, links: NonNullable<SaidMore['links']>): Entity[] {
  return Object.entries(links).map(([words, url]) => {
    if (!text.includes(words)) throw new Error(`the text does not have the words ${words}`);
    return { type: 'text_link', offset: text.indexOf(words), length: words.length, url };
  });
}

export class Person {
  readonly id: number;
  readonly chatId: number;
  readonly #double: BotApiDouble;
  readonly #name: string;

  /** In a private chat, or with `groupId` (below 0) in that group. */
  constructor(double: BotApiDouble, { id, name = `Person ${id}`, groupId }: { id: number; name?: string; groupId?: number }) {
    this.#double = double;
    this.id = id;
    this.chatId = groupId ?? id;
    this.#name = name;
    double.chats.begin(this.chatId);
  }

  /** Returns the id of the message. */
  write(text: string, more: SaidMore = {}): number {
    return this.#send(text, more, {});
  }

  /** Writes a text of any length, as the app does: in messages of at most 4,096 characters, cut at a break if the second half has one. */
  writeLong(text: string): void {
    for (let rest = text; rest !== '';) {
      const last = ['\n', ' '].map((mark) => rest.lastIndexOf(mark, TEXT_MAX - 1)).find((at) => at > TEXT_MAX / 2);
      const end = rest.length <= TEXT_MAX ? rest.length : last === undefined ? TEXT_MAX : last + 1;
      this.write(rest.slice(0, end).trim());
      rest = rest.slice(end);
    }
  }

  edit(messageId: number, text: string): void {
    const chat = this.#double.chats.chat(this.chatId);
    const message = this.#double.chats.message(chat, messageId);
    message.text = text;
    this.#double.updates.add({ edited_message: { ...toWire(message, chat), edit_date: Math.floor(this.#double.nowMs() / 1000) } });
  }

  /** Presses the button with this label under the newest message that has it. Returns the id of the query. */
  press(label: string, messageId?: number): string {
    const message = this.shown().findLast(
      (one) => (messageId === undefined || one.messageId === messageId) && one.buttons.flat().some(({ text }) => text === label),
    );
    const button = message?.buttons.flat().find(({ text }) => text === label);
    if (message === undefined || button === undefined) throw new Error(`there is no button ${label} in the chat`);
    return this.pressData(button.callback_data, message.messageId);
  }

  /** Presses with any data under any message, as a modified app could. */
  pressData(data: string, messageId: number): string {
    const { chats, updates } = this.#double;
    const chat = chats.chat(this.chatId);
    const message = chat.messages.get(messageId);
    const id = chats.newQuery();
    updates.add({
      callback_query: {
        id,
        from: this.#user,
        chat_instance: String(this.chatId),
        data,
        ...(message === undefined ? {} : { message: toWire(message, chat) }),
      },
    });
    return id;
  }

  sendDocument(name: string, bytes: Buffer, caption = ''): number {
    const file = this.#double.chats.addFile(name, bytes);
    return this.#send(caption, {}, { document: { ...file, file_name: name } });
  }

  /** Sends a photo in two sizes, as the app does. */
  sendPhoto(bytes: Buffer, caption = '', more: SaidMore = {}): number {
    const sizes = [bytes.subarray(0, 10), bytes].map((one) => ({ ...this.#double.chats.addFile('photo.jpg', one), width: 10, height: 10 }));
    return this.#send(caption, more, { photo: sizes });
  }

  /** Sends a round video, which has no name, type or caption. */
  sendRoundVideo(bytes: Buffer): number {
    return this.#send('', {}, { video_note: { ...this.#double.chats.addFile('round', bytes), length: 240, duration: 3 } });
  }

  block(isBlocked = true): void {
    this.#double.chats.chat(this.chatId).isBlocked = isBlocked;
  }

  shown(): ShownMessage[] {
    return this.#double.chats.shown(this.chatId);
  }

  /** The bot's messages, in order. */
  heard(): string[] {
    return this.shown()
      .filter(({ from }) => from.is_bot)
      .map(({ text }) => text);
  }

  drafts(): string[] {
    return this.#double.chats.shownDrafts(this.chatId);
  }

  toldAfterPress(queryId: string): string | null {
    return this.#double.chats.answerOf(queryId);
  }

  get #user() {
    return { id: this.id, is_bot: false, first_name: this.#name };
  }

  #send(text: string, { replyTo, forwardedFrom, date, album, topic, links = {} }: SaidMore, media: Json): number {
    if (text.length > TEXT_MAX) throw new Error('MESSAGE_TOO_LONG');
    const { chats, updates } = this.#double;
    const chat = chats.begin(this.chatId);
    if (topic !== undefined) chat.topics.add(topic);
    const shown = chats.put(chat, {
      from: this.#user,
      text,
      entities: [...mentionsIn(text), ...linksIn(text, links)].toSorted((a, b) => a.offset - b.offset),
      buttons: [],
      file: null,
      replyTo: replyTo ?? null,
      topic,
    });
    const { text: said, entities, ...wire } = toWire(shown, chat);
    const isMedia = Object.keys(media).length > 0;
    const marked = entities === undefined ? {} : { [isMedia ? 'caption_entities' : 'entities']: entities };
    updates.add({
      message: {
        ...wire,
        ...marked,
        ...media,
        ...(isMedia ? (text === '' ? {} : { caption: text }) : { text: said }),
        ...(date === undefined ? {} : { date }),
        ...(album === undefined ? {} : { media_group_id: album }),
        ...(forwardedFrom === undefined
          ? {}
          : { forward_origin: { type: 'hidden_user', sender_user_name: forwardedFrom, date: shown.date } }),
      },
    });
    return shown.messageId;
  }
}
