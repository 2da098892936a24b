// Properties of the fold and the decision, driven by a model of the world that answers every intent in any way it may be answered.

import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { unreachable } from '../../base/assert.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { Idempotency } from '../../contracts/tools.ts';
import { applyEvent, decide, emptyTurn, isResolved, replayTurn, type Intent, type TurnEvent, type TurnState } from './brain.ts';

const limits = { steps: 6, turnMs: 1_000_000, sameCall: 2, parallelReads: 3 };
const STEPS_MAX = 600;

/** Draws from a list of numbers, then zeros: what the world does next is what fast-check chose. */
class Chooser {
  readonly #numbers: readonly number[];
  #used = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  pick(count: number): number {
    return (this.#numbers[this.#used++] ?? 0) % count;
  }
}

/** Simulates the runtime: performs intents with chosen outcomes, interrupted by restarts, answers, steering and cancelling. */
class World {
  readonly events: TurnEvent[] = [];
  readonly requested = new Map<string, number>();
  readonly retried = new Map<string, number>();
  state: TurnState = emptyTurn;
  #atMs = 1;
  #ids = 0;
  readonly #choose: Chooser;

  constructor(numbers: readonly number[]) {
    this.#choose = new Chooser(numbers);
    const direct = this.#choose.pick(5) === 4;
    const calls = direct ? [this.#newCall()] : [];
    this.#put({ type: 'turn.started', body: { kind: direct ? 'tool' : 'chat', agentId: 'main', model: 'lab/m', limits, calls } });
  }

  get modelCalls(): number {
    return this.events.filter(({ type }) => type === 'model.requested').length;
  }

  /** One decision and what comes of it. Null when nothing is left to decide. */
  step(): Intent | null {
    const intent = decide(this.state);
    if (intent === null) return null;
    this.#checkLegal(intent);
    this.#put({ type: 'brain.decided', body: { intent: intent.kind, reason: intent.reason, callIds: [...intent.callIds] } });
    this.#perform(intent);
    return intent;
  }

  #checkLegal(intent: Intent): void {
    const calls = intent.callIds.map((id) => this.state.calls.find(({ callId }) => callId === id));
    if (intent.kind === 'execute') expect(calls.map((call) => call?.status)).toEqual(calls.map(() => 'allowed'));
    if (intent.kind === 'wait') {
      expect(calls.length).toBeGreaterThan(0);
      for (const call of calls) expect(['waiting', 'running', 'unknown']).toContain(call?.status);
    }
    if (intent.kind === 'respond' && intent.status === 'done') expect(this.state.calls.every(isResolved)).toBe(true);
  }

