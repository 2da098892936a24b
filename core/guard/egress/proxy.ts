// The proxy that the environment names, and a tunnel through it. Decides nothing about addresses; the proxy resolves the names that it is
// given.

import { request as requestHttp } from 'node:http';
import type { Socket } from 'node:net';
import { portOf } from '../../base/port-of.ts';
import { isSocks, proxyAuthorization, proxyFor } from '../../base/proxy-rules.ts';
import { AppError } from '../../contracts/errors.ts';
import { openSocksTunnel } from './socks.ts';

/** Null to connect directly. */
export type ProxyChoice = (url: URL) => URL | null;

export const environmentProxy: ProxyChoice = (url) => proxyFor(url, process.env);

/** The headers that a proxy itself reads. */
export function proxyHeaders(proxy: URL): Readonly<Record<string, string>> {
  const authorization = proxyAuthorization(proxy);
  return authorization === null ? {} : { 'proxy-authorization': authorization };
}

/**
 * Opens a tunnel to the host of `url`: SOCKS5, or CONNECT (RFC 9110). Fails with `fetch_failed` if the proxy refuses, or with the socket's
 * error.
 */
export async function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  if (isSocks(proxy)) return openSocksTunnel(proxy, url, signal);
  // Imported lazily: with its certificates it takes 5 MB.
  const send = proxy.protocol === 'https:' ? (await import('node:https')).request : requestHttp;
  const target = `${url.hostname}:${portOf(url)}`;
  const headers = { host: target, ...proxyHeaders(proxy) };
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const { hostname, port } = addressOf(proxy);
  const request = send({ hostname, port, method: 'CONNECT', path: target, headers, agent: false });
  const onAbort = (): void => void request.destroy(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  request.on('connect', ({ statusCode = 0 }, socket: Socket, head: Buffer) => {
    if (statusCode >= 200 && statusCode < 300) {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
      return;
    }
    socket.destroy();
    reject(refusal(proxy, url, statusCode));
  });
  request.on('error', reject);
  request.end();
  if (signal.aborted) onAbort();
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

export function addressOf(proxy: URL): { readonly hostname: string; readonly port: number } {
  return { hostname: proxy.hostname.replace(/^\[|\]$/g, ''), port: portOf(proxy) };
}

/** Never shows the user and password in the proxy's address. */
function refusal(proxy: URL, url: URL, status: number): AppError {
  const message = `The proxy ${proxy.host} does not connect to ${url.hostname} (status ${status}).`;
  const hint =
    status === 407
      ? 'Put the user and password into the address of the proxy: http://user:password@host:port.'
      : 'Allow the host in the proxy, or name it in NO_PROXY to connect directly.';
  return new AppError('fetch_failed', message, { data: { reason: 'proxy' }, hint });
}
