// One event applied to one turn. Idempotent by sequence number; unknown event types are left alone, so an older window reads a newer log.

import type { AnyEvent, EventOf, EventType } from '../../../core/contracts/events.ts';
import { isUnreadable } from './readable-events.ts';
import { callOf, changedFiles, type NoteFact, type NoteTone, type Turn } from './turn.ts';

type Folds = { readonly [T in EventType]?: (turn: Turn, event: EventOf<T>) => void };

const folds: Folds = {
  'user.message': (turn, { seq, body, atMs }) => {
    turn.messages.push({ seq, text: body.text, channel: body.channel, atMs, attachments: body.attachments ?? [] });
  },
  'turn.started': (turn, event) => {
    const { body, atMs } = event;
    turn.kind = body.kind;
    turn.model = body.model;
    turn.status = 'running';
    turn.startedAtMs = atMs;
    turn.startSessionSeq = event.sessionSeq;
    turn.hasStart = true;
    turn.retries = body.retries ?? null;
    if (body.continues !== undefined) note(turn, event, 'quiet', { code: 'goes_on', by: body.continues.by });
    for (const call of body.calls) callOf(turn, call.callId, call);
  },
  'turn.superseded': (turn, { body }) => {
    turn.supersededBy = body.byTurnId;
  },
  'turn.steered': (turn, { seq, body }) => {
    turn.entries.push({ kind: 'steer', key: `s${seq}`, text: body.text });
  },
  'turn.cancel_requested': (turn, event) => note(turn, event, 'quiet', { code: 'cancel', by: event.body.by }),
  'turn.waiting': (turn) => {
    turn.status = 'waiting';
  },
  'turn.resumed': (turn) => {
    turn.status = 'running';
  },
  'turn.finished': (turn, { body, atMs }) => {
    turn.status = body.status;
    turn.finishedAtMs = atMs;
    turn.usage = body.usage;
    turn.costUsd = body.costUsd;
    turn.error = body.error;
    if (body.text !== '') turn.answer = body.text;
    else if (turn.answer === '') turn.answer = turn.live;
    endLive(turn);
    for (const call of Object.values(turn.calls)) {
      if (call.state === 'proposed' || call.state === 'waiting') call.state = 'skipped';
    }
  },
  'assistant.message': (turn, { body }) => {
    turn.answer = body.text;
    endLive(turn);
  },
  'pack.built': (turn, { body }) => {
    turn.packIds.push(body.packId);
    const leftOut = body.dropped.reduce((sum, { count }) => sum + count, 0);
    turn.context = { tokens: body.tokens, budgetTokens: body.budgetTokens, leftOut };
  },
  'model.requested': (turn, { seq, body, atMs }) => {
    turn.model = body.model;
    // An answer that was not the last word becomes a step.
    if (turn.answer !== '') turn.entries.push({ kind: 'text', key: `t${seq}`, text: turn.answer });
    turn.answer = '';
    endLive(turn);
    turn.askedAtMs = atMs;
  },
  'model.retried': (turn, event) => {
    endLive(turn);
    turn.askedAtMs = event.atMs + event.body.waitMs;
    note(turn, event, 'quiet', { code: 'retried', message: event.body.error.message, waitMs: event.body.waitMs });
  },
  'model.finished': (turn, { seq, body }) => {
    endLive(turn);
    const { spent } = turn;
    const tokens = spent.tokens + body.usage.inputTokens + body.usage.outputTokens;
    turn.spent = { tokens, usd: spent.usd === null || body.costUsd === null ? null : spent.usd + body.costUsd };
    if (body.reasoning !== '') turn.entries.push({ kind: 'reasoning', key: `r${seq}`, text: body.reasoning });
    if (body.calls.length === 0) turn.answer = body.text;
    else if (body.text !== '') turn.entries.push({ kind: 'text', key: `t${seq}`, text: body.text });
    for (const call of body.calls) callOf(turn, call.callId, call);
  },
  'plan.drafted': (turn, { seq, body }) => {
    const callIds = body.calls.map(({ callId }) => callId);
    // One call is its own plan.
    if (callIds.length < 2) return;
    for (const { callId, tool } of body.calls) callOf(turn, callId, { tool, args: '' });
    turn.entries = turn.entries.filter((entry) => entry.kind !== 'call' || !callIds.includes(entry.callId));
    turn.entries.push({ kind: 'plan', key: `p${seq}`, callIds });
  },
  'model.failed': (turn, event) => {
    endLive(turn);
    const { again, error } = event.body;
    // What came of it is said again by the next answer.
    if (again === true) return note(turn, event, 'quiet', { code: 'retried', message: error.message, waitMs: 0 });
    if (event.body.partialText !== '') turn.entries.push({ kind: 'text', key: `t${event.seq}`, text: event.body.partialText });
    note(turn, event, 'bad', { code: 'said', text: event.body.error.message });
  },
  'budget.exceeded': (turn, event) => note(turn, event, 'warn', { code: 'budget', about: event.body }),
  'budget.unpriced': (turn, event) => note(turn, event, 'warn', { code: 'unpriced', about: event.body }),
  'policy.decided': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.tool = body.tool;
    call.decision = { decision: body.decision, ruleId: body.ruleId, reason: body.reason, facts: body.facts, grantId: body.grantId };
  },
  'tool.rejected': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.tool = body.tool;
    call.error = body.error;
    call.state = 'error';
  },
  'approval.requested': (turn, { body }) => {
    const call = callOf(turn, body.approval.callId, body.approval);
    call.approval = body.approval;
    call.state = 'waiting';
  },
  'approval.decided': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.decidedBy = body.by;
    if (call.approval?.approvalId === body.approvalId) {
      const state = body.decision === 'approve' ? 'approved' : body.decision === 'deny' ? 'denied' : 'withdrawn';
      call.approval = { ...call.approval, state, scope: body.scope, decidedBy: body.by };
    }
    if (call.state === 'waiting') call.state = body.decision === 'approve' ? 'proposed' : body.decision === 'deny' ? 'denied' : 'skipped';
  },
  'tool.requested': (turn, { body, atMs }) => {
    const call = callOf(turn, body.callId, body);
    call.state = 'running';
    call.startedAtMs = atMs;
    call.output = '';
  },
  'tool.finished': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.tool = body.tool;
    call.state = body.outcome;
    call.tookMs = body.tookMs;
    call.forUser = body.forUser;
    call.forModel = body.forModel;
    call.artifacts = body.artifacts;
    call.unknownReason = null;
  },
  'checkpoint.taken': (turn, { body }) => {
    if (body.undoes !== undefined) return;
    callOf(turn, body.callId).files = body.files.map(({ path, before }) => ({ path, before, after: null }));
  },
  'checkpoint.closed': (turn, { body }) => {
    // An undo of a call is no call of its own.
    const call = turn.calls[body.callId];
    if (call === undefined) return;
    const known = new Map(call.files.map(({ path, before }) => [path, before]));
    call.files = body.files.map(({ path, after }) => ({ path, after, before: known.get(path) ?? { kind: 'absent' } }));
  },
  'checkpoint.restored': (turn, event) => {
    const { restoreId, callIds, files, refused, by } = event.body;
    const isAgain = callIds.some((callId) => turn.undos[callId] !== undefined);
    const tone = refused.length === 0 ? 'quiet' : 'warn';
    note(turn, event, tone, { code: 'undone', by, isAgain, files: files.length, refused: refused.length });
    if (restoreId === null || files.length === 0) return;
    turn.undos[restoreId] = callIds;
    const kept = new Set(refused.map(({ path }) => path));
    const whole = callIds.filter((callId) => !changedFiles(turn.calls[callId]).some(({ path }) => kept.has(path)));
    markUndone(turn, whole, restoreId);
  },
  'verification.finished': (turn, { body }) => {
    callOf(turn, body.callId).verified = { ok: body.ok, detail: body.detail };
  },
  'reflection.recorded': (turn, event) => note(turn, event, 'quiet', { code: 'said', text: event.body.note || event.body.why }),
  'tool.outcome_unknown': (turn, { body }) => {
    const call = callOf(turn, body.callId, body);
    call.state = 'unknown';
    call.unknownReason = body.reason;
  },
  'tool.outcome_settled': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.unknownReason = null;
    call.decidedBy = body.by;
    call.state = settledState[body.answer];
  },
};

