// Requests to a server on the web. Only its own origin receives its headers, other addresses (those of a sign-in) are sent another way,
// which checks them, and every answer is limited in size. Redirects are not followed.

import type {
  StreamableHTTPClientTransport as OfficialLink,
  StreamableHTTPClientTransportOptions,
  Transport,
} from '@modelcontextprotocol/client';
import { isLoopbackHost } from '../../base/loopback.ts';
import { type FetchLimits, GuardedFetch, type UrlJudge } from '../../guard/egress/egress.ts';

/** Sends to an address that the server named. */
export type SendElsewhere = (url: URL, init: RequestInit) => Promise<Response>;

export interface HttpLinkDeps {
  /** The address of the server. */
  readonly url: URL;
  /** Sent only to the server's origin. */
  readonly headers: Readonly<Record<string, string>>;
  /** Sends to the server's origin, whose address a person approved. */
  readonly fetch: typeof fetch;
  /** Sends to any other origin. */
  readonly sendElsewhere: SendElsewhere;
}

/** The limit of one response. A stream of events is restarted when it is full. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export function boundedFetch({
  url: own,
  headers,
  fetch: send,
  sendElsewhere,
}: HttpLinkDeps): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (given, init = {}) => {
    const url = new URL(given);
    const isOwn = url.origin === own.origin;
    // A sign-in server may be another program on the same local machine as the server.
    if (!isOwn && !(url.hostname === own.hostname && isLoopbackHost(url.hostname))) return sendElsewhere(url, init);
    const merged = new Headers(init.headers);
    if (isOwn) for (const [name, value] of Object.entries(headers)) if (!merged.has(name)) merged.set(name, value);
    const response = await send(url, { ...init, headers: merged, redirect: 'manual' });
    if (response.body === null) return response;
    const body = response.body.pipeThrough(bound(ANSWER_BYTES_MAX));
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

function bound(bytesMax: number): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform: (piece, controller) => {
      bytes += piece.length;
      if (bytes > bytesMax) controller.error(new Error(`It answered with more than ${bytesMax / 1024 / 1024} MB.`));
      else controller.enqueue(piece);
    },
  });
}

/** The official client leaves a request waiting if the stream of its answer ends without it; here that request fails. */
export async function httpLinkOpener(url: URL, options: StreamableHTTPClientTransportOptions): Promise<() => Transport> {
  const { SdkError, SdkErrorCode, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  class HttpLink extends StreamableHTTPClientTransport {
    override send(...[message, given]: Parameters<OfficialLink['send']>): Promise<void> {
      if (Array.isArray(message) || !('method' in message && 'id' in message)) return super.send(message, given);
      return new Promise((_, reject) => {
        const onRequestStreamEnd = (): void => {
          given?.onRequestStreamEnd?.();
          reject(new SdkError(SdkErrorCode.ConnectionClosed, 'it ended its answer before the result'));
        };
        super.send(message, { ...given, onRequestStreamEnd }).catch(reject);
      });
    }
  }
  return () => new HttpLink(url, options);
}

// Requests of a sign-in to servers that an MCP server names. Their addresses are checked by the URL rules, and only a checked address is
// connected to. Redirects are not followed.

/** Metadata, registrations and tokens are small documents. */
const limits: FetchLimits = { connectMs: 15_000, headersMs: 30_000, idleMs: 30_000, totalMs: 60_000, bytesMax: 4_000_000 };
const withoutBody = new Set([204, 205, 304]);

/** The requests fail as those of `GuardedFetch`. */
export function createCheckedFetch(judge: UrlJudge): SendElsewhere {
  const http = new GuardedFetch({ judge, limits });
  return async (url, init) => {
    const given = new Request(url, init);
    const { method, headers, signal } = given;
    const body = given.body === null ? {} : { body: new Uint8Array(await given.arrayBuffer()) };
    const request = { url: url.href, method, headers: Object.fromEntries(headers), ...body, mayFollow: () => false };
    const answer = await http.fetch(request, signal);
    // Several cookies in one value are not valid header, and none is kept.
    const fields = Object.entries(answer.headers).filter(([name]) => name !== 'set-cookie');
    return new Response(withoutBody.has(answer.status) ? null : new Uint8Array(answer.body), { status: answer.status, headers: fields });
  };
}
