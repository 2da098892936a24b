// Streamable HTTP in both eras of the protocol, with the official server. Requests of 2026-07-28 are stateless. Clients of 2025-11-25 and
// earlier have a session, which ends when it is idle, when its token is revoked or when others need the room. Does not know what is
// offered.

import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
  type McpHttpHandler,
  type McpServer,
} from '@modelcontextprotocol/server';
import type { Clock } from '../../base/clock.ts';
import type { DoorReply, DoorRequest } from '../../contracts/door-route.ts';

export interface HttpDeps<P extends HttpPeer> {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly newId: () => string;
  readonly make: (peer: P) => Promise<McpServer>;
}

/** A client with a valid token. */
export interface HttpPeer {
  readonly id: string;
  readonly revoked: AbortSignal;
}

interface KeptSession {
  readonly peerId: string;
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAtMs: number;
}

const SESSIONS_MAX = 64;
const IDLE_MS = 60 * 60_000;
const ALIVE_MS = 10_000;
const passed = ['accept', 'content-type', 'last-event-id', 'mcp-method', 'mcp-name', 'mcp-protocol-version', 'mcp-session-id'] as const;

export class McpHttp<P extends HttpPeer> {
  readonly #deps: HttpDeps<P>;
  readonly #sessions = new Map<string, KeptSession>();
  /** One handler per client, so that a client never receives another client's notifications. */
  readonly #modern = new Map<string, { readonly peer: P; readonly handler: McpHttpHandler }>();

  constructor(deps: HttpDeps<P>) {
    this.#deps = deps;
  }

  /** Fails if the body cannot be read. */
  async answer(peer: P, asked: DoorRequest, reply: DoorReply): Promise<void> {
    const parsedBody = asked.method === 'POST' ? await asked.json() : undefined;
    const headers = passed.flatMap((name): [string, string][] => {
      const value = asked.header(name);
      return value === undefined ? [] : [[name, value]];
    });
    const signal = AbortSignal.any([asked.gone, peer.revoked]);
    // The URL is a placeholder: host and path were checked before.
    const request = new Request('http://127.0.0.1/mcp', { method: asked.method, headers, signal });
    const isLegacy = await isLegacyRequest(request, parsedBody ?? null);
    const response = isLegacy
      ? await this.#answerLegacy(peer, request, parsedBody)
      : await this.#modernOf(peer).fetch(request, parsedBody === undefined ? {} : { parsedBody });
    await send(response, reply, signal);
  }

  /** Notifies clients of 2026-07-28 that listen to the resource and may read it. */
  changed(uri: string, mayRead: (peer: P) => boolean): void {
    for (const { peer, handler } of this.#modern.values()) if (mayRead(peer)) handler.notify.resourceUpdated(uri);
  }

  async dispose(): Promise<void> {
    for (const id of Array.from(this.#sessions.keys())) await this.#end(id);
    for (const { handler } of this.#modern.values()) await handler.close();
    this.#modern.clear();
  }

  #modernOf(peer: P): McpHttpHandler {
    const known = this.#modern.get(peer.id);
    if (known !== undefined) return known.handler;
    const handler = createMcpHandler(() => this.#deps.make(peer), { legacy: 'reject', responseMode: 'sse', keepAliveMs: ALIVE_MS });
    this.#modern.set(peer.id, { peer, handler });
    peer.revoked.addEventListener('abort', () => {
      this.#modern.delete(peer.id);
      void handler.close();
    });
    return handler;
  }

  async #answerLegacy(peer: P, request: Request, parsedBody: unknown): Promise<Response> {
    const nowMs = this.#deps.clock.monotonicMs();
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : this.#sessions.get(id);
    // The session of another client is answered like an unknown one.
    if (id !== null && known?.peerId !== peer.id) return refused(404, -32_001, 'There is no such session: begin again with initialize.');
    if (known !== undefined) known.usedAtMs = nowMs;
    const transport = known?.transport ?? (await this.#begin(peer, nowMs));
    const response = await transport.handleRequest(request, { parsedBody });
    if (known === undefined && transport.sessionId === undefined) await transport.close();
    return response;
  }

  /** Stores the session once the client has introduced itself. */
  async #begin(peer: P, nowMs: number): Promise<WebStandardStreamableHTTPServerTransport> {
    const server = await this.#deps.make(peer);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: this.#deps.newId,
      keepAliveMs: ALIVE_MS,
      onsessioninitialized: async (id) => {
        await this.#makeRoom(nowMs);
        this.#sessions.set(id, { peerId: peer.id, server, transport, usedAtMs: nowMs });
        peer.revoked.addEventListener('abort', () => void this.#end(id), { once: true });
      },
      onsessionclosed: (id) => this.#end(id),
    });
    await server.connect(transport);
    return transport;
  }

  async #makeRoom(nowMs: number): Promise<void> {
    const byUse = [...this.#sessions].sort(([, a], [, b]) => a.usedAtMs - b.usedAtMs);
    const idle = byUse.filter(([, { usedAtMs }]) => nowMs - usedAtMs > IDLE_MS).length;
    const over = Math.max(idle, this.#sessions.size - SESSIONS_MAX + 1);
    for (const [id] of byUse.slice(0, over)) await this.#end(id);
  }

  async #end(id: string): Promise<void> {
    const session = this.#sessions.get(id);
    this.#sessions.delete(id);
    await session?.server.close();
  }
}

/** Omits the id, because the request id is not known here and the protocol does not allow null. */
function refused(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message } }, { status });
}

/** Passes the response on piece by piece, and ends it if the caller is gone. */
async function send(response: Response, reply: DoorReply, signal: AbortSignal): Promise<void> {
  const own = ['mcp-session-id', 'allow', 'www-authenticate'].flatMap((name): [string, string][] => {
    const value = response.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  const headers = Object.fromEntries(own);
  const mediaType = response.headers.get('content-type') ?? '';
  if (response.body === null || !mediaType.startsWith('text/event-stream')) {
    const text = await response.text();
    reply.send(response.status, text === '' ? undefined : JSON.parse(text), headers);
    return;
  }
  reply.begin('text/event-stream', headers);
  const reader = response.body.getReader();
  const cancel = (): void => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', cancel, { once: true });
  if (signal.aborted) cancel();
  const decoder = new TextDecoder();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read())
      reply.write(decoder.decode(piece.value as Uint8Array, { stream: true }));
  } finally {
    signal.removeEventListener('abort', cancel);
    reply.end();
  }
}
