// A small in-memory Claw for tests of the doors: real parameter checks, real events and deltas, and turns that follow a script. Behaves as
// the port promises, but decides and runs nothing.

import * as z from 'zod';
import { Emitter } from '../../core/base/emitter.ts';
import { CountingIds } from './counting-ids.ts';
import type { EventsQuery } from '../../core/contracts/claw.ts';
import { AppError, type ErrorBody } from '../../core/contracts/errors.ts';
import type { AnyDraft, AnyEvent, DeltaNotice, TurnStatus } from '../../core/contracts/events.ts';
import { opSchemas, type Caller, type OpHandlers, type OpName, type OpParams, type OpResult } from '../../core/contracts/ops.ts';
import { type AskResult, type SessionInfo } from '../../core/contracts/op-results.ts';
import type { Approval } from '../../core/contracts/policy.ts';
import type { ToolRunResult } from '../../core/contracts/tools.ts';
import type { HostedRuntime } from '../../core/doors/cli/cli.ts';

interface AskedCall {
  readonly tool: string;
  readonly args: string;
  readonly onlyOnce?: boolean;
  readonly opens?: { readonly path: string; readonly identity: string };
}

export type Step =
  /** `after` is appended to the last answer by the runtime. */
  | { readonly say: string; readonly lost?: boolean; readonly after?: string }
  | { readonly ask: AskedCall }
  | { readonly fail: ErrorBody; readonly status?: 'failed' | 'over_budget' | 'stopped' }
  | { readonly hang: true };

export interface RecordedCall {
  readonly name: OpName;
  readonly params: unknown;
  readonly caller: Omit<Caller, 'signal'> | null;
}

interface Turn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly steps: Step[];
  readonly isTool: boolean;
  status: TurnStatus;
  text: string;
  error: ErrorBody | null;
}

const nowMs = 1_750_000_000_000;
const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0 };

const widerScopes = {
  widerScope: 'write for files in notes/',
  choices: [
    { match: { kind: 'folder' as const, tool: 'write', folder: '/ws/notes' }, covers: 'write for files in notes/' },
    { match: { kind: 'writes' as const, tool: '*' as const, folder: '/ws/notes' }, covers: 'write files under notes/' },
  ],
};

export class FakeClaw implements HostedRuntime {
  readonly calls: RecordedCall[] = [];
  readonly log: AnyEvent[] = [];
  lastSeq = 0;
  readonly approvals: Approval[] = [];
  /** The scripts of the next turns; a turn without a script says "ok". */
  readonly scripts: Step[][] = [];
  answers: Partial<OpHandlers>;
  isClosed = false;
  onWait: (() => void) | null = null;
  readonly #ids = new CountingIds();
  readonly #turns = new Map<string, Turn>();
  readonly #changed = new Emitter<void>(rethrow);
  readonly #deltas = new Emitter<DeltaNotice>(rethrow);

  constructor(answers: Partial<OpHandlers> = {}) {
    this.answers = answers;
  }

  async op<N extends OpName>(name: N, params: OpParams<N>, caller?: Caller): Promise<OpResult<N>> {
    const parsed = z.safeParse(opSchemas[name].params, params);
    if (!parsed.success) throw new AppError('invalid_params', `${name}: ${parsed.error.issues[0]?.message ?? 'wrong parameters'}`);
    this.calls.push({ name, params: parsed.data, caller: caller === undefined ? null : { channel: caller.channel, actor: caller.actor } });
    const handlers: Partial<OpHandlers> = { ...this.#own(), ...this.answers };
    const handler = handlers[name] as ((params: unknown, caller: Caller) => OpResult<N> | Promise<OpResult<N>>) | undefined;
    // Behaves like a runtime without plugins.
    if (handler === undefined && name === 'plugin.call') throw new AppError('unknown_op', 'There is no such operation.');
    if (handler === undefined) throw new AppError('not_found', `the fake has no answer for ${name}`);
    return handler(parsed.data, caller ?? { channel: 'library', actor: 'test' });
  }

  async *#events(query: EventsQuery, after: number): AsyncGenerator<AnyEvent> {
    let seen = after;
    while (!this.isClosed && query.signal?.aborted !== true) {
      const event = this.log.find((one) => one.seq > seen && (query.sessionId === undefined || one.sessionId === query.sessionId));
      if (event === undefined) await this.#next(query.signal);
      else {
        seen = event.seq;
        yield event;
      }
    }
  }

