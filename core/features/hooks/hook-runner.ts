// Runs the hooks that a person configured before and after turns, model calls, tools and messages. An answer can only make a decision
// stricter; the caller applies it. Owns the queue of the hooks that only observe.

import { basename } from 'node:path';
import { BoundedQueue } from '../../base/bounded-queue.ts';
import { orAborted, settlesWithin } from '../../base/waits.ts';
import { parseJson } from '../../base/json.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import {
  type HookAnswer,
  hookAnswerSchema,
  type HookConfig,
  type HookPoint,
  hookPoints,
  type HookRan,
  type HookSubject,
  type HookVerdict,
  type LibraryHook,
} from '../../contracts/features/hooks.ts';
import { type AskProgram, endWords, type ProgramEnd } from '../../hands/tools/tools.ts';
import type { Spine } from '../feature.ts';

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

interface HookEntry {
  readonly on: HookPoint;
  readonly name: string;
  readonly match: HookConfig['match'];
  readonly timeoutMs: number;
  readonly onFailure: 'deny' | 'ask' | 'ignore';
  /** Fails with an AppError if the hook gives no answer. */
  ask(subject: HookSubject, signal: AbortSignal): Promise<HookAnswer>;
}

const TIMEOUT_MS = 10_000;

function entryOfConfig(hook: HookConfig, run: AskProgram): HookEntry {
  const { on, match, timeoutMs, command } = hook;
  const name = basename(command[0] ?? '');
  const ask = async (subject: HookSubject, signal: AbortSignal): Promise<HookAnswer> =>
    answerOf(name, await run(command, JSON.stringify(subject) + '\n', { timeoutMs, signal }));
  return { on, name, match, timeoutMs, onFailure: hook.onFailure ?? failureAt(on), ask };
}

function entryOfLibrary(hook: LibraryHook): HookEntry {
  const { on, name, match, timeoutMs = TIMEOUT_MS } = hook;
  const ask = async (subject: HookSubject, signal: AbortSignal): Promise<HookAnswer> => {
    const answer = Promise.resolve(hook.run(subject, signal));
    if (!(await settlesWithin(answer, timeoutMs))) throw new AppError('tool_failed', `The hook ${name} took too long.`);
    return checked(name, (await answer) ?? {});
  };
  return { on, name, match, timeoutMs, onFailure: hook.onFailure ?? failureAt(on), ask };
}

/** Fails closed: a broken hook that runs before a tool denies the call. */
function failureAt(on: HookPoint): 'deny' | 'ignore' {
  return on === 'before_tool' ? 'deny' : 'ignore';
}

function isAbout({ match }: HookEntry, { agentId, channel, tool }: HookSubject): boolean {
  if (match === undefined) return true;
  const fits = (wanted: readonly string[] | undefined, is: string | undefined): boolean =>
    wanted === undefined || (is !== undefined && wanted.includes(is));
  return fits(match.tools, tool?.name) && fits(match.classes, tool?.class) && fits(match.agents, agentId) && fits(match.channels, channel);
}

function answerOf(name: string, end: ProgramEnd): HookAnswer {
  const fail = (what: string): AppError => new AppError('tool_failed', `The hook ${name} ${what}.`);
  if (end.ending === 'timeout') throw fail('took too long and was ended');
  if (end.ending === 'cancelled') throw new AppError('cancelled', `The hook ${name} was stopped.`);
  if (end.ending === 'flooded') throw fail('printed too much and was ended');
  if (end.exitCode !== 0) throw fail(endWords(end.exitCode));
  if (end.remarks.length > 0) throw fail(`did what it may not: ${end.remarks.join('; ')}`);
  const text = end.output.trim();
  if (text === '') return {};
  const parsed = parseJson(text);
  if (!parsed.ok) throw fail('printed something that is not one JSON document');
  return checked(name, parsed.value);
}

function checked(name: string, value: unknown): HookAnswer {
  const answer = hookAnswerSchema.safeParse(value);
  if (answer.success) return answer.data;
  throw new AppError('tool_failed', `The hook ${name} gave an answer that is none: a hook may say deny or ask, a reason and a note.`);
}
