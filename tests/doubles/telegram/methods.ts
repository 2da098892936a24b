// For tests only: the methods of the Bot API that the double supports, each with the checks and errors of the real server.

import type { Chats, OpenChat, ShownMessage } from './chats.ts';
import { EntityError, parseHtml, parseMarkdownV2, type Parsed } from './entities.ts';
import type { Updates } from './updates.ts';
import { badRequest, BotApiError, toId, type Json } from './wire.ts';

export interface MethodCall {
  readonly method: string;
  readonly payload: Json;
  readonly files: ReadonlyMap<string, { readonly name: string; readonly bytes: Buffer }>;
}

interface World {
  readonly chats: Chats;
  readonly updates: Updates;
}

type Buttons = ShownMessage['buttons'];

const TEXT_MAX = 4096;
const CAPTION_MAX = 1024;
const UPLOAD_MAX = 50 * 1024 * 1024;
const PHOTO_MAX = 10 * 1024 * 1024;
const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Runs one call. Throws a BotApiError. */
export function runMethod(call: MethodCall, world: World): unknown {
  const method = Object.hasOwn(methods, call.method) ? methods[call.method] : undefined;
  if (method === undefined) throw new BotApiError(404, 'Not Found');
  return method(call, world);
}

type Method = (call: MethodCall, world: World) => unknown;

const methods: Readonly<Record<string, Method>> = {
  getMe: (_call, { chats }) => ({
    ...chats.bot,
    can_join_groups: true,
    can_read_all_group_messages: false,
    supports_inline_queries: false,
  }),
  deleteWebhook: (_call, { updates }) => {
    updates.webhookUrl = '';
    return true;
  },
  setWebhook: ({ payload }, { updates }) => {
    updates.webhookUrl = asText(payload['url']);
    return true;
  },
  getWebhookInfo: (_call, { updates }) => ({
    url: updates.webhookUrl,
    has_custom_certificate: false,
    pending_update_count: updates.unconfirmed.length,
  }),
  setMyCommands: ({ payload }) => {
    for (const { command, description } of payload['commands'] as { command: string; description: string }[]) {
      if (!/^[a-z0-9_]{1,32}$/.test(command)) throw badRequest('BOT_COMMAND_INVALID');
      if (description.length < 1 || description.length > 256) throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
    }
    return true;
  },
  sendMessage: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    const { text, entities } = read(payload, 'text', TEXT_MAX);
    const buttons = readButtons(payload);
    chats.count(chat);
    const place = { replyTo: replyOf(chat, payload), topic: topicOf(chat, payload) };
    const shown = chats.put(chat, { from: chats.bot, text, entities, buttons, file: null, ...place });
    // The draft has been sent.
    chat.drafts.clear();
    return toWire(shown, chat);
  },
  sendMessageDraft: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    const draftId = Number(payload['draft_id']);
    if (chat.id < 0) throw badRequest('PEER_ID_INVALID');
    if (!Number.isInteger(draftId) || draftId === 0) throw badRequest('DRAFT_ID_INVALID');
    chats.draft(chat, draftId, asText(payload['text']) === '' ? '' : read(payload, 'text', TEXT_MAX).text);
    return true;
  },
  editMessageText: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    const message = own(chats, chats.message(chat, payload['message_id']));
    const { text, entities } = read(payload, 'text', TEXT_MAX);
    const buttons = readButtons(payload);
    if (message.text === text && same(message.entities, entities) && same(message.buttons, buttons)) throw notModified();
    chats.count(chat);
    Object.assign(message, { text, entities, buttons, edits: message.edits + 1 });
    return toWire(message, chat);
  },
  editMessageReplyMarkup: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    const message = own(chats, chats.message(chat, payload['message_id']));
    const buttons = readButtons(payload);
    if (same(message.buttons, buttons)) throw notModified();
    message.buttons = buttons;
    return toWire(message, chat);
  },
  deleteMessage: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    if (!chat.messages.delete(Number(payload['message_id']))) throw badRequest('message to delete not found');
    return true;
  },
  setMessageReaction: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    chats.message(chat, payload['message_id']);
    return true;
  },
  answerCallbackQuery: ({ payload }, { chats }) => {
    chats.answerQuery(asText(payload['callback_query_id']), asText(payload['text']));
    return true;
  },
  sendChatAction: ({ payload }, { chats }) => {
    const chat = chats.open(toId(payload['chat_id']));
    topicOf(chat, payload);
    chats.act(chat, asText(payload['action']));
    return true;
  },
  sendPhoto: (call, { chats }) => sendFile(call, chats, 'photo'),
  sendDocument: (call, { chats }) => sendFile(call, chats, 'document'),
  getFile: ({ payload }, { chats }) => chats.getFile(asText(payload['file_id'])),
};

