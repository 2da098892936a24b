// Decides whether a URL may be fetched at all: scheme, form, host, port, lists, and the addresses its name resolves to. The caller must
// connect to an address that this check returned, and check again at every redirect.

import type { NameResolver, ResolvedDecision, UrlDecision } from '../../contracts/url-decision.ts';
import { portOf } from '../../base/port-of.ts';
import { isLoopback, isMetadataAddress, refuseAddress } from './address.ts';
import { DomainList, normalHost } from './domain-list.ts';

export interface UrlRules {
  readonly allowDomains: readonly string[];
  readonly denyDomains: readonly string[];
  /** Ports open to every host. Defaults to 80 and 443. */
  readonly ports?: readonly number[];
}

const URL_LENGTH_MAX = 16_384;

/** Names that refer to this machine, its network or its cloud, whatever DNS says. */
const localSuffixes = [
  ...'localhost localdomain local internal intranet lan home corp private svc default'.split(' '),
  ...'home.arpa in-addr.arpa ip6.arpa cluster.local consul workgroup localnet onion i2p'.split(' '),
  // Routers answer these names themselves.
  ...'fritz.box tplinkwifi.net tplinklogin.net routerlogin.net routerlogin.com router.asus.com speedport.ip easy.box homerouter.cpe asusrouter.com mywifiext.net'.split(
    ' ',
  ),
  ...'metadata.goog metadata.azure.com metadata.packet.net metadata.platformequinix.com'.split(' '),
];
/** Public services that resolve any name to the address it contains, to 127.0.0.1, or to changing addresses. */
const echoSuffixes = [
  ...'nip.io sslip.io xip.io ipq.co backname.io local-ip.co local-ip.sh my.local-ip.co ip.linodeusercontent.com plex.direct'.split(' '),
  ...'localtest.me lvh.me vcap.me lacolhost.com traefik.me local.gd localho.st sisteminha.com yoogle.com smackaho.st'.split(' '),
  ...'lndo.site ddev.site lcl.host fuf.me ulh.us docksal.site localdev.me localhost.direct localh.st xip.name nip.direct'.split(' '),
  ...'rbndr.us 1u.ms rebind.network rebind.it'.split(' '),
];

export class UrlCheck {
  readonly #allow: DomainList;
  readonly #deny: DomainList;
  readonly #ports: readonly number[];

  constructor(rules: UrlRules) {
    this.#allow = new DomainList(rules.allowDomains);
    this.#deny = new DomainList(rules.denyDomains);
    this.#ports = rules.ports ?? [80, 443];
  }

  /** Decides by everything known without a DNS lookup. */
  check(given: string): UrlDecision {
    const malformed = refuseForm(given);
    const parsed = malformed === null ? parseUrl(given) : null;
    if (parsed === null) return { decision: 'deny', reason: malformed ?? 'This is not a URL.', url: given.slice(0, 500), isListed: false };
    const host = parsed.hostname.replace(/\.+$/, '');
    const isListed = this.#allow.covers(host);
    const refusal = refuseParts(parsed) ?? this.#refuseHost(host, portOf(parsed)) ?? this.#refusePort(host, portOf(parsed));
    const url = withoutCredentials(parsed);
    if (refusal !== null) return { decision: 'deny', reason: refusal, url, isListed };
    const reason = isListed ? `${host} is on the list of allowed domains.` : `${host} is a public host.`;
    return { decision: 'allow', reason, url, isListed };
  }

  /**
   * Checks the URL and then the addresses of its name. A single address that is not public denies all. Fails closed; an aborted lookup
   * denies.
   */
  async checkResolved(given: string, resolver: NameResolver, signal: AbortSignal): Promise<ResolvedDecision> {
    const decision = this.check(given);
    if (decision.decision === 'deny') return { ...decision, addresses: [] };
    const host = new URL(decision.url).hostname.replace(/\.+$/, '');
    if (isAddress(host)) return { ...decision, addresses: [host.replace(/^\[|\]$/g, '')] };
    const addresses = await lookUp(host, resolver, signal);
    // A listed localhost may only refer to this computer, whatever its lookup says.
    const refuse = host === 'localhost' ? refuseBeyondLoopback : refuseAddress;
    const refusals = addresses.map(refuse).filter((reason) => reason !== null);
    const deny = (reason: string): ResolvedDecision => ({ ...decision, decision: 'deny', reason, addresses: [] });
    if (addresses.length === 0) return { ...deny(`${host} does not resolve to an address.`), isUnresolved: true };
    return refusals[0] === undefined
      ? { ...decision, addresses }
      : deny(`${host} leads to a place that may not be fetched: ${refusals[0]}.`);
  }