  #perform(intent: Intent): void {
    switch (intent.kind) {
      case 'pack':
        this.#put({
          type: 'pack.built',
          body: { packId: this.#id(), tokens: 1, budgetTokens: 2, sections: [], dropped: [], truncated: [], fromSessionSeq: 1 },
        });
        return;
      case 'complete':
        return this.#complete();
      case 'authorize':
        for (const callId of intent.callIds) this.#authorize(callId);
        return;
      case 'refuse':
        for (const callId of intent.callIds) this.#reject(callId, 'loop_detected');
        return;
      case 'execute':
        return this.#execute(intent.callIds);
      case 'observe':
        this.#put({ type: 'observation.recorded', body: { callIds: [...intent.callIds], failed: 0, repeated: 0 } });
        return;
      case 'verify':
        for (const callId of intent.callIds)
          this.#put({ type: 'verification.finished', body: { callId, ok: this.#choose.pick(3) > 0, detail: '' } });
        return;
      case 'reflect':
        this.#put({ type: 'reflection.recorded', body: intent.reflection });
        return;
      case 'wait':
        return this.#wait(intent.callIds);
      case 'respond':
        this.#put({
          type: 'turn.finished',
          body: {
            status: intent.status,
            text: intent.text,
            error: intent.error,
            usage: this.state.usage,
            costUsd: 0,
            modelCalls: 0,
            toolCalls: 0,
          },
        });
        return;
      default:
        unreachable(intent, 'intent');
    }
  }

  #complete(): void {
    if (this.#choose.pick(12) === 11) {
      this.#put({ type: 'budget.exceeded', body: { scope: 'turn', unit: 'usd', limit: 1, spent: 2 } });
      return;
    }
    const requestId = this.#id();
    this.#put({ type: 'model.requested', body: { requestId, packId: this.state.packId ?? '', model: 'lab/m' } });
    if (this.#choose.pick(6) === 5) this.#interrupt();
    // A restart forgets the request; the answer never comes.
    if (this.state.requestId === null) return;
    const outcome = this.#choose.pick(8);
    if (outcome === 7 || outcome === 6) {
      const code = outcome === 7 ? 'model_context_overflow' : 'model_cut_off';
      this.#put({ type: 'model.failed', body: { requestId, error: { code, message: 'no' }, partialText: '', tookMs: 1 } });
      return;
    }
    const calls = Array.from({ length: outcome > 3 ? 0 : outcome + 1 }, () => this.#newCall());
    const usage = { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 };
    const text = this.#choose.pick(2) === 0 ? 'text' : '';
    this.#put({
      type: 'model.finished',
      body: {
        requestId,
        text,
        reasoning: '',
        calls,
        usage,
        usageReported: true,
        costUsd: 0,
        finishReason: 'stop',
        tookMs: 1,
        firstTokenMs: 1,
      },
    });
  }

  #authorize(callId: string): void {
    const choice = this.#choose.pick(6);
    if (choice === 5) return this.#reject(callId, 'unknown_tool');
    const decision = (['allow', 'allow', 'ask', 'ask', 'deny'] as const)[choice] ?? 'allow';
    const idempotency = (['pure', 'idempotent', 'unsafe'] as const)[this.#choose.pick(3)] ?? 'unsafe';
    this.#decided(callId, decision, idempotency);
  }

  #decided(callId: string, decision: 'allow' | 'ask' | 'deny', idempotency: Idempotency): void {
    const facts = { class: 'exec' as const, paths: [], command: null, hosts: [] };
    const approvalId = decision === 'ask' ? `apr-${callId}` : null;
    this.#put({
      type: 'policy.decided',
      body: {
        callId,
        tool: 't',
        decision,
        ruleId: 'r',
        reason: '',
        facts,
        idempotency,
        verifies: this.#choose.pick(2) === 1,
        grantId: null,
        approvalId,
      },
    });
  }

  #reject(callId: string, code: 'unknown_tool' | 'loop_detected'): void {
    this.#put({ type: 'tool.rejected', body: { callId, tool: 't', error: { code, message: 'no' } } });
  }

  #execute(callIds: readonly string[]): void {
    for (const callId of callIds) {
      if (this.#choose.pick(10) === 9) {
        // The approved call has changed: a new approval is requested.
        this.#decided(callId, 'ask', this.state.calls.find((call) => call.callId === callId)?.idempotency ?? 'unsafe');
        continue;
      }
      this.#request(callId);
    }
    for (const callId of callIds) {
      if (this.#status(callId) !== 'running') continue;
      if (this.#choose.pick(6) === 5) this.#interrupt();
      if (this.#status(callId) === 'running') this.#finish(callId, this.#choose.pick(3) === 2 ? 'error' : 'ok');
    }
  }

  #request(callId: string): void {
    const idempotency = this.state.calls.find((call) => call.callId === callId)?.idempotency ?? 'unsafe';
    const times = (this.requested.get(callId) ?? 0) + 1;
    this.requested.set(callId, times);
    if (idempotency === 'unsafe') expect(times).toBeLessThanOrEqual(1 + (this.retried.get(callId) ?? 0));
    this.#put({
      type: 'tool.requested',
      body: { callId, tool: 't', args: '{}', argsHash: '', idempotency, idempotencyKey: callId, grantId: null },
    });
  }

  #finish(callId: string, outcome: 'ok' | 'error' | 'unknown'): void {
    const resultHash = String(this.#choose.pick(2));
    this.#put({
      type: 'tool.finished',
      body: { callId, tool: 't', outcome, forModel: '', forUser: '', silent: false, isAsync: false, artifacts: [], tookMs: 1, resultHash },
    });
  }

  #wait(callIds: readonly string[]): void {
    this.#put({ type: 'turn.waiting', body: { approvalIds: [], callIds: [...callIds] } });
    if (this.#choose.pick(8) === 7) this.#interrupt();
    if (this.state.cancel !== null) return;
    for (const callId of callIds) {
      if (this.#status(callId) === 'waiting') {
        const decision = this.#choose.pick(3) === 2 ? 'deny' : 'approve';
        this.#put({
          type: 'approval.decided',
          body: { approvalId: `apr-${callId}`, callId, decision, scope: null, by: 'p', grantId: null },
        });
      } else if (this.#status(callId) === 'unknown') this.#settle(callId);
    }
    this.#put({ type: 'turn.resumed', body: { reason: 'answered' } });
  }

  #settle(callId: string): void {
    const answer = (['done', 'retry', 'abandon'] as const)[this.#choose.pick(3)] ?? 'done';
    this.#put({ type: 'tool.outcome_settled', body: { callId, answer, by: 'p' } });
    if (answer === 'retry') this.retried.set(callId, (this.retried.get(callId) ?? 0) + 1);
    else this.#finish(callId, 'unknown');
  }

  /** A crash and the start after it, words of the person, or the wish to end. */
  #interrupt(): void {
    const what = this.#choose.pick(4);
    if (what === 3)
      this.#put({ type: 'turn.cancel_requested', body: { reason: 'stop', by: this.#choose.pick(2) === 0 ? 'person' : 'panic' } });
    else if (what === 2) this.#put({ type: 'turn.steered', body: { text: 'also', sender: 'p' } });
    else {
      for (const call of this.state.calls) {
        if (call.status === 'running' && call.idempotency === 'unsafe')
          this.#put({ type: 'tool.outcome_unknown', body: { callId: call.callId, tool: 't', args: '{}', reason: '' } });
      }
      this.#put({ type: 'turn.resumed', body: { reason: 'restart' } });
    }
  }

  #newCall(): { callId: string; providerCallId: string; tool: string; args: string } {
    const callId = this.#id();
    return { callId, providerCallId: callId, tool: 't', args: `{"n":${this.#choose.pick(3)}}` };
  }

  #status(callId: string): string | undefined {
    return this.state.calls.find((call) => call.callId === callId)?.status;
  }

  #id(): string {
    return `id${++this.#ids}`;
  }

  #put(event: { [T in AnyEvent['type']]: Pick<Extract<AnyEvent, { type: T }>, 'type' | 'body'> }[AnyEvent['type']]): void {
    const stamped = { ...event, atMs: ++this.#atMs } as TurnEvent;
    this.events.push(stamped);
    this.state = applyEvent(this.state, stamped);
  }
}