function sendFile({ payload, files }: MethodCall, chats: Chats, kind: 'photo' | 'document'): unknown {
  const chat = chats.open(toId(payload['chat_id']));
  const attached = /^attach:\/\/(.+)$/.exec(asText(payload[kind]))?.[1];
  const file = attached === undefined ? files.get(kind) : files.get(attached);
  if (file === undefined) throw badRequest(`there is no ${kind} in the request`);
  if (file.bytes.length === 0) throw badRequest('file must be non-empty');
  if (file.bytes.length > (kind === 'photo' ? PHOTO_MAX : UPLOAD_MAX)) throw new BotApiError(413, 'Request Entity Too Large');
  if (kind === 'photo' && !isImage(file.bytes)) throw badRequest('IMAGE_PROCESS_FAILED');
  const { text, entities } = asText(payload['caption']) === '' ? { text: '', entities: [] } : read(payload, 'caption', CAPTION_MAX);
  chats.count(chat);
  const shown = chats.put(chat, {
    from: chats.bot,
    text,
    entities,
    buttons: readButtons(payload),
    file: { kind, ...file },
    replyTo: replyOf(chat, payload),
    topic: topicOf(chat, payload),
  });
  return toWire(shown, chat);
}

function isImage(bytes: Buffer): boolean {
  return ['89504e47', 'ffd8ff', '47494638', '52494646'].some((start) => bytes.toString('hex', 0, 4).startsWith(start));
}

/** Parses the text. Lengths count after the formatting is parsed, in UTF-16 units, without surrounding white space. */
function read(payload: Json, field: 'text' | 'caption', lengthMax: number): Parsed {
  const source = asText(payload[field]);
  const { text, entities } = parse(source, payload['parse_mode']);
  if (text.trim() === '') throw badRequest('message text is empty');
  if (text.trim().length > lengthMax) throw badRequest(field === 'caption' ? 'message caption is too long' : 'message is too long');
  return { text, entities };
}

function parse(source: string, mode: unknown): Parsed {
  try {
    if (mode === undefined) return { text: source, entities: [] };
    if (mode === 'HTML') return parseHtml(source);
    if (mode === 'MarkdownV2') return parseMarkdownV2(source);
  } catch (cause) {
    if (cause instanceof EntityError) throw badRequest(cause.message);
    throw cause;
  }
  throw badRequest('unsupported parse_mode');
}

function readButtons({ reply_markup: markup }: Json): Buttons {
  const parsed = typeof markup === 'string' ? (JSON.parse(markup) as Json) : (markup as Json | undefined);
  const rows = (parsed?.['inline_keyboard'] ?? []) as { text: string; callback_data: string }[][];
  for (const { text, callback_data } of rows.flat()) {
    if (text === '') throw badRequest('BUTTON_TEXT_INVALID');
    const size = Buffer.byteLength(callback_data);
    if (size < 1 || size > 64) throw badRequest('BUTTON_DATA_INVALID');
  }
  return rows.map((row) => row.map(({ text, callback_data }) => ({ text, callback_data })));
}

function replyOf(chat: OpenChat, { reply_parameters: given }: Json): number | null {
  const parsed = typeof given === 'string' ? (JSON.parse(given) as Json) : (given as Json | undefined);
  if (parsed === undefined) return null;
  const messageId = Number(parsed['message_id']);
  if (chat.messages.has(messageId)) return messageId;
  if (parsed['allow_sending_without_reply'] === true) return null;
  throw badRequest('message to be replied not found');
}

/** The topic of a message; a reply is in the topic of the message it answers. */
function topicOf(chat: OpenChat, payload: Json): number | undefined {
  const { message_thread_id: given } = payload;
  if (given !== undefined && !chat.topics.has(Number(given))) throw badRequest('message thread not found');
  return given === undefined ? chat.messages.get(replyOf(chat, payload) ?? 0)?.topic : Number(given);
}

function own(chats: Chats, message: ShownMessage): ShownMessage {
  if (message.from.id !== chats.bot.id) throw badRequest("message can't be edited");
  return message;
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

function notModified(): BotApiError {
  return badRequest(
    'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
  );
}

/** A message within another names no further one. */
function withoutReply({ reply_to_message: _further, ...message }: Json): Json {
  return message;
}

export function toWire(message: ShownMessage, chat: Pick<OpenChat, 'id' | 'messages'>): Json {
  const { replyTo, topic } = message;
  const answered = replyTo === null ? undefined : chat.messages.get(replyTo);
  const place = chat.id > 0 ? { id: chat.id, type: 'private', first_name: 'P' } : { id: chat.id, type: 'supergroup', title: 'G' };
  const began = { message_id: topic, date: message.date, chat: place, forum_topic_created: { name: 'T', icon_color: 1 } };
  return {
    message_id: message.messageId,
    from: message.from,
    chat: place,
    date: message.date,
    ...(message.file === null ? { text: message.text } : { caption: message.text }),
    ...(message.entities.length === 0 ? {} : { entities: message.entities }),
    ...(topic === undefined ? {} : { message_thread_id: topic, is_topic_message: true, reply_to_message: began }),
    ...(answered === undefined ? {} : { reply_to_message: withoutReply(toWire({ ...answered, replyTo: null }, chat)) }),
    ...(message.buttons.length === 0 ? {} : { reply_markup: { inline_keyboard: message.buttons } }),
  };
}
