// For tests only: the state of chats: messages, drafts, files, callback queries. Enforces the server's limits; does not use HTTP.

import { badRequest, BotApiError, type Json, type WireUser } from './wire.ts';
import type { Entity } from './entities.ts';

export interface ShownMessage {
  readonly messageId: number;
  readonly from: WireUser;
  text: string;
  entities: readonly Entity[];
  buttons: readonly (readonly { readonly text: string; readonly callback_data: string }[])[];
  readonly file: { readonly kind: 'photo' | 'document'; readonly name: string; readonly bytes: Buffer } | null;
  readonly date: number;
  readonly replyTo: number | null;
  /** The topic in a forum; undefined for the general topic. */
  readonly topic?: number | undefined;
  edits: number;
}

interface Chat {
  readonly id: number;
  readonly messages: Map<number, ShownMessage>;
  readonly drafts: Map<number, { text: string; atMs: number }>;
  readonly actions: { action: string; atMs: number }[];
  /** The topics of a forum, by the messages that started them. */
  readonly topics: Set<number>;
  /** The supergroup that replaced this group. */
  movedTo: number | null;
  isBlocked: boolean;
  floodUntilMs: number;
}

interface Query {
  readonly atMs: number;
  answered: string | null;
}

const DRAFT_MS = 30_000;
const QUERY_MS = 15 * 60_000;
const DOWNLOAD_MAX = 20 * 1024 * 1024;

export class Chats {
  readonly bot: WireUser;
  /** The minimum time between two messages to one chat; 0 for none. */
  floodMs = 0;
  readonly #nowMs: () => number;
  readonly #chats = new Map<number, Chat>();
  readonly #queries = new Map<string, Query>();
  readonly #files = new Map<string, { path: string; bytes: Buffer }>();
  #nextMessage = 100;
  #nextQuery = 1;

  constructor({ nowMs, bot }: { nowMs: () => number; bot: WireUser }) {
    this.#nowMs = nowMs;
    this.bot = bot;
  }

  /** Creates a chat at the person's first message; a bot cannot write to a chat that does not exist. */
  begin(id: number): Chat {
    const known = this.#chats.get(id);
    if (known !== undefined) return known;
    const chat: Chat = {
      id,
      messages: new Map(),
      drafts: new Map(),
      actions: [],
      topics: new Set(),
      movedTo: null,
      isBlocked: false,
      floodUntilMs: 0,
    };
    this.#chats.set(id, chat);
    return chat;
  }

  chat(id: number): Chat {
    const chat = this.#chats.get(id);
    if (chat === undefined) throw badRequest('chat not found');
    return chat;
  }

  /** Checks that the bot may write to the chat; called before anything is shown to a person. */
  open(id: number): Chat {
    const chat = this.chat(id);
    if (chat.movedTo !== null) {
      const parameters = { migrate_to_chat_id: chat.movedTo };
      throw new BotApiError(400, 'Bad Request: group chat was upgraded to a supergroup chat', parameters);
    }
    if (chat.isBlocked) throw new BotApiError(403, 'Forbidden: bot was blocked by the user');
    return chat;
  }

  /** Counts a message against the flood limit. */
  count(chat: Chat): void {
    const now = this.#nowMs();
    if (now < chat.floodUntilMs) {
      const seconds = Math.ceil((chat.floodUntilMs - now) / 1000);
      throw new BotApiError(429, `Too Many Requests: retry after ${seconds}`, { retry_after: seconds });
    }
    chat.floodUntilMs = now + this.floodMs;
  }

  put(chat: Chat, message: Omit<ShownMessage, 'messageId' | 'date' | 'edits'>): ShownMessage {
    const shown: ShownMessage = { ...message, messageId: this.#nextMessage++, date: Math.floor(this.#nowMs() / 1000), edits: 0 };
    chat.messages.set(shown.messageId, shown);
    return shown;
  }

  message(chat: Chat, messageId: unknown): ShownMessage {
    const found = chat.messages.get(Number(messageId));
    if (found === undefined) throw badRequest('message to edit not found');
    return found;
  }

  draft(chat: Chat, draftId: number, text: string): void {
    chat.drafts.set(draftId, { text, atMs: this.#nowMs() });
  }

  /** The drafts the person currently sees. */
  shownDrafts(chatId: number): string[] {
    const now = this.#nowMs();
    return [...this.begin(chatId).drafts.values()].filter(({ atMs }) => now - atMs < DRAFT_MS).map(({ text }) => text);
  }

  isTyping(chatId: number): boolean {
    const last = this.begin(chatId).actions.at(-1);
    return last !== undefined && this.#nowMs() - last.atMs < 5_000;
  }

  act(chat: Chat, action: string): void {
    chat.actions.push({ action, atMs: this.#nowMs() });
  }

  newQuery(): string {
    const id = `q${this.#nextQuery++}`;
    this.#queries.set(id, { atMs: this.#nowMs(), answered: null });
    return id;
  }

  answerQuery(id: string, text: string): void {
    const query = this.#queries.get(id);
    if (query === undefined || query.answered !== null || this.#nowMs() - query.atMs > QUERY_MS) {
      throw badRequest('query is too old and response timeout expired or query ID is invalid');
    }
    if (text.length > 200) throw badRequest('MESSAGE_TOO_LONG');
    query.answered = text;
  }

  /** The notice shown after pressing a button; null while the button is still pending. */
  answerOf(id: string): string | null {
    return this.#queries.get(id)?.answered ?? null;
  }

  addFile(name: string, bytes: Buffer): { file_id: string; file_unique_id: string; file_size: number } {
    const file_id = `file-${this.#files.size + 1}`;
    this.#files.set(file_id, { path: `documents/${this.#files.size + 1}-${name.replaceAll(/[^\w.]/g, '_')}`, bytes });
    return { file_id, file_unique_id: `u-${file_id}`, file_size: bytes.length };
  }

  getFile(fileId: string): Json {
    const file = this.#files.get(fileId);
    if (file === undefined) throw badRequest('invalid file_id');
    if (file.bytes.length > DOWNLOAD_MAX) throw badRequest('file is too big');
    return { file_id: fileId, file_unique_id: `u-${fileId}`, file_size: file.bytes.length, file_path: file.path };
  }

  fileAt(path: string): { bytes: Buffer } | null {
    return [...this.#files.values()].find((file) => file.path === path) ?? null;
  }

  /** Messages in the order the person reads them. */
  shown(chatId: number): ShownMessage[] {
    return [...this.begin(chatId).messages.values()];
  }
}

export type OpenChat = ReturnType<Chats['open']>;
