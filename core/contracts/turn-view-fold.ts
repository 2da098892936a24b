// Applies one event to the view of one turn, at a cost that does not grow with the turn. Idempotent by sequence number. Unknown event types
// change nothing, so that an older program can read a newer log. The log is already redacted.

import { answerOf } from './approval-answer.ts';
import type { ErrorBody } from './errors.ts';
import { applyByType, type EventTable } from './event-table.ts';
import type { AnyEvent, EventOf } from './events.ts';
import type { Usage } from './llm.ts';
import { addCost, addUsage } from './spending.ts';
import { changedFiles, createCallView, createTurnView, type CallView, type NoteFact, type NoteTone, type TurnView } from './turn-view.ts';

/** No event in the log has this type, so code that handles events by type treats it like an event of a later version. */
export const unreadableType = 'event.unreadable';

/** Whether a host could not read the event, so that its body is null. The window gives such events this type. */
export function isUnreadable({ type, body }: { readonly type: string; readonly body: unknown }): boolean {
  return type === unreadableType || body === null;
}

const requestFolds: EventTable<[TurnView]> = {
  'brain.decided': (turn, { step, phase, body }) => {
    turn.decisions.push({ step, phase, intent: body.intent, reason: body.reason });
  },
  'pack.built': (turn, { body }) => {
    const leftOut = body.dropped.reduce((sum, { count }) => sum + count, 0);
    turn.packs.push({ packId: body.packId, tokens: body.tokens, budgetTokens: body.budgetTokens, leftOut });
  },
  'model.requested': (turn, { seq, body, atMs }) => {
    turn.model = body.model;
    // An answer that is followed by another request becomes an entry.
    if (turn.answer !== '') turn.entries.push({ kind: 'text', key: `t${seq}`, text: turn.answer });
    turn.answer = '';
    endLive(turn);
    turn.askedAtMs = atMs;
    turn.requests.push({ ...body, askedAtMs: atMs, endedAtMs: null, error: null });
  },
  'model.retried': (turn, event) => {
    endLive(turn);
    turn.askedAtMs = event.atMs + event.body.waitMs;
    note(turn, event, 'quiet', { code: 'retried', message: event.body.error.message, waitMs: event.body.waitMs });
  },
  'model.finished': (turn, { seq, body, atMs }) => {
    endRequest(turn, body.requestId, atMs, null);
    spend(turn, body.usage, body.costUsd);
    if (body.reasoning !== '') turn.entries.push({ kind: 'reasoning', key: `r${seq}`, text: body.reasoning });
    if (body.calls.length === 0) turn.answer = body.text;
    else if (body.text !== '') turn.entries.push({ kind: 'text', key: `t${seq}`, text: body.text });
    for (const call of body.calls) callOf(turn, call.callId, call);
  },
  'model.failed': (turn, event) => {
    const { requestId, again, error, partialText, usage, costUsd, failover } = event.body;
    endRequest(turn, requestId, event.atMs, error);
    if (usage !== undefined) spend(turn, usage, costUsd ?? null);
    // The next answer replaces the partial text.
    if (failover !== undefined) return note(turn, event, 'quiet', failoverNote(turn, error, failover));
    if (again === true) return note(turn, event, 'quiet', { code: 'retried', message: error.message, waitMs: 0 });
    if (partialText !== '') turn.entries.push({ kind: 'text', key: `t${event.seq}`, text: partialText });
    // A stop is not a failure and has its own note.
    if (error.code !== 'cancelled') note(turn, event, 'bad', { code: 'said', text: error.message });
  },
  'plan.drafted': (turn, { seq, body }) => {
    const callIds = body.calls.map(({ callId }) => callId);
    // A single call is its own plan.
    if (callIds.length < 2) return;
    for (const { callId, tool } of body.calls) callOf(turn, callId, { tool, args: '' });
    // The entries of these calls are among the last ones, so searching from the end is cheap.
    for (const callId of callIds) {
      const at = turn.entries.findLastIndex((entry) => entry.key === callId);
      if (at !== -1) turn.entries.splice(at, 1);
    }
    turn.entries.push({ kind: 'plan', key: `p${seq}`, callIds });
  },
};

