// Requests to a server on the web. Only its own origin receives its headers, other addresses (those of a sign-in) must pass the URL rules,
// and every answer is limited in size. Redirects are not followed.

import { AppError } from '../../contracts/errors.ts';

export interface HttpLinkDeps {
  /** The address of the server. */
  readonly url: URL;
  /** Sent only to the server's origin. */
  readonly headers: Readonly<Record<string, string>>;
  /** The reason why an address outside the server's origin is refused; null if it is allowed. */
  readonly refusalOf: (url: URL) => string | null;
  readonly fetch: typeof fetch;
}

/** The limit of one response. A stream of events is restarted when it is full. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export function boundedFetch({
  url: own,
  headers,
  refusalOf,
  fetch: send,
}: HttpLinkDeps): (url: string | URL, init?: RequestInit) => Promise<Response> {
  return async (given, init = {}) => {
    const url = new URL(given);
    const isOwn = url.origin === own.origin;
    // A sign-in server may be another program on the same local machine as the server.
    const refusal = isOwn || (url.hostname === own.hostname && isLoopback(url.hostname)) ? null : refusalOf(url);
    if (refusal !== null) throw new AppError('address_refused', `The MCP server names ${url.origin}, which is refused: ${refusal}`);
    const merged = new Headers(init.headers);
    if (isOwn) for (const [name, value] of Object.entries(headers)) if (!merged.has(name)) merged.set(name, value);
    const response = await send(url, { ...init, headers: merged, redirect: 'manual' });
    if (response.body === null) return response;
    const body = response.body.pipeThrough(bound(ANSWER_BYTES_MAX));
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
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
