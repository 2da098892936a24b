// One HTTP request over its own connection, with an answer bounded in size. For rare requests: the pooled client, like fetch, costs
// start-up time and memory. Must not interpret an answer or repeat a request.

import { request as requestHttp, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { parseJson } from '../../base/json.ts';
import { relays } from '../../base/proxy-rules.ts';
import { addressOf, connectThrough, environmentProxy, proxyHeaders, withSystemAuthorities } from '../../guard/egress/egress.ts';

const CONNECT_MS = 15_000;

export interface SingleRequest {
  /** Defaults to POST if there is a body, else GET. */
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  readonly bytesMax: number;
  readonly signal: AbortSignal;
}

export interface WholeAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Returns the whole answer. Rejects if the signal aborts, the connection fails or breaks off, or the answer is longer than `bytesMax`. */
export function requestOnce(url: URL, request: SingleRequest): Promise<WholeAnswer> {
  return withSystemAuthorities(() => sendOnce(url, request));
}

async function sendOnce(url: URL, { method, headers = {}, body, bytesMax, signal }: SingleRequest): Promise<WholeAnswer> {
  const proxy = environmentProxy(url);
  const isRelayed = proxy !== null && relays(proxy, url);
  const send = (isRelayed ? proxy : url).protocol === 'http:' ? requestHttp : await secureRequest();
  const way = proxy === null ? {} : isRelayed ? { ...addressOf(proxy), path: url.href } : await tunnelled(proxy, url, signal);
  return new Promise((resolve, reject) => {
    const json = body === undefined ? {} : { 'content-type': 'application/json' };
    const options = {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...headers, ...json, ...(isRelayed ? { host: url.host, ...proxyHeaders(proxy) } : {}) },
      // With an agent, the connection would not be used.
      ...('createConnection' in way ? {} : { agent: false as const }),
      signal,
      ...way,
    };
    const request = send(url, options, (response) => {
      const parts: Buffer[] = [];
      let sizeBytes = 0;
      response.on('error', reject);
      response.on('data', (part: Buffer) => {
        sizeBytes += part.length;
        parts.push(part);
        if (sizeBytes <= bytesMax) return;
        // Rejected here as well, because an answer that arrives in one piece is complete before the connection is destroyed.
        reject(new Error('the answer is too long'));
        request.destroy();
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text: Buffer.concat(parts).toString('utf8') }),
      );
      response.on('close', () => (response.complete ? undefined : reject(new Error('the answer broke off'))));
    });
    request.on('error', reject);
    request.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Imported lazily: with its certificates it takes 5 MB. */
async function secureRequest(): Promise<typeof requestHttp> {
  return (await import('node:https')).request;
}

async function tunnelled(proxy: URL, url: URL, signal: AbortSignal): Promise<RequestOptions> {
  const socket = await connectThrough(proxy, url, CONNECT_MS, signal);
  return { createConnection: () => socket };
}

/** Returns the JSON of an answer with status 200, or null for anything else. Never rejects. */
export async function askJson(url: string, request: SingleRequest): Promise<unknown> {
  try {
    const headers = { accept: 'application/json', ...request.headers };
    const { status, text } = await requestOnce(new URL(url), { ...request, headers });
    const parsed = parseJson(text);
    return status === 200 && parsed.ok ? parsed.value : null;
  } catch {
    return null;
  }
}
