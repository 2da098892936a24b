// For tests only: a Bot API server on loopback that follows the real one's rules: offsets and long polls, a single poller, formatting,
// lengths, flood limits, callback expiry, drafts, files, and the ways a connection can end. person.ts simulates the people.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Chats } from './chats.ts';
import { runMethod, type MethodCall } from './methods.ts';
import { BotApiError, type Json } from './wire.ts';
import { Updates } from './updates.ts';

/** A fault of the next matching request. `cut-before`: nothing is done; `cut-after`: it is done but not answered. */
export interface Fault {
  readonly method: string;
  readonly kind: 'cut-before' | 'cut-after' | 'status' | 'refuse';
  readonly status?: number;
  readonly description?: string;
  readonly retryAfter?: number;
  times?: number;
}

export interface Seen {
  readonly method: string;
  readonly payload: Json;
  readonly atMs: number;
}

export interface DoubleOptions {
  readonly token?: string;
  readonly nowMs?: () => number;
  /** Methods that this server does not know. */
  readonly without?: readonly string[];
  readonly username?: string;
}

const REQUESTS_KEPT = 100_000;

export class BotApiDouble {
  readonly updates: Updates;
  readonly chats: Chats;
  readonly seen: Seen[] = [];
  readonly botId: number;
  readonly username: string;
  token: string;
  isRevoked = false;
  readonly #faults: Fault[] = [];
  readonly #without: ReadonlySet<string>;
  readonly #sockets = new Set<Socket>();
  readonly #nowMs: () => number;
  #server: Server | null = null;
  #port = 0;

  constructor({
    token = '7000001:double-token-for-tests-only',
    nowMs = Date.now,
    without = [],
    username = 'double_bot',
  }: DoubleOptions = {}) {
    this.token = token;
    this.botId = Number(token.split(':')[0]);
    this.username = username;
    this.#nowMs = nowMs;
    this.#without = new Set(without);
    this.updates = new Updates();
    this.chats = new Chats({ nowMs, bot: { id: this.botId, is_bot: true, first_name: 'Double', username } });
  }

  get apiRoot(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  nowMs(): number {
    return this.#nowMs();
  }

  async start(): Promise<this> {
    const server = createServer((request, response) => {
      void this.#answer(request, response);
    });
    server.on('connection', (socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  /** Stops answering; `start` uses the same port again. Unconfirmed updates are kept. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    this.updates.releaseHeld();
    for (const socket of this.#sockets) socket.destroy();
    if (server !== null) await new Promise<void>((resolve) => server.close(() => resolve()));
  }

  fault(fault: Fault): void {
    this.#faults.push({ times: 1, ...fault });
  }

  clearFaults(): void {
    this.#faults.length = 0;
  }

  calls(method: string): Json[] {
    return this.seen.filter((one) => one.method === method).map(({ payload }) => payload);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readAll(request);
    const url = new URL(request.url ?? '/', this.apiRoot);
    const file = new RegExp(`^/file/bot([^/]+)/(.+)$`).exec(url.pathname);
    if (file !== null) {
      this.#sendFile(file[1] ?? '', file[2] ?? '', response);
      return;
    }
    const [, token, method] = /^\/bot([^/]+)\/([A-Za-z]+)$/.exec(url.pathname) ?? [];
    if (token === undefined || method === undefined) return reply(response, 404, { ok: false, error_code: 404, description: 'Not Found' });
    try {
      const call = await this.#readCall(method, request, body);
      const done = await this.#perform(call, token, response);
      if (done === null) response.destroy();
      else reply(response, 200, { ok: true, result: done.result });
    } catch (cause) {
      replyError(response, cause);
    }
  }

  /** Resolves to null if the connection is cut instead of answered. */
  async #perform(call: MethodCall, token: string, response: ServerResponse): Promise<{ result: unknown } | null> {
    const { method, payload } = call;
    this.seen.push({ method, payload, atMs: this.#nowMs() });
    if (this.seen.length > REQUESTS_KEPT) this.seen.shift();
    if (this.isRevoked || token !== this.token) throw new BotApiError(401, 'Unauthorized');
    const fault = this.#takeFault(method);
    if (fault?.kind === 'cut-before') return null;
    if (fault?.kind === 'status' || fault?.kind === 'refuse') throw faultError(fault);
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    const result = method === 'getUpdates' ? await this.updates.take(payload, gone.signal) : this.#run(call);
    return fault?.kind === 'cut-after' ? null : { result };
  }

  #run(call: MethodCall): unknown {
    if (this.#without.has(call.method)) throw new BotApiError(404, 'Not Found');
    return runMethod(call, { chats: this.chats, updates: this.updates });
  }

  async #readCall(method: string, request: IncomingMessage, body: Buffer): Promise<MethodCall> {
    const type = request.headers['content-type'] ?? '';
    if (!type.startsWith('multipart/form-data')) {
      return { method, payload: body.length === 0 ? {} : (JSON.parse(body.toString()) as Json), files: new Map() };
    }
    const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
    const payload: Json = {};
    const files = new Map<string, { name: string; bytes: Buffer }>();
    for (const [key, value] of form.entries()) {
      if (typeof value === 'string') payload[key] = parseField(value);
      else files.set(key, { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) });
    }
    return { method, payload, files };
  }

  #takeFault(method: string): Fault | null {
    const fault = this.#faults.find((one) => one.method === method || one.method === '*');
    if (fault === undefined) return null;
    fault.times = (fault.times ?? 1) - 1;
    if (fault.times <= 0) this.#faults.splice(this.#faults.indexOf(fault), 1);
    return fault;
  }

  #sendFile(token: string, path: string, response: ServerResponse): void {
    const file = this.chats.fileAt(path);
    if (token !== this.token || file === null) return reply(response, 404, { ok: false, error_code: 404, description: 'Not Found' });
    response.writeHead(200, { 'content-length': file.bytes.length }).end(file.bytes);
  }
}

function faultError({ status = 500, description = 'Internal Server Error', retryAfter }: Fault): BotApiError {
  return new BotApiError(status, description, retryAfter === undefined ? {} : { retry_after: retryAfter });
}

function parseField(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    // A form sends texts as they are and everything else as JSON.
    return value;
  }
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function replyError(response: ServerResponse, cause: unknown): void {
  const error = cause instanceof BotApiError ? cause : new BotApiError(500, `Internal Server Error: ${String(cause)}`);
  reply(response, error.status, {
    ok: false,
    error_code: error.status,
    description: error.message,
    ...(Object.keys(error.parameters).length === 0 ? {} : { parameters: error.parameters }),
  });
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  if (response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
