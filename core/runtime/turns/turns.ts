// The turn runtime: accepts messages and direct calls, keeps turns in order, continues them after approvals and restarts, stops them. Owns
// which turns are live; the runner owns what a turn does.

import { AppError, noTurn } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import { decide, type TurnState } from '../../agent/brain/brain.ts';
import { timedOut, type Approval } from '../../contracts/policy.ts';
import type { TurnRow } from '../../store/session/session.ts';
import { mapStorageError } from '../../store/storage/storage.ts';
import { ApprovalDeadlines } from './approval-deadlines.ts';
import { HotSessions } from './hot-session.ts';
import { aboutQueued, aboutStart, messageDrafts, openingOf, type Accepted, type DirectCall, type InboundMessage } from './inbound.ts';
import { Lanes, type LaneState } from './lane.ts';
import { LostTurns } from './lost-turns.ts';
import { findOpen, neverBegan, queueFull, stateOf, waitingAhead } from './open-turn.ts';
import type { TurnDeps } from './ports.ts';
import { broughtAlong, findLast, type RetryOptions } from './run-again.ts';
import { findEnded, conversationContinued } from './taken-up.ts';
import { TurnEnds, type TurnEnd } from './turn-ends.ts';
import { TurnRunner } from './turn-runner.ts';
import { directCallOf, recordDirect, startedChat } from './turn-start.ts';

export { withOwnModels } from './own-models.ts';
export type { AgentPort, BudgetPort, CrashPoints, LearningPort, ModelPort, NotePort, ParsedCall, ProcessPort, TurnDeps } from './ports.ts';
export type { Assessment, GovernedTurn, GovernorPort, VerifyPort } from './caution-ports.ts';
export { DeferredTurns, type TurnPort } from './deferred-turns.ts';
export { loadTranscript } from './hot-session.ts';
export { broughtAlong, findMessage, lastOfConversation, type HeardMessage } from './run-again.ts';
export type { DirectCall, InboundMessage } from './inbound.ts';
export { recoverLog, settle, startNotices, workHere, type Recovery } from './settle.ts';
export { waitingAhead } from './open-turn.ts';
export { takeUp } from './take-up.ts';
export { offeredWithin } from './offered-tools.ts';
export { openApprovals } from './pack-parts.ts';
export type { TurnEnd } from './turn-ends.ts';
export { whenTurnEnds } from './turn-ends.ts';

const answered = 'What it waited for was answered.';

export class TurnRuntime {
  readonly #deps: TurnDeps;
  readonly #hot: HotSessions;
  readonly #lanes: Lanes;
  readonly #ends = new TurnEnds();
  readonly #live = new Map<string, TurnRunner>();
  readonly #deadlines: ApprovalDeadlines;
  readonly #lost: LostTurns;
  #closing = false;

