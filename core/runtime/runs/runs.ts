// Runs: work that consists of turns and continues across approvals and restarts, such as a pipeline. Ensures that each run is driven once,
// and manages the turns and questions it waits for and its events; the driver takes the steps. All state is in the log.

import { Emitter } from '../../base/emitter.ts';
import type { Logger } from '../../base/logger.ts';
import { AppError, toAppError, type ErrorBody } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, EventType } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { PanicState } from '../../guard/panic/panic.ts';
import type { PolicyStore } from '../../guard/policy/policy.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { RunRows } from './run-rows.ts';

export { readRunFile } from './run-file.ts';
export { RunRows, runTableSql, type RunTable } from './run-rows.ts';
export { restOf, sumSpent, type RunFigures } from './run-figures.ts';

export interface RunsDeps {
  readonly log: SessionLog;
  readonly logger: Logger;
  readonly panic: PanicState;
  readonly policy: Pick<PolicyStore, 'pendingApprovals'>;
  readonly rows: RunRows;
  readonly closing: AbortSignal;
}

interface RunState {
  readonly sessionId: string;
  readonly finished: unknown;
}

export interface RunKind<State extends RunState, View> {
  /** The noun for messages, as in "There is no … run_1." */
  readonly noun: string;
  readonly hint: string;
  /** The types of events that its state is folded from. */
  readonly types: readonly EventType[];
  /** Null if the beginning is missing. */
  fold(id: string, events: readonly AnyEvent[]): State | null;
  /** Converts the state to the form that people see. */
  view(state: State, waits: WaitsFor): View;
  /** Drives the run to its end and records that. Rejects if a step could not be taken; a later start tries again. */
  drive(id: string, watching: Watching): Promise<void>;
}

/** Passed to the driver of a run. */
export interface Watching {
  readonly signal: AbortSignal;
  /** Reports that the run is now waiting for a turn or for a question to a person. */
  readonly onWaiting: (what: string) => void;
}

interface Driven {
  done: Promise<void>;
  readonly abort: AbortController;
  readonly held: Set<string>;
  /** Kept so that a step does not reread the log. */
  events: AnyEvent[];
  /** Resolves once the beginning of the run would survive a power cut. */
  readonly onDisk: Promise<void>;
}

/** `approvalId` is null for a question that does not belong to a call. */
export type WaitsFor = readonly { readonly approvalId: string | null; readonly text: string }[];

/** Far more than bounded runs can write. */
const EVENTS_MAX = 5_000;

export class Runs<State extends RunState, View> {
  readonly #deps: RunsDeps;
  readonly #kind: RunKind<State, View>;
  readonly #driven = new Map<string, Driven>();
  readonly #changed: Emitter<null>;
  #stopListening: (() => void) | null = null;

