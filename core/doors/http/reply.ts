// Sends HTTP responses: security headers on every response, JSON bodies, refusals. Never a CORS header.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { AppError } from '../../contracts/errors.ts';
import { statusOf } from '../../contracts/error-status.ts';

/** The policy of every page. The desktop window reaches the runtime without network connections. */
export const contentPolicy = (connect: 'self' | 'none'): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src '${connect}'`,
    // For the embedded pages, which have their own policy.
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    // The policies that the window's code creates: for markup, and for the one worker. Any other way from text to markup or script throws.
    "require-trusted-types-for 'script'",
    'trusted-types svelte-trusted-html dompurify trayclaw-worker',
  ].join('; ');

export const securityHeaders = {
  'content-security-policy': contentPolicy('self'),
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

export const gzipped = promisify(gzip);
/** Compressing smaller responses saves a few milliseconds at most. */
const packFromBytes = 4096;

/** How much of a refused body is read and discarded, so that the sender sees the response. */
const discardBytesMax = 64 * 1024 * 1024;

export interface Refusal {
  readonly status: number;
  readonly error: AppError;
  readonly headers?: Readonly<Record<string, string>>;
}

export function refusal(error: AppError, headers?: Readonly<Record<string, string>>, status = statusOf(error.code)): Refusal {
  return { status, error, ...(headers === undefined ? {} : { headers }) };
}

export function setSecurityHeaders(response: ServerResponse): void {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendBytes(response, status, Buffer.from(JSON.stringify(body)));
}

/**
 * Sends the result of an operation. A large result is compressed if the client accepts it, because a tunnel to another machine may be slow.
 */
export async function sendResult(response: ServerResponse, result: unknown): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ ok: true, result }));
  if (bytes.length < packFromBytes || !takes('gzip', response.req.headers['accept-encoding'])) return sendBytes(response, 200, bytes);
  // The lowest level costs a millisecond or two, even on a fast connection.
  const packed = await gzipped(bytes, { level: constants.Z_BEST_SPEED });
  return sendBytes(response, 200, packed, { 'content-encoding': 'gzip' });
}

function sendBytes(response: ServerResponse, status: number, bytes: Buffer, headers: Readonly<Record<string, string>> = {}): void {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length, ...headers });
  endOnceRead(response, bytes);
}

/**
 * Ends the response once the request body has been read. Closing a connection while its sender still sends resets it, and the sender may
 * lose the response.
 */
export function endOnceRead(response: ServerResponse, bytes: Uint8Array = Buffer.alloc(0)): void {
  const { req: request } = response;
  if (request.complete || response.getHeader('connection') !== 'close') return void response.end(bytes);
  response.flushHeaders();
  response.write(bytes);
  for (const event of ['end', 'close']) request.once(event, () => response.end());
}

/** RFC 9110, 12.5.3: a quality of zero means not acceptable. */
export function takes(coding: 'br' | 'gzip', acceptEncoding = ''): boolean {
  return acceptEncoding.split(',').some((one) => {
    const [name = '', quality] = one.split(/;\s*q=/i);
    return name.trim().toLowerCase() === coding && (quality === undefined || /^(?:1|0\.0*[1-9])/.test(quality));
  });
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refused: Refusal): void {
  if (response.headersSent || response.destroyed) return;
  for (const [name, value] of Object.entries(refused.headers ?? {})) response.setHeader(name, value);
  discardRest(request, response);
  sendJson(response, refused.status, { ok: false, error: refused.error.toBody() });
}

/** Reads and discards the rest of a body that the response does not need. Must be called before the head is sent. */
export function discardRest(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return;
  response.setHeader('connection', 'close');
  let seenBytes = 0;
  request.on('data', (chunk: Buffer) => {
    seenBytes += chunk.length;
    if (seenBytes > discardBytesMax) request.destroy();
  });
  request.resume();
}
