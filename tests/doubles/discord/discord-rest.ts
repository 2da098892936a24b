// For tests only: the methods of Discord's API that the program uses, with their documented refusals.

import type { IncomingMessage, ServerResponse } from 'node:http';
import * as z from 'zod';
import { botUser, wireOf, type DiscordChats, type Message } from './discord-chats.ts';

const TEXT_MAX = 2_000;
const UPLOAD_MAX = 10 * 1024 * 1024;

/** SUPPRESS_EMBEDS and SUPPRESS_NOTIFICATIONS, those of the flags that a bot's text may have. */
const flagsSchema = z.union([z.literal(0), z.literal(4), z.literal(4096), z.literal(4100)]);
const buttonSchema = z.strictObject({
  type: z.literal(2),
  style: z.number().int().min(1).max(4),
  label: z.string().min(1).max(80),
  custom_id: z.string().min(1).max(100),
});
const messageSchema = z.strictObject({
  content: z.string().max(TEXT_MAX).optional(),
  nonce: z.string().max(25).optional(),
  enforce_nonce: z.boolean().optional(),
  allowed_mentions: z.strictObject({ parse: z.array(z.enum(['users', 'roles', 'everyone'])) }).optional(),
  components: z
    .array(z.strictObject({ type: z.literal(1), components: z.array(buttonSchema).min(1).max(5) }))
    .max(5)
    .optional(),
  message_reference: z.strictObject({ message_id: z.string().regex(/^\d{1,20}$/), fail_if_not_exists: z.boolean().optional() }).optional(),
  flags: flagsSchema.optional(),
  attachments: z.array(z.looseObject({ id: z.union([z.string(), z.number()]) })).optional(),
});
type Body = z.infer<typeof messageSchema>;
const callbackSchema = z.strictObject({
  type: z.literal(4),
  data: z.strictObject({
    content: z.string().max(TEXT_MAX),
    flags: z.union([z.literal(64), z.literal(68)]),
    allowed_mentions: z.unknown(),
  }),
});

/**
 * A fault of the next request with this method and path prefix: it is cut before or after it takes effect, rate-limited, or its token is
 * refused.
 */
export interface Fault {
  readonly begins: string;
  readonly when: 'before' | 'after' | 'flood' | 'unauthorized';
}

/** The parts of the double that the API uses. */
interface Side {
  readonly token: string;
  readonly port: number;
  readonly chats: DiscordChats;
  readonly faults: Fault[];
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

const refusal = (status: number, code: number, message: string): Answer => ({ status, body: { code, message } });

export async function answerRest(double: Side, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = 'GET', url = '' } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const file = double.chats.files.get(url);
  if (file !== undefined) {
    response.writeHead(200).end(file);
    return;
  }
  const path = url.replace(/^\/api\/v10/, '');
  const at = double.faults.findIndex(({ begins }) => `${method} ${path}`.startsWith(begins));
  const [fault] = at === -1 ? [] : double.faults.splice(at, 1);
  if (fault?.when === 'before') {
    response.destroy();
    return;
  }
  const answer = faulted(fault) ?? (await answerOne(double, { method, path, headers: request.headers, bytes: Buffer.concat(chunks) }));
  if (fault?.when === 'after') {
    response.destroy();
    return;
  }
  const { status, body, headers = {} } = answer;
  response.writeHead(status, { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers });
  response.end(body === undefined ? '' : JSON.stringify(body));
}

function flood(): Answer {
  const headers = {
    'retry-after': '0.2',
    'x-ratelimit-scope': 'user',
    'x-ratelimit-bucket': 'bucket',
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset-after': '0.2',
  };
  return { status: 429, body: { message: 'You are being rate limited.', retry_after: 0.2, global: false }, headers };
}

function faulted(fault: Fault | undefined): Answer | null {
  if (fault?.when === 'flood') return flood();
  return fault?.when === 'unauthorized' ? refusal(401, 0, '401: Unauthorized') : null;
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
}

async function answerOne(double: Side, asked: Asked): Promise<Answer> {
  const { method, path, headers } = asked;
  const callback = /^\/interactions\/(\d+\/[^/]+)\/callback(?:\?.*)?$/.exec(path)?.[1];
  if (callback !== undefined) return answerPress(double, callback, asked);
  // Discord rejects requests without a user agent of this form.
  if (!/^DiscordBot \(https?:\/\/\S+, [^)]+\)/.test(headers['user-agent'] ?? '')) return refusal(403, 0, 'Forbidden');
  if (headers.authorization !== `Bot ${double.token}`) return refusal(401, 0, '401: Unauthorized');
  if (method === 'GET' && path === '/gateway/bot') {
    const limit = { total: 1000, remaining: 999, reset_after: 1000, max_concurrency: 1 };
    return { status: 200, body: { url: `ws://127.0.0.1:${double.port}`, shards: 1, session_start_limit: limit } };
  }
  return answerChat(double, asked);
}

async function answerChat(double: Side, asked: Asked): Promise<Answer> {
  const { method, path } = asked;
  const [, chatId = '', rest = ''] = /^\/channels\/(\d+)((?:\/|\?).*)?$/.exec(path) ?? [];
  const chat = double.chats.chat(chatId);
  if (chat === null) return refusal(404, 10003, 'Unknown Channel');
  if (method === 'GET' && rest === '') return describeChat(chatId, chat.guildId);
  if (method === 'POST' && rest === '/typing') return { status: 204 };
  if (method === 'POST' && rest === '/messages') return create(double, chatId, asked);
  if (method === 'GET' && rest.startsWith('/messages?')) return list(chat.messages, new URLSearchParams(rest.slice(10)));
  return answerMessage(chat.messages, /^\/messages\/(\d+)$/.exec(rest)?.[1], asked);
}

