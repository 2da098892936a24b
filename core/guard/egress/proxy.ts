// Connects through the proxy that the environment names: a tunnel for a secure address, and a fetch that uses one. Decides nothing about
// addresses; the proxy resolves the names that it is given.

import { request as requestHttp } from 'node:http';
import type { Socket } from 'node:net';
import { portOf } from '../../base/port-of.ts';
import { withSystemAuthorities } from './authorities.ts';
import { proxyAuthorization, proxyFor } from '../../base/proxy-rules.ts';
import { AppError } from '../../contracts/errors.ts';

/** Null to connect directly. */
export type ProxyChoice = (url: URL) => URL | null;

export const environmentProxy: ProxyChoice = (url) => proxyFor(url, process.env);

/** The headers that a proxy itself reads. */
export function proxyHeaders(proxy: URL): Readonly<Record<string, string>> {
  const authorization = proxyAuthorization(proxy);
  return authorization === null ? {} : { 'proxy-authorization': authorization };
}

/** Opens a tunnel to the host of `url` (CONNECT, RFC 9110). Fails with `fetch_failed` if the proxy refuses, or with the socket's error. */
export async function openTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
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

/** The platform's fetch through the proxy for each address. Without a proxy it is the same call. */
export function proxiedFetch(fetch: typeof globalThis.fetch, choose: ProxyChoice = environmentProxy): typeof globalThis.fetch {
  const dispatchers = new Map<string, Promise<unknown>>();
  const send: typeof globalThis.fetch = async (input, init) => {
    const proxy = choose(new URL(input instanceof Request ? input.url : input));
    if (proxy === null) return fetch(input, init);
    const known = dispatchers.get(proxy.href) ?? openDispatcher(proxy);
    dispatchers.set(proxy.href, known);
    return fetch(input, { ...init, dispatcher: await known } as RequestInit);
  };
  return (input, init) => (isRepeatable(input, init) ? withSystemAuthorities(() => send(input, init)) : send(input, init));
}

/** A stream can be sent only once, and a server that redirects may have acted before the next one turned out to be untrusted. */
function isRepeatable(input: string | URL | Request, { method = 'GET', redirect, body }: RequestInit = {}): boolean {
  if (input instanceof Request || body instanceof ReadableStream) return false;
  return redirect === 'error' || redirect === 'manual' || method.toUpperCase() === 'GET';
}

async function openDispatcher(proxy: URL): Promise<unknown> {
  const { Dispatcher1Wrapper, ProxyAgent } = await import('undici');
  const token = proxyAuthorization(proxy);
  const agent = new ProxyAgent({ uri: proxy.origin, proxyTunnel: false, ...(token === null ? {} : { token }) });
  // The fetch of Node up to 25 speaks the earlier interface of dispatchers.
  return Number(process.versions['undici']?.split('.')[0] ?? 0) < 8 ? new Dispatcher1Wrapper(agent) : agent;
}
