// The bearer token: compared in constant time, and a lockout after too many wrong ones, even from this machine. The right token always
// passes, so guessing cannot lock the person out; and guessing 256 random bits stays hopeless at any speed. The lockout makes guessing
// noticeable and slow.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';

const failuresMax = 10;
const windowMs = 60_000;

export type TokenVerdict =
  { readonly kind: 'right' } | { readonly kind: 'wrong' } | { readonly kind: 'locked'; readonly retryAfterSeconds: number };

export class TokenCheck {
  readonly #digest: Buffer;
  readonly #clock: Clock;
  /** Times of the newest wrong tokens, oldest first; at most `failuresMax`. */
  #failuresMs: number[] = [];

  constructor(token: string, clock: Clock) {
    this.#digest = digestOf(token);
    this.#clock = clock;
  }

  /** Judges the Authorization header. A missing one is wrong but is no guess, so it does not count towards the lockout. */
  judge(header: string | undefined): TokenVerdict {
    const given = header === undefined ? null : /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header)?.[1];
    if (typeof given === 'string' && timingSafeEqual(digestOf(given), this.#digest)) return { kind: 'right' };

    const nowMs = this.#clock.monotonicMs();
    this.#failuresMs = this.#failuresMs.filter((atMs) => nowMs - atMs < windowMs);
    const oldestMs = this.#failuresMs[0];
    if (this.#failuresMs.length >= failuresMax && oldestMs !== undefined) {
      return { kind: 'locked', retryAfterSeconds: Math.max(1, Math.ceil((oldestMs + windowMs - nowMs) / 1000)) };
    }
    if (header !== undefined) this.#failuresMs.push(nowMs);
    return { kind: 'wrong' };
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
