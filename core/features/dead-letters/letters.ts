// Follows the log for failed turns, retries unattended ones once the cause may have passed, and leaves the others to a person. Owns one
// timer; the turn runtime runs the retries.

import { isUnrecorded } from '../../contracts/continuable.ts';
import { isHere } from '../../contracts/doors.ts';
import type { Config } from '../../contracts/config.ts';
import type { DeadLetter } from '../../contracts/features/dead-letters.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft, type AnyEvent, type EventOf } from '../../contracts/events.ts';
import type { Spine } from '../feature.ts';
import type { DeadLetterRows, KeptLetter } from './rows.ts';
import { earlierTurns, type Failure, judgeFailure, waitBefore } from './judge-failure.ts';

export interface DeadLetterDeps extends Pick<Spine, 'log' | 'clock' | 'ids' | 'logger'> {
  readonly rows: DeadLetterRows;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly config: Config['deadLetters'];
  readonly panic: { readonly engaged: boolean };
  /** Repeats the message of a turn. Fails as `TurnRuntime.retry` does. */
  retry(turnId: string, by: string): { sessionId: string; turnId: string };
  /** Continues the work of a turn that could not be recorded. Fails as `TurnRuntime.takeUpEnded` does. */
  takeUpEnded(turnId: string, by: string): { sessionId: string; turnId: string };
  /** Calls `work` once, after the delay. Returns a function that cancels it. */
  after(ms: number, work: () => void): () => void;
}

const BATCH = 500;
const LETTERS_MAX = 1_000;
const DUE_AT_ONCE = 20;
/** Upper bound of the timer, so that a clock change or a sleep of the machine is noticed. */
const LONGEST_SLEEP_MS = 60_000;
const BUSY_WAIT_MS = 30_000;
const tryer = 'dead letters';

export class DeadLetters {
  readonly #deps: DeadLetterDeps;
  readonly #stopListening: () => void;
  #cancelTimer: (() => void) | null = null;
  /** False until `begin`. Before that new failures are not processed and nothing is retried. */
  #hasBegun = false;
  #isAwake = false;
  #isClosed = false;
  /** False if the last check found no dead letter. Then a turn that succeeded cannot concern one, and needs no check. */
  #hasLetters = true;
  /** No retry starts before this time, because the program was too busy. */
  #busyUntilMs = 0;

  constructor(deps: DeadLetterDeps) {
    this.#deps = deps;
    this.#stopListening = deps.log.onCommitted((events) => {
      if (events.some((event) => this.#concerns(event))) this.#wake();
    });
  }

  /** Continues the work of an earlier run. Call it once the turn runtime accepts work. */
  begin(): void {
    this.#hasBegun = true;
    this.#look();
  }

  dispose(): void {
    this.#isClosed = true;
    this.#stopListening();
    this.#cancelTimer?.();
  }

  /** Processes one batch of new events. Returns true if there are more. */
  catchUp(): boolean {
    const { log, rows } = this.#deps;
    const from = rows.cursor.seq ?? 0;
    const { events, scannedTo } = log.reads.afterOfTypes(from, BATCH, ['turn.finished', 'turn.superseded']);
    if (scannedTo === from) return false;
    for (const event of events) {
      const drafts = this.#draftsFor(event);
      if (drafts.length === 0) continue;
      // The cursor moves in the same transaction, so each event is recorded exactly once.
      log.transact(() => {
        log.append(systemSessionId, drafts);
        rows.cursor.moveTo(event.seq);
      }, true);
      this.#hasLetters = true;
    }
    log.transact(() => rows.cursor.moveTo(scannedTo));
    return true;
  }

  list(limit: number): DeadLetter[] {
    return this.#deps.rows.list(limit).map(shown);
  }

  /**
   * `left` counts letters that wait for a person, `watched` those among them that a person saw fail, and `waiting` those that are retried
   * automatically.
   */
  counts(): { left: number; watched: number; waiting: number } {
    const letters = this.#deps.rows.list(LETTERS_MAX);
    const left = letters.filter(({ state }) => state === 'left');
    const watched = left.filter(({ channel }) => isHere(channel)).length;
    return { left: left.length, watched, waiting: letters.length - left.length };
  }

