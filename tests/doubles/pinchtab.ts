// A PinchTab server according to its documentation: bearer token, tabs, snapshots whose refs are valid until the page changes, actions by
// kind, and refusals with their codes. Rejects unknown fields and kinds.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import * as z from 'zod';

export interface PinchPage {
  readonly title: string;
  readonly nodes: readonly (Readonly<Record<string, unknown>> & { readonly name?: string })[];
  /** The address that an action leads to, by kind and name of the node. */
  readonly leads?: Readonly<Record<string, string>>;
  /** The error of the server when a snapshot is requested. */
  readonly fails?: string;
}

const tab = z.string().min(1);
const kinds = 'click dblclick type fill press hover focus select scroll drag check uncheck keyboard-type scrollintoview'.split(' ');
const bodies = {
  '/navigate': z.strictObject({ url: z.url(), tabId: tab.optional(), newTab: z.boolean().optional(), timeout: z.number().optional() }),
  '/action': z.strictObject({
    kind: z.enum(kinds),
    ref: z.string().optional(),
    text: z.string().optional(),
    key: z.string().optional(),
    value: z.string().optional(),
    deltaY: z.number().optional(),
    tabId: tab,
  }),
  '/wait': z
    .strictObject({
      text: z.string().optional(),
      notText: z.string().optional(),
      ms: z.number().optional(),
      timeout: z.number().min(100).max(30_000).optional(),
      tabId: tab,
    })
    .refine((one) => [one.text, one.notText, one.ms].filter((given) => given !== undefined).length === 1, 'exactly one condition'),
} as const;

interface Tab {
  url: string;
  /** The refs of the current page; refs of an earlier page are invalid. */
  readonly refs: Map<string, string>;
}

class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export class PinchTabDouble {
  readonly url: string;
  /** Actions in the order of their arrival. */
  readonly acted: Readonly<Record<string, unknown>>[] = [];
  readonly tabs = new Map<string, Tab>();
  /** The next request is answered with this refusal. */
  refusal: { readonly status: number; readonly code: string } | null = null;
  readonly #server: Server;
  readonly #token: string;
  readonly #pages: Readonly<Record<string, PinchPage>>;
  #count = 0;
  #refs = 0;

  private constructor(server: Server, token: string, pages: Readonly<Record<string, PinchPage>>) {
    this.#server = server;
    this.#token = token;
    this.#pages = pages;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response));
  }

  static async start(token: string, pages: Readonly<Record<string, PinchPage>>): Promise<PinchTabDouble> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PinchTabDouble(server, token, pages);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += String(chunk);
    const reply = (status: number, body: object): void => {
      response.writeHead(status, {
        'content-type': 'application/json',
        ...(status === 401 ? { 'www-authenticate': 'Bearer realm="pinchtab"' } : {}),
      });
      response.end(JSON.stringify(body));
    };
    try {
      this.#admit(request);
      const url = new URL(request.url ?? '/', this.url);
      if (request.method === 'POST' && request.headers['content-type'] !== 'application/json')
        throw new Refused(415, 'error', 'unsupported content type');
      reply(200, this.#route(`${request.method} ${url.pathname}`, url.searchParams, text === '' ? {} : JSON.parse(text)));
    } catch (cause) {
      if (cause instanceof Refused) reply(cause.status, { error: cause.message, code: cause.code, retryable: false, details: {} });
      else reply(400, { error: String(cause), code: 'error' });
    }
  }

  #admit({ headers }: IncomingMessage): void {
    const { refusal } = this;
    this.refusal = null;
    if (refusal !== null) throw new Refused(refusal.status, refusal.code, 'refused');
    if (headers.authorization === undefined) throw new Refused(401, 'missing_token', 'missing token');
    if (headers.authorization !== `Bearer ${this.#token}`) throw new Refused(401, 'bad_token', 'bad token');
  }

  #route(path: string, query: URLSearchParams, body: unknown): object {
    const closed = /^POST \/tabs\/([^/]+)\/close$/.exec(path)?.[1];
    if (closed !== undefined) return this.#close(closed);
    const tabId = query.get('tabId') ?? '';
    switch (path) {
      case 'POST /navigate':
        return this.#navigate(bodies['/navigate'].parse(body));
      case 'GET /snapshot':
        return this.#snapshot(tabId);
      case 'POST /action':
        return this.#act(bodies['/action'].parse(body));
      case 'POST /wait':
        this.#tab(bodies['/wait'].parse(body).tabId);
        return { waited: true };
      case 'POST /back':
        this.#tab(tabId);
        return { tabId };
      case 'GET /tabs':
        return { tabs: [...this.tabs].map(([id, { url }]) => ({ id, url, title: this.#pages[url]?.title ?? '', type: 'page' })) };
      case 'GET /screenshot':
        this.#tab(tabId);
        return { format: 'png', base64: Buffer.from('a picture').toString('base64') };
      default:
        throw new Refused(404, 'error', 'not found');
    }
  }

  #tab(id: string): Tab {
    const found = this.tabs.get(id);
    if (found === undefined) throw new Refused(404, 'error', `tab ${id} not found`);
    return found;
  }

  #close(id: string): object {
    this.#tab(id);
    this.tabs.delete(id);
    return { closed: true, tabId: id };
  }

  #navigate({ url, tabId, newTab }: z.infer<(typeof bodies)['/navigate']>): object {
    if (new URL(url).hostname === 'blocked.example') throw new Refused(403, 'idpi_domain_blocked', 'domain is not allowed');
    if (tabId === undefined && newTab !== true) throw new Refused(409, 'no_current_tab', 'no current tab');
    this.#count += tabId === undefined ? 1 : 0;
    const id = tabId ?? `TAB${this.#count}`;
    if (tabId !== undefined) this.#tab(tabId);
    this.tabs.set(id, { url, refs: new Map() });
    return { tabId: id, url, title: this.#pages[url]?.title ?? '' };
  }

  #snapshot(tabId: string): object {
    const { url, refs } = this.#tab(tabId);
    const { title, nodes, fails } = this.#pages[url] ?? { title: '', nodes: [] };
    if (fails !== undefined) throw new Refused(500, 'error', fails);
    refs.clear();
    const seen = nodes.map((node, at) => {
      const ref = `e${this.#refs + at}`;
      refs.set(ref, node.name ?? '');
      return { ref, depth: 0, nodeId: at, ...node };
    });
    this.#refs += nodes.length;
    return { url, title, route: 'bridge', nodes: seen, count: seen.length };
  }

  #act({ tabId, ...action }: z.infer<(typeof bodies)['/action']>): object {
    const at = this.#tab(tabId);
    const name = action.ref === undefined ? '' : at.refs.get(action.ref);
    if (name === undefined) throw new Refused(404, 'error', `ref ${action.ref ?? ''} not found - take a /snapshot first`);
    this.acted.push({ ...action, on: name });
    const to = this.#pages[at.url]?.leads?.[`${action.kind} ${name}`];
    if (to !== undefined) this.tabs.set(tabId, { url: to, refs: new Map() });
    return { success: true, result: {}, route: 'bridge' };
  }
}
