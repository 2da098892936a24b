// Chooses the proxy for an address by the variables that command-line programs share: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY, as
// curl reads them. Pure.

import { isLoopbackHost } from './loopback.ts';
import { portOf } from './port-of.ts';

export type ProxyVariables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy's URL, or null to connect directly, which is always so for this computer. A value without a scheme is taken as http. A value
 * that is not an address, or one of a proxy that speaks neither HTTP nor SOCKS5, counts as absent.
 */
export function proxyFor(url: URL, variables: ProxyVariables): URL | null {
  if (isLoopbackHost(url.hostname)) return null;
  const isSecure = url.protocol === 'https:' || url.protocol === 'wss:';
  const given = valueOf(variables, isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY') || valueOf(variables, 'ALL_PROXY');
  const proxy = given === '' ? null : parse(given);
  return proxy === null || isExempt(url, valueOf(variables, 'NO_PROXY')) ? null : proxy;
}

export function isSocks({ protocol }: URL): boolean {
  return protocol === 'socks5:' || protocol === 'socks5h:';
}

/** Whether the proxy takes the request itself, with the whole address, instead of opening a tunnel. */
export function relays(proxy: URL, url: URL): boolean {
  return url.protocol === 'http:' && !isSocks(proxy);
}

/** The value of `Proxy-Authorization`, or null for a proxy without a user. */
export function proxyAuthorization({ username, password }: URL): string | null {
  if (username === '') return null;
  return `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;
}

/** Lower case wins, as in curl. */
function valueOf(variables: ProxyVariables, name: string): string {
  return (variables[name.toLowerCase()] ?? variables[name] ?? '').trim();
}

function parse(given: string): URL | null {
  const text = given.includes('://') ? given : `http://${given}`;
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  return url.protocol === 'http:' || url.protocol === 'https:' || isSocks(url) ? url : null;
}

/** Each entry is `*`, a host with everything below it, an address, or a network such as 10.0.0.0/8; a port may follow. */
function isExempt(url: URL, list: string): boolean {
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const port = String(portOf(url));
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, only] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
      const wanted = name.replace(/^\[|\]$/g, '').replace(/^\*?\.|\.$/g, '');
      if (wanted === '' || (only !== undefined && only !== port)) return false;
      return host === wanted || host.endsWith(`.${wanted}`) || isInNetwork(host, wanted);
    });
}

/** Only IPv4: `host` is an address and `network` is an address with a number of leading bits. */
function isInNetwork(host: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const [address, start] = [numberOf(host), numberOf(base)];
  if (address === null || start === null || !/^\d{1,2}$/.test(bits) || Number(bits) > 32) return false;
  const size = 2 ** (32 - Number(bits));
  return Math.floor(address / size) === Math.floor(start / size);
}

function numberOf(address: string): number | null {
  const parts = address.split('.').map((part) => (/^\d{1,3}$/.test(part) ? Number(part) : 256));
  return parts.length === 4 && parts.every((part) => part < 256) ? parts.reduce((sum, part) => sum * 256 + part, 0) : null;
}
