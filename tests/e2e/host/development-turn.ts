// Runs one turn of the development host: the scripted model, the one-rule gate, the tools; every step as the real event types.

import { setTimeout as delay } from 'node:timers/promises';
import type { DraftOf, EventType, Phase } from '../../../core/contracts/events.ts';
import type { RequestedCall } from '../../../core/contracts/llm.ts';
import type { Approval, GrantScope } from '../../../core/contracts/policy.ts';
import { noUsage, type Usage } from '../../../core/contracts/llm.ts';
import { developmentTools, factsOf } from './development-tools.ts';
import type { EventLog } from './event-log.ts';
import type { ScriptedReply } from './window-host.ts';

export interface Answer {
  readonly decision: 'approve' | 'deny';
  readonly scope: GrantScope;
}

export interface TurnWorld {
  readonly log: EventLog;
  readonly files: Map<string, string>;
  readonly model: string;
  nextId(prefix: string): string;
  nextReply(): ScriptedReply;
  /** Resolves when a person decides; rejects when the signal aborts. */
  answerOf(approval: Approval, signal: AbortSignal): Promise<Answer>;
}

export type Ending = 'done' | 'failed' | 'cancelled' | 'stopped';

export class DevelopmentTurn {
  readonly turnId: string;
  readonly sessionId: string;
  readonly stop = new AbortController();
  /** Processes a stop would end. */
  running = 0;
  ending: Ending = 'cancelled';
  readonly #world: TurnWorld;
  #step = 1;
  #usage: Usage = noUsage;
  #modelCalls = 0;
  #toolCalls = 0;

  constructor(world: TurnWorld, sessionId: string, turnId: string) {
    this.#world = world;
    this.sessionId = sessionId;
    this.turnId = turnId;
  }

