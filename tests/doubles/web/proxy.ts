// An HTTP proxy as strict as those of companies: tunnels to port 443 only, whole addresses only, and nothing without the right user. It
// finds names that this machine cannot. For tests only.

import { createServer, request as sendRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Web } from './web.ts';

export interface ProxyOptions {
  /** The addresses it finds, by name. */
  readonly names: Readonly<Record<string, string>>;
  /** `user:password`; absent if anybody may use it. */
  readonly user?: string;
}

export class TestProxy {
  /** Every request: `CONNECT host:port` or the method with the whole address. */
  readonly seen: string[] = [];
  readonly #web: Web;
  readonly #options: ProxyOptions;
  readonly #server: Server;
  readonly #open = new Set<Socket>();

  private constructor(web: Web, options: ProxyOptions) {
    this.#web = web;
    this.#options = options;
    this.#server = createServer((request, response) => this.#relay(request, response));
    this.#server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => void this.#tunnel(request, socket, head));
    this.#server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  static async start(web: Web, options: ProxyOptions): Promise<TestProxy> {
    const proxy = new TestProxy(web, options);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async dispose(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Null if the request may pass, else the status of the refusal. */
  #whyNot(request: IncomingMessage, host: string): number | null {
    const { user } = this.#options;
    const given = request.headers['proxy-authorization'];
    if (user !== undefined && given !== `Basic ${Buffer.from(user).toString('base64')}`) return 407;
    return this.#options.names[host] === undefined ? 503 : null;
  }

  async #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const authority = request.url ?? '';
    this.seen.push(`CONNECT ${authority}`);
    const [host = '', port] = authority.split(':');
    const refused = request.headers.host === authority ? (port === '443' ? this.#whyNot(request, host) : 403) : 400;
    if (refused !== null) {
      socket.end(`HTTP/1.1 ${refused} Refused\r\nproxy-authenticate: Basic realm="test"\r\ncontent-length: 7\r\n\r\nrefused`);
      return;
    }
    const far = await this.#web.dialer.dial({ address: this.#options.names[host] ?? '', port: 443 }, new AbortController().signal);
    this.#open.add(far);
    far.on('error', () => undefined);
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) far.write(head);
    far.pipe(socket).pipe(far);
  }

  #relay(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url = '' } = request;
    this.seen.push(`${method} ${url}`);
    const target = url.startsWith('http:') && URL.canParse(url) ? new URL(url) : null;
    const refused = target === null || request.headers.host !== target.host ? 400 : this.#whyNot(request, target.hostname);
    if (refused !== null || target === null) {
      response.writeHead(refused ?? 400, { 'proxy-authenticate': 'Basic realm="test"' }).end('refused');
      return;
    }
    const { 'proxy-authorization': _own, ...headers } = request.headers;
    const address = this.#options.names[target.hostname] ?? '';
    const onward = async (): Promise<void> => {
      const socket = await this.#web.dialer.dial({ address, port: 80 }, new AbortController().signal);
      const path = target.pathname + target.search;
      const sent = sendRequest({ createConnection: () => socket, method, path, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      sent.on('error', () => response.destroy());
      request.pipe(sent);
    };
    void onward();
  }
}
