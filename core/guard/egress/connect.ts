// Opens a connection to one of the checked addresses and to no other, or to the proxy for it. Races the addresses and sets up TLS; does not
// resolve names.

import { connect as connectSocket, isIP, type Socket } from 'node:net';
import type { buildConnector } from 'undici';
import { portOf } from '../../base/port-of.ts';
import { relays } from '../../base/proxy-rules.ts';
import { withSystemAuthorities } from './authorities.ts';
import { timeoutError } from './fetch-failure.ts';
import { addressOf, openTunnel } from './proxy.ts';

export interface DialTarget {
  /** A literal IP address, without brackets. */
  readonly address: string;
  readonly port: number;
}

/** Opens a TCP connection. The lowest level of egress: implementations make no policy decisions. */
export interface Dialer {
  dial(target: DialTarget, signal: AbortSignal): Promise<Socket>;
}

export const systemDialer: Dialer = {
  dial: ({ address, port }, signal) => {
    const socket = connectSocket({ host: address, port, noDelay: true, family: isIP(address) });
    return settled(socket, 'connect', signal);
  },
};

export interface ConnectionTarget {
  /** As in the URL, in lower case; an IPv6 address is in brackets. The certificate must be valid for this name. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  readonly isSecure: boolean;
  /** Certificate authorities (PEM) in addition to those Node trusts. */
  readonly authorities: readonly string[];
  /** The proxy to go through instead of connecting to the addresses; one that the proxy relays ends there. */
  readonly proxy?: URL | null;
}

/** Opens a connection for requests to the origin of `url` through a proxy, with TLS if the origin has it. */
export function connectThrough(proxy: URL, url: URL, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  const target = { host: url.hostname, port: portOf(url), addresses: [], isSecure: url.protocol === 'https:', authorities: [], proxy };
  return openConnection(target, systemDialer, timeoutMs, signal);
}

/** Opens the connections of an HTTP client through a proxy. */
export function connectorThrough(proxy: URL, timeoutMs: number): buildConnector.connector {
  const connect = async ({ protocol, host = '' }: buildConnector.Options, callback: buildConnector.Callback): Promise<void> => {
    let socket;
    try {
      socket = await connectThrough(proxy, new URL(`${protocol}//${host}`), timeoutMs, new AbortController().signal);
    } catch (cause) {
      callback(cause instanceof Error ? cause : new Error(String(cause)), null);
      return;
    }
    callback(null, socket);
  };
  return (options, callback) => void connect(options, callback);
}

/** How long an attempt may run before the next address is tried as well (RFC 8305). */
const HEAD_START_MS = 250;
const ADDRESSES_MAX = 8;

/** Fails with `fetch_failed` at the time limit, otherwise with the error of the last address. */
export async function openConnection(target: ConnectionTarget, dialer: Dialer, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeoutError(target.host, 'could not be reached', timeoutMs)), timeoutMs);
  const ended = AbortSignal.any([signal, limit.signal]);
  try {
    return await withSystemAuthorities(async () => {
      const socket = target.proxy ? await reachProxy(target.proxy, target, dialer, ended) : await dialFirst(target, dialer, ended);
      ignoreErrors(socket);
      return target.isSecure ? ignoreErrors(await secure(socket, target, ended)) : socket;
    });
  } finally {
    clearTimeout(timer);
  }
}

function reachProxy(proxy: URL, { host, port, isSecure }: ConnectionTarget, dialer: Dialer, signal: AbortSignal): Promise<Socket> {
  const url = new URL(`${isSecure ? 'https' : 'http'}://${host}:${port}`);
  if (!relays(proxy, url)) return openTunnel(proxy, url, signal);
  const { hostname, port: own } = addressOf(proxy);
  const itself = { host: proxy.hostname, port: own, addresses: [hostname], isSecure: proxy.protocol === 'https:', authorities: [] };
  return dialFirst(itself, dialer, signal).then((socket) => (itself.isSecure ? secure(ignoreErrors(socket), itself, signal) : socket));
}

/** The socket has no other error handler between opening and first use. Its user then finds it closed. */
function ignoreErrors(socket: Socket): Socket {
  return socket.on('error', () => undefined);
}

/** Connects to the first address that answers. Each attempt gets a head start over the next one. */
function dialFirst(target: ConnectionTarget, dialer: Dialer, signal: AbortSignal): Promise<Socket> {
  const addresses = target.addresses.slice(0, ADDRESSES_MAX);
  const over = new AbortController();
  const ended = AbortSignal.any([signal, over.signal]);
  return new Promise((resolve, reject) => {
    let tried = 0;
    let open = 0;
    let timer: NodeJS.Timeout | undefined;
    const end = (settle: () => void): void => {
      if (over.signal.aborted) return;
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      // Settle first: aborting makes the other attempts fail, and their errors must be ignored.
      settle();
      over.abort();
    };
    const onAbort = (): void => end(() => reject(signal.reason));
    const tryNext = (): void => {
      clearTimeout(timer);
      const address = addresses[tried];
      if (over.signal.aborted || address === undefined) return;
      tried += 1;
      open += 1;
      timer = setTimeout(tryNext, HEAD_START_MS);
      dialer.dial({ address, port: target.port }, ended).then(
        (socket) => (over.signal.aborted ? socket.destroy() : end(() => resolve(socket))),
        (cause: unknown) => {
          open -= 1;
          if (open === 0 && tried === addresses.length) end(() => reject(cause));
          else tryNext();
        },
      );
    };
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    tryNext();
  });
}

/** Loads TLS lazily because it adds to the start-up time. */
async function secure(socket: Socket, target: ConnectionTarget, signal: AbortSignal): Promise<Socket> {
  const { connect: connectTls } = await import('node:tls');
  const name = target.host.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  const { authorities } = target;
  const secured = connectTls({
    socket,
    // Only names may be sent as server name (RFC 6066). The certificate is still checked against an address.
    ...(isIP(name) === 0 ? { servername: name } : { host: name }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(authorities.length === 0 ? {} : { ca: [...authorities] }),
  });
  return settled(secured, 'secureConnect', signal);
}

/** Resolves with the socket on `event`. Destroys the socket on failure or abort. */
function settled<S extends Socket>(socket: S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', onAbort);
      socket.off(event, onReady);
      socket.off('error', onError);
      settle();
    };
    const fail = (cause: unknown): void => {
      end(() => reject(cause));
      // Errors of a closing socket are irrelevant.
      socket.on('error', () => undefined);
      socket.destroy();
    };
    const onReady = (): void => end(() => resolve(socket));
    const onError = (cause: Error): void => fail(cause);
    const onAbort = (): void => fail(signal.reason);
    socket.once(event, onReady);
    socket.once('error', onError);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
}
