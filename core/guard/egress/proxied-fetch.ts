// The platform's fetch, through the proxy for each address and with the certificate authorities of the operating system.

import { isSocks, proxyAuthorization } from '../../base/proxy-rules.ts';
import { withSystemAuthorities } from './authorities.ts';
import { connectorThrough } from './connect.ts';
import { environmentProxy, type ProxyChoice } from './proxy.ts';

const CONNECT_MS = 10_000;

/** Without a proxy it is the same call. */
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
  const { Agent, Dispatcher1Wrapper, ProxyAgent } = await import('undici');
  const token = proxyAuthorization(proxy);
  const agent = isSocks(proxy)
    ? new Agent({ connect: connectorThrough(proxy, CONNECT_MS), allowH2: false })
    : new ProxyAgent({ uri: proxy.origin, proxyTunnel: false, ...(token === null ? {} : { token }) });
  // The fetch of Node up to 25 speaks the earlier interface of dispatchers.
  return Number(process.versions['undici']?.split('.')[0] ?? 0) < 8 ? new Dispatcher1Wrapper(agent) : agent;
}
