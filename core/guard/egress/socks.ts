// A tunnel through a SOCKS5 proxy (RFC 1928), with a user and password if the proxy's address has them (RFC 1929). The proxy resolves the
// name.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { portOf } from '../../base/port-of.ts';
import { AppError } from '../../contracts/errors.ts';

const VERSION = 5;
const [NO_LOGIN, PASSWORD] = [0, 2];
/** The bytes of an address in an answer, by its kind; a name begins with its length. */
const addressBytes: Readonly<Record<number, number>> = { 1: 4, 4: 16 };
const whyRefused: readonly string[] = [
  '',
  'it failed',
  'it is not allowed',
  'no network',
  'no such host',
  'nothing answers there',
  'too late',
];

/** Fails with `fetch_failed` if the proxy refuses, or with the socket's error. */
export async function openSocksTunnel(proxy: URL, url: URL, signal: AbortSignal): Promise<Socket> {
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const closed = new AbortController();
  const socket = connect({ host, port: Number(proxy.port || 1080), noDelay: true });
  socket.on('error', (cause) => closed.abort(cause));
  socket.once('close', () => closed.abort(refusal(proxy, 'closed the connection')));
  const ended = AbortSignal.any([signal, closed.signal]);
  try {
    await once(socket, 'connect', { signal: ended });
    await signIn(socket, proxy, ended);
    await askFor(socket, proxy, url, ended);
    return socket;
  } catch (cause) {
    socket.destroy();
    throw ended.aborted ? ended.reason : cause;
  }
}

async function signIn(socket: Socket, proxy: URL, signal: AbortSignal): Promise<void> {
  const [user, word] = [proxy.username, proxy.password].map((part) => withLength(decodeURIComponent(part)));
  const hasUser = proxy.username !== '';
  socket.write(Buffer.from(hasUser ? [VERSION, 2, NO_LOGIN, PASSWORD] : [VERSION, 1, NO_LOGIN]));
  const [version, method] = await take(socket, 2, signal);
  if (version !== VERSION) throw refusal(proxy, 'does not speak SOCKS5');
  if (method === NO_LOGIN) return;
  if (method !== PASSWORD || !hasUser || user === undefined || word === undefined) throw refusal(proxy, 'wants a user and password');
  socket.write(Buffer.concat([Buffer.of(1), user, word]));
  const [, status] = await take(socket, 2, signal);
  if (status !== 0) throw refusal(proxy, 'does not take the user and password');
}

async function askFor(socket: Socket, proxy: URL, url: URL, signal: AbortSignal): Promise<void> {
  // Proxies also take an address as a name.
  const host = withLength(url.hostname.replace(/^\[|\]$/g, ''));
  const port = portOf(url);
  socket.write(Buffer.concat([Buffer.of(VERSION, 1, 0, 3), host, Buffer.of(port >> 8, port & 255)]));
  const [, status = 1, , kind = 0, first = 0] = await take(socket, 5, signal);
  if (status !== 0) throw refusal(proxy, `does not connect to ${url.hostname}: ${whyRefused[status] ?? `reason ${status}`}`);
  // One byte of the address is read already, and two of the port follow.
  await take(socket, (addressBytes[kind] ?? first + 1) + 1, signal);
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text).subarray(0, 255);
  return Buffer.concat([Buffer.of(bytes.length), bytes]);
}

/** Takes so many bytes and no more: what follows them belongs to the tunnel. One at a time, because a wait for more would end at once. */
async function take(socket: Socket, bytes: number, signal: AbortSignal): Promise<Buffer> {
  const taken: Buffer[] = [];
  while (taken.length < bytes) {
    const one = socket.read(1) as Buffer | null;
    if (one === null) await once(socket, 'readable', { signal });
    else taken.push(one);
  }
  return Buffer.concat(taken);
}

function refusal(proxy: URL, why: string): AppError {
  const hint = 'Check ALL_PROXY: socks5://user:password@host:port, and NO_PROXY for what is reached directly.';
  return new AppError('fetch_failed', `The proxy ${proxy.host} ${why}.`, { data: { reason: 'proxy' }, hint });
}
