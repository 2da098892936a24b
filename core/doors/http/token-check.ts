// Checks the bearer token in constant time, with a lockout after too many wrong ones, even from this machine. Guessing 256 random bits is
// hopeless at any speed; see core/base/guess-limit.ts.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { bearerIn } from '../../base/bearer.ts';
import type { Clock } from '../../base/clock.ts';
import { GuessLimit } from '../../base/guess-limit.ts';

export type TokenVerdict =
  | { readonly kind: 'right' }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'locked'; readonly retryAfterSeconds: number };

/** The digest of the previous run's token. It gives no access, but an open window may exchange it for the new token until `untilMs`. */
export interface EarlierToken {
  readonly digest: string;
  readonly untilMs: number;
}

export class TokenCheck {
  readonly #digest: Buffer;
  readonly #earlier: EarlierToken | null;
  readonly #clock: Clock;
  readonly #guesses: GuessLimit;

  constructor(token: string, clock: Clock, earlier: EarlierToken | null = null) {
    this.#digest = digestOf(token);
    this.#earlier = earlier;
    this.#clock = clock;
    this.#guesses = new GuessLimit(clock);
  }

  /** True if the header contains the previous run's token and its time is not over. */
  isEarlier(header: string | undefined): boolean {
    const given = bearerIn(header);
    const earlier = this.#earlierDigest();
    return given !== null && earlier !== null && timingSafeEqual(digestOf(given), earlier);
  }

  /** Signs the text for a window that has this run's token, and for one that has the previous run's and may exchange it. */
  proofs(text: string): string[] {
    const earlier = this.#earlierDigest();
    return [this.#digest, ...(earlier === null ? [] : [earlier])].map((key) => createHmac('sha256', key).update(text).digest('hex'));
  }

  /** Judges the Authorization header. A missing header is wrong but not a guess, so it does not count towards the lockout. */
  judge(header: string | undefined): TokenVerdict {
    const given = bearerIn(header);
    if (given !== null && timingSafeEqual(digestOf(given), this.#digest)) return { kind: 'right' };
    const retryAfterSeconds = this.#guesses.count(header !== undefined);
    return retryAfterSeconds === null ? { kind: 'wrong' } : { kind: 'locked', retryAfterSeconds };
  }

  #earlierDigest(): Buffer | null {
    return this.#earlier === null || this.#clock.nowMs() > this.#earlier.untilMs ? null : Buffer.from(this.#earlier.digest, 'hex');
  }
}

export function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
