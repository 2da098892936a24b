// For tests only: people on the Discord double, as a bench for the rules of every channel.

import type { BenchPerson, ChannelBench } from '../../channels/conformance-rig.ts';
import { botUser, type Message } from './discord-chats.ts';
import { DiscordDouble } from './discord-double.ts';

export const discordTokenVariable = 'TEST_DISCORD_TOKEN';

export class DiscordPerson implements BenchPerson {
  readonly id: string;
  readonly chatId: string;
  readonly #double: DiscordDouble;
  readonly #name: string;

  constructor(double: DiscordDouble, name: string, { id, chatId = `7${id}`, guildId }: { id: string; chatId?: string; guildId?: string }) {
    this.#double = double;
    this.#name = name;
    this.id = id;
    this.chatId = chatId;
    double.chats.open(chatId, guildId ?? null);
  }

  write(text: string, more: Partial<Message> = {}): void {
    this.#double.chats.add(this.#double.chats.open(this.chatId), this.#user, { content: text, ...more });
  }

  sendFile(name: string, content: string, text: string): void {
    this.write(text, { attachments: [this.#upload(name, content)] });
  }

  /** Forwards a message of another chat. The forward itself is empty. */
  forward(text: string, name: string, content: string): void {
    this.write('', { message_snapshots: [{ message: { content: text, attachments: [this.#upload(name, content)] } }] });
  }

  #upload(filename: string, content: string): Message['attachments'][number] {
    const path = `/files/${this.#double.chats.newId()}/${filename}`;
    this.#double.chats.files.set(path, Buffer.from(content));
    return { id: '1', filename, size: content.length, url: `http://127.0.0.1:${this.#double.port}${path}`, bytes: '' };
  }

  shown(): Message[] {
    return this.#double.chats.open(this.chatId).messages.filter(({ author }) => author.id === botUser.id);
  }

  heard(): string[] {
    return this.shown().map(({ content }) => content);
  }

  files(): string[] {
    return this.shown().flatMap(({ attachments }) => attachments.map(({ bytes }) => bytes));
  }

  press(label: string): { answer: string | null } {
    const message = this.shown().findLast(({ components }) => components.some((row) => row.components.some((one) => one.label === label)));
    const button = message?.components.flatMap((row) => row.components).find((one) => one.label === label);
    if (message === undefined || button === undefined) throw new Error(`there is no button ${label} in the chat`);
    return this.pressData(message, button.custom_id);
  }

  /** Presses with arbitrary data, as a modified app could. */
  pressData(message: Message, customId: string): { answer: string | null } {
    return this.#double.chats.press(this.#user, message, customId);
  }

  answer(choice: 'yes' | 'no'): Promise<void> {
    return Promise.resolve().then(() => void this.press(choice === 'yes' ? 'Approve once' : 'Deny'));
  }

  choose(value: string): Promise<void> {
    return Promise.resolve().then(() => void this.press(value));
  }

  get #user() {
    return { id: this.id, username: this.#name };
  }
}

export async function startDiscordBench(double = new DiscordDouble()): Promise<ChannelBench> {
  await double.start();
  let people = 40;
  return {
    channels: { discord: { token: `env:${discordTokenVariable}`, apiRoot: double.apiRoot } },
    environment: { [discordTokenVariable]: double.token },
    deduplicates: true,
    person: (name) => new DiscordPerson(double, name, { id: String(++people) }),
    cut: () => double.cut(),
    stop: () => double.stop(),
  };
}
