// Runs one turn in a loop: decide, perform, record. Owns the turn's live state and its unwritten events, which are written before anything
// leaves the process. Knows nothing about queues or other turns.

import { assert, unreachable } from '../../base/assert.ts';
import { SleepWatch } from '../../base/clock.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { AnyDraft, AnyEvent, DraftOf, EventBodies, EventType, Phase } from '../../contracts/events.ts';
import { applyEvent, countRepeats, decide, emptyTurn, type Intent, type TurnEvent, type TurnState } from '../../agent/brain/brain.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import type { HelperOrigin } from '../../contracts/features/helpers.ts';
import type { ToolSchema } from '../../contracts/llm.ts';
import { withoutPlan, type TurnBounds } from '../../contracts/turn-bounds.ts';
import type { CallOrigin } from '../../guard/policy/policy.ts';
import type { RefusedPack, Transcript, TranscriptEvent } from '../../mind/context/context.ts';
import { performAuthorize, performRefuse } from './perform-authorize.ts';
import { performExecute, performVerify } from './perform-execute.ts';
import { performComplete, performPack } from './perform-model.ts';
import { performRespond, performWait } from './perform-respond.ts';
import { offeredWithin } from './offered-tools.ts';
import type { GovernedTurn } from './caution-ports.ts';
import type { TurnDeps } from './ports.ts';
import type { ChosenParts, RunningTurn, ShownPack, Step, TurnPlace, TurnRoute } from './running-turn.ts';

/** A shorter step is written together with the next one; its start could not have been seen. */
const SHOWN_AFTER_MS = 25;
/** How long a call that reports its end may take when the program closes. */
const CALL_GRACE_MS = 1_500;

export class TurnRunner implements RunningTurn {
  readonly deps: TurnDeps;
  readonly place: TurnPlace;
  readonly transcript: Transcript;
  /** Aborts the current work of the turn. */
  readonly abort = new AbortController();
  readonly callFacts = new Map<string, CallFacts>();
  readonly parsedCalls: RunningTurn['parsedCalls'] = new Map();
  chosen: ChosenParts | null = null;
  refused: RefusedPack | null = null;
  route: TurnRoute | null = null;
  pack: ShownPack | null = null;
  readonly drifts = new Map<string, number>();
  readonly texts: RunningTurn['texts'] = new Set();
  readonly governed: GovernedTurn | null;
  #state: TurnState = emptyTurn;
  #model: string | null = null;
  #workspace: string | null = null;
  #continues: readonly string[] = [];
  #origin: CallOrigin | null = null;
  #bounds: TurnBounds | null = null;
  #boundsAfterPlan: TurnBounds | null = null;
  #helper: HelperOrigin | null = null;
  #identity: string | null = null;
  #offered: { readonly all: readonly ToolSchema[]; readonly within: readonly ToolSchema[] } | null = null;
  #packs = 0;
  #buffer: AnyDraft[] = [];
  #halted = false;
  readonly #reporting = new Set<string>();
  #cancelCutOff: (() => void) | null = null;
  #writeFailure: unknown = null;
  #finished: EventBodies['turn.finished'] | null = null;
  #phase: Phase | null = null;
  readonly #sleep: SleepWatch;
  /** Resolves when the message of the turn is on disk. */
  #onDisk: Promise<void> | null = null;

  constructor(deps: TurnDeps, place: TurnPlace, transcript: Transcript) {
    this.deps = deps;
    this.place = place;
    this.transcript = transcript;
    this.#sleep = new SleepWatch(deps.clock);
    this.governed = deps.governor?.follow(place) ?? null;
  }

  get state(): TurnState {
    return this.#state;
  }

  get model(): string | null {
    return this.#model === null || this.governed === null ? this.#model : this.governed.modelFor(this.#model);
  }

  get workspace(): string | null {
    return this.#workspace;
  }

  get continues(): readonly string[] {
    return this.#continues;
  }

  get origin(): CallOrigin {
    return this.#origin ?? { channel: this.deps.log.index.session(this.place.sessionId)?.channel ?? 'unknown', agentId: 'main' };
  }

  get helper(): HelperOrigin | null {
    return this.#helper;
  }

  /** Read once, so that the prefix stays the same within a turn. */
  get identity(): string {
    this.#identity ??= this.deps.agents.identityOf(this.origin.agentId);
    return this.#identity;
  }

  /** Without the read-only restriction if a plan was approved in this turn. */
  get bounds(): TurnBounds | null {
    return this.#state.planApproved ? this.#boundsAfterPlan : this.#bounds;
  }