const callFolds: EventTable<[TurnView]> = {
  'policy.decided': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.tool = body.tool;
    call.decision = { decision: body.decision, ruleId: body.ruleId, reason: body.reason, facts: body.facts, grantId: body.grantId };
    if (body.decision === 'deny') call.state = 'denied';
  },
  'tool.rejected': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.tool = body.tool;
    call.error = body.error;
    call.state = 'error';
  },
  'approval.requested': (turn, { body: { approval } }) => {
    const call = callOf(turn, approval.callId, approval);
    call.approval = approval;
    call.state = 'waiting';
    turn.approvals[approval.approvalId] = approval;
  },
  'approval.decided': (turn, event) => {
    const { body } = event;
    const call = callOf(turn, body.callId);
    const asked = turn.approvals[body.approvalId];
    call.decidedBy = body.by;
    if (asked !== undefined) {
      const answered = { ...asked, ...answerOf(event) };
      turn.approvals[body.approvalId] = answered;
      if (call.approval?.approvalId === body.approvalId) call.approval = answered;
    }
    if (call.state === 'waiting') call.state = body.edited === undefined ? answeredStates[body.decision] : 'proposed';
    if (body.edited !== undefined) {
      call.asked ??= call.args;
      call.args = body.edited.args;
    }
    if (body.decision === 'deny') call.denial = body.reason ?? '';
  },
  'tool.requested': (turn, { body, atMs }) => {
    const call = callOf(turn, body.callId, body);
    call.state = 'running';
    call.startedAtMs = atMs;
    call.output = '';
  },
  'tool.finished': (turn, { body, atMs }) => {
    const call = callOf(turn, body.callId);
    call.tool = body.tool;
    call.state = body.outcome;
    call.endedAtMs = atMs;
    call.tookMs = body.tookMs;
    call.forUser = body.forUser;
    call.forModel = body.forModel;
    call.artifacts = body.artifacts;
    call.unknownReason = null;
  },
  'verification.finished': (turn, { body }) => {
    callOf(turn, body.callId).verified = { ok: body.ok, detail: body.detail };
  },
  'tool.outcome_unknown': (turn, { body }) => {
    const call = callOf(turn, body.callId, body);
    call.state = 'unknown';
    call.unknownReason = body.reason;
    if (body.output !== undefined) call.output = body.output;
  },
  'tool.outcome_settled': (turn, { body }) => {
    const call = callOf(turn, body.callId);
    call.unknownReason = null;
    call.decidedBy = body.by;
    call.state = settledStates[body.answer];
  },
  'checkpoint.taken': (turn, { body }) => {
    // An undo stores the replaced content like a call, but is not a call of the turn.
    if (body.undoes !== undefined) return;
    callOf(turn, body.callId).files = body.files.map(({ path, before }) => ({ path, before, after: null }));
  },
  'checkpoint.closed': (turn, { body }) => {
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
    turn.filesUndone += files.length;
    if (restoreId === null || files.length === 0) return;
    turn.undos[restoreId] = callIds;
    const kept = new Set(refused.map(({ path }) => path));
    const whole = callIds.filter((callId) => !changedFiles(turn.calls[callId]).some(({ path }) => kept.has(path)));
    markUndone(turn, whole, restoreId);
  },
  'a2a.called': (turn, { body }) => {
    const call = turn.calls[body.from.callId];
    if (call === undefined) return;
    call.helper = { agentId: body.agentId, sessionId: null, end: null };
    turn.helpers[body.jobId] = call.callId;
  },
  'a2a.started': (turn, { body }) => {
    const helper = helperOf(turn, body.jobId);
    if (helper !== null) helper.sessionId = body.sessionId;
  },
  'a2a.finished': (turn, { body }) => {
    const helper = helperOf(turn, body.jobId);
    if (helper !== null) helper.end = body.status;
  },
};

