// The local server: checks the gate, then the token, then routes. Listens on 127.0.0.1 or a local socket, never on another address. Uses
// node:http on purpose: compared with hono it starts about 25 ms sooner and idles 5 MB smaller, and five routes need no framework.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { nonceForm, proofText } from '../../base/server-proof.ts';
import type { DoorRoute } from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import { ApiRoutes, type ApiOptions } from './api-routes.ts';
import { exchangeOf } from './door-exchange.ts';
import { PackedAssets, readAsset, type Asset } from './assets.ts';
import { FramedPages } from './framed-page.ts';
import { hookPrefix, receiveHook } from './hook-route.ts';
import { refusePlace, type Place } from './request-gate.ts';
import { defaultRequestRates, RequestRateLimit, type RequestRates } from './request-rate.ts';
import { refusal, sendJson, sendRefusal, setSecurityHeaders, type Refusal } from './reply.ts';
import { StrangerLimit } from './stranger-limit.ts';
import { refuseUnreadable } from './unreadable-request.ts';
import { TokenCheck, type EarlierToken, type TokenVerdict } from './token-check.ts';

/** The build names these files by a hash of their content, so that browsers may cache them and their compiled code. */
const namedByContent = '/assets/';
/** The path at which an open window exchanges the previous run's token for this run's. */
const renewPath = '/api/renew';
/** The path at which this server shows an open window that it knows the window's token. */
const provePath = '/api/prove';
const headersTimeoutMs = 10_000;
const requestTimeoutMs = 30_000;
const connectionsMax = 256;
const closeGraceMs = 1_000;

export interface HttpDoorOptions extends ApiOptions {
  /** The doors for other programs. Each checks its own tokens, never the token below. */
  readonly routes?: readonly DoorRoute[];
  /** The bearer token, 256 random bits. After a crash the next run keeps it for open windows. */
  readonly token: string;
  readonly earlierToken?: EarlierToken | null;
  readonly clock: Clock;
  /** The folder of the built window; null to serve only the API. */
  readonly assetsFolder: string | null;
  readonly version: string;
  /** Time limits for receiving the headers and the whole request; shorter in tests. */
  readonly receiveTimeoutsMs?: { readonly headers: number; readonly request: number };
  readonly requestRates?: RequestRates;
  /** For this project's fault tests: replaces a check with a double, to show what the check prevents. */
  readonly replaceChecks?: (real: DoorChecks) => DoorChecks;
}

/** The checks of every request, in order. */
export interface DoorChecks {
  refusePlace(request: IncomingMessage, place: Place, path: string): string | null;
  judgeToken(header: string | undefined): TokenVerdict;
  isEarlier(header: string | undefined): boolean;
  proofs(text: string): string[];
}

export interface UrlListening {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export interface SocketListening {
  readonly socketPath: string;
  close(): Promise<void>;
}

export interface HttpDoor {
  /** Listens on loopback TCP, on a free port if none is given. Fails with `port_in_use`. */
  listen(place: { readonly port?: number }): Promise<UrlListening>;
  /** Listens on a Unix socket or a Windows named pipe. Fails with `conflict` if the path is taken. */
  listen(place: { readonly socketPath: string }): Promise<SocketListening>;
  /** The number of operations in flight through this door. */
  readonly openRequests: number;
  /** How long ago the last request came or was answered; infinite if there was none. */
  readonly askedAgoMs: number;
  whenIdle(): Promise<void>;
  /** Ends event streams at once, gives operations a second, then closes every connection. */
  close(): Promise<void>;
}

export function createHttpDoor(options: HttpDoorOptions): HttpDoor {
  return new NodeHttpDoor(options);
}

type ApiExchange = Parameters<ApiRoutes['handle']>[0];

class NodeHttpDoor implements HttpDoor {
  readonly #options: HttpDoorOptions;
  readonly #api: ApiRoutes;
  readonly #checks: DoorChecks;
  readonly #rates: RequestRateLimit;
  readonly #hookRates: RequestRateLimit;
  readonly #strangers = new StrangerLimit();
  readonly #framed = new FramedPages();
  readonly #packed = new PackedAssets();
  readonly #servers = new Set<Server>();
  #askedAtMs = -Infinity;

  constructor(options: HttpDoorOptions) {
    this.#options = options;
    this.#api = new ApiRoutes(options);
    const tokens = new TokenCheck(options.token, options.clock, options.earlierToken);
    const checks: DoorChecks = {
      refusePlace,
      judgeToken: (header) => tokens.judge(header),
      isEarlier: (header) => tokens.isEarlier(header),
      proofs: (text) => tokens.proofs(text),
    };
    this.#checks = options.replaceChecks?.(checks) ?? checks;
    const rates = options.requestRates ?? defaultRequestRates;
    this.#rates = new RequestRateLimit(rates, options.clock);
    this.#hookRates = new RequestRateLimit(rates, options.clock);
  }

  get openRequests(): number {
    return this.#api.openRequests;
  }

  get askedAgoMs(): number {
    return this.#options.clock.monotonicMs() - this.#askedAtMs;
  }

