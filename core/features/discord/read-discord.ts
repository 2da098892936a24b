// Converts a Discord message into the common form of all channels: author, chat, text, files, quoted message. Decisions use ids; names are
// only shown.

import type { APIMessage } from 'discord-api-types/v10';
import type { ChannelInbound } from '../../contracts/channels.ts';
import { fileName } from '../../runtime/chats/chats.ts';

/** Ordinary messages and replies. All other types are notices of Discord itself. */
const PERSONAL_TYPES: ReadonlySet<number> = new Set([0, 19]);
const QUOTE_MAX = 4_000;

export type DiscordMessage = APIMessage & { readonly guild_id?: string };

/** Null for messages without a human author. */
export function readMessage(message: DiscordMessage, botId: string): ChannelInbound | null {
  const { author, webhook_id: webhook, guild_id: guild } = message;
  if (author.bot === true || author.system === true || webhook !== undefined || !PERSONAL_TYPES.has(message.type)) return null;
  const answered = message.referenced_message ?? null;
  const forwarded = (message.message_snapshots ?? []).map((snapshot) => snapshot.message);
  const name = (author.global_name ?? author.username).slice(0, 100);
  return {
    channel: 'discord',
    chatId: message.channel_id,
    kind: guild === undefined ? 'private' : 'group',
    senderId: author.id,
    senderName: name === '' ? author.id : name,
    dedupeKey: `discord:${message.id}`,
    messageId: message.id,
    text: [withoutMention(message.content, botId), ...forwarded.map(({ content }) => content)].filter((text) => text !== '').join('\n\n'),
    attachments: [],
    files: [message, ...forwarded]
      .flatMap(({ attachments }) => attachments)
      .map(({ url, filename, size, content_type: type }) => ({
        ref: url,
        name: fileName(filename),
        mediaType: type?.replace(/;.*$/, '') ?? null,
        sizeBytes: size,
      })),
    ...(answered === null
      ? {}
      : { replyTo: { text: answered.content.slice(0, QUOTE_MAX), fromAgent: answered.author.id === botId, messageId: answered.id } }),
    ...(message.message_snapshots === undefined ? {} : { forwardedFrom: 'a forwarded message' }),
    mentioned: message.mentions.some(({ id }) => id === botId) || answered?.author.id === botId,
    atMs: Date.parse(message.timestamp),
  };
}

function withoutMention(text: string, botId: string): string {
  return text.replaceAll(`<@${botId}>`, '').replaceAll(`<@!${botId}>`, '').trim();
}
