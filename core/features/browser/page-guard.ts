// Decides about every request a page makes: addresses by the rules of the program, effects by what a person let happen. What no person let
// happen is held back, whatever the page calls it. Starts nothing and sends nothing.

import type { UrlVerdict } from '../../guard/egress/egress.ts';
import { effectOfUrl } from './grave-words.ts';

export interface PageRequest {
  readonly url: string;
  readonly method: string;
  readonly resourceType: string;
  /** It would replace the page itself. */
  readonly isPageNavigation: boolean;
  /** Of the page it is made from, before it is replaced; empty for a new tab. */
  readonly pageUrl: string;
}

export interface PageGuardDeps {
  url(url: string): UrlVerdict;
  isListed(host: string): boolean;
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Pages load these without an action; requests for them change nothing on a server. */
const passive: ReadonlySet<string> = new Set(['stylesheet', 'script', 'font', 'media', 'manifest', 'texttrack']);
const HELD_MAX = 20;
const TYPED_MAX = 50;
const TYPED_CHARS_MIN = 4;

export class PageGuard {
  readonly #deps: PageGuardDeps;
  /** Hosts whose pages the gate has let this browser read. */
  readonly #allowed = new Set<string>();
  /** Hosts whose pages the agent has acted on: from then on their own requests are blocked. */
  readonly #touched = new Set<string>();
  readonly #typed: string[] = [];
  /** The hosts that an approved action may send to, until the next action. */
  #permit: ReadonlySet<string> | null = null;
  /** A person works in the window. */
  #byPerson = false;
  #held: string[] = [];

  constructor(deps: PageGuardDeps) {
    this.#deps = deps;
  }

  allow(hosts: Iterable<string>): void {
    for (const host of hosts) this.#allowed.add(bare(host));
  }

  /** An action begins. `permit`: hosts that a person let it send to; null for one that only reads. */
  begin(permit: readonly string[] | null): void {
    this.#permit = permit === null ? null : new Set(permit.map(bare));
    if (permit !== null) this.allow(permit);
    this.#held = [];
  }

  touch(pageUrl: string): void {
    this.#touched.add(hostOf(pageUrl));
  }

  typed(text: string): void {
    if (text.length < TYPED_CHARS_MIN) return;
    this.#typed.push(text);
    if (this.#typed.length > TYPED_MAX) this.#typed.shift();
  }

  handOver(toPerson: boolean): void {
    this.#byPerson = toPerson;
  }

  /** Whether pages of this address may be shown. */
  mayShow(url: string): boolean {
    const host = hostOf(url);
    return host === '' || this.#allowed.has(host) || this.#deps.isListed(host);
  }

  get hasHeld(): boolean {
    return this.#held.length > 0;
  }

  /** Returns the requests blocked since the action began. */
  takeHeld(): readonly string[] {
    const held = this.#held;
    this.#held = [];
    return held;
  }

  /** Why the request may not go; null if it may. */
  refuse(request: PageRequest): string | null {
    const reason = this.#reasonFor(request);
    if (reason !== null && this.#held.length < HELD_MAX) this.#held.push(reason);
    return reason;
  }

  #reasonFor(request: PageRequest): string | null {
    const { url, method, isPageNavigation, pageUrl } = request;
    if (/^(?:data|blob|about):/i.test(url)) return null;
    const verdict = this.#deps.url(url);
    if (verdict.decision === 'deny') return `${shown(url)} was refused. ${verdict.reason}`;
    if (this.#byPerson) return null;
    const host = hostOf(url);
    if (isPageNavigation && !this.mayShow(url)) return `The page leads to ${host}, which was not allowed; to go there, open ${shown(url)}.`;
    if (this.#permit?.has(host) === true) return null;
    return safeMethods.has(method.toUpperCase()) ? this.#reasonForRead(request, host) : this.#reasonForSend(request, hostOf(pageUrl), host);
  }

  /** Before the agent acts on it, a page may talk to its own host, as it does for every visitor. */
  #reasonForSend({ url, method, isPageNavigation }: PageRequest, pageHost: string, host: string): string | null {
    if (!isPageNavigation && pageHost === host && !this.#touched.has(pageHost)) return null;
    return `The page wants to send ${method} to ${shown(url)}; it was held back, because that was not approved.`;
  }

  #reasonForRead({ url, resourceType, pageUrl }: PageRequest, host: string): string | null {
    const pageHost = hostOf(pageUrl);
    if (!this.#touched.has(pageHost)) return null;
    if (host !== pageHost && this.#carriesTyped(url)) return `The page wants to show ${host} what was typed; it was held back.`;
    if (passive.has(resourceType) || effectOfUrl(url) === null) return null;
    return `The page wants to call ${shown(url)}, which sounds like an effect; it was held back, because that was not approved.`;
  }

  #carriesTyped(url: string): boolean {
    const forms = [url, safeDecode(url)];
    return this.#typed.some((text) => {
      const base64 = Buffer.from(text).toString('base64').replace(/=+$/, '').slice(0, -1);
      const hex = Buffer.from(text).toString('hex');
      return forms.some((form) => form.includes(text) || (base64.length > 4 && form.includes(base64)) || form.includes(hex));
    });
  }
}

export function hostOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null || !/^https?:$/.test(parsed.protocol) ? '' : bare(parsed.hostname);
}

function bare(host: string): string {
  return host
    .toLowerCase()
    .replace(/^www\./, '')
    .replace(/\.+$/, '');
}

function safeDecode(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    // Not a valid encoding: compared as it is.
    return url;
  }
}

function shown(url: string): string {
  return url.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 200);
}

/**
 * Runs in every document before its own scripts. What reaches other places without a request that can be checked is taken away: sockets,
 * peer connections, workers (their sockets cannot be taken away), and windows that the page could reach into.
 */
export const withoutSideWays = String.raw`(() => {
  const gone = ['WebSocket', 'WebSocketStream', 'EventSource', 'RTCPeerConnection', 'webkitRTCPeerConnection', 'RTCDataChannel', 'WebTransport',
    'Worker', 'SharedWorker', 'PaymentRequest', 'Notification', 'PresentationRequest'];
  for (const name of gone) {
    try { Object.defineProperty(globalThis, name, { value: undefined, writable: false, configurable: false }); } catch { }
  }
  const none = () => Promise.reject(new DOMException('Not available here.', 'NotAllowedError'));
  const fix = (owner, name) => {
    if (owner) { try { Object.defineProperty(owner.prototype, name, { value: none, writable: false, configurable: false }); } catch { } }
  };
  fix(globalThis.ServiceWorkerContainer, 'register');
  if (globalThis.Worklet) fix(globalThis.Worklet, 'addModule');
})();`;
