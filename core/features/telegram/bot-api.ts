// The Bot API calls of this channel, through grammY's client. Loaded only if a token is configured. Never retries: only the caller knows
// whether a repetition is safe.
//
// Uses the build of grammY that calls the platform's fetch. The build for Node includes its own HTTP client, whose dependencies cause
// warnings of Node.

import type { Api, InputFile } from 'grammy/web';
import type { InlineKeyboardMarkup, Update, UserFromGetMe } from 'grammy/types';
import { movedTo } from './api-failure.ts';

export type { Update } from 'grammy/types';

export interface Button {
  readonly label: string;
  readonly data: string;
}

interface Place {
  readonly chatId: string;
  /** The topic of a forum. */
  readonly threadId?: string | undefined;
}

export interface TextMessage extends Place {
  readonly text: string;
  readonly isHtml: boolean;
  readonly buttons?: readonly (readonly Button[])[] | undefined;
  readonly replyTo?: string | undefined;
}

export interface FileMessage extends Place {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly isPhoto: boolean;
  readonly caption: string;
  readonly replyTo?: string | undefined;
}

/** Fails with errors of grammY, which `readFailure` interprets. */
export interface BotApi {
  getMe(signal: AbortSignal): Promise<UserFromGetMe>;
  getUpdates(ask: { readonly offset: number; readonly timeoutSeconds: number }, signal: AbortSignal): Promise<Update[]>;
  setCommands(commands: readonly { readonly command: string; readonly description: string }[], signal: AbortSignal): Promise<void>;
  /** Returns the id of the message. */
  sendText(message: TextMessage, signal: AbortSignal): Promise<string>;
  sendFile(message: FileMessage, signal: AbortSignal): Promise<string>;
  editText(message: TextMessage & { readonly messageId: string }, signal: AbortSignal): Promise<void>;
  sendDraft(draft: Place & { readonly draftId: number; readonly text: string }, signal: AbortSignal): Promise<void>;
  sendTyping(place: Place, signal: AbortSignal): Promise<void>;
  answerPress(queryId: string, words: string, signal: AbortSignal): Promise<void>;
  /** The one-time address of a file; it contains the token. */
  fileAddress(fileId: string, signal: AbortSignal): Promise<string>;
}

const allowed = ['message', 'edited_message', 'callback_query'] as const;
const CALL_SECONDS = 60;

export async function createBotApi(token: string, apiRoot: string, send: typeof fetch): Promise<BotApi> {
  const grammy = await import('grammy/web');
  // The API never redirects.
  const baseFetchConfig = { redirect: 'error' };
  const api = new grammy.Api(token, { apiRoot, timeoutSeconds: CALL_SECONDS, fetch: send, baseFetchConfig });
  const plain = telegramCalls(api, (bytes, name) => new grammy.InputFile(bytes, inQuotes(name)));
  return {
    ...plain,
    fileAddress: async (fileId, signal) => {
      const { file_path: path } = await api.getFile(fileId, signalOf(signal));
      return `${apiRoot}/file/bot${token}/${path ?? ''}`;
    },
  };
}

/** grammY inserts the name into the form unchanged. Without quotes it would end at the first blank or semicolon. */
function inQuotes(name: string): string {
  return `"${name.replaceAll(/[\p{C}"\\]/gu, '_')}"`;
}

/** Every build of grammY declares the signal type of a bundled library, but this build accepts the platform's signal. */
type ApiSignal = Parameters<Api['getMe']>[0];
const signalOf = (signal: AbortSignal): ApiSignal => signal as unknown as ApiSignal;

function telegramCalls(api: Api, file: (bytes: Uint8Array, name: string) => InputFile): Omit<BotApi, 'fileAddress'> {
  const moved = new Map<string, string>();
  /** A group that becomes a supergroup gets another id, and so do its messages. */
  const send = async <T extends Place & { readonly replyTo?: string | undefined }>(message: T, call: (to: T) => Promise<string>) => {
    const there = (chatId: string): T => ({ ...message, chatId, threadId: undefined, replyTo: undefined });
    const known = moved.get(message.chatId);
    try {
      return await call(known === undefined ? message : there(known));
    } catch (cause) {
      const to = movedTo(cause);
      if (to === null || known !== undefined) throw cause;
      moved.set(message.chatId, to);
      return call(there(to));
    }
  };
  return {
    getMe: (signal) => api.getMe(signalOf(signal)),
    getUpdates: ({ offset, timeoutSeconds }, signal) =>
      api.getUpdates({ offset, timeout: timeoutSeconds, allowed_updates: [...allowed] }, signalOf(signal)),
    setCommands: async (commands, signal) => {
      await api.setMyCommands([...commands], {}, signalOf(signal));
    },
    sendText: (message, signal) =>
      send(message, async (to) => {
        const sent = await api.sendMessage(to.chatId, to.text, { ...editOptions(to), ...placeOptions(to) }, signalOf(signal));
        return String(sent.message_id);
      }),
    sendFile: (message, signal) =>
      send(message, async (to) => {
        const { chatId, name, bytes, isPhoto, caption } = to;
        const input = file(bytes, name);
        const options = { ...(caption === '' ? {} : { caption }), ...placeOptions(to) };
        const sent = isPhoto
          ? await api.sendPhoto(chatId, input, options, signalOf(signal))
          : await api.sendDocument(chatId, input, options, signalOf(signal));
        return String(sent.message_id);
      }),
    editText: async (message, signal) => {
      await api.editMessageText(message.chatId, Number(message.messageId), message.text, editOptions(message), signalOf(signal));
    },
    sendDraft: async ({ chatId, threadId, draftId, text }, signal) => {
      await api.sendMessageDraft(Number(chatId), draftId, text, placeOptions({ threadId }), signalOf(signal));
    },
    sendTyping: async ({ chatId, threadId }, signal) => {
      await api.sendChatAction(chatId, 'typing', placeOptions({ threadId }), signalOf(signal));
    },
    answerPress: async (queryId, words, signal) => {
      await api.answerCallbackQuery(queryId, words === '' ? {} : { text: words.slice(0, 200) }, signalOf(signal));
    },
  };
}

function editOptions({ isHtml, buttons }: TextMessage) {
  return {
    ...(isHtml ? { parse_mode: 'HTML' as const } : {}),
    link_preview_options: { is_disabled: true },
    ...(buttons === undefined ? {} : { reply_markup: keyboardOf(buttons) }),
  };
}

/** If the message to reply to was deleted in the meantime, the answer is still sent. */
function placeOptions({ threadId, replyTo }: { readonly threadId?: string | undefined; readonly replyTo?: string | undefined }) {
  return {
    ...(threadId === undefined ? {} : { message_thread_id: Number(threadId) }),
    ...(replyTo === undefined ? {} : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } }),
  };
}

function keyboardOf(rows: readonly (readonly Button[])[]): InlineKeyboardMarkup {
  return { inline_keyboard: rows.map((row) => row.map(({ label, data }) => ({ text: label, callback_data: data }))) };
}
