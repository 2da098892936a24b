// Sends HTTP answers: security headers on every one of them, JSON bodies, refusals. Never a CORS header.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AppError } from '../../contracts/errors.ts';
import { statusOf } from '../../contracts/error-status.ts';

const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  // The page that draws diagrams; what it may do is said with it.
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  // The policies the window's own code makes: for markup, and for the one worker; any other way from text to markup or script throws.
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html dompurify trayclaw-worker',
].join('; ');

const securityHeaders = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
} as const;

/** How much of a refused body is read and discarded, so that the sender sees the answer. */
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
  if (response.headersSent || response.destroyed) return;
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length });
  response.end(bytes);
}

export function sendRefusal(request: IncomingMessage, response: ServerResponse, refused: Refusal): void {
  if (response.headersSent || response.destroyed) return;
  for (const [name, value] of Object.entries(refused.headers ?? {})) response.setHeader(name, value);
  discardRest(request, response);
  sendJson(response, refused.status, { ok: false, error: refused.error.toBody() });
}

/** Reads and throws away what is left of a body that the answer does not need. To be called before the head is sent. */
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
