// The message tool: sends text and files to a chat that the person is known to use. It only queues; the outbox sends in order and once. The
// port lists the chats: an address that is not bound is refused regardless of approvals.

import { counted } from '../../base/counted.ts';
import { basename } from 'node:path';
import * as z from 'zod';
import type { ChatAddress, NewOutbound } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ArtifactRef, CallFacts, FactContext, ToolContext, ToolDefinition } from '../../contracts/tools.ts';
import { formatBytes } from './bound-text.ts';
import type { CheckedPaths } from './checked-paths.ts';
import { defineTool } from './define-tool.ts';
import { pathArgument, shownPath } from './path-argument.ts';
import { readBytes } from './text-file.ts';

export interface MessagePort {
  /** The title of a known chat; null for any other address. */
  titleOf(chat: ChatAddress): string | null;
  /** The chat that a turn came from, which receives its answer. */
  ofTurn(turnId: string): ChatAddress | null;
  ofSession(sessionId: string): ChatAddress | null;
  /** The chat of the most recent message, optionally of one channel. */
  lastUsed(channel: string | undefined): ChatAddress | null;
  describeArtifact(idOrAlias: string): ArtifactRef | null;
  /** Queues once per key. Fails with `queue_full` or a store error. */
  queue(item: NewOutbound): string;
}

export interface MessageDeps {
  readonly paths: CheckedPaths;
  readonly port: MessagePort;
}

const FILES_MAX = 10;
const FILES_BYTES_MAX = 50_000_000;
const artifactId = /^[0-9a-f]{64}$/;

const input = z
  .strictObject({
    content: z.string().max(50_000).default('').describe('The text of the message, in Markdown.'),
    channel: z.string().min(1).max(200).optional().describe('The channel, such as telegram. Default: that of this conversation.'),
    chat_id: z.string().min(1).max(200).optional().describe('A chat of that channel. Default: that of this conversation.'),
    thread_id: z.string().min(1).max(200).optional(),
    reply_to: z.string().min(1).max(200).optional().describe('The id of a message in that chat to reply to.'),
    files: z.array(pathArgument).max(FILES_MAX).default([]).describe('Paths of files, or ids of artifacts (SHA-256), to attach.'),
  })
  .refine(({ content, files }) => content.trim() !== '' || files.length > 0, 'give content or files: there is nothing to send');
type Args = z.infer<typeof input>;

/** Key objects for the single paths of a call, because facts are keyed by object. */
type PathKeys = WeakMap<object, readonly object[]>;

export function createMessage(deps: MessageDeps): ToolDefinition {
  const keys: PathKeys = new WeakMap();
  return defineTool({
    name: 'message',
    description:
      'Send a message, with files if needed, to a chat of the person (such as Telegram). Without channel and chat_id it goes to the chat of ' +
      'this conversation, or else to the one they used last. Your final answer reaches the chat that a message came from without this tool; ' +
      'use it to send something earlier, to send files, or to write to another chat.',
    input,
    class: 'message',
    shows: { verb: 'send', target: ['content'] },
    idempotency: () => 'idempotent',
    timeoutMs: 60_000,
    facts: (args, context) => factsOf(deps, keys, args, context),
    summarize: (args) => summarize(args),
    async run(args, context) {
      const to = recipientOf(deps.port, args, context);
      const title = to === null ? null : deps.port.titleOf(to);
      if (to === null || title === null) throw new AppError('tool_failed', unknownChat(args));
      const files = await keepFiles(deps, keys, args, context);
      const outboundId = deps.port.queue({
        to,
        kind: 'message',
        text: args.content,
        files,
        ...(args.reply_to === undefined ? {} : { replyToMessageId: args.reply_to }),
        idempotencyKey: `call:${context.idempotencyKey}`,
        sessionId: context.sessionId,
        turnId: context.turnId,
      });
      const what = files.length === 0 ? 'Queued' : `Queued with ${counted(files.length, 'file')}`;
      return { forModel: `${what} for ${shown(to, title)} as ${outboundId}. It leaves in order as soon as the channel can send.` };
    },
  });
}

