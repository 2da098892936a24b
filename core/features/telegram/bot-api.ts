// The Bot API calls of this channel, over grammY's client. Loaded only when a token is configured. Retries nothing: the caller knows what a
// repetition would mean.
//
// It is the build of grammY that calls the platform's fetch: the one for Node includes its own client, whose dependencies Node warns of.

import type { Api, InputFile } from 'grammy/web';
import type { InlineKeyboardMarkup, Update, UserFromGetMe } from 'grammy/types';

export type { Update } from 'grammy/types';

export interface Button {
  readonly label: string;
  readonly data: string;
}

export interface TextMessage {
  readonly chatId: string;
  readonly text: string;
  readonly isHtml: boolean;
  readonly buttons?: readonly (readonly Button[])[] | undefined;
  readonly replyTo?: string | undefined;
}

export interface FileMessage {
  readonly chatId: string;
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly isPhoto: boolean;
  readonly caption: string;
  readonly replyTo?: string | undefined;
}

/** Fails as grammY does; `readFailure` interprets the error. */
export interface BotApi {
  getMe(signal: AbortSignal): Promise<UserFromGetMe>;
  getUpdates(ask: { readonly offset: number; readonly timeoutSeconds: number }, signal: AbortSignal): Promise<Update[]>;
  setCommands(commands: readonly { readonly command: string; readonly description: string }[], signal: AbortSignal): Promise<void>;
  /** Returns the id of the message. */
  sendText(message: TextMessage, signal: AbortSignal): Promise<string>;
  sendFile(message: FileMessage, signal: AbortSignal): Promise<string>;
  editText(message: TextMessage & { readonly messageId: string }, signal: AbortSignal): Promise<void>;
  sendDraft(draft: { readonly chatId: string; readonly draftId: number; readonly text: string }, signal: AbortSignal): Promise<void>;
  sendTyping(chatId: string, signal: AbortSignal): Promise<void>;
  answerPress(queryId: string, words: string, signal: AbortSignal): Promise<void>;
  /** The one-time address of a file; it contains the token. */
  fileAddress(fileId: string, signal: AbortSignal): Promise<string>;
}

const allowed = ['message', 'edited_message', 'callback_query'] as const;
const CALL_SECONDS = 60;

export async function createBotApi(token: string, apiRoot: string, send: typeof fetch): Promise<BotApi> {
  const grammy = await import('grammy/web');
  const api = new grammy.Api(token, { apiRoot, timeoutSeconds: CALL_SECONDS, fetch: send });
  const plain = telegramCalls(api, (bytes, name) => new grammy.InputFile(bytes, inQuotes(name)));
  return {
    ...plain,
    fileAddress: async (fileId, signal) => {
      const { file_path: path } = await api.getFile(fileId, signalOf(signal));
      return `${apiRoot}/file/bot${token}/${path ?? ''}`;
    },
  };
}

/** grammY puts the name into the form as it is: without quotes it would end at the first blank or semicolon. */
function inQuotes(name: string): string {
  return `"${name.replaceAll(/[\p{C}"\\]/gu, '_')}"`;
}

/** grammY types its signal after its own library in every build; this one takes the platform's. */
type ApiSignal = Parameters<Api['getMe']>[0];
const signalOf = (signal: AbortSignal): ApiSignal => signal as unknown as ApiSignal;

function telegramCalls(api: Api, file: (bytes: Uint8Array, name: string) => InputFile): Omit<BotApi, 'fileAddress'> {
  return {
    getMe: (signal) => api.getMe(signalOf(signal)),
    getUpdates: ({ offset, timeoutSeconds }, signal) =>
      api.getUpdates({ offset, timeout: timeoutSeconds, allowed_updates: [...allowed] }, signalOf(signal)),
    setCommands: async (commands, signal) => {
      await api.setMyCommands([...commands], {}, signalOf(signal));
    },
    sendText: async (message, signal) => {
      const sent = await api.sendMessage(message.chatId, message.text, sendOptions(message), signalOf(signal));
      return String(sent.message_id);
    },
    sendFile: async ({ chatId, name, bytes, isPhoto, caption, replyTo }, signal) => {
      const input = file(bytes, name);
      const options = { ...(caption === '' ? {} : { caption }), ...replyOptions(replyTo) };
      const sent = isPhoto
        ? await api.sendPhoto(chatId, input, options, signalOf(signal))
        : await api.sendDocument(chatId, input, options, signalOf(signal));
      return String(sent.message_id);
    },
    editText: async (message, signal) => {
      await api.editMessageText(message.chatId, Number(message.messageId), message.text, editOptions(message), signalOf(signal));
    },
    sendDraft: async ({ chatId, draftId, text }, signal) => {
      await api.sendMessageDraft(Number(chatId), draftId, text, {}, signalOf(signal));
    },
    sendTyping: async (chatId, signal) => {
      await api.sendChatAction(chatId, 'typing', {}, signalOf(signal));
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

function sendOptions(message: TextMessage) {
  return { ...editOptions(message), ...replyOptions(message.replyTo) };
}

/** A message that was deleted in the meantime keeps no answer from being sent. */
function replyOptions(replyTo: string | undefined) {
  return replyTo === undefined ? {} : { reply_parameters: { message_id: Number(replyTo), allow_sending_without_reply: true } };
}

function keyboardOf(rows: readonly (readonly Button[])[]): InlineKeyboardMarkup {
  return { inline_keyboard: rows.map((row) => row.map(({ label, data }) => ({ text: label, callback_data: data }))) };
}