  /** Fails with not_found, or as the retry of a turn does. */
  retry(letterId: string, by: string): { sessionId: string; turnId: string } {
    const letter = this.#letter(letterId);
    if (letter.state === 'retrying') throw new AppError('conflict', `Dead letter ${letterId} is already being retried.`);
    if (!isUnrecorded(letter.reason.code)) return this.#deps.retry(letter.failedTurnId, by);
    const { sessionId, turnId } = this.#deps.takeUpEnded(letter.failedTurnId, by);
    const body = { letterId, turnId: letter.failedTurnId, byTurnId: turnId, by };
    this.#deps.log.append(systemSessionId, [{ type: 'dead_letter.retried', body }]);
    return { sessionId, turnId };
  }

  /** Clears one letter, or with null all except those being retried. Returns their number. Fails with not_found. */
  clear(letterId: string | null, by: string): number {
    const { log, rows } = this.#deps;
    const letters = letterId === null ? rows.list(LETTERS_MAX).filter(({ state }) => state !== 'retrying') : [this.#letter(letterId)];
    const drafts = letters.map((letter): AnyDraft => ({ type: 'dead_letter.cleared', body: { letterId: letter.letterId, by } }));
    log.append(systemSessionId, drafts, true);
    this.#arm();
    return drafts.length;
  }

  #letter(letterId: string): KeptLetter {
    const letter = this.#deps.rows.letter(letterId);
    if (letter === null) {
      throw new AppError('not_found', `There is no dead letter ${letterId}.`, { hint: 'See: trayclaw dlq list' });
    }
    return letter;
  }

