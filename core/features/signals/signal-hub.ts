// The hub of signals: converts every event from outside or from the clock to one form, compares it with earlier ones, and gives it the
// configured attention. Owns deduplication and limits; the turn runtime starts turns, and the gate decides what they may do.

import { counted } from '../../base/counted.ts';
import { RecentTimes } from '../../base/recent-times.ts';
import { AppError, isAppError } from '../../contracts/errors.ts';
import { systemSessionId, type AnyDraft } from '../../contracts/events.ts';
import {
  signalSourceSchema,
  type Attention,
  type SignalDisposition,
  type SignalReceived,
  type SignalSource,
} from '../../contracts/features/signals.ts';
import { isOwnSessionId } from '../../contracts/system-session.ts';
import { frameSignal, tellSignals } from './signal-words.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { Spine } from '../feature.ts';
import type { SignalBook } from './rows.ts';

export interface Signal {
  readonly source: SignalSource;
  readonly name: string;
  readonly dedupeKey: string;
  readonly text: string;
  readonly data: string | null;
  readonly attention: Attention;
  readonly session: { readonly sessionId: string; readonly title: string };
  readonly agentId: string;
  /** The untrusted sources of the text; empty if the person wrote it. */
  readonly untrusted: readonly TaintSource[];
  readonly bounds: TurnBounds;
  /** Further events for the system session, stored in the transaction that starts the turn. */
  also?(turnId: string): readonly AnyDraft[];
}

export type SignalResult = SignalReceived & { readonly repeated: boolean };

export interface SignalLimits {
  readonly runsPerHour: number;
  readonly perMinute: number;
  readonly queued: number;
  readonly textMax: number;
}

export interface SignalHubDeps extends Pick<Spine, 'log' | 'clock' | 'ids'> {
  readonly book: SignalBook;
  readonly limits: SignalLimits;
  readonly turns: TurnPort;
}

/** The part of the turn runtime that the hub uses. */
interface TurnPort {
  submit(message: {
    readonly sessionId: string;
    readonly agentId: string;
    readonly text: string;
    readonly channel: string;
    readonly sender: string;
    readonly dedupeKey: string;
    readonly untrusted?: readonly TaintSource[];
    readonly bounds: TurnBounds;
    readonly before: readonly AnyDraft[];
    alongside(turnId: string): void;
  }): { sessionId: string; turnId: string };
  appendToTurn(sessionId: string, turnId: string, drafts: readonly AnyDraft[], alongside?: () => void): unknown;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

export class SignalHub {
  readonly #deps: SignalHubDeps;
  /** The signals of the last minute, by source and name. */
  readonly #recent: RecentTimes;

  constructor(deps: SignalHubDeps) {
    this.#deps = deps;
    this.#recent = new RecentTimes(deps.clock, MINUTE_MS);
  }

  /**
   * Stores the signal durably before it returns. Fails with rate_limited, and with the errors of sending a message if a turn has to start.
   */
  receive(signal: Signal): SignalResult {
    const { book } = this.#deps;
    const known = book.find(signal.source, signal.name, signal.dedupeKey);
    if (known !== null) {
      const { seq: _seq, atMs: _atMs, ...before } = known;
      return { ...before, repeated: true };
    }
    const isOutside = signal.source !== 'schedule' && signal.source !== 'heartbeat';
    if (isOutside) this.#assertRate(signal);
    return { ...this.#attend(signal, isOutside), repeated: false };
  }

  #attend(signal: Signal, isOutside: boolean): SignalReceived {
    const { sessionId } = signal.session;
    // A follow-up of an outsider is for a session of that outsider.
    const reason = signal.bounds.outsider === undefined ? this.#whyTaken(sessionId) : null;
    if (reason !== null && !isOutside) throw new AppError('conflict', reason, { hint: 'Delete that session, or choose another one.' });
    if (reason !== null) return this.#record(signal, 'refused', { sessionId, reason });
    switch (signal.attention) {
      case 'observe':
        return this.#record(signal, 'recorded', {});
      case 'queue': {
        const { book, limits } = this.#deps;
        if (book.countWaiting(sessionId) < limits.queued) return this.#record(signal, 'queued', { sessionId });
        return this.#record(signal, 'limited', { sessionId, reason: `${limits.queued} signals wait for this session already.` });
      }
      case 'interrupt':
        return this.#steer(signal) ?? this.#run(signal, isOutside);
      case 'run':
        return this.#run(signal, isOutside);
    }
  }

