// Lets callers wait for the ends of turns.

import { NewestMap } from '../../base/newest-map.ts';
import { AppError } from '../../contracts/errors.ts';
import type { EventBodies, TurnStatus } from '../../contracts/events.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface TurnEnd {
  /** `running` only if the program closed before the turn ended or waited, `queued` if an earlier turn waits. */
  readonly status: TurnStatus | 'queued';
  /** The end as it was recorded, if this process saw it. */
  readonly finished?: EventBodies['turn.finished'];
  readonly sessionId: string;
}

/** A turn may end before its sender begins to wait, so this many ends are kept in memory. */
const ENDS_KEPT = 64;

export class TurnEnds {
  readonly #waiting = new Map<string, PromiseWithResolvers<TurnEnd | null>[]>();
  readonly #newest = new NewestMap<string, TurnEnd | AppError>(ENDS_KEPT);

  /** The end of a turn that ended recently. Fails with the error of one that could not continue. */
  newest(turnId: string): TurnEnd | undefined {
    const newest = this.#newest.get(turnId);
    if (newest instanceof AppError) throw newest;
    return newest;
  }

  async wait(turnId: string, timeoutMs?: number): Promise<TurnEnd | null> {
    const deferred = Promise.withResolvers<TurnEnd | null>();
    const waiting = this.#waiting.get(turnId);
    if (waiting === undefined) this.#waiting.set(turnId, [deferred]);
    else waiting.push(deferred);
    if (timeoutMs === undefined) return deferred.promise;
    const timer = setTimeout(() => {
      deferred.resolve(null);
    }, timeoutMs);
    try {
      return await deferred.promise;
    } finally {
      clearTimeout(timer);
      this.#forget(turnId, deferred);
    }
  }

  end(turnId: string, end: TurnEnd): void {
    this.#newest.delete(turnId);
    if (end.finished !== undefined) this.#keep(turnId, end);
    for (const deferred of this.#take(turnId)) deferred.resolve(end);
  }

  /** Clears the recent ends. Those that still exist are read from the log. */
  forgetEnded(): void {
    this.#newest.clear();
  }

  #keep(turnId: string, end: TurnEnd | AppError): void {
    this.#newest.set(turnId, end);
  }

  fail(turnId: string, error: AppError): void {
    this.#keep(turnId, error);
    for (const deferred of this.#take(turnId)) deferred.reject(error);
  }

  /** Called when the program closes: waiters learn that the turn continues later. */
  abandon(): void {
    for (const turnId of Array.from(this.#waiting.keys())) this.end(turnId, { status: 'running', sessionId: '' });
  }

  #forget(turnId: string, deferred: PromiseWithResolvers<TurnEnd | null>): void {
    const left = this.#waiting.get(turnId)?.filter((other) => other !== deferred) ?? [];
    if (left.length > 0) this.#waiting.set(turnId, left);
    else this.#waiting.delete(turnId);
  }

  #take(turnId: string): PromiseWithResolvers<TurnEnd | null>[] {
    const waiting = this.#waiting.get(turnId) ?? [];
    this.#waiting.delete(turnId);
    return waiting;
  }
}

// Waits for the end of a turn across its approvals, for work that consists of turns. Does not continue turns itself.

interface Watched {
  readonly turns: { whenResting(turnId: string): Promise<TurnEnd | null> };
  readonly log: Pick<SessionLog, 'index' | 'reads' | 'nextCommit'>;
}

/**
 * `onWaiting` is called whenever the turn waits for a person. Rejects with `cancelled` when the signal aborts, which does not end the turn.
 */
export async function whenTurnEnds(
  { turns, log }: Watched,
  { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string },
  { signal, onWaiting }: { readonly signal: AbortSignal; readonly onWaiting: (turnId: string) => void },
): Promise<EventBodies['turn.finished']> {
  for (;;) {
    if (signal.aborted) throw new AppError('cancelled', 'It was stopped while a turn was under way.');
    const end = await turns.whenResting(turnId);
    const finished = end?.finished ?? log.reads.turnEnd(sessionId, turnId);
    if (finished !== null) return finished;
    const next = log.nextCommit(signal);
    if (log.index.turn(turnId)?.status === 'waiting') onWaiting(turnId);
    await next;
  }
}