const choices = fc.array(fc.nat({ max: 1_000_000 }), { minLength: 0, maxLength: 300, size: 'max' });

function play(numbers: readonly number[]): World {
  const world = new World(numbers);
  for (let step = 0; step < STEPS_MAX; step++) if (world.step() === null) return world;
  throw new Error(`the turn does not end: ${JSON.stringify(world.events.slice(-6))}`);
}

test('whatever the world answers, a turn ends, with legal decisions on the way and nothing to decide after it', () => {
  fc.assert(
    fc.property(choices, (numbers) => {
      const world = play(numbers);
      expect([world.state.status, decide(world.state)]).toEqual(['finished', null]);
      expect(world.modelCalls).toBeLessThanOrEqual(limits.steps + 1 + world.events.filter(({ type }) => type === 'turn.resumed').length);
    }),
    { numRuns: 600 },
  );
});

test('an unsafe call is requested once, and again for each decision to retry', () => {
  fc.assert(
    fc.property(choices, (numbers) => {
      const world = play(numbers);
      for (const [callId, times] of world.requested) {
        const decided = world.events.find((event) => event.type === 'policy.decided' && event.body.callId === callId);
        const isUnsafe = decided?.type === 'policy.decided' && decided.body.idempotency === 'unsafe';
        if (isUnsafe) expect(times).toBeLessThanOrEqual(1 + (world.retried.get(callId) ?? 0));
      }
    }),
    { numRuns: 300 },
  );
});

