// The only way out for tools: an HTTP request to a checked address, with bounds on time and size. Applies the URL rules before every
// connection and redirect. Keeps no cookies, and sends credentials only to the origin the caller gave them for. Uses a proxy only where the
// rules let it, because the proxy finds the address itself.

import { AppError } from '../../contracts/errors.ts';
import type { NameResolver, ResolvedDecision, UrlDecision } from '../../contracts/url-decision.ts';
import { systemDialer, type Dialer } from './connect.ts';
import { exchange, type ExchangeAnswer, type ExchangePorts, type FetchLimits } from './exchange.ts';
import { abortError, failure, timeoutError } from './fetch-failure.ts';
import { systemResolver } from './name-lookup.ts';
import { environmentProxy, type ProxyChoice } from './proxy.ts';
import { checkHeaders, checkMethod, type FetchMethod, type HeaderFields } from './request-headers.ts';

export { withSystemAuthorities } from './authorities.ts';
export { addressOf, environmentProxy, openTunnel, proxyHeaders, type ProxyChoice } from './proxy.ts';
export { proxiedFetch } from './proxied-fetch.ts';
export { connectorThrough, connectThrough, openConnection, systemDialer, type Dialer, type DialTarget } from './connect.ts';
export type { FetchLimits } from './exchange.ts';
export { systemResolver } from './name-lookup.ts';
export { carriesCredential, fetchMethods, refuseHeader } from './request-headers.ts';

/** The URL rules. Only allowed addresses are connected to. */
export interface UrlJudge {
  url(url: string): UrlDecision;
  /** Resolves the name once. Only the returned addresses may be connected to. */
  resolvedUrl(url: string, resolver: NameResolver, signal: AbortSignal): Promise<ResolvedDecision>;
  redirect(redirect: { from: string; to: string; method: string }): UrlDecision & { readonly keepsHeaders: boolean };
  /** Whether a proxy may find the addresses of allowed hosts, instead of connecting to a checked one. Defaults to no. */
  throughProxy?(): boolean;
}

export interface RedirectHop {
  readonly from: URL;
  readonly to: URL;
  /** True if the person listed the target host. */
  readonly isListed: boolean;
  /** True if scheme, host and port stay the same. */
  readonly staysOnOrigin: boolean;
}

export interface FetchRequest {
  readonly url: string;
  /** Defaults to GET. */
  readonly method?: string;
  /** Must not contain headers that the client sets itself. Sent to this origin only, never to the other origin of a redirect. */
  readonly headers?: HeaderFields;
  readonly body?: string | Uint8Array;
  /** Returns whether to follow a redirect that the rules allow. By default, redirects on the same host are followed. */
  readonly mayFollow?: (hop: RedirectHop) => boolean;
}

export interface FetchAnswer {
  /** The URL that answered, after redirects. */
  readonly url: string;
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: HeaderFields;
  /** Decoded. Empty for a redirect that was not followed. */
  readonly body: Buffer;
  /** True if the body was truncated at the byte limit. */
  readonly isCut: boolean;
  /** Every host that was contacted, in order, without repeats. */
  readonly hosts: readonly string[];
  /** The redirect target if the caller chose not to follow it. */
  readonly redirectTo: string | null;
}

export interface GuardedFetchOptions {
  readonly judge: UrlJudge;
  readonly limits: FetchLimits;
  /** Defaults to the system's resolver. */
  readonly resolver?: NameResolver;
  readonly dialer?: Dialer;
  /** Certificate authorities (PEM) instead of Node's own. */
  readonly authorities?: readonly string[];
  readonly userAgent?: string;
  /** Defaults to the proxy that the environment names. Asked only where the rules let a proxy in. */
  readonly proxy?: ProxyChoice;
}

const REDIRECTS_MAX = 5;
const USER_AGENT = 'Mozilla/5.0 (compatible; TrayClaw)';
const redirectStatus = new Set([301, 302, 303, 307, 308]);

interface Hop {
  readonly url: string;
  readonly method: FetchMethod;
  readonly headers: HeaderFields;
  readonly body: Buffer | null;
}

export class GuardedFetch {
  readonly #judge: UrlJudge;
  readonly #limits: FetchLimits;
  readonly #resolver: NameResolver;
  readonly #ports: ExchangePorts;

