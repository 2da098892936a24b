// Runs the hooks that a person configured before and after turns, model calls, tools and messages. An answer can only make a decision
// stricter; the caller applies it. Owns the queue of the hooks that only observe.

import { BoundedQueue } from '../../base/bounded-queue.ts';
import { orAborted } from '../../base/deferred.ts';
import type { AskProgram } from '../../hands/tools/tools.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import {
  hookPoints,
  type HookConfig,
  type HookPoint,
  type HookRan,
  type HookSubject,
  type HookVerdict,
  type LibraryHook,
} from '../../contracts/features/hooks.ts';
import type { Spine } from '../feature.ts';
import { entryOfConfig, entryOfLibrary, isAbout, type HookEntry } from './hook-entry.ts';

export interface HooksDeps extends Pick<Spine, 'clock' | 'logger'> {
  readonly configured: readonly HookConfig[];
  readonly library: readonly LibraryHook[];
  readonly run: AskProgram;
  readonly panic: { readonly engaged: boolean };
  /** Redacts secrets in every string. */
  redactDeep<T>(value: T): T;
  /** Records the runs of observing hooks. */
  record(ran: HookRan): void;
}

/** The maximum number of queued observing hooks. Further ones are skipped, which is recorded. */
const QUEUED_MAX = 200;
const SIDE_BY_SIDE = 2;
const pass: HookVerdict = { decision: 'pass', reason: '' };

export class Hooks {
  readonly #deps: HooksDeps;
  readonly #entries: ReadonlyMap<HookPoint, readonly HookEntry[]>;
  readonly #queue = new BoundedQueue<() => Promise<void>>(QUEUED_MAX);
  readonly #closing = new AbortController();
  #running = 0;
  #idle: (() => void) | null = null;

  constructor(deps: HooksDeps) {
    this.#deps = deps;
    const entries = [...deps.library.map(entryOfLibrary), ...deps.configured.map((hook) => entryOfConfig(hook, deps.run))];
    this.#entries = new Map(hookPoints.map((on) => [on, entries.filter((entry) => entry.on === on)]));
  }

  /** True if any hook applies. Cheap, so that the subject is built only if needed. */
  has(on: HookPoint): boolean {
    return (this.#entries.get(on) ?? []).length > 0;
  }

  /**
   * Runs the hooks in order until one denies. Several that ask become one approval. `record` is called for each. Fails with `cancelled` if
   * the signal aborts.
   */
  async before(subject: HookSubject, signal: AbortSignal, record: (ran: HookRan) => void): Promise<HookVerdict> {
    let verdict = pass;
    const told = this.#deps.redactDeep(subject);
    for (const entry of this.#about(subject)) {
      const { ran, answer } = await this.#askOne(entry, told, signal);
      // If a stop interrupted the hook, the stop decides, not the hook.
      if (signal.aborted) throw new AppError('cancelled', 'It was stopped while a hook was asked.');
      record(ran);
      if (answer.decision === 'deny') return answer;
      if (answer.decision === 'ask') verdict = { ...answer, reason: [verdict.reason, answer.reason].filter(Boolean).join(' ') };
    }
    return verdict;
  }

  /** Queues the observing hooks, which run later and in order. */
  after(subject: HookSubject): void {
    const entries = this.#about(subject);
    if (entries.length === 0 || this.#closing.signal.aborted) return;
    const told = this.#deps.redactDeep(subject);
    for (const entry of entries) {
      if (!this.#queue.push(() => this.#lookOn(entry, told))) {
        this.#record({ ...about(entry, told), outcome: 'skipped', reason: 'Too many hooks were waiting.', tookMs: 0 });
      }
    }
    this.#startNext();
  }

  async dispose(): Promise<void> {
    this.#closing.abort();
    while (this.#queue.shift() !== undefined);
    if (this.#running > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
  }

  #about(subject: HookSubject): HookEntry[] {
    return (this.#entries.get(subject.on) ?? []).filter((entry) => isAbout(entry, subject));
  }

  #startNext(): void {
    while (this.#running < SIDE_BY_SIDE) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      this.#running += 1;
      void next().finally(() => {
        this.#running -= 1;
        this.#startNext();
      });
    }
    if (this.#running === 0) this.#idle?.();
  }

  async #lookOn(entry: HookEntry, subject: HookSubject): Promise<void> {
    if (this.#deps.panic.engaged) {
      this.#record({ ...about(entry, subject), outcome: 'skipped', reason: 'Everything is stopped.', tookMs: 0 });
      return;
    }
    const { ran } = await this.#askOne(entry, subject, this.#closing.signal);
    // The call is already done, so a decision is only recorded as passed.
    const outcome = ran.outcome === 'failed' ? 'failed' : 'passed';
    if (!this.#closing.signal.aborted) this.#record({ ...ran, outcome });
  }

  #record(ran: HookRan): void {
    try {
      this.#deps.record(ran);
    } catch (cause) {
      this.#deps.logger.log('error', 'a hook could not be recorded', { hook: ran.name, cause: String(cause) });
    }
  }

  async #askOne(entry: HookEntry, subject: HookSubject, signal: AbortSignal): Promise<{ ran: HookRan; answer: HookVerdict }> {
    const { clock, logger } = this.#deps;
    const startedMs = clock.monotonicMs();
    const ran = (outcome: HookRan['outcome'], reason: string): HookRan => ({
      ...about(entry, subject),
      outcome,
      reason,
      tookMs: Math.round(clock.monotonicMs() - startedMs),
    });
    try {
      // A library hook that ignores its signal must not block the turn.
      const asked = orAborted(entry.ask(subject, signal), signal, () => new AppError('cancelled', 'It was stopped.'));
      const { decision, reason, note } = this.#deps.redactDeep(await asked);
      if (decision === undefined) return { ran: ran('passed', note ?? reason ?? ''), answer: pass };
      const why = decision === 'deny' ? refusalOf(entry.name, reason) : questionOf(entry.name, reason);
      return { ran: ran(decision === 'deny' ? 'denied' : 'asked', note ?? why), answer: { decision, reason: why } };
    } catch (cause) {
      const message = this.#deps.redactDeep(toAppError(cause).message);
      logger.log('warn', 'a hook failed', { hook: entry.name, on: entry.on, reason: message });
      const answer = entry.onFailure === 'ignore' ? pass : { decision: entry.onFailure, reason: message };
      return { ran: ran('failed', message), answer };
    }
  }
}

function refusalOf(name: string, reason: string | undefined): string {
  return reason === undefined ? `The hook ${name} refuses it.` : `The hook ${name} refuses it: ${reason}`;
}

/** The hook's text is shown next to the reasons of the rules, so it is quoted and cannot break out of the quotes. */
function questionOf(name: string, reason = ''): string {
  const words = reason
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[“”„]/g, '"')
    .trim();
  return words === '' ? `The hook ${name} asks for your decision.` : `The hook ${name} asks for your decision: “${words}”`;
}

function about(entry: HookEntry, { on, sessionId, turnId, tool }: HookSubject): Omit<HookRan, 'outcome' | 'reason' | 'tookMs'> {
  return { on, name: entry.name, sessionId, turnId, callId: tool?.callId ?? null };
}