const folds: EventTable<[TurnView]> = {
  ...requestFolds,
  ...callFolds,
  'user.message': (turn, event) => {
    turn.messages.push(userMessageOf(event));
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
  'turn.waiting': (turn, { atMs }) => {
    turn.status = 'waiting';
    if (turn.waits.at(-1)?.toMs !== null) turn.waits.push({ fromMs: atMs, toMs: null });
  },
  'turn.resumed': (turn, { atMs }) => {
    turn.status = 'running';
    // The answer that was streaming when the program ended is requested again.
    endLive(turn);
    endWait(turn, atMs);
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
    endWait(turn, atMs);
    for (const call of Object.values(turn.calls)) {
      if (call.state === 'proposed' || call.state === 'waiting') call.state = 'skipped';
    }
  },
  'assistant.message': (turn, { body }) => {
    turn.answer = body.text;
    endLive(turn);
  },
  'budget.exceeded': (turn, event) => note(turn, event, 'warn', { code: 'budget', about: event.body }),
  'budget.unpriced': (turn, event) => note(turn, event, 'warn', { code: 'unpriced', about: event.body }),
  'reflection.recorded': (turn, event) => note(turn, event, 'quiet', { code: 'said', text: event.body.why || event.body.note }),
  'taint.marked': (turn, { body }) => {
    turn.others.push(...body.sources);
  },
};

const answeredStates = { approve: 'proposed', deny: 'denied', withdraw: 'skipped' } as const;
const settledStates = { done: 'ok', retry: 'proposed', abandon: 'skipped' } as const;

/** Changes the view in place. Ignores events that were already applied. */
export function applyToTurnView(turn: TurnView, event: AnyEvent): void {
  if (event.seq <= turn.lastSeq) return;
  turn.lastSeq = event.seq;
  turn.lastAtMs = Math.max(turn.lastAtMs, event.atMs);
  turn.step = Math.max(turn.step, event.step);
  if (event.phase !== null) {
    turn.phase = event.phase;
    const reached = turn.phases[event.phase];
    if (reached === undefined) turn.phases[event.phase] = { atMs: event.atMs, events: 1 };
    else reached.events += 1;
  }
  if (isUnreadable(event)) return note(turn, event, 'warn', { code: 'unreadable' });
  if (!Object.hasOwn(folds, event.type)) return;
  applyByType(folds, event, turn);
}

/** Folds a whole turn. For a growing turn, apply its events one at a time. */
export function foldTurnView(turnId: string, events: readonly AnyEvent[]): TurnView {
  const turn = createTurnView(turnId, events[0]?.atMs ?? 0);
  for (const event of events) applyToTurnView(turn, event);
  return turn;
}

export function userMessageOf({ seq, atMs, body }: EventOf<'user.message'>): TurnView['messages'][number] {
  const { text, channel, sender, attachments = [] } = body;
  return { seq, text, channel, sender, atMs, attachments };
}

/** The call with this id. Creates it with its entry when it is first mentioned. */
function callOf(turn: TurnView, callId: string, about?: { readonly tool: string; readonly args: string }): CallView {
  const known = turn.calls[callId];
  if (known !== undefined) {
    if (about !== undefined && known.args === '') {
      known.tool = about.tool;
      known.args = about.args;
    }
    return known;
  }
  const created = createCallView(callId, about?.tool ?? '', about?.args ?? '');
  turn.calls[callId] = created;
  turn.entries.push({ kind: 'call', key: callId, callId });
  // Read back: under runes the stored object is a proxy, and only changes through it are observed.
  return turn.calls[callId] ?? created;
}

function helperOf(turn: TurnView, jobId: string): CallView['helper'] {
  return turn.calls[turn.helpers[jobId] ?? '']?.helper ?? null;
}

/** Undoing an undo restores its effect, at any depth. */
function markUndone(turn: TurnView, ids: readonly string[], restoreId: string): void {
  const seen = new Set<string>();
  let by: string | null = restoreId;
  for (let level = ids; level.length > 0; by = by === null ? restoreId : null) {
    const below: string[] = [];
    for (const id of level.filter((one) => !seen.has(one))) {
      seen.add(id);
      const call = turn.calls[id];
      if (call === undefined) below.push(...(turn.undos[id] ?? []));
      else call.undoneBy = by;
    }
    level = below;
  }
}

function note(turn: TurnView, event: { readonly seq: number }, tone: NoteTone, fact: NoteFact): void {
  turn.entries.push({ kind: 'note', key: `n${event.seq}`, tone, fact });
}

function spend(turn: TurnView, usage: Usage, usd: number | null): void {
  turn.usage = addUsage(turn.usage, usage);
  turn.costUsd = addCost(turn.costUsd, usd);
}

function failoverNote(turn: TurnView, { message }: ErrorBody, { to, waitMs }: { readonly to: string; readonly waitMs: number }): NoteFact {
  const from = turn.requests.at(-1)?.model ?? '';
  return from === to ? { code: 'retried', message, waitMs } : { code: 'failover', from, to, message, waitMs };
}

function endRequest(turn: TurnView, requestId: string, atMs: number, error: ErrorBody | null): void {
  endLive(turn);
  const request = turn.requests.at(-1);
  // Requests run one at a time, so the answer belongs to the last one.
  if (request?.requestId !== requestId) return;
  request.endedAtMs = atMs;
  request.error = error;
}

function endLive(turn: TurnView): void {
  turn.live = '';
  turn.liveTo = 0;
  turn.liveReasoning = '';
  turn.askedAtMs = null;
}

function endWait(turn: TurnView, atMs: number): void {
  const wait = turn.waits.at(-1);
  if (wait?.toMs === null) wait.toMs = atMs;
}