  async run(): Promise<void> {
    this.#append('turn.started', 'interpret', {
      kind: 'chat',
      agentId: 'main',
      model: this.#world.model,
      limits: { steps: 50, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 },
      calls: [],
    });
    try {
      await this.#think();
    } catch (cause) {
      if (!this.stop.signal.aborted) throw cause;
      this.#finish(this.ending, '', null);
    }
  }

  async #think(): Promise<void> {
    for (;;) {
      const reply = this.#world.nextReply();
      const calls = await this.#ask(reply);
      if (calls === null) return;
      if (calls.length === 0) break;
      for (const call of calls) await this.#call(call);
      const callIds = calls.map(({ callId }) => callId);
      this.#append('observation.recorded', 'observe', { callIds, failed: 0, repeated: 0 });
      this.#step += 1;
    }
  }

  /** The calls the model asked for; null when the turn is over because it failed. */
  async #ask(reply: ScriptedReply): Promise<RequestedCall[] | null> {
    const requestId = this.#world.nextId('req');
    const packId = this.#world.nextId('pak');
    this.#append('pack.built', 'plan', {
      packId,
      tokens: 1840,
      budgetTokens: 32_000,
      sections: [
        { name: 'rules', tokens: 620, items: 1 },
        { name: 'tools', tokens: 900, items: 5 },
        { name: 'conversation', tokens: 320, items: 2 },
      ],
      dropped: [],
      truncated: [],
      fromSessionSeq: 1,
    });
    this.#append('model.requested', 'plan', { requestId, packId, model: this.#world.model });
    this.#modelCalls += 1;
    const startedMs = performance.now();
    if (reply.fails !== undefined) return this.#failed(requestId, reply.fails);
    await this.#stream(reply);
    const calls = (reply.calls ?? []).map((call) => ({
      callId: this.#world.nextId('call'),
      providerCallId: 'p1',
      tool: call.tool,
      args: JSON.stringify(call.args),
    }));
    const usage = { inputTokens: 1840, outputTokens: 60, cachedInputTokens: 0 };
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
      cachedInputTokens: 0,
    };
    this.#append('model.finished', 'plan', {
      requestId,
      text: reply.text ?? '',
      reasoning: reply.reasoning ?? '',
      calls,
      usage,
      usageReported: true,
      costUsd: 0.0012,
      finishReason: calls.length > 0 ? 'tool_calls' : 'stop',
      tookMs: performance.now() - startedMs,
      firstTokenMs: 4,
    });
    if (calls.length === 0) this.#respond(reply.text ?? '');
    return calls;
  }

  #respond(text: string): void {
    this.#append('brain.decided', 'respond', { intent: 'respond', reason: 'The model asked for nothing more.', callIds: [] });
    this.#append('assistant.message', 'respond', { text });
    this.#finish('done', text, null);
  }

  #failed(requestId: string, message: string): null {
    const error = {
      code: 'model_unavailable',
      message,
      hint: 'Check that the model server is running and reachable, then try again.',
    } as const;
    this.#append('model.failed', 'plan', { requestId, error, partialText: '', tookMs: 3 });
    this.#finish('failed', '', error);
    return null;
  }

  async #stream(reply: ScriptedReply): Promise<void> {
    const { sessionId, turnId } = this;
    if (reply.reasoning !== undefined) this.#world.log.delta({ kind: 'reasoning', sessionId, turnId, callId: null, text: reply.reasoning });
    // Large texts in large pieces, so that a spec does not wait for a million of them.
    const size = Math.max(12, Math.ceil((reply.text ?? '').length / 400));
    for (let at = 0; at < (reply.text ?? '').length; at += size) {
      this.#world.log.delta({ kind: 'text', sessionId, turnId, callId: null, text: (reply.text ?? '').slice(at, at + size) });
      if (reply.pieceMs) await delay(reply.pieceMs, undefined, { signal: this.stop.signal });
    }
  }

  async #call(call: RequestedCall): Promise<void> {
    const args = JSON.parse(call.args) as Record<string, unknown>;
    const facts = factsOf(call.tool, args);
    const isFree = facts.class === 'read';
    this.#append('brain.decided', 'policy-gate', {
      intent: 'authorize',
      reason: `The model asked for ${call.tool}.`,
      callIds: [call.callId],
    });
    const decision = {
      callId: call.callId,
      tool: call.tool,
      decision: isFree ? 'allow' : 'ask',
      ruleId: isFree ? 'read.workspace' : `${facts.class}.ask`,
      reason: isFree ? 'Reading inside the workspace is free.' : 'This changes something on your machine.',
      facts,
      idempotency: isFree ? 'pure' : 'unsafe',
      verifies: call.tool === 'write_file',
      grantId: null,
      approvalId: null,
    } as const;
    this.#append('policy.decided', 'policy-gate', decision);
    if (!isFree && !(await this.#approved(call, decision.reason, decision.ruleId))) {
      this.#finishCall(call, 'denied', 'You denied this call.', 0);
      return;
    }
    await this.#execute(call, args);
  }

  async #approved(call: RequestedCall, reason: string, ruleId: string): Promise<boolean> {
    const args = JSON.parse(call.args) as Record<string, unknown>;
    const tool = developmentTools[call.tool];
    const approval: Approval = {
      approvalId: this.#world.nextId('apr'),
      callId: call.callId,
      tool: call.tool,
      summary: tool?.summarize(args) ?? `Wants to call ${call.tool}`,
      risk: tool?.risk ?? 'Unknown.',
      reason,
      ruleId,
      facts: factsOf(call.tool, args),
      args: call.args,
      widerScope: call.tool === 'exec' ? 'run this very command in this folder' : 'write files in the workspace',
      createdAtMs: Date.now(),
      sessionId: this.sessionId,
      turnId: this.turnId,
      state: 'pending',
      decidedAtMs: null,
      decidedBy: null,
      scope: null,
    };
    this.#append('approval.requested', 'policy-gate', { approval });
    this.#append('turn.waiting', 'policy-gate', { approvalIds: [approval.approvalId], callIds: [call.callId] });
    const { decision, scope } = await this.#world.answerOf(approval, this.stop.signal);
    const decided = { approvalId: approval.approvalId, callId: call.callId, decision, by: 'window', grantId: null };
    this.#append('approval.decided', 'policy-gate', { ...decided, scope: decision === 'approve' ? scope : null });
    this.#append('turn.resumed', 'policy-gate', { reason: 'A person decided.' });
    return decision === 'approve';
  }

  async #execute(call: RequestedCall, args: Record<string, unknown>): Promise<void> {
    const { sessionId, turnId } = this;
    this.#append('tool.requested', 'act', {
      callId: call.callId,
      tool: call.tool,
      args: call.args,
      argsHash: 'h',
      idempotency: 'unsafe',
      idempotencyKey: call.callId,
      grantId: null,
    });
    const startedMs = performance.now();
    const isProcess = call.tool === 'exec';
    if (isProcess) this.running += 1;
    const result = await developmentTools[call.tool]?.run(args, {
      files: this.#world.files,
      signal: this.stop.signal,
      onOutput: (text) => this.#world.log.delta({ kind: 'output', sessionId, turnId, callId: call.callId, text }),
    });
    if (isProcess) this.running -= 1;
    this.#toolCalls += 1;
    this.#finishCall(call, result?.outcome ?? 'error', result?.text ?? `There is no tool ${call.tool}.`, performance.now() - startedMs);
    this.stop.signal.throwIfAborted();
    if (call.tool === 'write_file') {
      this.#append('verification.finished', 'verify', { callId: call.callId, ok: true, detail: 'The file holds exactly what was asked.' });
    }
  }

  #finishCall(
    call: RequestedCall,
    outcome: 'ok' | 'error' | 'denied' | 'cancelled' | 'timeout' | 'skipped' | 'unknown',
    text: string,
    tookMs: number,
  ): void {
    const artifact = { sha256: 'a'.repeat(64), name: 'output.txt', mediaType: 'text/plain', sizeBytes: text.length };
    this.#append('tool.finished', 'observe', {
      callId: call.callId,
      tool: call.tool,
      outcome,
      forModel: text,
      forUser: text,
      silent: false,
      isAsync: false,
      artifacts: call.tool === 'exec' && outcome === 'ok' ? [artifact] : [],
      tookMs,
      resultHash: 'r',
    });
  }

  #finish(status: Ending, text: string, error: DraftOf<'turn.finished'>['body']['error']): void {
    const { modelCalls, toolCalls } = { modelCalls: this.#modelCalls, toolCalls: this.#toolCalls };
    this.#append('turn.finished', 'respond', { status, text, error, usage: this.#usage, costUsd: 0.0024, modelCalls, toolCalls });
  }

  #append<T extends EventType>(type: T, phase: Phase, body: DraftOf<T>['body']): void {
    this.#world.log.append(this.sessionId, { type, turnId: this.turnId, step: this.#step, phase, body });
  }
}
