// The browser's only way to the network: a local proxy that checks every connection against the URL rules and dials only addresses that
// passed. It resolves each name once; the browser resolves none.

import { createServer, request as sendRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { portOf } from '../../base/port-of.ts';
import type { NameResolver, ResolvedDecision } from '../../contracts/url-decision.ts';
import {
  openConnection,
  openTunnel,
  proxyWithin,
  resolveUrl,
  systemDialer,
  systemResolver,
  type Dialer,
  type ProxyChoice,
  type UrlJudge,
} from '../../guard/egress/egress.ts';

export interface CheckingProxyDeps {
  readonly judge: Pick<UrlJudge, 'url' | 'resolvedUrl' | 'throughProxy'>;
  /** Defaults to the proxy that the environment names. */
  readonly upstream?: ProxyChoice;
  readonly resolver?: NameResolver;
  readonly dialer?: Dialer;
}

const CONNECT_MS = 15_000;
const CONNECTIONS_MAX = 512;
const REFUSED_KEPT = 20;
const PLAIN_PORT = 80;

export class CheckingProxy {
  readonly #deps: CheckingProxyDeps;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  readonly #ended = new AbortController();
  #refused: { readonly host: string; readonly words: string }[] = [];

  private constructor(deps: CheckingProxyDeps) {
    this.#deps = deps;
    this.#server = createServer((request, response) => void this.#forward(request, response));
    this.#server.maxConnections = CONNECTIONS_MAX;
    this.#server.on('connection', (socket) => this.#keep(socket));
    this.#server.on('connect', (request: IncomingMessage, socket: Socket, head: Buffer) => void this.#tunnel(request, socket, head));
    // Refuses protocol upgrades, because they would bypass the checks.
    this.#server.on('upgrade', (_request: IncomingMessage, socket: Socket) => socket.destroy());
  }

  static async start(deps: CheckingProxyDeps): Promise<CheckingProxy> {
    const proxy = new CheckingProxy(deps);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Returns the refusals of these hosts since the last call, and forgets all: the browser also asks servers of its maker, for itself. */
  takeRefused(hosts: ReadonlySet<string>): readonly string[] {
    const refused = this.#refused;
    this.#refused = [];
    return refused.flatMap(({ host, words }) => (hosts.has(host) ? [words] : []));
  }

  async dispose(): Promise<void> {
    this.#ended.abort();
    for (const socket of this.#open) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', method, headers } = request;
    const target = await this.#dial(url);
    // Drops the connection instead of sending an error page, which a page could take for its own content.
    if (typeof target === 'string') return void request.socket.destroy();
    const { pathname, search, host } = new URL(target.verdict.url);
    const kept = Object.entries(headers).filter(([name]) => !/^(?:proxy-.*|connection|keep-alive|upgrade|te|trailer)$/.test(name));
    const sent = sendRequest({
      createConnection: () => target.socket,
      method,
      path: `${pathname}${search}`,
      headers: { ...Object.fromEntries(kept), host, connection: 'close' },
    });
    sent.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => (response.headersSent ? response.destroy() : response.writeHead(502).end('The server did not answer.')));
    response.on('close', () => target.socket.destroy());
    request.on('error', () => sent.destroy());
    request.pipe(sent);
  }

  async #tunnel(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on('error', () => undefined);
    const authority = request.url ?? '';
    const isPlain = authority.endsWith(`:${PLAIN_PORT}`);
    const target = isPlain ? this.#note(`http://${authority}/`, ': sockets are not used here.') : await this.#dial(`https://${authority}/`);
    if (typeof target === 'string') {
      socket.end('HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n');
      return;
    }
    const far = target.socket;
    far.on('close', () => socket.destroy());
    socket.on('close', () => far.destroy());
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    if (head.length > 0) far.write(head);
    far.pipe(socket);
    socket.pipe(far);
  }

  /** Returns a connection to a checked address, or the reason for the refusal. */
  async #dial(url: string): Promise<{ readonly socket: Socket; readonly verdict: ResolvedDecision } | string> {
    const { judge, resolver = systemResolver, dialer = systemDialer, upstream } = this.#deps;
    const choose = proxyWithin(judge, upstream);
    const { signal } = this.#ended;
    const verdict = await resolveUrl(url, { judge, resolver, proxy: choose }, signal);
    if (verdict.decision === 'deny') return this.#note(url, `. ${verdict.reason}`);
    const found = new URL(verdict.url);
    const proxy = choose(found);
    const target = { host: found.hostname, port: portOf(found), addresses: verdict.addresses };
    try {
      const socket =
        proxy === null
          ? await openConnection({ ...target, isSecure: false, authorities: [] }, dialer, CONNECT_MS, signal)
          : await openTunnel(proxy, found, AbortSignal.any([signal, AbortSignal.timeout(CONNECT_MS)]));
      this.#keep(socket);
      return { socket, verdict };
    } catch (cause) {
      return `${found.hostname} could not be reached: ${cause instanceof Error ? cause.message : 'it failed'}`;
    }
  }

  #keep(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#open.delete(socket));
  }

  #note(url: string, why: string): string {
    const words = `${shown(url)} was refused${why}`;
    if (this.#refused.length < REFUSED_KEPT) this.#refused.push({ host: URL.parse(url)?.hostname ?? '', words });
    return words;
  }
}

export function shown(url: string): string {
  return url.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 200);
}
