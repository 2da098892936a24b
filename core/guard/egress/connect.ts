// Opens a connection to one of the checked addresses, and to no other. Owns the race between them and TLS; resolves no name and knows no
// proxy.

import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { timeoutError } from './fetch-failure.ts';

export interface DialTarget {
  /** A literal IP address, without brackets. */
  readonly address: string;
  readonly port: number;
}

/** Opens a TCP connection. The lowest door there is: nothing below it decides anything. */
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
  /** As in the URL, lower case; an IPv6 address in brackets. The name the certificate must contain. */
  readonly host: string;
  readonly port: number;
  readonly addresses: readonly string[];
  readonly isSecure: boolean;
  /** Certificate authorities (PEM) in addition to those Node trusts. */
  readonly authorities: readonly string[];
}

/** How long one address may delay the next try (RFC 8305). */
const HEAD_START_MS = 250;
const ADDRESSES_MAX = 8;

/** Fails with `fetch_failed` at the time limit, else with the error of the last address. */
export async function openConnection(target: ConnectionTarget, dialer: Dialer, timeoutMs: number, signal: AbortSignal): Promise<Socket> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(timeoutError(target.host, 'could not be reached', timeoutMs)), timeoutMs);
  const ended = AbortSignal.any([signal, limit.signal]);
  try {
    const socket = await dialFirst(target, dialer, ended);
    ignoreErrors(socket);
    return target.isSecure ? ignoreErrors(await secure(socket, target, ended)) : socket;
  } finally {
    clearTimeout(timer);
  }
}

/** Between opening and use a socket has no error handler; the code that uses it finds it closed. */
function ignoreErrors(socket: Socket): Socket {
  return socket.on('error', () => undefined);
}

/** The first address to answer wins; each has a head start over the next. */
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
      // Settled first: aborting makes the other attempts fail, which is then no news.
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

/** TLS is loaded at first use: it costs start-up time. */
async function secure(socket: Socket, target: ConnectionTarget, signal: AbortSignal): Promise<Socket> {
  const { connect: connectTls } = await import('node:tls');
  const name = target.host.replace(/^\[|\]$/g, '').replace(/\.+$/, '');
  const { authorities } = target;
  const secured = connectTls({
    socket,
    // Names only (RFC 6066); the certificate is still checked against an address.
    ...(isIP(name) === 0 ? { servername: name } : { host: name }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(authorities.length === 0 ? {} : { ca: [...authorities] }),
  });
  return settled(secured, 'secureConnect', signal);
}

/** The socket once the event came; destroyed on failure and abort. */
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