  /** The recorded events that are not in the log. */
  get unwritten(): readonly AnyDraft[] {
    return this.#buffer;
  }

  /** How the turn ended; null while it runs. */
  get finished(): EventBodies['turn.finished'] | null {
    return this.#finished;
  }

  /** A direct call has a separate lane and does not wait; a conversation's turns keep their order. */
  get lane(): string {
    return this.#state.kind === 'tool' ? `direct ${this.place.turnId}` : this.place.sessionId;
  }

  /** Returns whether there is anything to do but wait. */
  get canContinue(): boolean {
    const intent = decide(this.#state);
    return intent !== null && intent.kind !== 'wait';
  }

  /** Records that the turn continues, and how long it waited. */
  resumed(reason: string): void {
    const { waitingSinceMs } = this.#state;
    const restedMs = waitingSinceMs === null ? 0 : Math.max(0, this.deps.clock.nowMs() - waitingSinceMs);
    this.emit('turn.resumed', { reason, restedMs });
  }

  get halted(): boolean {
    return this.#halted;
  }

  offered(): readonly ToolSchema[] {
    const all = this.deps.tools.schemas();
    if (this.#offered?.all !== all)
      this.#offered = { all, within: offeredWithin(this.deps, all, { bounds: this.#bounds, origin: this.origin }) };
    return this.#offered.within;
  }

  nextPackId(): string {
    this.#packs += 1;
    return `${this.place.turnId}-p${this.#packs}`;
  }

  /** Applies events that are already in the log: those of a turn being continued, or those an operation appended. */
  absorb(events: readonly AnyEvent[], withTranscript: boolean): void {
    for (const event of events) {
      this.#fold(event);
      if (withTranscript) this.transcript.apply(event);
    }
  }

  /** Records an event. It is folded at once and written with the next flush. */
  emit<T extends EventType>(type: T, body: DraftOf<T>['body'], phase: Phase | null = this.#phase): void {
    const atMs = this.deps.clock.nowMs();
    // A decision starts the step of its outcomes.
    const step = type === 'brain.decided' ? this.#state.step + 1 : this.#state.step;
    const draft = { type, turnId: this.place.turnId, step, phase, atMs, body } as AnyDraft;
    this.#buffer.push(draft);
    this.#fold({ type, atMs, body } as TurnEvent);
    const sessionSeq = this.deps.log.nextSessionSeq(this.place.sessionId) + this.#buffer.length - 1;
    this.transcript.apply({ type, turnId: this.place.turnId, sessionSeq, body } as TranscriptEvent);
  }

  /** Writes recorded events. `barrier` waits for the disk; `alongside` adds rows to the same transaction. */
  flush(barrier = false, alongside?: () => void): void {
    const drafts = this.#buffer;
    if (drafts.length === 0 && alongside === undefined) return;
    this.#buffer = [];
    const { log } = this.deps;
    try {
      log.transact(() => {
        if (drafts.length > 0) log.append(this.place.sessionId, drafts);
        alongside?.();
      }, barrier);
    } catch (cause) {
      this.#buffer = drafts;
      throw cause;
    }
  }

  flushSoon(isWatched: boolean): () => void {
    const write = (): void => {
      this.writeAhead();
    };
    if (isWatched) return onceUnderWay(write);
    const timer = setTimeout(write, SHOWN_AFTER_MS);
    return () => {
      clearTimeout(timer);
    };
  }

  writeAhead(): boolean {
    const isNeeded = this.#buffer.length > 0;
    try {
      this.flush();
    } catch (cause) {
      this.#writeFailure = cause;
      this.abort.abort();
    }
    return isNeeded;
  }

  /** Stops without recording an end: the next start continues from the log. A call that reports its end gets a moment to do so. */
  halt(): void {
    this.#halted = true;
    if (this.#reporting.size === 0) this.abort.abort();
    else this.#cancelCutOff = this.deps.later(CALL_GRACE_MS, () => this.abort.abort(new AppError('shutting_down', 'TrayClaw is closing.')));
  }

  readonly reportingCalls = {
    began: (callId: string): void => void this.#reporting.add(callId),
    ended: (callId: string): void => {
      this.#reporting.delete(callId);
      if (!this.#halted || this.#reporting.size > 0) return;
      this.#cancelCutOff?.();
      this.abort.abort();
    },
  };

  /** Waits for the disk while the request to the model is in flight; everything else starts after both. */
  waitFor(onDisk: Promise<void> | null): void {
    this.#onDisk = onDisk;
  }

  /** Runs until the turn waits, ends, or the program closes. Throws only store errors. */
  async run(): Promise<Step> {
    // A sleep before this run does not count.
    this.#sleep.sleptMs();
    for (;;) {
      if (this.#halted) return 'halt';
      const intent = decide(this.#state);
      if (intent === null) return 'rest';
      if (this.#hasSlept()) continue;
      if (this.#onDisk !== null && !this.#asksOnly(intent)) {
        await this.#onDisk;
        this.#onDisk = null;
        if (this.#halted) return 'halt';
      }
      this.#phase = intent.phase;
      this.emit('brain.decided', { intent: intent.kind, reason: intent.reason, callIds: [...intent.callIds] });
      const performed = this.#perform(intent);
      const step = typeof performed === 'string' ? performed : await performed;
      if (this.#writeFailure !== null) throw toAppError(this.#writeFailure);
      if (step !== 'next') return step;
    }
  }

  /** The time in which the machine slept, or by which its clock was set ahead, does not count against the time limit of the turn. */
  #hasSlept(): boolean {
    const restedMs = this.#sleep.sleptMs();
    if (restedMs === 0) return false;
    this.emit('turn.resumed', { reason: 'The machine slept, or its clock was set ahead.', restedMs });
    return true;
  }

  /**
   * Returns whether the step only asks a model. Hooks are programs of the person and run before the model is asked, so they count as
   * effects.
   */
  #asksOnly({ kind }: Intent): boolean {
    const { hooks } = this.deps;
    const isHooked = hooks !== null && (hooks.has('before_run') || hooks.has('before_model'));
    return !isHooked && (kind === 'pack' || kind === 'complete');
  }

  #perform(intent: Intent): Step | Promise<Step> {
    switch (intent.kind) {
      case 'pack':
        return performPack(this, intent);
      case 'complete':
        return performComplete(this, intent);
      case 'authorize':
        return performAuthorize(this, intent);
      case 'refuse':
        return performRefuse(this, intent);
      case 'execute':
        return performExecute(this, intent);
      case 'observe':
        return this.#observe();
      case 'verify':
        return performVerify(this, intent);
      case 'reflect':
        this.emit('reflection.recorded', intent.reflection);
        return 'next';
      case 'wait':
        return performWait(this, intent);
      case 'respond':
        return performRespond(this, intent);
      default:
        return unreachable(intent, 'intent');
    }
  }

  #start({ model, continues, channel, agentId, bounds, helper, workspace }: EventBodies['turn.started']): void {
    this.#model = model;
    this.#workspace = workspace ?? null;
    this.#origin = { channel: channel ?? this.origin.channel, agentId };
    this.#continues = continues?.turnIds ?? [];
    this.#bounds = bounds ?? null;
    this.#boundsAfterPlan = bounds === undefined ? null : withoutPlan(bounds);
    this.#helper = helper ?? null;
    if (helper !== undefined) this.#origin = { ...this.origin, helper: calledBy(helper) };
  }

  #observe(): Step {
    const { calls } = this.#state;
    const failed = calls.filter((call) => call.outcome !== 'ok').length;
    this.emit('observation.recorded', {
      callIds: calls.map((call) => call.callId),
      failed,
      repeated: countRepeats(this.#state).repeatedMost,
    });
    return 'next';
  }

  #fold(event: TurnEvent): void {
    this.#state = applyEvent(this.#state, event);
    this.governed?.apply(event);
    if (event.type === 'turn.finished') this.#finished = event.body;
    if (event.type === 'user.message') this.#origin = { ...this.origin, channel: event.body.channel };
    if (event.type === 'turn.started') this.#start(event.body);
    if (event.type === 'pack.built') this.#packs = Math.max(this.#packs, packNumber(event.body.packId));
  }
}

function calledBy({ jobId, label, agentId, from: { sessionId, turnId } }: HelperOrigin): NonNullable<CallOrigin['helper']> {
  return { jobId, label, agentId, sessionId, turnId };
}

/**
 * Runs the action after one round of the event loop, so that work just begun leaves the process first. Returns a function that cancels it.
 */
function onceUnderWay(action: () => void): () => void {
  let next = setImmediate(() => {
    next = setImmediate(action);
  });
  return () => {
    clearImmediate(next);
  };
}

function packNumber(packId: string): number {
  const number = Number(packId.slice(packId.lastIndexOf('-p') + 2));
  assert(Number.isInteger(number), `pack id ${packId} ends in its number`);
  return number;
}
