// Identifiers: a short prefix for the kind and a ULID, so that ids of one kind sort by creation time. ULID layout according to
// https://github.com/ulid/spec (48 bits of time, 80 bits of randomness, Crockford base 32).

export type IdPrefix =
  | 'ses'
  | 'trn'
  | 'call'
  | 'apr'
  | 'grt'
  | 'pak'
  | 'evt'
  | 'req'
  | 'bak'
  | 'ins'
  | 'out'
  | 'let'
  | 'plan'
  | 'pair'
  | 'sch'
  | 'sig'
  | 'tsk'
  | 'job'
  | 'mem'
  | 'sum'
  | 'rul'
  | 'opn'
  | 'dtk'
  | 'qst'
  | 'wrk'
  | 'pip'
  | 'evl';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const POOL_SIZE = 4096;

export interface IdSource {
  next(prefix: IdPrefix): string;
}

/** Ids from the platform's random source. Ids of the same millisecond still ascend. */
export class RandomIds implements IdSource {
  readonly #nowMs: () => number;
  readonly #pool = new Uint8Array(POOL_SIZE);
  #used = POOL_SIZE;
  #timeText = '';
  #lastMs = -1;
  readonly #tail = new Uint8Array(16);

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  next(prefix: IdPrefix): string {
    const nowMs = this.#nowMs();
    if (nowMs > this.#lastMs) {
      this.#lastMs = nowMs;
      this.#timeText = encodeTime(nowMs);
      this.#fillTail();
    } else {
      this.#incrementTail();
    }
    let text = prefix + '_' + this.#timeText;
    for (const digit of this.#tail) text += ALPHABET[digit];
    return text;
  }

  #fillTail(): void {
    if (this.#used + 16 > POOL_SIZE) {
      crypto.getRandomValues(this.#pool);
      this.#used = 0;
    }
    for (let i = 0; i < 16; i++) this.#tail[i] = (this.#pool[this.#used++] ?? 0) & 31;
    // Leaves room to count upwards within the millisecond.
    this.#tail[0] = (this.#tail[0] ?? 0) & 15;
  }

  #incrementTail(): void {
    for (let i = 15; i >= 0; i--) {
      const digit = this.#tail[i] ?? 0;
      if (digit < 31) {
        this.#tail[i] = digit + 1;
        return;
      }
      this.#tail[i] = 0;
    }
  }
}

function encodeTime(ms: number): string {
  let text = '';
  let rest = ms;
  for (let i = 0; i < 10; i++) {
    text = (ALPHABET[rest % 32] ?? '0') + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}