  whenIdle(): Promise<void> {
    return this.#api.whenIdle();
  }

  async close(): Promise<void> {
    this.#api.close();
    await Promise.all([...this.#servers].map((server) => this.#closeServer(server)));
  }

  listen(place: { readonly port?: number }): Promise<UrlListening>;
  listen(place: { readonly socketPath: string }): Promise<SocketListening>;
  async listen(place: { readonly port?: number; readonly socketPath?: string }): Promise<UrlListening | SocketListening> {
    const { socketPath } = place;
    // The port is known only after listening. No request can arrive before.
    let own: Place = socketPath === undefined ? { kind: 'tcp', port: -1 } : { kind: 'socket' };
    const server = this.#createServer(() => own);
    await bind(server, place);
    this.#servers.add(server);
    const close = (): Promise<void> => this.#closeServer(server);
    if (socketPath !== undefined) return { socketPath, close };

    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    own = { kind: 'tcp', port };
    return { url: `http://127.0.0.1:${port}`, port, close };
  }

  #createServer(place: () => Place): Server {
    const timeouts = this.#options.receiveTimeoutsMs ?? { headers: headersTimeoutMs, request: requestTimeoutMs };
    const answering = new WeakMap<Duplex, ServerResponse>();
    const server = createServer(
      {
        headersTimeout: timeouts.headers,
        requestTimeout: timeouts.request,
        connectionsCheckingInterval: Math.min(5_000, timeouts.request),
        // A missing Host gets our own response, like every other wrong Host.
        requireHostHeader: false,
        // The parser refuses ambiguous headers: both body lengths, bare line ends, folded lines.
        insecureHTTPParser: false,
      },
      (request, response) => {
        answering.set(request.socket, response);
        const note = (): void => void (this.#askedAtMs = this.#options.clock.monotonicMs());
        note();
        response.once('close', note);
        // While the server closes, a connection is kept only for its response.
        response.once('close', () => this.#servers.has(server) || server.closeIdleConnections());
        this.#handle(request, response, place()).catch((cause: unknown) => this.#reportFailure(request, response, cause));
      },
    );
    server.maxConnections = connectionsMax;
    server.on('clientError', (cause, socket) => refuseUnreadable(cause, socket, answering.get(socket)));
    server.on('connection', (socket) => this.#strangers.admit(socket));
    return server;
  }

  async #handle(request: IncomingMessage, response: ServerResponse, place: Place): Promise<void> {
    setSecurityHeaders(response);
    const target = request.url ?? '';
    const [path, search] = splitOnce(target, '?');
    const wrongPlace = this.#checks.refusePlace(request, place, path);
    if (wrongPlace !== null) return sendRefusal(request, response, refusal(new AppError('forbidden', wrongPlace), { connection: 'close' }));
    if (!path.startsWith('/'))
      return sendRefusal(request, response, refusal(new AppError('invalid_params', 'The address must be a path.')));

    // Before our own API, because one of the doors uses some of its paths, which another vendor defined.
    const route = this.#options.routes?.find((one) => one.owns(path));
    if (route !== undefined) {
      const { asked, reply } = exchangeOf(request, response, { path, trust: () => this.#trust(request, path) });
      return route.answer(asked, reply);
    }
    if (path.startsWith('/api/')) {
      const channel = place.kind === 'socket' ? 'cli' : 'http';
      const exchange = { request, response, path, query: new URLSearchParams(search), channel } as const;
      return place.kind === 'tcp' && path === provePath ? this.#prove(exchange, place.port) : this.#answerApi(exchange);
    }
    if (path.startsWith(hookPrefix)) {
      // The secret of a webhook is checked further inside, so webhooks have their own limit.
      const refused = this.#refuseRate(request, path, this.#hookRates);
      return refused === null ? receiveHook(this.#options.claw, request, response, path) : sendRefusal(request, response, refused);
    }
    const refused = refuseMistaken(request, path, this.#options.routes);
    if (refused !== null) return sendRefusal(request, response, refused);
    if (path === '/health') return sendJson(response, 200, { ok: true, version: this.#options.version });
    return this.#serveAsset(request, response, path);
  }

  async #answerApi(exchange: ApiExchange): Promise<void> {
    const { request, response, path, channel } = exchange;
    // Only for the window. A command line reads the token of the running instance from its file.
    const isRenewal = path === renewPath && request.method === 'POST' && channel === 'http';
    if (isRenewal && this.#checks.isEarlier(request.headers.authorization))
      return sendJson(response, 200, { ok: true, result: { token: this.#options.token } });
    const refused = this.#refuseToken(request) ?? this.#refuseRate(request, path);
    return refused === null ? this.#api.handle(exchange) : sendRefusal(request, response, refused);
  }

  /** Needs no token, so it gives away only signatures of random text with this server's own address. */
  #prove({ request, response, query }: ApiExchange, port: number): void {
    const nonce = query.get('nonce') ?? '';
    if (request.method !== 'GET' || !nonceForm.test(nonce))
      return sendRefusal(request, response, refusal(new AppError('invalid_params', 'Send GET with a nonce of 32 bytes in hex.')));
    sendJson(response, 200, { ok: true, result: { proofs: this.#checks.proofs(proofText(`http://127.0.0.1:${port}`, nonce)) } });
  }

  #refuseToken(request: IncomingMessage): Refusal | null {
    const verdict = this.#checks.judgeToken(request.headers.authorization);
    switch (verdict.kind) {
      case 'right':
        this.#strangers.trust(request.socket);
        return null;
      case 'wrong':
        return refusal(new AppError('unauthorized', 'The access token is missing or wrong.'), { 'www-authenticate': 'Bearer' });
      case 'locked': {
        const error = new AppError('unauthorized', 'Too many wrong access tokens; only the right one is accepted now.');
        return refusal(error, { 'retry-after': String(verdict.retryAfterSeconds) }, 429);
      }
    }
  }

  /** Called for the right token of a door, whose request then counts like one of the window. Fails with rate_limited. */
  #trust({ socket }: IncomingMessage, path: string): void {
    this.#strangers.trust(socket);
    const error = this.#rates.count(socket, path);
    if (error !== null) throw error;
  }

  /** The limit of the window and the doors counts only requests with the right token, so that others cannot exhaust it. */
  #refuseRate(request: IncomingMessage, path: string, rates = this.#rates): Refusal | null {
    const error = rates.count(request.socket, path);
    return error === null ? null : refusal(error, { 'retry-after': '1' });
  }

  async #serveAsset(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    const folder = this.#options.assetsFolder;
    const asset = folder === null ? null : await this.#framed.read(folder, path);
    if (folder === null || asset === null)
      return sendRefusal(request, response, refusal(new AppError('not_found', 'There is nothing at this address.')));
    const isNamedByContent = path.startsWith(namedByContent);
    // Only for files named by a content hash. Any other compressed file could be from an earlier build.
    const readBuilt = (): Promise<Asset | null> => (isNamedByContent ? readAsset(folder, `${path}.br`) : Promise.resolve(null));
    const packed = await this.#packed.of(asset, request.headers['accept-encoding'], readBuilt);
    const { bytes } = packed ?? asset;
    const caching = isNamedByContent ? 'public, max-age=31536000, immutable' : 'no-cache';
    response.writeHead(200, {
      ...asset.headers,
      'content-type': asset.mediaType,
      'content-length': bytes.length,
      'cache-control': caching,
      vary: 'accept-encoding',
      ...(packed === null ? {} : { 'content-encoding': packed.coding }),
    });
    response.end(bytes);
  }

  #reportFailure(request: IncomingMessage, response: ServerResponse, cause: unknown): void {
    if (response.destroyed || request.destroyed) return;
    this.#options.logger.log('error', 'a request failed unexpectedly', {
      cause: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause),
    });
    if (response.headersSent) response.destroy();
    else
      sendRefusal(request, response, refusal(new AppError('internal', 'Something unexpected happened inside; the log has the details.')));
  }

  #closeServer(server: Server): Promise<void> {
    if (!this.#servers.delete(server)) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), closeGraceMs);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
      this.#strangers.closeSilent();
    });
  }
}

function bind(server: Server, place: { readonly port?: number; readonly socketPath?: string }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => reject(bindError(cause, place)));
    const where =
      place.socketPath === undefined ? { host: '127.0.0.1', port: place.port ?? 0, exclusive: true } : { path: place.socketPath };
    server.listen(where, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function bindError(cause: NodeJS.ErrnoException, place: { readonly port?: number; readonly socketPath?: string }): AppError {
  if (place.socketPath !== undefined) {
    return new AppError('conflict', `Cannot listen on the local socket ${place.socketPath} (${cause.code ?? cause.message}).`, { cause });
  }
  const hint = 'Choose another with --port or the setting doors.port. Without either, a free port is used.';
  if (cause.code === 'EADDRINUSE') {
    return new AppError('port_in_use', `Port ${place.port ?? 0} on 127.0.0.1 is already in use.`, {
      data: { port: place.port ?? 0 },
      hint,
      cause,
    });
  }
  return new AppError('port_in_use', `Cannot listen on port ${place.port ?? 0} of 127.0.0.1 (${cause.code ?? cause.message}).`, {
    data: { port: place.port ?? 0 },
    hint,
    cause,
  });
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Refuses other methods than reading, and paths of a client whose base address lacks the part that a door begins with, such as /v1. */
function refuseMistaken({ method }: IncomingMessage, path: string, routes: readonly DoorRoute[] = []): Refusal | null {
  const meant = routes.flatMap(({ paths }) => paths).find((known) => path.length > 1 && known.endsWith(path));
  if (meant !== undefined) {
    const hint = `Did you mean ${meant}? The base address of the client then ends in ${meant.slice(0, -path.length)}.`;
    return refusal(new AppError('not_found', 'There is nothing at this address.', { hint }));
  }
  if (method === 'GET' || method === 'HEAD') return null;
  return refusal(new AppError('invalid_params', 'This address answers GET only.'), { allow: 'GET, HEAD' }, 405);
}
