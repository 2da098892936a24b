// For tests only: Discord on loopback: version 10 of its API, and its gateway. Refuses what Discord's documentation says it refuses, so
// that a test cannot pass with input the real service would reject.

import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { WebSocketServer, type WebSocket } from 'ws';
import * as z from 'zod';
import { botUser, DiscordChats } from './discord-chats.ts';
import { answerRest, type Fault } from './discord-rest.ts';

const identifySchema = z.object({
  token: z.string(),
  intents: z.number().int().nonnegative(),
  properties: z.object({ os: z.string(), browser: z.string(), device: z.string() }),
  shard: z.tuple([z.number().int(), z.number().int()]).optional(),
});
const resumeSchema = z.object({ token: z.string(), session_id: z.string(), seq: z.number().int() });
const payloadSchema = z.object({ op: z.number().int(), d: z.unknown().optional() });

const MESSAGE_CONTENT = 1 << 15;
const DIRECT_MESSAGES = 1 << 12;
const GUILD_MESSAGES = 1 << 9;
const HEARTBEAT_MS = 41_250;

interface Session {
  readonly id: string;
  readonly intents: number;
  /** Events sent so far; a resumed connection gets them again. */
  readonly sent: { readonly seq: number; readonly payload: string }[];
  socket: WebSocket | null;
}

export interface DoubleOptions {
  /** Whether the bot may read the content of messages. */
  readonly mayReadContent?: boolean;
}

export class DiscordDouble {
  readonly token = 'bot-token-of-the-double';
  readonly chats: DiscordChats;
  readonly identified: number[] = [];
  resumed = 0;
  /** Connections to the gateway that are left unanswered; null if every connection is answered. */
  held: Socket[] | null = null;
  /** Faults for the next requests with the given method and path prefix. */
  readonly faults: Fault[] = [];
  readonly #options: DoubleOptions;
  readonly #http: Server;
  readonly #gateway: WebSocketServer;
  readonly #sessions = new Map<string, Session>();
  #seq = 0;

  constructor(options: DoubleOptions = {}) {
    this.#options = options;
    this.chats = new DiscordChats((type, data, isDirect) => this.#dispatch(type, data, isDirect));
    this.#http = createServer((request, response) => {
      answerRest(this, request, response).catch(() => response.destroy());
    });
    this.#gateway = new WebSocketServer({ noServer: true });
    this.#http.on('upgrade', (request, socket: Socket, head) => {
      if (this.held !== null) this.held.push(socket);
      else this.#gateway.handleUpgrade(request, socket, head, (client) => this.#gateway.emit('connection', client, request));
    });
    this.#gateway.on('connection', (socket) => this.#accept(socket));
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get apiRoot(): string {
    return `http://127.0.0.1:${this.port}/api`;
  }

  /** Closes every gateway connection; their sessions can be resumed. */
  cut(code = 4000): void {
    for (const session of this.#sessions.values()) session.socket?.close(code, 'reconnect');
  }

  async stop(): Promise<void> {
    for (const client of this.#gateway.clients) client.terminate();
    for (const socket of this.held ?? []) socket.destroy();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#gateway.close(resolve));
    await new Promise((resolve) => this.#http.close(resolve));
  }

  #accept(socket: WebSocket): void {
    let session: Session | null = null;
    socket.send(JSON.stringify({ op: 10, d: { heartbeat_interval: HEARTBEAT_MS } }));
    socket.on('message', (raw: Buffer) => {
      const payload = payloadSchema.safeParse(parse(raw));
      if (!payload.success) {
        socket.close(4002, 'Decode error');
        return;
      }
      const { op, d } = payload.data;
      if (op === 1) socket.send(JSON.stringify({ op: 11 }));
      else if (op === 2 && session === null) session = this.#identify(socket, d);
      else if (op === 6 && session === null) session = this.#resume(socket, d);
      else if (op === 2 || op === 6) socket.close(4005, 'Already authenticated');
      else socket.close(session === null ? 4003 : 4001, 'Unknown opcode or not authenticated');
    });
    socket.on('close', () => {
      if (session?.socket === socket) session.socket = null;
    });
  }

  #identify(socket: WebSocket, data: unknown): Session | null {
    const asked = identifySchema.safeParse(data);
    if (!asked.success) return refuse(socket, 4002, 'Decode error');
    const { token, intents, shard } = asked.data;
    if (token !== this.token) return refuse(socket, 4004, 'Authentication failed.');
    if (shard !== undefined && (shard[1] < 1 || shard[0] >= shard[1])) return refuse(socket, 4010, 'Invalid shard.');
    if (intents >= 1 << 26) return refuse(socket, 4013, 'Invalid intent(s).');
    if ((intents & MESSAGE_CONTENT) !== 0 && this.#options.mayReadContent === false) return refuse(socket, 4014, 'Disallowed intent(s).');
    this.identified.push(intents);
    const session: Session = { id: `session-${this.#sessions.size + 1}`, intents, sent: [], socket };
    this.#sessions.set(session.id, session);
    const resumeUrl = `ws://127.0.0.1:${this.port}`;
    this.#send(session, 'READY', {
      v: 10,
      user: { ...botUser, discriminator: '0', global_name: null, avatar: null },
      session_id: session.id,
      resume_gateway_url: resumeUrl,
      guilds: [],
      application: { id: botUser.id, flags: 0 },
      shard: [0, 1],
    });
    return session;
  }

  #resume(socket: WebSocket, data: unknown): Session | null {
    const asked = resumeSchema.safeParse(data);
    if (!asked.success) return refuse(socket, 4002, 'Decode error');
    const session = this.#sessions.get(asked.data.session_id);
    if (asked.data.token !== this.token) return refuse(socket, 4004, 'Authentication failed.');
    if (session === undefined || asked.data.seq > this.#seq) {
      socket.send(JSON.stringify({ op: 9, d: false }));
      return null;
    }
    this.resumed += 1;
    session.socket = socket;
    for (const { seq, payload } of session.sent) if (seq > asked.data.seq) socket.send(payload);
    this.#send(session, 'RESUMED', {});
    return session;
  }

  /** Sends an event only to sessions whose intents request it. */
  #dispatch(type: string, data: object, isDirect: boolean | null): void {
    for (const session of this.#sessions.values()) {
      const wanted = isDirect === null ? 0 : isDirect ? DIRECT_MESSAGES : GUILD_MESSAGES;
      if ((session.intents & wanted) !== wanted) continue;
      this.#send(session, type, (session.intents & MESSAGE_CONTENT) === 0 && isDirect === false ? { ...data, content: '' } : data);
    }
  }

  #send(session: Session, type: string, data: object): void {
    this.#seq += 1;
    const payload = JSON.stringify({ op: 0, t: type, s: this.#seq, d: data });
    session.sent.push({ seq: this.#seq, payload });
    session.socket?.send(payload);
  }
}

function refuse(socket: WebSocket, code: number, reason: string): null {
  socket.close(code, reason);
  return null;
}

function parse(raw: Buffer): unknown {
  try {
    return JSON.parse(raw.toString('utf8'));
  } catch {
    return null;
  }
}
