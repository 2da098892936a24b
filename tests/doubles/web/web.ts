// A small web on loopback: servers behind public addresses, reached through a test resolver and dialer, and a trap behind every other
// address. Everything above the socket is real: HTTP, TLS, redirects. For tests only.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net';

export interface WebRequest {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly isSecure: boolean;
}

/** The resolver's answers by name. Several lists are returned in turn, the last one from then on; null does not resolve. */
export type DnsAnswers = Readonly<Record<string, null | readonly string[] | readonly (readonly string[])[]>>;
export type WebHandler = (request: WebRequest, response: ServerResponse) => void;

export interface WebOptions {
  readonly answers: DnsAnswers;
  /** Addresses with the servers behind their ports 80 and 443. */
  readonly publicAddresses: readonly string[];
}

const pem = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

export class Web {
  /** Every request a server received, in order. */
  readonly requests: WebRequest[] = [];
  /** Every connection to a forbidden destination, as `address:port`. */
  readonly trapped: string[] = [];
  readonly dialled: string[] = [];
  readonly authorities: readonly string[] = [pem('cert.pem')];
  readonly #options: WebOptions;
  readonly #asked = new Map<string, number>();
  readonly #servers: Server[] = [];
  readonly #open = new Set<Socket>();
  readonly #ports = { plain: 0, secure: 0, trap: 0 };
  #handler: WebHandler = (_request, response) => void response.end('hello');
  #raw: ((socket: Socket) => void) | null = null;

  private constructor(options: WebOptions) {
    this.#options = options;
  }

  static async start(options: WebOptions): Promise<Web> {
    const web = new Web(options);
    const listener =
      (isSecure: boolean): RequestListener =>
      (request, response) =>
        void web.#answer(request, response, isSecure);
    const plain = createServer(listener(false));
    web.#ports.plain = await web.#listen(
      createTcpServer((socket) => (web.#raw === null ? plain.emit('connection', socket) : web.#raw(socket))),
    );
    web.#ports.secure = await web.#listen(createSecureServer({ key: pem('key.pem'), cert: pem('cert.pem') }, listener(true)));
    web.#ports.trap = await web.#listen(createTcpServer((socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret')));
    return web;
  }

  /** Sets how all public servers answer. */
  handle(handler: WebHandler): void {
    this.#handler = handler;
    this.#raw = null;
  }

  /** Sets a handler for raw bytes on plain connections. */
  handleRaw(raw: (socket: Socket) => void): void {
    this.#raw = raw;
  }

  readonly resolver = {
    resolve: (host: string): Promise<readonly string[]> => {
      const count = this.#asked.get(host) ?? 0;
      this.#asked.set(host, count + 1);
      const answer = this.#options.answers[host] ?? null;
      if (answer === null) return Promise.reject(Object.assign(new Error(host), { code: 'ENOTFOUND' }));
      const turns = typeof answer[0] === 'string' ? [answer as readonly string[]] : (answer as readonly (readonly string[])[]);
      return Promise.resolve(turns[Math.min(count, turns.length - 1)] ?? []);
    },
  };

  /** The lowest level: maps an address and port to a server on this machine. */
  readonly dialer = {
    dial: ({ address, port }: { address: string; port: number }, signal: AbortSignal): Promise<Socket> => {
      this.dialled.push(`${address}:${port}`);
      return new Promise((resolve, reject) => {
        const socket = connect({ host: '127.0.0.1', port: this.#portOf(address, port) });
        const onAbort = (): void => void socket.destroy(signal.reason as Error);
        signal.addEventListener('abort', onAbort, { once: true });
        socket.once('error', reject);
        socket.once('connect', () => {
          socket.off('error', reject);
          signal.removeEventListener('abort', onAbort);
          resolve(socket);
        });
      });
    },
  };

  /** Forgets all recorded requests; names give their first answer again. */
  reset(): void {
    for (const list of [this.requests, this.trapped, this.dialled]) list.length = 0;
    this.#asked.clear();
  }

  async dispose(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  #portOf(address: string, port: number): number {
    const isPublic = this.#options.publicAddresses.includes(address);
    if (isPublic && port === 80) return this.#ports.plain;
    if (isPublic && port === 443) return this.#ports.secure;
    this.trapped.push(`${address}:${port}`);
    return this.#ports.trap;
  }

  async #answer(request: IncomingMessage, response: ServerResponse, isSecure: boolean): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method = '', url: path = '', headers } = request;
    const seen = { host: headers.host ?? '', method, path, headers, body: Buffer.concat(parts).toString(), isSecure };
    this.requests.push(seen);
    response.on('error', () => undefined);
    this.#handler(seen, response);
  }

  async #listen(server: Server): Promise<number> {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    this.#servers.push(server);
    return (server.address() as AddressInfo).port;
  }
}
