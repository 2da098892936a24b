// Writes one finished turn of many events into a folder's log, through the store itself, before the server starts.

import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import type { AnyDraft } from '../../../core/contracts/events.ts';
import { SessionLog, sessionMigrations } from '../../../core/store/session/session.ts';
import { Storage } from '../../../core/store/storage/storage.ts';

export const longTurnId = 'trn_long_1';
export const longSessionId = 'ses_long';
const stepMs = 700;
const usage = { inputTokens: 1200, outputTokens: 90, cachedInputTokens: 300 };

/** Writes exactly this many events of one turn. */
export function writeLongTurn(home: string, events: number): void {
  const storage = Storage.open({ home, migrations: sessionMigrations });
  try {
    const log = new SessionLog({ storage, clock: systemClock, logger: silentLogger });
    const startMs = Date.now() - events * stepMs;
    const all = [...begin(), ...Array.from({ length: Math.ceil(events / 11) }, (_, index) => step(index + 1)).flat()].slice(0, events - 1);
    const drafts = [...all, end()].map((draft, index) => ({ ...draft, turnId: longTurnId, atMs: startMs + index * stepMs }));
    const created = { title: 'A long piece of work', agentId: 'main', channel: 'window', forkedFrom: null };
    log.append(longSessionId, [{ type: 'session.created', atMs: startMs, body: created }, ...drafts], true);
  } finally {
    storage.dispose();
  }
}

function begin(): AnyDraft[] {
  const limits = { steps: 500, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 };
  return [
    {
      type: 'user.message',
      phase: 'interpret',
      body: { text: 'Read every page of the handbook', channel: 'window', sender: 'window', dedupeKey: null },
    },
    { type: 'turn.started', phase: 'interpret', body: { kind: 'chat', agentId: 'main', model: 'lab/scripted', limits, calls: [] } },
  ];
}

function step(index: number): AnyDraft[] {
  const callId = `call_long_${index}`;
  const requestId = `req_long_${index}`;
  const packId = `${longTurnId}-p${index}`;
  const path = `handbook/page-${index}.md`;
  const args = JSON.stringify({ path });
  const paths = [{ given: path, real: `/home/ada/${path}`, access: 'read' as const, insideWorkspace: true, protectedBy: null }];
  const facts = { class: 'read' as const, paths, command: null, hosts: [] };
  const gate = { tool: 'read_file', decision: 'allow' as const, ruleId: 'read.workspace', idempotency: 'pure' as const, verifies: false };
  const sections = [{ name: 'system', tokens: 400, items: 1 }];
  const call = { callId, tool: 'read_file', args };
  const ended = {
    outcome: 'ok' as const,
    forModel: `Page ${index}: the quick brown fox, told again at some length. `.repeat(8),
    forUser: '',
    silent: false,
  };
  const answer = {
    text: '',
    reasoning: '',
    calls: [{ ...call, providerCallId: callId }],
    usage,
    usageReported: true,
    costUsd: 0.002,
    finishReason: 'tool_calls' as const,
  };
  return [
    { type: 'brain.decided', step: index, phase: 'plan', body: { intent: 'pack', reason: 'Show the model what came of it.', callIds: [] } },
    {
      type: 'pack.built',
      step: index,
      phase: 'plan',
      body: { packId, tokens: 2_000 + index, budgetTokens: 24_000, sections, dropped: [], truncated: [], fromSessionSeq: 1 },
    },
    {
      type: 'brain.decided',
      step: index,
      phase: 'plan',
      body: { intent: 'complete', reason: 'The pack is ready: ask the model.', callIds: [] },
    },
    { type: 'model.requested', step: index, phase: 'plan', body: { requestId, packId, model: 'lab/scripted' } },
    { type: 'model.finished', step: index, phase: 'plan', body: { ...answer, requestId, tookMs: stepMs, firstTokenMs: 90 } },
    {
      type: 'brain.decided',
      step: index,
      phase: 'policy-gate',
      body: { intent: 'authorize', reason: 'Ask the gate about 1 call.', callIds: [callId] },
    },
    {
      type: 'policy.decided',
      step: index,
      phase: 'policy-gate',
      body: { ...gate, callId, reason: 'It only reads inside the workspace.', facts, grantId: null, approvalId: null },
    },
    {
      type: 'brain.decided',
      step: index,
      phase: 'act',
      body: { intent: 'execute', reason: 'The gate allowed it and its turn has come.', callIds: [callId] },
    },
    {
      type: 'tool.requested',
      step: index,
      phase: 'act',
      body: { ...call, argsHash: 'h', idempotency: 'pure', idempotencyKey: callId, grantId: null },
    },
    {
      type: 'tool.finished',
      step: index,
      phase: 'observe',
      body: { ...ended, callId, tool: 'read_file', isAsync: false, artifacts: [], tookMs: stepMs, resultHash: `h${index}` },
    },
    { type: 'observation.recorded', step: index, phase: 'observe', body: { callIds: [callId], failed: 0, repeated: 1 } },
  ];
}

function end(): AnyDraft {
  return {
    type: 'turn.finished',
    phase: 'respond',
    body: { status: 'done', text: 'All read.', error: null, usage, costUsd: 0.1, modelCalls: 45, toolCalls: 45 },
  };
}