  #concerns(event: AnyEvent): boolean {
    if (event.type === 'turn.finished') return event.body.status !== 'done' || this.#hasLetters;
    return event.type === 'turn.superseded' || event.type === 'panic.released';
  }

  /** Runs after the commit has reached every listener, because the records written here are a separate commit. */
  #wake(): void {
    if (this.#isAwake || !this.#hasBegun) return;
    this.#isAwake = true;
    queueMicrotask(() => {
      this.#isAwake = false;
      this.#look();
    });
  }

  #look(): void {
    if (this.#isClosed) return;
    try {
      while (this.catchUp());
      this.#tryDue();
      this.#hasLetters = this.#deps.rows.count() > 0;
    } catch (cause) {
      this.#deps.logger.log('error', 'dead letters could not be processed', { cause: toAppError(cause).message });
      this.#busyUntilMs = this.#deps.clock.nowMs() + BUSY_WAIT_MS;
    }
    this.#arm();
  }

  #arm(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
    const { rows, clock, panic } = this.#deps;
    // The release of the panic stop triggers the next check.
    if (this.#isClosed || panic.engaged) return;
    const dueMs = rows.nextDueMs();
    if (dueMs === null) return;
    const waitMs = Math.max(dueMs, this.#busyUntilMs) - clock.nowMs();
    this.#cancelTimer = this.#deps.after(Math.min(Math.max(waitMs, 0), LONGEST_SLEEP_MS), () => this.#look());
  }

  #tryDue(): void {
    const { rows, clock, panic } = this.#deps;
    const nowMs = clock.nowMs();
    if (panic.engaged) return;
    // If the clock was set back, the busy time must not block every retry.
    if (nowMs < this.#busyUntilMs && this.#busyUntilMs - nowMs <= BUSY_WAIT_MS) return;
    for (const letter of rows.due(nowMs, DUE_AT_ONCE)) if (!this.#tryOne(letter)) return;
  }

  /** Returns false if nothing more can be retried now. */
  #tryOne(letter: KeptLetter): boolean {
    const { log, clock, logger } = this.#deps;
    try {
      this.#deps.retry(letter.failedTurnId, tryer);
      return true;
    } catch (cause) {
      const { code, message, isRetryable } = toAppError(cause);
      if (code === 'panic_engaged' || code === 'shutting_down') return false;
      if ((code === 'conflict' && !isRetryable) || code === 'not_found') {
        log.append(systemSessionId, [{ type: 'dead_letter.left', body: { letterId: letter.letterId, why: message } }], true);
        return true;
      }
      logger.log('warn', 'a dead letter could not be tried again yet', { letterId: letter.letterId, code, message });
      this.#busyUntilMs = clock.nowMs() + Math.min(BUSY_WAIT_MS, this.#deps.config.longestWaitMs);
      return false;
    }
  }

  #draftsFor(event: AnyEvent): AnyDraft[] {
    if (event.type === 'turn.superseded') return this.#tried(event);
    if (event.type !== 'turn.finished' || event.turnId === null) return [];
    switch (event.body.status) {
      case 'failed':
      case 'over_budget':
        return this.#capture(event);
      case 'done':
        return this.#settle(event.sessionId, event.turnId);
      case 'cancelled':
      case 'stopped':
        return this.#stopped(event.turnId, event.sessionId);
    }
  }

  #tried(event: EventOf<'turn.superseded'>): AnyDraft[] {
    const { turnId, sessionId, body } = event;
    const letter = this.#deps.rows.ofSession(sessionId).find((one) => one.failedTurnId === turnId);
    if (letter === undefined || turnId === null) return [];
    return [{ type: 'dead_letter.retried', body: { letterId: letter.letterId, turnId, byTurnId: body.byTurnId, by: body.by } }];
  }

  #capture(event: EventOf<'turn.finished'>): AnyDraft[] {
    const failure = judgeFailure(this.#deps.log, event);
    // A subagent's failure belongs to its caller. The queue of subagents retries and reports it.
    if (event.sessionId.startsWith(ownSessions.helper)) return [];
    if (failure === null || failure.reason.code === 'cancelled') return [];
    const { rows, ids, clock, config, random } = this.#deps;
    const before = rows.ofSession(failure.sessionId).find((letter) => isOf(letter, failure));
    const attempt = (before?.attempt ?? 0) + 1;
    const left = failure.left ?? (attempt > config.retries ? `It failed ${attempt === 1 ? 'once' : `${attempt} times`}.` : null);
    const { earlier: _, ...about } = failure;
    const body = {
      ...about,
      letterId: before?.letterId ?? ids.next('let'),
      attempt,
      retryAtMs: left === null ? clock.nowMs() + waitBefore(attempt, config, random) : null,
      left: left ?? '',
    };
    return [...(before === undefined ? this.#makeRoom() : []), { type: 'dead_letter.captured', body }];
  }

  #makeRoom(): AnyDraft[] {
    const { rows } = this.#deps;
    const oldest = rows.count() < LETTERS_MAX ? null : rows.oldestLeft();
    return oldest === null ? [] : [{ type: 'dead_letter.cleared', body: { letterId: oldest.letterId, by: 'the limit of dead letters' } }];
  }

  #settle(sessionId: string, turnId: string): AnyDraft[] {
    const { rows, log } = this.#deps;
    const letters = rows.ofSession(sessionId);
    if (letters.length === 0) return [];
    const earlier = earlierTurns(log, turnId);
    return letters.flatMap((letter): AnyDraft[] => {
      const isAnswered = letter.byTurnId === turnId || earlier.includes(letter.failedTurnId);
      if (!isAnswered && (letter.state !== 'left' || !isHere(letter.channel))) return [];
      const outcome = isAnswered ? 'answered' : 'overtaken';
      return [{ type: 'dead_letter.settled', body: { letterId: letter.letterId, outcome, byTurnId: turnId } }];
    });
  }

  /** A person stopped the retry, so no further retry follows. */
  #stopped(turnId: string, sessionId: string): AnyDraft[] {
    const letter = this.#deps.rows.ofSession(sessionId).find((one) => one.byTurnId === turnId);
    if (letter === undefined) return [];
    return [{ type: 'dead_letter.left', body: { letterId: letter.letterId, why: 'The last retry was stopped before its end.' } }];
  }
}

function isOf(letter: KeptLetter, failure: Failure): boolean {
  const turns = [failure.turnId, ...failure.earlier];
  return turns.includes(letter.failedTurnId) || letter.byTurnId === failure.turnId;
}

function shown(letter: KeptLetter): DeadLetter {
  const { failedTurnId: _, byTurnId: __, ...about } = letter;
  return about;
}