test('folding what was recorded decides the same again, and a changed record is seen', () => {
  fc.assert(
    fc.property(choices, (numbers) => {
      const { events } = play(numbers);
      const recorded = events.map((event, index) => ({
        ...event,
        seq: index + 1,
        sessionId: 's',
        sessionSeq: index + 1,
        turnId: 't',
        step: 0,
        phase: null,
        v: 1,
      })) as AnyEvent[];
      const decisions = events.filter(({ type }) => type === 'brain.decided').length;
      expect(replayTurn(recorded)).toEqual({ identical: true, decisions, differences: [] });
      const forged = recorded.map((event) =>
        event.type === 'brain.decided' ? { ...event, body: { ...event.body, intent: 'execute', callIds: ['never-asked'] } } : event,
      );
      expect(replayTurn(forged).identical).toBe(false);
    }),
    { numRuns: 200 },
  );
});

test('any known events in any order never make a decision throw, once the turn has begun', () => {
  const pieces = fc.array(
    choices.map((numbers) => play(numbers).events.slice(1)),
    { minLength: 1, maxLength: 3 },
  );
  fc.assert(
    fc.property(choices, pieces, fc.integer(), (numbers, others, seed) => {
      const start = new World(numbers).events;
      const shuffled = others.flat().toSorted((a, b) => ((a.atMs * seed) % 1013) - ((b.atMs * seed) % 1013));
      let state = start.reduce(applyEvent, emptyTurn);
      for (const event of shuffled) {
        // A second result for a call is refused by the log and never reaches the fold.
        if ('callId' in event.body && event.body.callId !== null && isResolvedCall(state, event.body.callId)) continue;
        state = applyEvent(state, event);
        const intent = decide(state);
        if (intent?.kind === 'execute') {
          const statuses = intent.callIds.map((id) => state.calls.find((call) => call.callId === id)?.status);
          expect(statuses).toEqual(statuses.map(() => 'allowed'));
        }
        if (intent?.kind === 'wait') expect(intent.callIds.length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 200 },
  );
});

function isResolvedCall(state: TurnState, callId: string): boolean {
  const call = state.calls.find((one) => one.callId === callId);
  return call !== undefined && isResolved(call);
}

test('the world of these properties reaches every kind of decision, restarts in the middle of calls, and every end', () => {
  const worlds = fc.sample(choices, { numRuns: 800, seed: 5 }).map(play);
  const events = worlds.flatMap((world) => world.events);
  const intents = new Set(events.flatMap((event) => (event.type === 'brain.decided' ? [event.body.intent] : [])));
  const kinds = ['pack', 'complete', 'authorize', 'execute', 'refuse', 'observe', 'verify', 'reflect', 'wait', 'respond'];
  expect([...intents].sort()).toEqual(kinds.sort());
  const ends = new Set(events.flatMap((event) => (event.type === 'turn.finished' ? [event.body.status] : [])));
  expect([...ends].sort()).toEqual(['cancelled', 'done', 'failed', 'over_budget', 'stopped']);
  expect(events.some(({ type }) => type === 'tool.outcome_unknown')).toBe(true);
  expect(worlds.some((world) => [...world.retried.values()].some((times) => times > 0))).toBe(true);
});

test('a chat whose folder a person did not open ends before any model is asked', () => {
  const call = { callId: 'c', providerCallId: 'c', tool: 'open_workspace', args: '{}' };
  const started = { kind: 'chat' as const, agentId: 'main', model: 'lab/m', limits, calls: [call], workspace: '/p' };
  const decided = { callId: 'c', tool: 'open_workspace', ruleId: 'ask.workspace', reason: '', grantId: null, approvalId: 'apr_1' };
  const facts = { class: 'read' as const, paths: [], command: null, hosts: [] };
  const gate = { ...decided, decision: 'ask' as const, facts, idempotency: 'pure' as const, verifies: false };
  const answer = { approvalId: 'apr_1', callId: 'c', scope: null, by: 'ada', grantId: null };
  const fold = (decision: 'approve' | 'deny'): TurnState =>
    (
      [
        { type: 'turn.started', atMs: 1, body: started },
        { type: 'policy.decided', atMs: 1, body: gate },
        { type: 'approval.decided', atMs: 1, body: { ...answer, decision } },
        { type: 'observation.recorded', atMs: 1, body: { callIds: ['c'], failed: 1, repeated: 1 } },
      ] satisfies TurnEvent[]
    ).reduce(applyEvent, emptyTurn);
  expect(decide(fold('deny'))).toMatchObject({ kind: 'respond', status: 'failed', error: { code: 'denied' } });
  expect(decide(fold('approve'))).toMatchObject({ kind: 'execute' });
});
