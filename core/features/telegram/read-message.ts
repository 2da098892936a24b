// Converts a Telegram message to the common form of all channels: author, chat, text, files, the message it answers, whether it was
// forwarded. Pure. Names that people chose are only shown; decisions use ids.

import type { Message, User } from 'grammy/types';
import type { ChannelInbound, RemoteFile } from '../../contracts/channels.ts';
import { fileName } from '../../runtime/chats/chats.ts';

export interface Bot {
  readonly botId: string;
  readonly username: string;
}

const NAME_MAX = 100;
const QUOTE_MAX = 4_000;

/** Null for messages without a human author: messages of channels, of other bots, and without a sender. */
export function readMessage(message: Message, updateId: number, bot: Bot): ChannelInbound | null {
  const { from, chat } = message;
  if (from === undefined || from.is_bot || message.sender_chat !== undefined) return null;
  const kind = chat.type === 'private' ? 'private' : chat.type === 'group' || chat.type === 'supergroup' ? 'group' : null;
  if (kind === null) return null;
  // The id of a private chat is the id of its person; anything else is invalid.
  if (kind === 'private' && chat.id !== from.id) return null;
  const replyTo = answeredBy(message, bot);
  const forwardedFrom = originOf(message);
  return {
    channel: 'telegram',
    chatId: String(chat.id),
    ...topicOf(message),
    kind,
    senderId: String(from.id),
    senderName: nameOf(from),
    dedupeKey: `${bot.botId}:${updateId}`,
    messageId: String(message.message_id),
    text: textOf(message),
    attachments: [],
    files: filesOf(message),
    ...(replyTo === null ? {} : { replyTo }),
    ...(forwardedFrom === null ? {} : { forwardedFrom }),
    mentioned: mentions(message, bot),
    atMs: message.date * 1000,
    ...(message.media_group_id === undefined ? {} : { albumId: message.media_group_id }),
  };
}

/** A topic is a separate conversation. */
function topicOf({ message_thread_id: threadId, is_topic_message: isInTopic }: Message): Pick<ChannelInbound, 'threadId'> {
  return isInTopic === true && threadId !== undefined ? { threadId: String(threadId) } : {};
}

function nameOf(user: User): string {
  return [user.first_name, user.last_name]
    .filter((part) => part !== undefined && part !== '')
    .join(' ')
    .slice(0, NAME_MAX);
}

/** The text, with the addresses of links that are hidden behind words. */
function textOf({ text = '', caption = '', entities, caption_entities: captionEntities }: Written): string {
  let shown = text === '' ? caption : text;
  for (const entity of (entities ?? captionEntities ?? []).toReversed()) {
    if (entity.type !== 'text_link') continue;
    const end = entity.offset + entity.length;
    const words = shown.slice(entity.offset, end);
    if (words !== entity.url) shown = `${shown.slice(0, entity.offset)}[${words}](${entity.url})${shown.slice(end)}`;
  }
  return shown;
}

type Written = Pick<Message, 'text' | 'caption' | 'entities' | 'caption_entities'>;

function filesOf(message: Message): RemoteFile[] {
  const { document, photo, audio, voice, video, video_note: round, animation } = message;
  // An animation is also included as a document.
  if (animation !== undefined) return [fileOf(animation, animation.file_name ?? 'animation.mp4', animation.mime_type)];
  const largest = photo?.at(-1);
  return [
    ...(document === undefined ? [] : [fileOf(document, document.file_name ?? 'file', document.mime_type)]),
    ...(largest === undefined ? [] : [fileOf(largest, 'photo.jpg', 'image/jpeg')]),
    ...(audio === undefined ? [] : [fileOf(audio, audio.file_name ?? 'audio', audio.mime_type)]),
    ...(voice === undefined ? [] : [fileOf(voice, 'voice.ogg', voice.mime_type)]),
    ...(video === undefined ? [] : [fileOf(video, video.file_name ?? 'video.mp4', video.mime_type)]),
    ...(round === undefined ? [] : [fileOf(round, 'round-video.mp4', 'video/mp4')]),
  ];
}

function fileOf(file: { file_id: string; file_size?: number }, name: string, mediaType: string | undefined): RemoteFile {
  return { ref: file.file_id, name: fileName(name), mediaType: mediaType ?? null, sizeBytes: file.file_size ?? null };
}

function answeredBy(message: Message, { botId }: Bot): NonNullable<ChannelInbound['replyTo']> | null {
  const { quote, external_reply: elsewhere } = message;
  const answered = answeredIn(message);
  if (elsewhere !== undefined) return { text: (quote?.text ?? '').slice(0, QUOTE_MAX), fromAgent: false };
  if (answered === undefined) return null;
  const text = quote?.text ?? textOf(answered);
  return { text: text.slice(0, QUOTE_MAX), fromAgent: String(answered.from?.id) === botId, messageId: String(answered.message_id) };
}

/** In a topic, a message without an explicit reply answers the message that created the topic. Such a reply is ignored. */
function answeredIn({ reply_to_message: answered }: Message): Message['reply_to_message'] {
  return answered?.forum_topic_created === undefined ? answered : undefined;
}

function originOf({ forward_origin: origin }: Message): string | null {
  if (origin === undefined) return null;
  switch (origin.type) {
    case 'user':
      return `${nameOf(origin.sender_user)} (${origin.sender_user.id})`;
    case 'hidden_user':
      return origin.sender_user_name.slice(0, NAME_MAX);
    case 'chat':
      return chatName(origin.sender_chat);
    case 'channel':
      return chatName(origin.chat);
  }
}

function chatName(chat: { id: number; title?: string | undefined }): string {
  return `${(chat.title ?? 'a chat').slice(0, NAME_MAX)} (${chat.id})`;
}

function mentions(message: Message, { botId, username }: Bot): boolean {
  if (String(answeredIn(message)?.from?.id) === botId) return true;
  const text = message.text ?? message.caption ?? '';
  return (message.entities ?? message.caption_entities ?? []).some((entity) => {
    if (entity.type === 'text_mention') return String(entity.user.id) === botId;
    if (entity.type !== 'mention' && entity.type !== 'bot_command') return false;
    const words = text.slice(entity.offset, entity.offset + entity.length).toLowerCase();
    return entity.type === 'mention' ? words === `@${username.toLowerCase()}` : words.endsWith(`@${username.toLowerCase()}`);
  });
}
