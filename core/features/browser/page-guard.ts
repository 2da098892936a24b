// Decides about every request of a page: addresses by the program's rules, effects by what a person approved. Blocks every effect that no
// person approved, whatever the page calls it. Starts nothing and sends nothing.

import { decodeComponent } from '../../base/decode-component.ts';
import type { UrlDecision } from '../../contracts/url-decision.ts';
import { shown } from './checking-proxy.ts';
import { effectOfUrl } from './judge-action.ts';

export interface PageRequest {
  readonly url: string;
  readonly method: string;
  readonly resourceType: string;
  /** The request would replace the page. */
  readonly isPageNavigation: boolean;
  /** The URL of the page that makes the request; empty for a new tab. */
  readonly pageUrl: string;
}

export interface PageGuardDeps {
  url(url: string): UrlDecision;
  isListed(host: string): boolean;
}

const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Resources that pages load without an action. Requests for them change nothing on a server. */
const passive: ReadonlySet<string> = new Set(['stylesheet', 'script', 'font', 'media', 'manifest', 'texttrack']);
const HELD_MAX = 20;
const TYPED_MAX = 50;
const TYPED_CHARS_MIN = 4;

export class PageGuard {
  readonly #deps: PageGuardDeps;
  /** Hosts whose pages the gate has allowed this browser to read. */
  readonly #allowed = new Set<string>();
  /** Hosts whose pages the agent has acted on. Their own requests are blocked from then on. */
  readonly #touched = new Set<string>();
  readonly #typed: string[] = [];
  /** Hosts that an approved action may send to, until the next action. */
  #permit: ReadonlySet<string> | null = null;
  /** True while a person works in the window. */
  #byPerson = false;
  #held: string[] = [];

  constructor(deps: PageGuardDeps) {
    this.#deps = deps;
  }

  allow(hosts: Iterable<string>): void {
    for (const host of hosts) this.#allowed.add(bare(host));
  }

  /** Starts an action. `permit` lists the hosts that an approved action may send to; null for an action that only reads. */
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

  /** The reason to block the request; null if it is allowed. */
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

  /** Until the agent acts on a page, the page may send to its own host, as it does for every visitor. */
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
    const forms = [url, decodeComponent(url)];
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

/**
 * Runs in every document before the document's own scripts. Removes the ways to the network that cannot be checked: sockets, peer
 * connections, workers (their sockets cannot be removed), and windows that the page could script.
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
