// Interprets a failed call of Discord's API. The only module that reads its codes and statuses. Distinguishes failures in which certainly
// nothing was done.

import type { LiveFailure, SendOutcome } from '../../contracts/channels.ts';
import { isNeverSent, networkCode, networkSentence } from '../../base/network-failure.ts';

export type DiscordFailure =
  | { readonly kind: 'refused'; readonly words: string; readonly isUnauthorized: boolean; readonly isGone: boolean }
  | { readonly kind: 'flood'; readonly retryAfterMs: number }
  /** No part of the request was sent. */
  | { readonly kind: 'unreachable'; readonly words: string }
  /** The request may have been performed. */
  | { readonly kind: 'unknown'; readonly words: string }
  | { readonly kind: 'aborted' };

/** Discord's "Unknown Channel" and "Unknown Message". */
const goneCodes: ReadonlySet<number> = new Set([10003, 10008]);

export function readFailure(cause: unknown, signal?: AbortSignal): DiscordFailure {
  if (signal?.aborted === true) return { kind: 'aborted' };
  const { name, status, code, message, retryAfter } = cause as {
    name?: string;
    status?: number;
    code?: number | string;
    message?: string;
    retryAfter?: number;
  };
  // The library's `rejectOnRateLimit` throws this before it sends anything.
  if (name?.startsWith('RateLimitError') === true) return { kind: 'flood', retryAfterMs: Math.max(retryAfter ?? 1_000, 100) };
  if (status !== undefined && status >= 400 && status < 500) {
    const words = `Discord refused it: ${(message ?? String(status)).slice(0, 200)}`;
    return { kind: 'refused', words, isUnauthorized: status === 401, isGone: typeof code === 'number' && goneCodes.has(code) };
  }
  // The library itself throws this after it has forgotten a refused token.
  if (message?.startsWith('Expected token') === true) return { kind: 'unreachable', words: 'Discord does not take the token of the bot.' };
  const network = networkCode(cause);
  if (isNeverSent(network)) return { kind: 'unreachable', words: networkSentence(network, 'the server of Discord') };
  return { kind: 'unknown', words: 'Discord did not answer.' };
}

export function outcomeOf(failure: DiscordFailure): SendOutcome {
  switch (failure.kind) {
    case 'flood':
      return { kind: 'refused', error: 'Discord asked to wait.', retryAfterMs: failure.retryAfterMs, isRetryable: true };
    case 'unreachable':
      return { kind: 'refused', error: failure.words, retryAfterMs: null, isRetryable: true };
    case 'refused':
      return { kind: 'refused', error: failure.words, retryAfterMs: null, isRetryable: failure.isUnauthorized };
    case 'unknown':
      return { kind: 'unknown', reason: failure.words };
    case 'aborted':
      return { kind: 'unknown', reason: 'It was given up while it was sent.' };
  }
}

export function liveFailureOf(cause: unknown, signal: AbortSignal): LiveFailure {
  const failure = readFailure(cause, signal);
  if (failure.kind === 'flood' || failure.kind === 'aborted') return failure;
  return { kind: 'unavailable' };
}
