// Sends one request and reads its answer over a connection opened for it and closed afterwards. Knows no rules or redirects; connects only
// to the given addresses. Imports the HTTP client lazily because it adds to the start-up time.

import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Client } from 'undici';
import { portOf } from '../../base/port-of.ts';
import { relays } from '../../base/proxy-rules.ts';
import { openConnection, type Dialer } from './connect.ts';
import { mapFailure, timeoutError } from './fetch-failure.ts';
import { proxyHeaders, type ProxyChoice } from './proxy.ts';
import { acceptedEncodings, readBody, type ReadBody } from './read-body.ts';
import type { FetchMethod, HeaderFields } from './request-headers.ts';

export interface FetchLimits {
  readonly connectMs: number;
  /** From the connection to the last header of the answer. */
  readonly headersMs: number;
  /** The maximum silence within a body. */
  readonly idleMs: number;
  /** The whole request, including redirects. */
  readonly totalMs: number;
  readonly bytesMax: number;
}

export interface ExchangeRequest {
  readonly url: URL;
  readonly addresses: readonly string[];
  readonly method: FetchMethod;
  readonly headers: HeaderFields;
  readonly body: Buffer | null;
}

export interface ExchangeAnswer extends ReadBody {
  readonly status: number;
  /** The names are in lower case. Repeated headers are joined by a comma, cookies by a line break. */
  readonly headers: HeaderFields;
}

export interface ExchangePorts {
  readonly dialer: Dialer;
  readonly authorities: readonly string[];
  readonly userAgent: string;
  readonly proxy: ProxyChoice;
}

const HEADER_BYTES_MAX = 64 * 1024;

type RawAnswer = Awaited<ReturnType<Client['request']>>;

/** Fails with `fetch_failed` or the signal's reason. If `readsBody` is false, the body is not read. */
export async function exchange(
  request: ExchangeRequest,
  ports: ExchangePorts,
  bounds: { readonly limits: FetchLimits; readonly readsBody: (status: number) => boolean },
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  const { url } = request;
  const isSecure = url.protocol === 'https:';
  const port = portOf(url);
  const { limits } = bounds;
  let client: Client | null = null;
  let socket: Socket | null = null;
  try {
    const { addresses } = request;
    const proxy = ports.proxy(url);
    const target = { host: url.hostname, port, addresses, isSecure, authorities: ports.authorities, proxy };
    socket = await openConnection(target, ports.dialer, limits.connectMs, signal);
    client = await createClient(url, socket);
    const answer = await firstHeaders(
      send(client, request, ports.userAgent, proxy !== null && relays(proxy, url) ? proxy : null),
      limits.headersMs,
      url.hostname,
      signal,
    );
    return await settle(answer, url.hostname, bounds, signal);
  } catch (cause) {
    throw mapFailure(cause, url.hostname, signal);
  } finally {
    await client?.destroy();
    // A request refused before it is sent never took over the socket.
    socket?.destroy();
  }
}

/** Creates a client for the given socket. Refuses to open another connection. */
async function createClient(url: URL, socket: Socket): Promise<Client> {
  const { Client: HttpClient } = await import('undici');
  let isTaken = false;
  return new HttpClient(url.origin, {
    // Call back asynchronously: within the call, the client would not expect the connection yet and would wait forever.
    connect: (_options, callback) => {
      const isFirst = !isTaken;
      isTaken = true;
      setImmediate(() => (isFirst ? callback(null, socket) : callback(Object.assign(new Error('closed'), { code: 'ECONNRESET' }), null)));
    },
    pipelining: 1,
    allowH2: false,
    useMilo: false,
    maxHeaderSize: HEADER_BYTES_MAX,
    // The timeouts of this module are more precise.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

/** `proxy` is the other end of a relayed connection; it takes the whole address (RFC 9112). */
function send(client: Client, { url, method, headers, body }: ExchangeRequest, userAgent: string, proxy: URL | null) {
  const path = url.pathname + url.search;
  return (signal: AbortSignal): Promise<RawAnswer> =>
    client.request({
      path: proxy === null ? path : url.origin + path,
      method,
      headers: {
        'user-agent': userAgent,
        accept: '*/*',
        'accept-encoding': acceptedEncodings,
        ...headers,
        ...(proxy === null ? {} : proxyHeaders(proxy)),
      },
      body,
      reset: true,
      signal,
    });
}

/** Applies the time limit to the headers as a whole, however slowly they arrive. */
async function firstHeaders(
  ask: (signal: AbortSignal) => Promise<RawAnswer>,
  headersMs: number,
  host: string,
  signal: AbortSignal,
): Promise<RawAnswer> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeoutError(host, 'did not answer', headersMs)), headersMs);
  try {
    return await ask(AbortSignal.any([signal, limit.signal]));
  } finally {
    clearTimeout(timer);
  }
}

async function settle(
  { statusCode, headers, body }: RawAnswer,
  host: string,
  { limits, readsBody }: Parameters<typeof exchange>[2],
  signal: AbortSignal,
): Promise<ExchangeAnswer> {
  const fields = plainFields(headers);
  if (!readsBody(statusCode)) {
    discard(body);
    return { status: statusCode, headers: fields, bytes: Buffer.alloc(0), isCut: false };
  }
  const onAbort = (): void => void body.destroy(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const { bytesMax, idleMs } = limits;
    const read = await readBody(body, fields['content-encoding'] ?? '', { host, bytesMax, idleMs });
    signal.throwIfAborted();
    return { status: statusCode, headers: fields, ...read };
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function discard(body: Readable): void {
  body.on('error', () => undefined);
  body.destroy();
}

function plainFields(headers: RawAnswer['headers']): HeaderFields {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) fields[name] = Array.isArray(value) ? value.join(name === 'set-cookie' ? '\n' : ', ') : value;
  }
  return fields;
}