  constructor(options: GuardedFetchOptions) {
    this.#judge = options.judge;
    this.#limits = options.limits;
    this.#resolver = options.resolver ?? systemResolver;
    this.#ports = {
      dialer: options.dialer ?? systemDialer,
      authorities: options.authorities ?? [],
      userAgent: options.userAgent ?? USER_AGENT,
      proxy: proxyWithin(options.judge, options.proxy),
    };
  }

  /** Checks a URL by the rules, without a DNS lookup. */
  check(url: string): UrlDecision {
    return this.#judge.url(url);
  }

  /**
   * Sends one request and follows at most five redirects. Every status is an answer. Fails with `address_refused` (the rules, at any hop),
   * `fetch_failed` (connection, TLS, HTTP, time limits), `invalid_params` (method, headers, body) or the signal's reason.
   */
  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchAnswer> {
    const first = firstHop(request);
    if (signal.aborted) throw abortError(signal);
    const limit = new AbortController();
    const { totalMs } = this.#limits;
    const timer = setTimeout(() => limit.abort(timeoutError(hostOf(first.url), 'was not done', totalMs)), totalMs);
    try {
      return await this.#follow(first, request.mayFollow ?? staysOnHost, AbortSignal.any([signal, limit.signal]));
    } finally {
      clearTimeout(timer);
    }
  }

  async #follow(first: Hop, mayFollow: (hop: RedirectHop) => boolean, signal: AbortSignal): Promise<FetchAnswer> {
    const hosts = new Set<string>();
    let hop = first;
    for (let redirects = 0; ; redirects++) {
      const { url, answer } = await this.#ask(hop, signal);
      hosts.add(url.hostname);
      const to = redirectTarget(answer, url);
      const next = to === null ? null : this.#nextHop(hop, url, to, answer.status);
      if (next === null || to === null || !mayFollow({ from: url, to, ...next.leads })) {
        const { status, headers, bytes: body, isCut } = answer;
        return { url: url.href, status, headers, body, isCut, hosts: [...hosts], redirectTo: to?.href ?? null };
      }
      if (redirects === REDIRECTS_MAX) {
        throw failure(`${first.url.slice(0, 200)} was redirected more than ${REDIRECTS_MAX} times.`, { code: 'redirects' });
      }
      hop = next.hop;
    }
  }

  async #ask(hop: Hop, signal: AbortSignal): Promise<{ url: URL; answer: ExchangeAnswer }> {
    const verdict = await resolveUrl(hop.url, { judge: this.#judge, resolver: this.#resolver, proxy: this.#ports.proxy }, signal);
    if (signal.aborted) throw abortError(signal);
    if (verdict.isUnresolved === true) throw failure(verdict.reason, { code: 'ENOTFOUND', isRetryable: true });
    if (verdict.decision === 'deny') throw refused(verdict);
    const url = new URL(verdict.url);
    const request = { url, addresses: verdict.addresses, method: hop.method, headers: hop.headers, body: hop.body };
    const bounds = { limits: this.#limits, readsBody: (status: number) => !redirectStatus.has(status) };
    return { url, answer: await exchange(request, this.#ports, bounds, signal) };
  }

  /** Checks the target from scratch. Headers given for one origin are dropped permanently by a redirect to another. */
  #nextHop(hop: Hop, from: URL, to: URL, status: number): { hop: Hop; leads: Pick<RedirectHop, 'isListed' | 'staysOnOrigin'> } {
    const becomesGet = status < 304 && hop.method !== 'GET' && hop.method !== 'HEAD';
    const method: FetchMethod = becomesGet ? 'GET' : hop.method;
    const verdict = this.#judge.redirect({ from: from.href, to: to.href, method });
    if (verdict.decision === 'deny') throw refused(verdict);
    const { isListed, keepsHeaders } = verdict;
    const kept = keepsHeaders ? hop.headers : {};
    const next = { url: to.href, method, headers: becomesGet ? withoutContent(kept) : kept, body: becomesGet ? null : hop.body };
    return { hop: next, leads: { isListed, staysOnOrigin: keepsHeaders } };
  }
}

/** The choice of a proxy, within the rules. */
export function proxyWithin(judge: Pick<UrlJudge, 'throughProxy'>, choose: ProxyChoice = environmentProxy): ProxyChoice {
  return (url) => (judge.throughProxy?.() === true ? choose(url) : null);
}

/** Judges a URL and its addresses. A proxy finds names that this machine cannot; these are judged by the rules for names alone. */
export async function resolveUrl(
  url: string,
  ports: { readonly judge: Pick<UrlJudge, 'url' | 'resolvedUrl'>; readonly resolver: NameResolver; readonly proxy: ProxyChoice },
  signal: AbortSignal,
): Promise<ResolvedDecision> {
  const verdict = await ports.judge.resolvedUrl(url, ports.resolver, signal);
  const isLeft = verdict.isUnresolved === true && ports.proxy(new URL(verdict.url)) !== null;
  return isLeft ? { ...ports.judge.url(url), addresses: [] } : verdict;
}

/** Returns whether a redirect stays on the host, with or without `www.`, on any of its web ports. */
export function staysOnHost({ from, to }: Pick<RedirectHop, 'from' | 'to'>): boolean {
  const bare = (url: URL): string => url.hostname.replace(/^www\./, '').replace(/\.+$/, '');
  return bare(from) === bare(to);
}

function firstHop(request: FetchRequest): Hop {
  const method = checkMethod(request.method ?? 'GET');
  const headers = checkHeaders(request.headers ?? {});
  const body = request.body === undefined ? null : Buffer.from(request.body as string);
  if (body !== null && (method === 'GET' || method === 'HEAD')) {
    throw new AppError('invalid_params', `A ${method} request has no body.`);
  }
  return { url: request.url, method, headers, body };
}

function redirectTarget(answer: ExchangeAnswer, from: URL): URL | null {
  const location = answer.headers['location'];
  if (location === undefined || !redirectStatus.has(answer.status)) return null;
  if (!URL.canParse(location, from.href)) throw failure(`${from.hostname} redirects to what is not a URL.`, { code: 'location' });
  return new URL(location, from.href);
}

function withoutContent(headers: HeaderFields): HeaderFields {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith('content-')));
}

function refused(verdict: UrlDecision): AppError {
  return new AppError('address_refused', `${verdict.url.slice(0, 200)} was not fetched. ${verdict.reason}`, {
    data: { url: verdict.url.slice(0, 500) },
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).hostname : 'the request';
}
