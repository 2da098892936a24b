// The first check of a request: its exact Host and Origin, before any credential. Forwarding headers are never read. Follows the Model
// Context Protocol's transport rules (2025-11-25): a present and wrong Origin is answered with 403.

import type { IncomingMessage } from 'node:http';

/** Where a request arrived: at the loopback port, or at the local socket, which no browser can reach. */
export type Place = { readonly kind: 'tcp'; readonly port: number } | { readonly kind: 'socket' };

/** The reason for the refusal; null if Host and Origin are right. */
export function refusePlace(request: IncomingMessage, place: Place, path: string): string | null {
  const headers = request.headersDistinct;
  const hosts = headers['host'] ?? [];
  const origins = headers['origin'] ?? [];
  if (place.kind === 'socket') return origins.length === 0 ? null : 'Browsers may not use the local socket.';

  const host = hosts[0];
  if (hosts.length !== 1 || host === undefined || !isOwnHost(host, place.port)) return 'The Host header does not name this server.';
  if (origins.length > 1 || (origins.length === 1 && origins[0] !== `http://${host}`))
    return 'Requests from other origins are not accepted.';
  return refuseFetchSite(request, path);
}

function isOwnHost(host: string, port: number): boolean {
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}

function refuseFetchSite(request: IncomingMessage, path: string): string | null {
  const headers = request.headersDistinct;
  const sites = headers['sec-fetch-site'] ?? [];
  if (sites.every((site) => site === 'none' || site === 'same-origin')) return null;
  // The page that opens the window is a local file, so the browser calls that one navigation cross-site. The document contains no data,
  // takes its token from its own address and cannot be framed. Nothing else gets this exception.
  const isNavigation =
    request.method === 'GET' &&
    path === '/' &&
    headers['sec-fetch-mode']?.[0] === 'navigate' &&
    headers['sec-fetch-dest']?.[0] === 'document';
  return isNavigation ? null : 'Requests from other sites are not accepted.';
}