  events(query: EventsQuery): AsyncIterable<AnyEvent> {
    return this.#events(query, query.after === 'latest' ? this.log.length : query.after);
  }

  onDelta(listener: (delta: DeltaNotice) => void): () => void {
    return this.#deltas.on(listener);
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.#changed.emit();
    return Promise.resolve();
  }

  runningTurns(): number {
    return [...this.#turns.values()].filter((turn) => turn.status === 'running').length;
  }

  async whenIdle(): Promise<void> {
    while (this.runningTurns() > 0) await this.#next(undefined);
  }

  emitDelta(delta: DeltaNotice): void {
    this.#deltas.emit(delta);
  }

  append(sessionId: string, draft: AnyDraft): void {
    const sessionSeq = this.log.filter((event) => event.sessionId === sessionId).length + 1;
    const place = { seq: this.log.length + 1, sessionId, sessionSeq, turnId: null, step: 0, phase: null, v: 1, atMs: nowMs };
    this.log.push({ ...place, ...draft });
    this.lastSeq = this.log.length;
    this.#changed.emit();
  }

  sessionInfo(sessionId: string, status: TurnStatus | null = null): SessionInfo {
    const about = { title: 'Fake', agentId: 'main', channel: 'cli', archived: false, lastText: '', events: 1, pendingApprovals: 0 };
    const marks = { pinned: false, unread: 0, seenSeq: 0, model: null, workspace: null, planFirst: null };
    return { sessionId, ...about, ...marks, createdAtMs: nowMs, updatedAtMs: nowMs, status };
  }

  #next(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const finish = (): void => {
        off();
        signal?.removeEventListener('abort', finish);
        resolve();
      };
      const off = this.#changed.on(finish);
      signal?.addEventListener('abort', finish, { once: true });
    });
  }

  #own(): Partial<OpHandlers> {
    return {
      'approval.diff': () => ({ files: [] }),
      'running.list': () => ({ turns: [], commands: [] }),
      'model.list': () => ({ models: [], defaultModel: 'lab/m', problem: null, failed: [], offers: [] }),
      'message.send': ({ sessionId }) => {
        const turn = this.#start(sessionId ?? this.#ids.next('ses'), this.scripts.shift() ?? [{ say: 'ok' }], false);
        return { sessionId: turn.sessionId, turnId: turn.turnId };
      },
      'turn.wait': async ({ turnId }, caller) => {
        const turn = this.#turn(turnId);
        this.onWait?.();
        while (turn.status === 'running' && caller.signal?.aborted !== true) await this.#next(caller.signal);
        return this.#askResult(turn);
      },
      'turn.cancel': ({ turnId }) => {
        const turn = this.#turn(turnId);
        this.#finish(turn, 'cancelled', null);
        return { turnId, status: turn.status };
      },
      'tool.run': async ({ tool, args, sessionId, wait }, caller) => {
        const ask: Step = { ask: { tool, args: JSON.stringify(args) } };
        const steps: Step[] = tool === 'read' ? [{ say: 'read it' }] : [ask, { say: `${tool} ran` }];
        const turn = this.#start(sessionId ?? this.#ids.next('ses'), steps, true);
        while (wait !== false && (turn.status === 'running' || turn.status === 'waiting')) await this.#next(caller.signal);
        const pending = this.#pendingOf(turn);
        const outcome: ToolRunResult['outcome'] = pending.length > 0 ? 'waiting' : turn.status === 'done' ? 'ok' : 'denied';
        const result = { callId: callIdOf(turn), outcome, forUser: turn.text, forModel: turn.text, artifacts: [] } satisfies ToolRunResult;
        return { ...result, turnId: turn.turnId, sessionId: turn.sessionId, ...(pending.length > 0 ? { pending } : {}) };
      },
      'workspace.look': ({ path }) => ({ path, state: 'configured', reason: '', risks: [], trustedBy: null }),
      'workspace.list': () => ({ configured: '/data/workspace', workspaces: [] }),
      'approval.list': ({ all }) => ({ approvals: this.approvals.filter((one) => all === true || one.state === 'pending') }),
      'approval.decide': ({ approvalId, decision, scope }, caller) => this.#decide(approvalId, decision, scope ?? { kind: 'once' }, caller),
      'session.list': () => {
        const newest = new Map([...this.#turns.values()].map((turn) => [turn.sessionId, turn.status]));
        return { sessions: [...newest].map(([sessionId, status]) => this.sessionInfo(sessionId, status)), nextCursor: null };
      },
      'session.get': ({ sessionId }) => {
        const turn = [...this.#turns.values()].findLast((one) => one.sessionId === sessionId);
        if (turn === undefined) throw new AppError('not_found', `There is no session ${sessionId}.`);
        return { session: this.sessionInfo(sessionId, turn.status), events: [], earlierBefore: null };
      },
      'command.run': ({ line, sessionId }) => {
        const command = /^\/(\w+)/.exec(line)?.[1] ?? '';
        return { command, text: `did ${line}`, sessionId: sessionId ?? null, turnId: null, waiting: false, follow: false, file: null };
      },
      'telegram.status': () => ({
        state: 'off',
        sinceMs: 0,
        problem: null,
        bot: null,
        lastUpdateMs: null,
        people: 0,
        pairings: 0,
        strangers: 0,
      }),
      'panic.status': () => ({ engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null }),
    };
  }

  #decide(approvalId: string, decision: 'approve' | 'deny', scope: Approval['scope'], caller: Caller): Approval {
    const at = this.approvals.findIndex((one) => one.approvalId === approvalId);
    const approval = this.approvals[at];
    if (approval === undefined) throw new AppError('not_found', `no approval ${approvalId}`);
    if (approval.state !== 'pending') throw new AppError('approval_not_pending', 'It was already decided.');
    const state = decision === 'approve' ? 'approved' : 'denied';
    const decided: Approval = {
      ...approval,
      state,
      decidedAtMs: nowMs,
      decidedBy: caller.actor,
      scope: decision === 'deny' ? null : approval.widerScope === null ? { kind: 'once' } : scope,
    };
    this.approvals[at] = decided;
    const body = { approvalId, callId: approval.callId, decision, scope: decided.scope, by: caller.actor, grantId: null };
    this.append(approval.sessionId, { type: 'approval.decided', turnId: approval.turnId ?? null, body });
    const turn = this.#turn(approval.turnId ?? '');
    turn.status = 'running';
    if (decision === 'approve') this.#advance(turn);
    else this.#finish(turn, turn.isTool ? 'failed' : 'done', null, 'It was denied.');
    return decided;
  }

  #start(sessionId: string, steps: readonly Step[], isTool: boolean): Turn {
    const turnId = this.#ids.next('trn');
    const turn: Turn = { turnId, sessionId, steps: [...steps], isTool, status: 'running', text: '', error: null };
    this.#turns.set(turnId, turn);
    const limits = { steps: 50, turnMs: 1000, sameCall: 3, parallelReads: 8 };
    this.append(sessionId, {
      type: 'turn.started',
      turnId,
      body: { kind: isTool ? 'tool' : 'chat', agentId: 'main', model: null, limits, calls: [] },
    });
    // A tool run without waiting returns its state at once; a message returns before its turn continues.
    if (isTool) this.#advance(turn);
    else setImmediate(() => this.#advance(turn));
    return turn;
  }

  #advance(turn: Turn): void {
    for (let step = turn.steps.shift(); turn.status === 'running'; step = turn.steps.shift()) {
      if (step === undefined) return this.#finish(turn, 'done', null);
      if ('hang' in step) return;
      if ('fail' in step) return this.#finish(turn, step.status ?? 'failed', step.fail);
      if ('ask' in step) return this.#askFor(turn, step.ask);
      this.#say(turn, step);
      // The next model output is scheduled separately, so that subscribers see this one first.
      if (!turn.isTool) return void setImmediate(() => this.#advance(turn));
    }
  }

  #say(turn: Turn, step: { readonly say: string; readonly lost?: boolean; readonly after?: string }): void {
    turn.text = step.say + (step.after ?? '');
    const { sessionId, turnId } = turn;
    for (const text of step.lost === true ? [] : (step.say.match(/\S+\s*|\s+/g) ?? [])) {
      this.emitDelta({ kind: 'text', sessionId, turnId, callId: null, text });
    }
    if (turn.isTool) return;
    const rest = { usage, usageReported: true, costUsd: 0, finishReason: 'stop', tookMs: 1, firstTokenMs: 1 } as const;
    this.append(sessionId, {
      type: 'model.finished',
      turnId,
      body: { requestId: 'req_1', text: step.say, reasoning: '', calls: [], ...rest },
    });
  }

  #askFor(turn: Turn, ask: AskedCall): void {
    turn.status = 'waiting';
    const approval: Approval = {
      approvalId: this.#ids.next('apr'),
      callId: callIdOf(turn),
      tool: ask.tool,
      summary: `Wants to ${ask.tool}`,
      risk: 'It can change files.',
      reason: 'Not allowed by a rule.',
      ruleId: 'ask.write',
      facts: { class: 'write', paths: [], command: null, hosts: [], ...(ask.opens === undefined ? {} : { opens: ask.opens }) },
      args: ask.args,
      ...(ask.onlyOnce === true ? { widerScope: null } : widerScopes),
      origin: { channel: 'cli', agentId: 'main', taint: [{ kind: 'web', where: 'a.example' }] },
      createdAtMs: nowMs,
      sessionId: turn.sessionId,
      turnId: turn.turnId,
      state: 'pending',
      decidedAtMs: null,
      decidedBy: null,
      scope: null,
    };
    this.approvals.push(approval);
    this.append(turn.sessionId, { type: 'approval.requested', turnId: turn.turnId, body: { approval } });
  }

  #finish(
    turn: Turn,
    status: 'done' | 'failed' | 'cancelled' | 'over_budget' | 'stopped',
    error: ErrorBody | null,
    text = turn.text,
  ): void {
    if (turn.status !== 'running' && turn.status !== 'waiting') throw new AppError('turn_not_running', 'The turn is over.');
    turn.status = status;
    turn.text = text;
    turn.error = error;
    const { sessionId, turnId } = turn;
    if (turn.isTool) this.#finishCall(turn);
    const body = { status, text, error, usage, costUsd: 0, modelCalls: 1, toolCalls: 0 };
    this.append(sessionId, { type: 'turn.finished', turnId, body });
  }

  #finishCall(turn: Turn): void {
    const outcome = turn.status === 'done' ? 'ok' : 'denied';
    const fixed = { silent: false, isAsync: false, artifacts: [], tookMs: 1, resultHash: 'h' };
    const body = { callId: callIdOf(turn), tool: 'write', outcome, forModel: `model: ${turn.text}`, forUser: turn.text, ...fixed } as const;
    this.append(turn.sessionId, { type: 'tool.finished', turnId: turn.turnId, body });
  }

  #turn(turnId: string): Turn {
    const turn = this.#turns.get(turnId);
    if (turn === undefined) throw new AppError('not_found', `no turn ${turnId}`);
    return turn;
  }

  #pendingOf(turn: Turn): NonNullable<AskResult['pending']> {
    return this.approvals
      .filter((one) => one.turnId === turn.turnId && one.state === 'pending')
      .map(({ approvalId, tool, args, facts, summary, risk }) => ({ approvalId, tool, args, facts, summary, risk }));
  }

  #askResult(turn: Turn): AskResult {
    const pending = this.#pendingOf(turn);
    const { sessionId, turnId, status, text, error } = turn;
    const result: AskResult = { sessionId, turnId, status, text, usage: { ...usage, costUsd: 0 } };
    return { ...result, ...(error === null ? {} : { error }), ...(pending.length > 0 ? { pending } : {}) };
  }
}

function callIdOf(turn: Turn): string {
  return `call_${turn.turnId}`;
}

function rethrow(cause: unknown): never {
  throw cause;
}
