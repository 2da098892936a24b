// The bearer token: compared in constant time, with a lockout after too many wrong ones, even from this machine. Guessing 256 random bits
// stays hopeless at any speed; see core/base/guess-limit.ts.

import { createHash, timingSafeEqual } from 'node:crypto';
import { bearerIn } from '../../base/bearer.ts';
import type { Clock } from '../../base/clock.ts';
import { GuessLimit } from '../../base/guess-limit.ts';

export type TokenVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'locked'; readonly retryAfterSeconds: number };

export class TokenCheck {
  readonly #digest: Buffer;
  readonly #guesses: GuessLimit;

  constructor(token: string, clock: Clock) {
    this.#digest = digestOf(token);
    this.#guesses = new GuessLimit(clock);
  }

  /** Judges the Authorization header. A missing one is wrong but is no guess, so it does not count towards the lockout. */
  judge(header: string | undefined): TokenVerdict {
    const given = bearerIn(header);
    if (given !== null && timingSafeEqual(digestOf(given), this.#digest)) return { kind: 'right' };
    const retryAfterSeconds = this.#guesses.count(header !== undefined);
    return retryAfterSeconds === null ? { kind: 'wrong' } : { kind: 'locked', retryAfterSeconds };
  }
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
