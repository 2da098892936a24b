// The searchable text of an event, and the fields it is filtered by. Excludes conversation, which has a separate search. Pure.

import { describeGap } from '../../contracts/log-gap.ts';
import { answerStates } from '../../contracts/approval-answer.ts';
import type { ActivityOutcome } from '../../contracts/activity-kinds.ts';
import type { ErrorBody } from '../../contracts/errors.ts';
import { applyByType, type EventTable } from '../../contracts/event-table.ts';
import type { AnyEvent, EventType } from '../../contracts/events.ts';

export interface ActivityEntry {
  readonly tool: string | null;
  readonly outcome: ActivityOutcome | null;
  readonly text: string;
}

const TEXT_MAX = 4_000;
/** The indexed part of a result: enough to find an error, not a copy of the output. */
const RESULT_MAX = 1_000;

/** Steps recorded in every turn. Matches of these would hide the decisions. */
const routine: ReadonlySet<string> = new Set(['pack', 'complete', 'authorize', 'execute', 'observe']);

const gateOutcomes = { allow: 'allowed', ask: 'asked', deny: 'denied' } as const;
const endOutcomes = { done: 'ok', failed: 'error', cancelled: 'cancelled', over_budget: 'over_budget', stopped: 'stopped' } as const;

const helperOutcomes = { ...endOutcomes, timeout: 'timeout' } as const;

const entries: EventTable<[], ActivityEntry | null> = {
  'brain.decided': ({ body }) => (routine.has(body.intent) ? null : entry([body.intent, body.reason])),
  'plan.drafted': ({ body }) => (body.calls.length === 0 ? null : entry([body.calls.map(({ tool }) => tool).join(' '), body.text])),
  'reflection.recorded': ({ body }) => entry([body.why, body.note]),
  'verification.finished': ({ body }) => entry([body.detail], { outcome: body.ok ? 'ok' : 'error' }),
  'taint.marked': ({ body }) => entry([...body.sources.map(({ kind, where }) => `${kind} ${where}`), ...body.paths]),
  'model.retried': ({ body }) => entry(errorParts(body.error), { outcome: 'error' }),
  'model.failed': ({ body }) => entry(errorParts(body.error), { outcome: 'error' }),
  'budget.exceeded': ({ body }) => entry([`budget ${body.scope} ${body.unit}`], { outcome: 'over_budget' }),
  'budget.extended': ({ body }) => entry([`budget ${body.scope} ${body.unit}`, body.by]),
  'policy.decided': ({ body }) =>
    entry([body.tool, body.ruleId, body.reason, ...body.facts.hosts], { tool: body.tool, outcome: gateOutcomes[body.decision] }),
  'tool.rejected': ({ body }) => entry([body.tool, ...errorParts(body.error)], { tool: body.tool, outcome: 'error' }),
  'approval.requested': ({ body: { approval } }) =>
    entry([approval.tool, approval.summary, approval.risk, approval.reason], { tool: approval.tool, outcome: 'asked' }),
  'approval.decided': ({ body }) => entry([body.decision, body.scope?.kind ?? '', body.by], { outcome: answerStates[body.decision] }),
  'grant.created': ({ body }) => entry([body.grant.covers]),
  'grant.revoked': ({ body }) => entry([body.by]),
  'tool.requested': ({ body }) => entry([body.tool, body.args], { tool: body.tool }),
  'tool.finished': ({ body }) =>
    entry([body.tool, body.outcome, body.outcome === 'ok' ? '' : body.forModel.slice(0, RESULT_MAX)], {
      tool: body.tool,
      outcome: body.outcome,
    }),
  'tool.outcome_unknown': ({ body }) => entry([body.tool, body.reason], { tool: body.tool, outcome: 'unknown' }),
  'tool.outcome_settled': ({ body }) => entry([body.answer, body.by]),
  'checkpoint.taken': ({ body }) => entry(body.files.map(({ path }) => path)),
  'checkpoint.restored': ({ body }) =>
    entry([body.by, ...body.files.map(({ path }) => path), ...body.refused.map(({ path, reason }) => `${path} ${reason}`)]),
  'turn.cancel_requested': ({ body }) => entry([body.by, body.reason]),
  'turn.finished': ({ body }) =>
    entry([body.status, ...(body.error === null ? [] : errorParts(body.error))], { outcome: endOutcomes[body.status] }),
  'panic.engaged': ({ body }) => entry(['panic stop', body.by, body.reason], { outcome: 'stopped' }),
  'panic.released': ({ body }) => entry(['panic stop released', body.by]),
  'log.gap_found': ({ body }) => entry(['log', describeGap(body)], { outcome: 'error' }),
  'log.gap_accepted': ({ body }) => entry(['gap of the log accepted', body.by]),
  'a2a.called': ({ body }) => entry([body.agentId, body.label, body.task]),
  'a2a.retried': ({ body }) => entry([body.reason], { outcome: 'error' }),
  'a2a.cancel_requested': ({ body }) => entry([body.by, body.reason]),
  'a2a.finished': ({ body }) => entry([body.status, body.text.slice(0, RESULT_MAX)], { outcome: helperOutcomes[body.status] }),
  'memory.remembered': ({ body }) => entry([body.memory.kind, body.memory.text, body.state]),
  'memory.promoted': ({ body }) => entry(['promoted', body.by, body.rule]),
  'memory.rejected': ({ body }) => entry(['rejected', body.by]),
  'memory.pinned': ({ body }) => entry([body.pinned ? 'pinned' : 'no longer pinned', body.by]),
  'memory.contradicted': ({ body }) => entry([body.reason]),
  'memory.settled': ({ body }) => entry(['settled', body.keep, body.by]),
  'memory.forgotten': ({ body }) => entry(['forgotten', body.by, body.reason]),
  'config.changed': ({ body }) => entry(['config', body.by, ...body.keys]),
  'chat.bound': ({ body }) => entry([body.chat.channel, body.title, body.by]),
  'outbound.queued': ({ body }) => entry([body.to.channel, body.kind, body.text]),
  'outbound.sent': () => entry(['delivered'], { outcome: 'ok' }),
  'outbound.failed': ({ body }) => entry([body.error], { outcome: 'error' }),
  'outbound.uncertain': ({ body }) => entry([body.reason], { outcome: 'unknown' }),
  'outbound.settled': ({ body }) => entry([body.answer, body.by]),
};

/** Returns null for events that this search excludes. */
export function activityEntry(event: AnyEvent): ActivityEntry | null {
  return applyByType(entries, event) ?? null;
}

export const activityTypes = Object.keys(entries) as EventType[];

function entry(parts: readonly string[], about: { tool?: string; outcome?: ActivityOutcome } = {}): ActivityEntry {
  const text = parts.filter((part) => part !== '').join(' · ');
  return { tool: about.tool ?? null, outcome: about.outcome ?? null, text: text.slice(0, TEXT_MAX) };
}

function errorParts({ code, message }: ErrorBody): string[] {
  return [code, message];
}