  constructor(deps: TurnDeps) {
    this.#deps = deps;
    this.#hot = new HotSessions(deps);
    this.#lanes = new Lanes(deps.limits.parallelTurns, deps.limits.queuedMessages, (key) => key.startsWith(ownSessions.helper));
    this.#deadlines = new ApprovalDeadlines({
      ...deps,
      pendingApprovals: () => deps.policy.pendingApprovals(),
      deny: (approval) => this.#denyInTime(approval),
    });
    this.#lost = new LostTurns({ ...deps, live: this.#live, ends: this.#ends, append: (...about) => this.appendToTurn(...about) });
  }

  get runningTurns(): number {
    return this.#lanes.running;
  }

  /** The message is on disk when this returns. Fails with panic_engaged, queue_full, shutting_down or a store error. */
  submit(message: InboundMessage): { sessionId: string; turnId: string } {
    const { sessionId, turnId } = this.#accept(message, (work) => ({ value: this.#deps.log.transact(work, true), onDisk: null }));
    return { sessionId, turnId };
  }

  /** Like `submit`, without the wait: acknowledge the message after `onDisk`. The model is asked meanwhile; no effect begins before. */
  accept(message: InboundMessage): Accepted {
    return this.#accept(message, (work) => this.#deps.log.transactAhead(work));
  }

  #accept(message: InboundMessage, commit: <T>(work: () => T) => { value: T; onDisk: Accepted['onDisk'] }): Accepted {
    const known = message.dedupeKey === null ? null : this.#deps.log.index.findInbound(message.channel, message.dedupeKey);
    // The known message may still be on its way to the disk.
    if (known !== null) return { ...known, onDisk: commit(() => undefined).onDisk };
    this.assertOpen(message.sessionId);
    this.#lost.settle();
    const { log, ids } = this.#deps;
    const turnId = ids.next('trn');
    const { sessionId } = message;
    const text = this.#deps.redact(message.text);
    const before = openingOf(message, text, turnId);
    const starts = !this.#lanes.isBusy(sessionId);
    const notes = this.#deps.notes?.waiting(sessionId);
    if (before.some((draft) => draft.type === 'session.created')) this.#hot.begin(sessionId);
    const runner = starts ? this.#createRunner(sessionId, turnId) : null;
    const drafts = [...before, ...messageDrafts(message, text, turnId), ...(notes?.drafts(turnId) ?? [])];
    const about = aboutStart(message, before);
    if (runner !== null) drafts.push(startedChat(this.#deps, { turnId, sessionId, agentId: message.agentId }, about));
    const { value: events, onDisk } = commit(() => {
      if (message.dedupeKey !== null) log.index.putInbound(message.channel, message.dedupeKey, sessionId, turnId);
      const appended = log.append(sessionId, drafts);
      notes?.delivered(turnId);
      message.alongside?.(turnId);
      return appended;
    });
    this.#deps.crashPoints.reach('accepted');
    this.#hot.absorb(sessionId, runner === null ? events : events.slice(0, before.length));
    const own = events.filter((event) => event.turnId === turnId);
    runner?.absorb(own, true);
    runner?.waitFor(onDisk);
    this.#enqueue(sessionId, turnId, message.agentId, runner);
    return { sessionId, turnId, onDisk };
  }

  /**
   * Runs one tool for a person through the same gate, without a model. A known `dedupeKey` returns the earlier call. Fails with `denied` in
   * a folder that is not trusted.
   */
  runTool(call: DirectCall): { sessionId: string; turnId: string; callId: string } {
    this.assertOpen(call.sessionId);
    const known = call.dedupeKey === undefined ? null : this.#deps.log.index.findInbound(call.channel, call.dedupeKey);
    if (known !== null) return { ...known, callId: directCallOf(this.#deps.log, known) };
    const { turnId, callId, events } = recordDirect(this.#deps, call);
    const runner = this.#createRunner(call.sessionId, turnId);
    runner.absorb(events, true);
    this.#live.set(turnId, runner);
    this.#lanes.push(runner.lane, () => this.#guarded(runner));
    return { sessionId: call.sessionId, turnId, callId };
  }

  /** Continues the work of a turn that a limit ended. Fails with not_found, conflict, panic_engaged, queue_full or a store error. */
  takeUpEnded(turnId: string, by: string): { sessionId: string; turnId: string } {
    const { log, ids } = this.#deps;
    const { sessionId, agentId, turnIds, ...more } = findEnded(log, turnId);
    this.assertOpen(sessionId);
    if (this.#lanes.isBusy(sessionId)) throw conversationContinued(turnId, true);
    const next = ids.next('trn');
    const runner = this.#createRunner(sessionId, next);
    const start = startedChat(this.#deps, { turnId: next, sessionId, agentId }, { continues: { turnIds, by }, ...more });
    runner.absorb(log.append(sessionId, [start], true), true);
    this.#enqueue(sessionId, next, agentId, runner);
    return { sessionId, turnId: next };
  }

  /**
   * Repeats the message of a conversation's last turn, or a changed text, in a new turn. The earlier turn stays in the log and leaves the
   * conversation. Fails with not_found, conflict, panic_engaged, queue_full or a store error.
   */
  retry(turnId: string, { text: changed = null, ...options }: RetryOptions): { sessionId: string; turnId: string } {
    const { sessionId, agentId, turnIds, message, marks, steers } = findLast(this.#deps.log, turnId);
    if (this.#lanes.isBusy(sessionId)) throw conversationContinued(turnId, true);
    // Messages sent meanwhile belong to the original text of the message.
    const again = { turnIds, steers: changed === null ? steers : [], ...options };
    const { text, channel, sender } = message;
    return this.submit({
      text: changed ?? text,
      channel,
      sender,
      sessionId,
      agentId,
      dedupeKey: null,
      ...broughtAlong({ message, marks }),
      again,
      before: [],
    });
  }

  /** Adds a message to a turn in progress. Fails with turn_not_running. */
  steer(turnId: string, text: string, sender: string): void {
    const row = findOpen(this.#deps.log, turnId);
    this.appendToTurn(row.sessionId, turnId, [{ type: 'turn.steered', turnId, body: { text: this.#deps.redact(text), sender } }]);
  }

  /** Stops a turn. A waiting turn ends at once, a running one as soon as its work is aborted. */
  cancel(turnId: string, reason: string, by: 'person' | 'panic'): void {
    const row = findOpen(this.#deps.log, turnId);
    if (row.status === 'queued') {
      this.#endQueued(row.sessionId, turnId, by === 'panic' ? 'stopped' : 'cancelled');
      return;
    }
    this.appendToTurn(row.sessionId, turnId, [{ type: 'turn.cancel_requested', turnId, body: { reason, by } }]);
    const live = this.#live.get(turnId);
    if (live !== undefined) live.abort.abort();
    else this.continueTurn(turnId);
  }

  /** Appends events to a turn from outside its loop, and informs the turn if it is live. */
  appendToTurn(sessionId: string, turnId: string, drafts: readonly AnyDraft[], alongside?: () => void): readonly AnyEvent[] {
    const { log } = this.#deps;
    const live = this.#live.get(turnId);
    live?.flush();
    const events = log.transact(() => {
      const appended = log.append(sessionId, drafts);
      alongside?.();
      return appended;
    }, true);
    if (live !== undefined) live.absorb(events, true);
    else this.#hot.absorb(sessionId, events);
    return events;
  }

  liveTexts(turnId: string): DeltaNotice[] {
    return [...(this.#live.get(turnId)?.texts ?? [])].flatMap((text) => text.soFar() ?? []);
  }

  /** Continues a waiting turn. Does nothing while it is live. */
  continueTurn(turnId: string): void {
    if (this.#live.has(turnId) || this.#closing) return;
    const row = this.#deps.log.index.turn(turnId);
    if (row === null || row.status === 'queued') return;
    const runner = this.#createRunner(row.sessionId, turnId);
    runner.absorb(this.#deps.log.reads.turn(row.sessionId, turnId, row.firstSeq), false);
    // Recorded as running, so that a start after a crash continues it.
    if (row.status === 'waiting') runner.resumed(answered);
    this.#live.set(turnId, runner);
    this.#lanes.resume(runner.lane, () => this.#guarded(runner));
  }

  /** Resumes the work that an earlier run left: running turns, then queued messages, in order of arrival. Returns how many. */
  resume(): number {
    const open = this.#deps.log.index.openTurns();
    for (const row of open) this.#attempt(row, () => this.#takeUp(row));
    this.watchDeadlines();
    return open.filter((row) => row.status !== 'waiting').length;
  }

  /** From now on approvals are denied at their deadlines. */
  watchDeadlines(): void {
    this.#deadlines.look();
  }

  /** Keeps the lanes of waiting turns occupied without continuing any. */
  holdWaiting(): void {
    for (const row of this.#deps.log.index.openTurns()) {
      if (row.status === 'waiting') this.#attempt(row, () => this.#holdLane(row, stateOf(this.#deps.log, row)));
    }
  }

  /** Ends every running or queued turn, for the panic stop. Waiting turns keep waiting. */
  stopAll(reason: string): void {
    // Includes turns that an earlier run left and that were not continued yet.
    const open = this.#deps.log.index.openTurns().filter((row) => row.status !== 'waiting');
    for (const turnId of new Set([...this.#live.keys(), ...open.map((row) => row.turnId)])) {
      try {
        this.cancel(turnId, reason, 'panic');
      } catch (cause) {
        // Processes must still be killed even if the store fails.
        this.#deps.logger.log('error', 'a turn could not record its stop', { turnId, cause: String(cause) });
        this.#live.get(turnId)?.abort.abort();
      }
    }
  }

  /**
   * Resolves when the turn waits or has ended, or is queued behind one that waits; null if `timeoutMs` passes first. Fails if the turn could
   * not continue.
   */
  async whenResting(turnId: string, timeoutMs?: number): Promise<TurnEnd | null> {
    if (this.#live.has(turnId)) return this.#ends.wait(turnId, timeoutMs);
    const ended = this.#ends.newest(turnId);
    if (ended !== undefined) return ended;
    const row = this.#deps.log.index.turn(turnId);
    if (row === null) throw noTurn(turnId);
    const ahead = waitingAhead(this.#deps.log, row);
    const isHeld = ahead !== null && !this.#live.has(ahead.turnId);
    if (isHeld || (row.status !== 'running' && row.status !== 'queued')) return row;
    return this.#ends.wait(turnId, timeoutMs);
  }

  isLive(turnId: string): boolean {
    return this.#live.has(turnId);
  }

  /** Appends events outside the turns of a session, and updates the cached conversation. */
  record(sessionId: string, drafts: readonly AnyDraft[]): readonly AnyEvent[] {
    for (const runner of this.#live.values()) if (runner.place.sessionId === sessionId) runner.flush();
    const events = this.#deps.log.append(sessionId, drafts);
    this.#hot.tell(sessionId, events);
    return events;
  }

  /** The cached conversations, for summaries. */
  get conversations(): Pick<HotSessions, 'unsummed' | 'whole'> {
    return this.#hot;
  }

  forgetSession(sessionId: string): void {
    this.#ends.forgetEnded();
    this.#hot.forget(sessionId);
  }

  /** Resolves when no turn runs. */
  whenIdle(): Promise<void> {
    return this.#lanes.whenIdle();
  }

  /** Aborts running turns without recording an end: the next start continues from the log. */
  async dispose(): Promise<void> {
    this.#closing = true;
    this.#deadlines.stop();
    this.#lost.stop();
    for (const runner of this.#live.values()) runner.halt();
    await this.#lanes.whenIdle();
    this.#ends.abandon();
  }

  /** Fails with panic_engaged, queue_full or shutting_down if a message would be refused. */
  assertOpen(sessionId: string): void {
    if (this.#closing) throw new AppError('shutting_down', 'TrayClaw is closing; start it again and send the message once more.');
    if (this.#deps.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped by the panic stop.');
    if (this.#lanes.isFull(sessionId)) throw queueFull(sessionId, this.#lanes.isBusy(sessionId), this.#deps.limits.queuedMessages);
  }

  #createRunner(sessionId: string, turnId: string): TurnRunner {
    return new TurnRunner(this.#deps, { sessionId, turnId }, this.#hot.transcript(sessionId));
  }

  #enqueue(sessionId: string, turnId: string, agentId: string, started: TurnRunner | null): void {
    if (started !== null) this.#live.set(turnId, started);
    this.#lanes.push(sessionId, async () => {
      if (started !== null) return this.#guarded(started);
      if (this.#closing || this.#deps.log.index.turn(turnId)?.status !== 'queued') return 'free';
      const runner = this.#createRunner(sessionId, turnId);
      this.#live.set(turnId, runner);
      return this.#guarded(runner, () => {
        const about = aboutQueued(this.#deps.log, { sessionId, turnId });
        runner.absorb(this.#deps.log.append(sessionId, [startedChat(this.#deps, { turnId, sessionId, agentId }, about)]), true);
      });
    });
  }

  /** A turn's failure is reported to its waiters and never stops the lane. */
  async #guarded(runner: TurnRunner, begin?: () => void): Promise<LaneState> {
    const { turnId, sessionId } = runner.place;
    try {
      begin?.();
      let step = await runner.run();
      // An answer may arrive after the last decision while the turn still counts as live.
      while (step === 'rest' && runner.canContinue) {
        runner.resumed(answered);
        step = await runner.run();
      }
      this.#live.delete(turnId);
      if (step === 'rest' && runner.bounds?.unattended !== undefined) this.#deadlines.look();
      const finished = runner.finished;
      const status = step === 'halt' ? 'running' : (finished?.status ?? 'waiting');
      this.#ends.end(turnId, finished === null ? { status, sessionId } : { status, sessionId, finished });
      if (status === 'waiting') this.#tellQueued(sessionId);
      return status === 'waiting' ? 'held' : 'free';
    } catch (cause) {
      this.#live.delete(turnId);
      this.#hot.forget(sessionId);
      this.#lost.add(runner, mapStorageError(cause));
      return 'free';
    }
  }

  /** Wakes those who wait for a queued turn: the turn before it waits for a person. */
  #tellQueued(sessionId: string): void {
    for (const row of this.#deps.log.index.openTurns())
      if (row.sessionId === sessionId && row.status === 'queued') this.#ends.end(row.turnId, row);
  }

  #denyInTime({ approvalId, callId, sessionId, turnId }: Approval): void {
    const body = { approvalId, callId, decision: 'deny' as const, scope: null, by: timedOut, grantId: null };
    this.appendToTurn(sessionId, turnId ?? '', [{ type: 'approval.decided', turnId: turnId ?? null, phase: 'policy-gate', body }]);
    if (turnId !== undefined) this.continueTurn(turnId);
  }

  /** An unreadable turn does not block the others. */
  #attempt(row: TurnRow, work: () => void): void {
    try {
      work();
    } catch (cause) {
      this.#deps.logger.log('error', 'a turn could not be taken up', { turnId: row.turnId, cause: String(cause) });
    }
  }

  #takeUp(row: TurnRow): void {
    if (row.status === 'queued') {
      this.#enqueue(row.sessionId, row.turnId, this.#deps.log.index.session(row.sessionId)?.agentId ?? 'main', null);
      return;
    }
    const state = stateOf(this.#deps.log, row);
    // A waiting turn continues if its answer was recorded before the program ended.
    if (row.status === 'waiting' && decide(state)?.kind === 'wait') this.#holdLane(row, state);
    else this.continueTurn(row.turnId);
  }

  /** A waiting direct call does not block its conversation. */
  #holdLane(row: TurnRow, state: TurnState): void {
    if (state.kind === 'chat') this.#lanes.hold(row.sessionId);
  }

  #endQueued(sessionId: string, turnId: string, status: 'stopped' | 'cancelled'): void {
    this.appendToTurn(sessionId, turnId, [neverBegan(turnId, status)]);
    this.#ends.end(turnId, { status, sessionId });
  }
}
