// The rights of a caller at a door: checks its token in constant time, its scopes, its rate limit and its daily budget. Revoking a token
// aborts its requests in flight. Knows no wire format.

import { createHash, timingSafeEqual } from 'node:crypto';
import { bearerIn } from '../../base/bearer.ts';
import type { Clock } from '../../base/clock.ts';
import { GuessLimit } from '../../base/guess-limit.ts';
import { localDay } from '../../base/local-day.ts';
import { RecentTimes } from '../../base/recent-times.ts';
import { clientBounds, type DoorAdmission, type DoorCaller, type DoorRequest } from '../../contracts/door-route.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Outsider } from '../../contracts/outsider.ts';
import { scopeIncludes, type TokenDoor } from '../../contracts/features/doors.ts';
import type { DoorRows, TokenRow } from './rows.ts';

const MINUTE_MS = 60_000;

type DoorVerdict =
  | { readonly kind: 'right'; readonly live: Live }
  | { readonly kind: 'wrong' }
  | { readonly kind: 'locked'; readonly retryAfterSeconds: number };

interface Live {
  readonly row: TokenRow;
  readonly digest: Buffer;
  readonly revoked: AbortController;
  notedAtMs: number;
  /** Reserved for calls outside any turn. */
  reservedUsd: number;
}

export class DoorTokens implements DoorAdmission {
  readonly #rows: DoorRows;
  readonly #clock: Clock;
  readonly #perTurnUsd: () => number | undefined;
  readonly #guesses: GuessLimit;
  /** The requests of the last minute, by token. */
  readonly #requests: RecentTimes;
  /** Null until a door is first used; then the current tokens by id. */
  #live: Map<string, Live> | null = null;

  /** A turn reserves no more than `perTurnUsd`, which it cannot spend anyway. */
  constructor(rows: DoorRows, clock: Clock, perTurnUsd: () => number | undefined) {
    this.#rows = rows;
    this.#clock = clock;
    this.#perTurnUsd = perTurnUsd;
    this.#guesses = new GuessLimit(clock);
    this.#requests = new RecentTimes(clock, MINUTE_MS);
  }

  /** Checks the Authorization header. A token of another door counts as wrong. */
  #judge(header: string | undefined, door: TokenDoor): DoorVerdict {
    const given = bearerIn(header);
    const found = given === null ? undefined : this.#find(digestOf(given), door);
    if (found !== undefined) return { kind: 'right', live: found };
    const retryAfterSeconds = this.#guesses.count(header !== undefined);
    return retryAfterSeconds === null ? { kind: 'wrong' } : { kind: 'locked', retryAfterSeconds };
  }

  admit(request: Pick<DoorRequest, 'header' | 'trust'>, door: TokenDoor, isOpen: boolean): DoorCaller {
    const judged = this.#judge(request.header('authorization'), door);
    if (judged.kind === 'locked') {
      const data = { retryAfterSeconds: judged.retryAfterSeconds };
      throw new AppError('rate_limited', 'Too many wrong API keys; only a right one is accepted now.', { data });
    }
    if (judged.kind === 'wrong') {
      const hint = `Make one with: trayclaw doors token create${door === 'openai' ? '' : ` --door ${door}`}`;
      throw new AppError('unauthorized', 'The API key is missing or wrong.', { hint });
    }
    request.trust();
    if (!isOpen) {
      const hint = `Set doors.${door}.enabled in config.yaml.`;
      throw new AppError('not_found', 'This door is closed.', { hint });
    }
    const { tokenId, perMinute } = judged.live.row.token;
    if (this.#requests.count(tokenId) >= perMinute) {
      const data = { retryAfterSeconds: this.#requests.secondsLeft(tokenId) };
      throw new AppError('rate_limited', 'This API key has used up its requests of the minute.', { data });
    }
    this.#requests.add(tokenId);
    this.#noteUse(judged.live);
    return this.#callerOf(judged.live);
  }

  /** The program behind the outsider of an earlier turn, with its present scopes; null if it has no token. Fails with denied after a revocation. */
  callerFor({ id, name }: Outsider): DoorCaller | null {
    const [, tokenId] = /:(dtk_\w+)$/.exec(id) ?? [];
    if (tokenId === undefined) return null;
    const live = this.#all.get(tokenId);
    if (live === undefined) throw new AppError('denied', `The token of ${name}, who planned this, was revoked.`);
    return this.#callerOf(live);
  }

  /** Rereads the tokens after one was created or revoked. The remaining tokens keep their counters. */
  reload(): void {
    const before = this.#live;
    if (before === null) return;
    this.#live = new Map(this.#rows.tokens().map((row) => [row.token.tokenId, before.get(row.token.tokenId) ?? liveOf(row)]));
    for (const [tokenId, { revoked }] of before) if (!this.#live.has(tokenId)) revoked.abort();
  }

  #find(digest: Buffer, door: TokenDoor): Live | undefined {
    // Compares every token, so that the time reveals nothing about the position of a match.
    let found: Live | undefined;
    for (const live of this.#all.values()) if (timingSafeEqual(live.digest, digest) && live.row.token.door === door) found = live;
    return found;
  }

  get #all(): Map<string, Live> {
    return (this.#live ??= new Map(this.#rows.tokens().map((row) => [row.token.tokenId, liveOf(row)])));
  }

  #callerOf(live: Live): DoorCaller {
    const { token } = live.row;
    const { tokenId, perDayUsd } = token;
    const leftUsd = (): number | null => {
      if (perDayUsd === null) return null;
      return Math.max(0, perDayUsd - this.#rows.usedUsd(tokenId, localDay(this.#clock.nowMs())) - live.reservedUsd);
    };
    const may = (what: string): boolean => token.scopes.some((scope) => scopeIncludes(scope, what));
    return {
      token,
      revoked: live.revoked.signal,
      may,
      leftUsd,
      bounds: (channel) => {
        const left = leftUsd();
        if (left === 0) throw spent();
        return clientBounds(channel, { token, may }, left === null ? null : Math.min(left, this.#perTurnUsd() ?? shareOf(left, perDayUsd)));
      },
      begins: (turn) => this.#rows.begin(tokenId, turn),
      reserve: (usd) => {
        live.reservedUsd += usd ?? 0;
        return () => (live.reservedUsd -= usd ?? 0);
      },
      owns: (sessionId) => this.#rows.ownerOf(sessionId) === tokenId,
      own: (sessionId) => this.#rows.own(sessionId, tokenId),
    };
  }

  /** Writes at most once a minute. */
  #noteUse(live: Live): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - live.notedAtMs < MINUTE_MS) return;
    live.notedAtMs = nowMs;
    this.#rows.noteUse(live.row.token.tokenId, nowMs);
  }
}

function liveOf(row: TokenRow): Live {
  const { digest, lastUsedAtMs } = row;
  return {
    row,
    digest: Buffer.from(digest, 'hex'),
    revoked: new AbortController(),
    notedAtMs: lastUsedAtMs ?? 0,
    reservedUsd: 0,
  };
}

/** Half of the rest of the day, so that a second turn can run at the same time. The last quarter of the day is not divided. */
function shareOf(leftUsd: number, perDayUsd: number | null): number {
  return leftUsd > (perDayUsd ?? 0) / 4 ? leftUsd / 2 : leftUsd;
}

function spent(): AppError {
  const hint = 'Its running and waiting turns reserve what they may spend. With budget.perTurnUsd in config.yaml they reserve less.';
  return new AppError('over_budget', 'The budget of this token for today is spent or reserved by running turns.', { hint });
}

export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