function describeChat(id: string, guildId: string | null): Answer {
  return { status: 200, body: guildId === null ? { id, type: 1, flags: 0 } : { id, type: 0, flags: 0, guild_id: guildId } };
}

async function answerMessage(messages: readonly Message[], messageId: string | undefined, asked: Asked): Promise<Answer> {
  const { method } = asked;
  const message = messages.find(({ id }) => id === messageId);
  if (message === undefined) return refusal(404, 10008, 'Unknown Message');
  if (method === 'GET') return { status: 200, body: wireOf(message) };
  return method === 'PATCH' ? edit(message, asked) : refusal(405, 0, '405: Method Not Allowed');
}

/** Lists the newest messages first. */
function list(messages: readonly Message[], query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? '50');
  if (limit < 1 || limit > 100) return refusal(400, 50035, 'Invalid Form Body');
  const after = BigInt(query.get('after') ?? '0');
  const found = messages.filter(({ id }) => BigInt(id) > after).slice(0, limit);
  return { status: 200, body: found.toReversed().map((message) => ({ ...wireOf(message), guild_id: undefined })) };
}

interface Upload {
  readonly filename: string;
  readonly bytes: Buffer;
}

async function readBody({ headers, bytes }: Asked): Promise<{ body: unknown; files: Upload[] }> {
  const type = headers['content-type'] ?? '';
  if (!type.startsWith('multipart/form-data')) return { body: JSON.parse(bytes.toString('utf8') || '{}'), files: [] };
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  const payload = form.get('payload_json');
  const files: Upload[] = [];
  for (const [name, value] of form) {
    if (/^files\[\d+\]$/.test(name) && value instanceof File) {
      files.push({ filename: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
    }
  }
  return { body: typeof payload === 'string' ? JSON.parse(payload) : {}, files };
}

async function create(double: Side, chatId: string, asked: Asked): Promise<Answer> {
  const { body: raw, files } = await readBody(asked);
  const parsed = messageSchema.safeParse(raw);
  if (!parsed.success) return refusal(400, 50035, `Invalid Form Body: ${z.prettifyError(parsed.error)}`);
  const { content = '', nonce, enforce_nonce: enforced, components = [], flags = 0, message_reference: reference } = parsed.data;
  if (asked.bytes.length > UPLOAD_MAX + 100_000) return refusal(413, 40005, 'Request entity too large');
  const problem = problemOf(parsed.data, files.length);
  if (problem !== null) return problem;
  const chat = double.chats.open(chatId);
  const same = enforced === true ? chat.messages.find((message) => message.nonce === nonce && message.author.id === botUser.id) : undefined;
  if (same !== undefined) return { status: 200, body: wireOf(same) };
  const answered = chat.messages.find(({ id }) => id === reference?.message_id) ?? null;
  if (reference !== undefined && answered === null && reference.fail_if_not_exists !== false) {
    return refusal(400, 50035, 'Invalid Form Body: unknown message');
  }
  const message = double.chats.add(chat, botUser, {
    content,
    components,
    flags,
    referenced_message: answered,
    attachments: files.map(({ filename, bytes }) => ({
      id: double.chats.newId(),
      filename,
      size: bytes.length,
      url: '',
      bytes: bytes.toString('utf8'),
    })),
    ...(nonce === undefined ? {} : { nonce }),
  });
  return { status: 200, body: wireOf(message) };
}

function problemOf({ content = '', nonce, enforce_nonce: enforced, components = [] }: Body, files: number): Answer | null {
  if (content.trim() === '' && files === 0) return refusal(400, 50006, 'Cannot send an empty message');
  if (enforced === true && nonce === undefined) return refusal(400, 50035, 'Invalid Form Body: nonce');
  const ids = components.flatMap((row) => row.components.map(({ custom_id: id }) => id));
  return new Set(ids).size === ids.length ? null : refusal(400, 50035, 'Invalid Form Body: a custom id is there twice');
}

async function edit(message: Message, asked: Asked): Promise<Answer> {
  if (message.author.id !== botUser.id) return refusal(403, 50005, 'Cannot edit a message authored by another user');
  const { body: raw } = await readBody(asked);
  const parsed = messageSchema.omit({ nonce: true, enforce_nonce: true, message_reference: true }).safeParse(raw);
  if (!parsed.success) return refusal(400, 50035, `Invalid Form Body: ${z.prettifyError(parsed.error)}`);
  const { content, components, flags } = parsed.data;
  if (content?.trim() === '') return refusal(400, 50006, 'Cannot send an empty message');
  message.content = content ?? message.content;
  message.components = components ?? message.components;
  message.flags = flags ?? message.flags;
  return { status: 200, body: wireOf(message) };
}

/** Answers a press once, in the documented form. */
async function answerPress(double: Side, key: string, asked: Asked): Promise<Answer> {
  const press = double.chats.presses.get(key);
  if (press === undefined) return refusal(404, 10062, 'Unknown interaction');
  if (press.answer !== null) return refusal(400, 40060, 'Interaction has already been acknowledged.');
  const parsed = callbackSchema.safeParse((await readBody(asked)).body);
  if (!parsed.success) return refusal(400, 50035, `Invalid Form Body: ${z.prettifyError(parsed.error)}`);
  press.answer = parsed.data.data.content;
  return { status: 204 };
}
