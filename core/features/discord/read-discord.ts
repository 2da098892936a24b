// A message of Discord in the common form of all channels: author, chat, text, files, what it answers. Ids decide; names are only shown.

import type { APIMessage } from 'discord-api-types/v10';
import type { Attachment } from '../../contracts/attachments.ts';
import type { ChannelInbound } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';

export interface Limits {
  readonly fileBytesMax: number;
  readonly filesMax: number;
}

/** Ordinary messages and answers; the others are news of the service itself. */
const PERSONAL_TYPES: ReadonlySet<number> = new Set([0, 19]);
const FETCH_MS = 60_000;
const QUOTE_MAX = 4_000;

export type DiscordMessage = APIMessage & { readonly guild_id?: string };

/** Null for messages without a human author. The files are still to be fetched. */
export function readMessage(message: DiscordMessage, botId: string): ChannelInbound | null {
  const { author, webhook_id: webhook, guild_id: guild } = message;
  if (author.bot === true || author.system === true || webhook !== undefined || !PERSONAL_TYPES.has(message.type)) return null;
  const answered = message.referenced_message ?? null;
  const forwarded = message.message_snapshots?.map(({ message: { content } }) => content).join('\n\n') ?? '';
  const name = (author.global_name ?? author.username).slice(0, 100);
  return {
    channel: 'discord',
    chatId: message.channel_id,
    kind: guild === undefined ? 'private' : 'group',
    senderId: author.id,
    senderName: name === '' ? author.id : name,
    dedupeKey: `discord:${message.id}`,
    messageId: message.id,
    text: [withoutMention(message.content, botId), forwarded].filter((text) => text !== '').join('\n\n'),
    attachments: [],
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

/** The files, or an error for the person who sent them. The size Discord states is not trusted: the bytes are counted. */
export async function fetchFiles(
  { attachments }: DiscordMessage,
  { fileBytesMax, filesMax }: Limits,
  { fetch, signal }: { readonly fetch: typeof globalThis.fetch; readonly signal: AbortSignal },
): Promise<Attachment[]> {
  const files: Attachment[] = [];
  // One more than allowed is enough for the refusal that all channels share.
  for (const { url, filename, size, content_type: mediaType } of attachments.slice(0, filesMax + 1)) {
    const name = filename.replaceAll(/[\p{C}/\\]/gu, '_').slice(0, 100);
    if (size > fileBytesMax) throw tooBig(name, fileBytesMax);
    const bytes = await download(url, { name, fileBytesMax, fetch, signal: AbortSignal.any([signal, AbortSignal.timeout(FETCH_MS)]) });
    files.push({
      name: name === '' ? 'file' : name,
      ...(mediaType === undefined ? {} : { mediaType: mediaType.replace(/;.*$/, '') }),
      base64: bytes.toString('base64'),
    });
  }
  return files;
}

interface Download {
  readonly name: string;
  readonly fileBytesMax: number;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
}

async function download(url: string, { name, fileBytesMax, fetch, signal }: Download): Promise<Buffer> {
  const response = await fetch(url, { signal, redirect: 'error' });
  if (!response.ok || response.body === null) throw new AppError('fetch_failed', `"${name}" could not be fetched from Discord.`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > fileBytesMax) throw tooBig(name, fileBytesMax);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooBig(name: string, sizeBytesMax: number): AppError {
  return new AppError('payload_too_large', `"${name}" is larger than ${Math.floor(sizeBytesMax / 1_000_000)} MB.`, {
    data: { hint: 'Send a smaller one, or put it into the workspace.' },
  });
}