/** Taking back an undo puts what it had taken back in force again, however deep that goes. */
function markUndone(turn: Turn, ids: readonly string[], restoreId: string, isUndone = true): void {
  for (const id of ids) {
    const call = turn.calls[id];
    if (call === undefined) markUndone(turn, turn.undos[id] ?? [], restoreId, !isUndone);
    else call.undoneBy = isUndone ? restoreId : null;
  }
}

const settledState = { done: 'ok', retry: 'proposed', abandon: 'skipped' } as const;

function note(turn: Turn, event: { readonly seq: number }, tone: NoteTone, fact: NoteFact): void {
  turn.entries.push({ kind: 'note', key: `n${event.seq}`, tone, fact });
}

function endLive(turn: Turn): void {
  turn.live = '';
  turn.liveReasoning = '';
  turn.askedAtMs = null;
  turn.missesStart = false;
}

export function applyToTurn(turn: Turn, event: AnyEvent): void {
  if (event.seq <= turn.lastSeq) return;
  turn.lastSeq = event.seq;
  turn.step = Math.max(turn.step, event.step);
  if (event.phase !== null) {
    turn.phase = event.phase;
    turn.reached[event.phase] = true;
  }
  if (isUnreadable(event)) note(turn, event, 'warn', { code: 'unreadable' });
  // The table maps each type to the fold of that very type; the compiler cannot follow the pairing.
  const fold = folds[event.type] as ((turn: Turn, event: AnyEvent) => void) | undefined;
  fold?.(turn, event);
}