  /** The name of a session of the program does not make it one: a caller may have begun it with an earlier version. */
  #whyTaken(sessionId: string): string | null {
    const channel = this.#deps.log.index.session(sessionId)?.channel;
    if (channel === undefined || !isOwnSessionId(sessionId) || signalSourceSchema.safeParse(channel).success) return null;
    return `The session ${sessionId} was begun over ${channel}, and signals do not join it.`;
  }

  /** Adds the signal to the running turn of its session. Returns null if no turn is running. */
  #steer(signal: Signal): SignalReceived | null {
    const { log, turns, limits } = this.#deps;
    const { sessionId } = signal.session;
    const turn = log.index.lastTurn(sessionId);
    if (turn === null || (turn.status !== 'running' && turn.status !== 'waiting')) return null;
    const body = this.#bodyOf(signal, 'steered', { sessionId, turnId: turn.turnId });
    turns.appendToTurn(sessionId, turn.turnId, tellSignals(turn.turnId, [body], limits.textMax), () => {
      log.append(systemSessionId, [{ type: 'signal.received', body }]);
    });
    return body;
  }

  #run(signal: Signal, isOutside: boolean): SignalReceived {
    const { log, clock, book, limits, turns } = this.#deps;
    const { sessionId, title } = signal.session;
    if (isOutside && book.runsBetween(clock.nowMs() - HOUR_MS, clock.nowMs()) >= limits.runsPerHour) {
      return this.#record(signal, 'limited', {
        sessionId,
        reason: `Signals have started ${counted(limits.runsPerHour, 'turn')} within an hour.`,
      });
    }
    const isNew = log.index.session(sessionId) === null;
    const created = { title, agentId: signal.agentId, channel: signal.source, forkedFrom: null };
    let received: SignalReceived | null = null;
    const tell = (turnId: string): SignalReceived => {
      const body = this.#bodyOf(signal, 'run', { sessionId, turnId });
      log.append(systemSessionId, [{ type: 'signal.received', body }, ...(signal.also?.(turnId) ?? [])]);
      return body;
    };
    try {
      const { turnId } = turns.submit({
        sessionId,
        agentId: signal.agentId,
        text: frameSignal(signal, limits.textMax),
        channel: signal.source,
        sender: `${signal.source} ${signal.name}`,
        dedupeKey: `${signal.name} ${signal.dedupeKey}`,
        ...(signal.untrusted.length === 0 ? {} : { untrusted: signal.untrusted }),
        bounds: signal.bounds,
        before: isNew ? [{ type: 'session.created', body: created }] : [],
        alongside: (started) => {
          received = tell(started);
        },
      });
      // The message had been stored before this signal, so the other events are recorded now.
      return received ?? log.transact(() => tell(turnId), true);
    } catch (cause) {
      // The clockwork records its own times. For an outside signal, the reason why it was dropped is recorded.
      if (!isOutside || !isAppError(cause) || cause.code.startsWith('store_')) throw cause;
      return this.#record(signal, 'refused', { sessionId, reason: cause.message });
    }
  }

  #record(signal: Signal, disposition: SignalDisposition, more: Pick<SignalReceived, 'reason'> & { sessionId?: string }): SignalReceived {
    const body = this.#bodyOf(signal, disposition, more);
    this.#deps.log.append(systemSessionId, [{ type: 'signal.received', body }], true);
    return body;
  }

  #bodyOf(
    signal: Signal,
    disposition: SignalDisposition,
    more: { readonly sessionId?: string; readonly turnId?: string; readonly reason?: string | undefined },
  ): SignalReceived {
    const { source, name, dedupeKey, attention } = signal;
    const { textMax } = this.#deps.limits;
    const { sessionId = null, ...rest } = more;
    // If the signal starts a turn, the text is in the message of the turn.
    const text = disposition === 'run' ? '' : signal.text.slice(0, textMax);
    const data = disposition === 'run' ? null : (signal.data?.slice(0, textMax) ?? null);
    const signalId = this.#deps.ids.next('sig');
    return { signalId, source, name, dedupeKey, text, data, attention, disposition, sessionId, ...rest };
  }

  /** Checked before anything is written, because a flood of signals must not become a flood of log entries. */
  #assertRate({ source, name }: Signal): void {
    const { limits } = this.#deps;
    const key = `${source} ${name}`;
    if (this.#recent.count(key) >= limits.perMinute) {
      throw new AppError('rate_limited', `More than ${limits.perMinute} signals "${name}" came within a minute.`, { isRetryable: true });
    }
    this.#recent.add(key);
  }
}