  constructor(deps: RunsDeps, kind: RunKind<State, View>) {
    this.#deps = deps;
    this.#kind = kind;
    this.#changed = new Emitter((cause) => {
      deps.logger.log('error', 'a listener of changes failed', { cause: String(cause) });
    });
  }

  /**
   * Drives the run while its beginning is being written to disk: no effect and no answer may happen before `onDisk`. Fails with
   * panic_engaged.
   */
  begin(id: string, sessionId: string, drafts: readonly AnyDraft[], alongside?: () => void): void {
    const { log, panic } = this.#deps;
    if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
    const { value: events, onDisk } = log.transactAhead(() => {
      alongside?.();
      return log.append(sessionId, drafts);
    });
    this.#drive(id, sessionId, { events: [...events], onDisk });
  }

  /** Continues the runs that an earlier start of the program left open, and after each panic stop those that it held. */
  takeUp(): void {
    this.#stopListening ??= this.#deps.log.onCommitted((events) => {
      if (events.some(({ type }) => type === 'panic.released')) queueMicrotask(() => this.takeUp());
    });
    for (const { id, sessionId } of this.#deps.rows.open()) {
      const held = this.#driven.get(id);
      if (held === undefined) this.#drive(id, sessionId);
      // It was aborted and is about to end.
      else void held.done.then(() => this.state(id).finished === null && this.#drive(id, sessionId));
    }
  }

  /** Resolves when the run has ended, waits for a person, or could not continue. Fails with not_found and panic_engaged. */
  async whenResting(id: string, signal: AbortSignal | undefined): Promise<View> {
    const { sessionId, finished } = this.#stateUnlessStopped(id);
    if (finished === null) this.#drive(id, sessionId);
    await this.onDisk(id);
    let last: Driven | undefined;
    for (;;) {
      const driven = this.#driven.get(id);
      // The run has rested meanwhile, and its events are known.
      if (driven === undefined) return this.#kind.view(this.#stateUnlessStopped(id, last?.events), []);
      if (this.#waits(id).length > 0) return this.view(id);
      last = driven;
      await Promise.race([driven.done, this.#changed.next(signal)]);
      signal?.throwIfAborted();
    }
  }

  /** Fails with panic_engaged if the panic stop holds the run. */
  #stateUnlessStopped(id: string, known = this.#driven.get(id)?.events): State {
    const state = this.#fold(id, known);
    if (state.finished === null && this.#deps.panic.engaged)
      throw new AppError('panic_engaged', `The panic stop holds ${id}. It continues once the stop is released.`);
    return state;
  }

  /** Fails with a store error. */
  async onDisk(id: string): Promise<void> {
    await this.#driven.get(id)?.onDisk;
  }

  /** Returns the view of a run that has begun, for callers that do not wait for its end. Fails with a store error. */
  async viewBegun(id: string): Promise<View> {
    await this.onDisk(id);
    return this.view(id);
  }

  view(id: string): View {
    return this.#kind.view(this.state(id), this.#waits(id));
  }

  /** Resolves `last` to the id of the newest run. */
  named(id: string): string {
    return id === 'last' ? (this.#deps.rows.newest(1)[0]?.id ?? id) : id;
  }

  /** Newest first. */
  list(limit: number): View[] {
    return this.#deps.rows.newest(limit).map(({ id }) => this.view(id));
  }

  /** Fails with not_found or store_corrupt. */
  state(id: string): State {
    return this.#fold(id, this.#driven.get(id)?.events);
  }

  #fold(id: string, known: readonly AnyEvent[] | undefined): State {
    const state = this.#kind.fold(id, known ?? this.#read(this.#sessionOf(id)));
    if (state === null) throw new AppError('store_corrupt', `The beginning of ${id} cannot be read.`);
    return state;
  }

  #sessionOf(id: string): string {
    const { noun, hint } = this.#kind;
    const row = this.#deps.rows.get(id);
    if (row === null) throw new AppError('not_found', `There is no ${noun} ${id}.`, { hint });
    return row.sessionId;
  }

  /** The turns and questions that have blocked the run since this process began to drive it. */
  held(id: string): string[] {
    return [...(this.#driven.get(id)?.held ?? [])];
  }

  /** Called when the question was answered. */
  release(id: string, what: string): void {
    this.#driven.get(id)?.held.delete(what);
  }

  /** Resolves once `look` returns a value; `look` is called again after every commit. Until then the run waits for `what`. */
  async until<T>(id: string, what: string, watching: Watching, look: () => T | null): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== null) {
        this.release(id, what);
        return found;
      }
      watching.signal.throwIfAborted();
      const next = this.#deps.log.nextCommit(watching.signal);
      watching.onWaiting(what);
      await next;
    }
  }

  /** Records a step in one commit. */
  tell({ sessionId }: State, id: string, drafts: readonly AnyDraft[], barrier = false): void {
    const events = this.#deps.log.append(sessionId, drafts, barrier);
    this.#driven.get(id)?.events.push(...events);
  }

  /** Rereads the events after some were recorded elsewhere. */
  readAgain(id: string): void {
    const driven = this.#driven.get(id);
    if (driven !== undefined) driven.events = this.#read(this.state(id).sessionId);
  }

  abort(id: string): void {
    this.#driven.get(id)?.abort.abort();
  }

  async dispose(): Promise<void> {
    this.#stopListening?.();
    for (const { abort } of this.#driven.values()) abort.abort();
    await Promise.allSettled([...this.#driven.values()].map(({ done }) => done));
  }

  #drive(id: string, sessionId: string, begun?: Pick<Driven, 'events' | 'onDisk'>): void {
    const { closing, panic, logger } = this.#deps;
    if (this.#driven.has(id) || closing.aborted) return;
    const abort = new AbortController();
    const held = new Set<string>();
    const signal = AbortSignal.any([abort.signal, closing, panic.signal]);
    const onWaiting = (what: string): void => {
      held.add(what);
      this.#changed.emit(null);
    };
    const { events, onDisk } = begun ?? { events: this.#read(sessionId), onDisk: Promise.resolve() };
    const driven: Driven = { abort, held, events, onDisk, done: Promise.resolve() };
    this.#driven.set(id, driven);
    driven.done = Promise.all([this.#kind.drive(id, { signal, onWaiting }), onDisk])
      .then(() => undefined)
      .catch((cause: unknown) => {
        const { code, message } = toAppError(cause);
        if (!signal.aborted) logger.log('warn', 'a run could not continue', { id, sessionId, code, message });
      })
      .finally(() => {
        this.#driven.delete(id);
        this.#changed.emit(null);
      });
  }

  #waits(id: string): WaitsFor {
    const held = this.held(id);
    if (held.length === 0) return [];
    const pending = this.#deps.policy.pendingApprovals();
    return held.flatMap((one): WaitsFor => {
      const turn = this.#deps.log.index.turn(one);
      if (turn === null) return [{ approvalId: null, text: one }];
      if (turn.status !== 'waiting') return [];
      return pending.filter(({ turnId }) => turnId === one).map(({ approvalId, summary }) => ({ approvalId, text: summary }));
    });
  }

  #read(sessionId: string): AnyEvent[] {
    return this.#deps.log.reads.slice(sessionId, { types: this.#kind.types, limit: EVENTS_MAX });
  }
}

/** Undefined if the turn was done, has not ended, or is null. */
export function errorOfTurn(
  log: Pick<SessionLog, 'reads'>,
  turn: { readonly sessionId: string; readonly turnId: string } | null,
): ErrorBody | undefined {
  const end = turn === null ? null : log.reads.turnEnd(turn.sessionId, turn.turnId);
  if (end?.status === 'stopped') return new AppError('panic_engaged', 'The panic stop ended its turn.').toBody();
  return end?.error ?? undefined;
}

/** The mark of a session whose work was described by untrusted content. */
export function markOf(sources: readonly TaintSource[]): AnyDraft[] {
  return sources.length === 0 ? [] : [{ type: 'taint.marked', body: { callId: null, sources: [...sources], paths: [] } }];
}