function factsOf({ paths, port }: MessageDeps, keys: PathKeys, args: Args, context: FactContext): CallFacts {
  for (const file of args.files) if (artifactId.test(file)) describeArtifact(port, file);
  const files = args.files.filter((file) => !artifactId.test(file));
  const own = files.map(() => ({}));
  keys.set(args, own);
  const base = { class: 'message' as const, command: null, hosts: [] };
  const read = files.map((file, at) => paths.fact(own[at] ?? args, file, 'read', context));
  const to = recipientOf(port, args, context);
  const title = to === null ? null : port.titleOf(to);
  if (to === null || title === null) return { ...base, paths: read, refused: unknownChat(args) };
  const origin = context.turnId === undefined ? null : port.ofTurn(context.turnId);
  return {
    ...base,
    paths: read,
    risks: [`It goes to ${shown(to, title)} and cannot be taken back.`],
    recipient: { ...to, isOrigin: origin !== null && isSame(origin, to) },
  };
}

/** The recipient: the named chat, else the chat of the turn or its session, else the one last used. */
function recipientOf(port: MessagePort, args: Args, context: FactContext): ChatAddress | null {
  const { channel, chat_id: chatId, thread_id: threadId } = args;
  const inThread = threadId === undefined ? {} : { threadId };
  const own = ownChat(port, context);
  if (chatId === undefined) {
    const known = own !== null && (channel === undefined || own.channel === channel) ? own : port.lastUsed(channel);
    return known === null ? null : { ...known, ...inThread };
  }
  const inChannel = channel ?? (own ?? port.lastUsed(undefined))?.channel;
  return inChannel === undefined ? null : { channel: inChannel, chatId, ...inThread };
}

function ownChat(port: MessagePort, { turnId, sessionId }: FactContext): ChatAddress | null {
  const ofTurn = turnId === undefined ? null : port.ofTurn(turnId);
  return ofTurn ?? (sessionId === undefined ? null : port.ofSession(sessionId));
}

function isSame(one: ChatAddress, other: ChatAddress): boolean {
  return one.channel === other.channel && one.chatId === other.chatId && one.threadId === other.threadId;
}

function shown({ channel, chatId }: ChatAddress, title: string): string {
  return `${title} (${channel} ${chatId})`;
}

function unknownChat({ channel, chat_id: chatId }: Args): string {
  if (chatId === undefined && channel === undefined) return 'There is no chat to send to: no message has come from one yet.';
  const where = channel === undefined ? '' : ` in ${channel}`;
  return `There is no known chat${chatId === undefined ? '' : ` ${chatId}`}${where}. Only chats that were paired or written from can be sent to.`;
}

function summarize({ content, files, channel, chat_id: chatId }: Args): string {
  const where = chatId === undefined ? (channel === undefined ? 'a chat' : `a chat of ${channel}`) : `chat ${chatId}`;
  const what = content.trim() === '' ? '' : `: ${shownPath(content.trim().replaceAll(/\s+/g, ' ').slice(0, 100))}`;
  const along = files.length === 0 ? '' : ` with ${files.map((file) => shownPath(basename(file))).join(', ')}`;
  return `send a message to ${where}${along}${what}`;
}

async function keepFiles({ paths, port }: MessageDeps, keys: PathKeys, args: Args, context: ToolContext): Promise<ArtifactRef[]> {
  const own = keys.get(args) ?? [];
  const kept: ArtifactRef[] = [];
  let path = 0;
  for (const file of args.files) {
    if (artifactId.test(file)) kept.push(findArtifact(port, file, context));
    else {
      const { real } = paths.confirm(own[path] ?? args, file, 'read', context);
      path += 1;
      const bytes = await readBytes(real, 'send');
      const { callId, sessionId } = context;
      kept.push(context.artifacts.put(bytes, { name: basename(real), mediaType: mediaTypeOf(real), callId, sessionId }));
    }
    const sizeBytes = kept.reduce((sum, ref) => sum + ref.sizeBytes, 0);
    if (sizeBytes > FILES_BYTES_MAX)
      throw new AppError('tool_failed', `The files have more than ${formatBytes(FILES_BYTES_MAX)} together.`);
  }
  return kept;
}

/** Reads the artifact once, so that its untrusted sources also mark this conversation. */
function findArtifact(port: MessagePort, id: string, context: ToolContext): ArtifactRef {
  context.artifacts.read(id, { offset: 0, length: 1 });
  const { sha256, name, mediaType, sizeBytes } = describeArtifact(port, id);
  return { sha256, name, mediaType, sizeBytes };
}

function describeArtifact(port: MessagePort, id: string): ArtifactRef {
  const found = port.describeArtifact(id);
  if (found === null) throw new AppError('artifact_missing', `There is no artifact ${id}.`);
  return found;
}

const mediaTypes: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
  md: 'text/markdown',
  txt: 'text/plain',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

function mediaTypeOf(path: string): string {
  return mediaTypes[path.slice(path.lastIndexOf('.') + 1).toLowerCase()] ?? 'application/octet-stream';
}
