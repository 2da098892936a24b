// Reads how long a server asks to wait, from any place that may state it: a header in seconds, milliseconds or as a date, the reset time of
// a rate limit, or a detail of the error. Pure.

import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject } from '../../base/json.ts';

/** Null if nothing readable is stated. `body` is the parsed error body. */
export function readRetryAfterMs(headers: IncomingHttpHeaders, nowMs: number, body?: unknown): number | null {
  return retryHeaderMs(headers, nowMs) ?? retryInfoMs(body) ?? resetHeadersMs(headers);
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date (RFC 9110 §10.2.3). */
function retryHeaderMs(headers: IncomingHttpHeaders, nowMs: number): number | null {
  const milliseconds = Number.parseFloat(text(headers['retry-after-ms']));
  if (Number.isFinite(milliseconds) && milliseconds >= 0) return Math.ceil(milliseconds);
  const given = text(headers['retry-after']).trim();
  if (given === '') return null;
  const seconds = Number(given);
  if (Number.isFinite(seconds)) return seconds >= 0 ? Math.ceil(seconds * 1000) : null;
  const dateMs = Date.parse(given);
  return Number.isNaN(dateMs) ? durationMs(given) : Math.max(0, dateMs - nowMs);
}

/** google.rpc.RetryInfo in the details of an error: `{"retryDelay": "34s"}`. */
function retryInfoMs(body: unknown): number | null {
  const first: unknown = Array.isArray(body) ? body[0] : body;
  const error = isPlainObject(first) && isPlainObject(first['error']) ? first['error'] : first;
  const details: unknown = isPlainObject(error) ? error['details'] : undefined;
  for (const detail of Array.isArray(details) ? (details as unknown[]) : []) {
    const delay = isPlainObject(detail) ? durationMs(text(detail['retryDelay'])) : null;
    if (delay !== null) return delay;
  }
  return null;
}

/**
 * OpenAI's and Groq's `x-ratelimit-reset-tokens: 1.57s`. Read only for exhausted limits. A bare number is ignored, because other vendors
 * use it for an epoch.
 */
function resetHeadersMs(headers: IncomingHttpHeaders): number | null {
  const waits = ['tokens', 'requests'].flatMap((what) => {
    const isUsedUp = text(headers[`x-ratelimit-remaining-${what}`]).trim() === '0';
    const wait = isUsedUp ? durationMs(text(headers[`x-ratelimit-reset-${what}`])) : null;
    return wait === null ? [] : [wait];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `1m2.5s`, `120ms`, `34s`; null for anything else, including a number without a unit. */
function durationMs(given: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(given)) return null;
  let totalMs = 0;
  for (const [, amount, unit] of given.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) totalMs += Number(amount) * (unitsMs[unit ?? ''] ?? 0);
  return Math.ceil(totalMs);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