  /**
   * Decides whether a redirect may be followed. If `keepsHeaders` is false, credentials, cookies and the caller's headers must be dropped.
   * A request with a body never follows a redirect to another origin.
   */
  checkRedirect(redirect: { from: string; to: string; method: string }): UrlDecision & { readonly keepsHeaders: boolean } {
    const decision = this.check(redirect.to);
    const from = parseUrl(redirect.from);
    const to = parseUrl(redirect.to);
    const keepsHeaders = from !== null && to !== null && from.origin === to.origin;
    if (decision.decision === 'deny') return { ...decision, keepsHeaders: false };
    const deny = (reason: string) => ({ ...decision, decision: 'deny' as const, reason, keepsHeaders: false });
    if (from?.protocol === 'https:' && to?.protocol === 'http:') return deny('A redirect from https to http is not followed.');
    // A person opened it for calls that name it; where a site leads is for the site to choose.
    if (from !== null && to !== null && !isPlaceHere(from) && isPlaceHere(to)) {
      return deny('A site on the internet may not lead to this computer or its network.');
    }
    if (!keepsHeaders && !/^(?:GET|HEAD)$/i.test(redirect.method)) {
      return deny('A request with a body is not sent on to another site.');
    }
    return { ...decision, keepsHeaders };
  }

  #refuseHost(host: string, port: number): string | null {
    if (this.#deny.covers(host)) return `${host} is on the list of denied domains.`;
    if (isAddress(host)) return this.#refuseLiteral(host, port);
    return host === 'localhost' && this.#allow.opensLiteral(host, port) ? null : refuseName(host);
  }

  /** A person can open an address by listing it, but never a metadata service. */
  #refuseLiteral(host: string, port: number): string | null {
    const refusal = refuseAddress(host);
    if (refusal === null || (this.#allow.opensLiteral(host, port) && !isMetadataAddress(host))) return null;
    return `${refusal}; only public addresses may be fetched.`;
  }

  #refusePort(host: string, port: number): string | null {
    if (this.#ports.includes(port) || this.#allow.opensPort(host, port)) return null;
    return `Port ${port} is not a web port; list ${host}:${port} in policy.allowDomains to open it.`;
  }
}

/** Refuses forms that other programs may parse differently from this check. */
function refuseForm(given: string): string | null {
  if (given.length > URL_LENGTH_MAX) return 'The URL is too long.';
  const text = given.trim();
  // oxlint-disable-next-line no-control-regex -- this looks for control characters
  if (/[\u0000-\u0020\u007f-\u009f\u2028\u2029]/.test(text)) return 'The URL contains white space or control characters.';
  if (/^[^?#]*\\/.test(text)) return 'The URL contains a backslash.';
  if (/^https?:/i.test(text) && !/^https?:\/\/[^/]/i.test(text)) return 'The URL does not have two slashes before its host.';
  return null;
}

function parseUrl(given: string): URL | null {
  try {
    return new URL(given.trim());
  } catch (cause) {
    if (cause instanceof TypeError) return null;
    throw cause;
  }
}

function refuseParts(url: URL): string | null {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `Only http and https may be fetched, not ${url.protocol.slice(0, 30)}`;
  if (url.username !== '' || url.password !== '') return 'A URL must not contain a user name or password.';
  return url.hostname === '' ? 'The URL has no host.' : null;
}

function refuseName(host: string): string | null {
  const isUnder = (suffix: string): boolean => host === suffix || host.endsWith(`.${suffix}`);
  if (host === '' || host.startsWith('.') || host.includes('..') || !/^[a-z0-9._-]+$/.test(host)) return 'The URL has no valid host.';
  if (host.length > 253 || host.split('.').some((label) => label.length > 63)) return 'The name of the host is too long.';
  if (localSuffixes.some(isUnder)) return `${host} is a name for this computer or its network.`;
  if (!host.includes('.')) return `${host} is a name on the local network.`;
  if (echoSuffixes.some(isUnder)) return `${host} is a name that can resolve to any address.`;
  // The last label of a public name is never a number. Another parser might read such a host as an address.
  if (/^(?:\d+|0x[0-9a-f]*)$/.test(host.slice(host.lastIndexOf('.') + 1))) return 'The URL has no valid host.';
  return null;
}

function refuseBeyondLoopback(address: string): string | null {
  return isLoopback(address) ? null : `${address} is not this computer`;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(host);
}

/** Returns whether the URL names this computer or its network, which only a listed literal may do. */
function isPlaceHere({ hostname }: URL): boolean {
  const host = hostname.replace(/\.+$/, '');
  return isAddress(host) ? refuseAddress(host) !== null : host === 'localhost';
}

function withoutCredentials(url: URL): string {
  const clean = new URL(url.href);
  clean.username = '';
  clean.password = '';
  return clean.href;
}

async function lookUp(host: string, resolver: NameResolver, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return signal.aborted ? [] : await resolver.resolve(normalHost(host) ?? host, signal);
  } catch (cause) {
    // Whatever went wrong with the lookup, there is no checked address to connect to.
    void cause;
    return [];
  }
}
