// One event of the log as a sentence for the activity view. Facts of the log only; a model's own words are marked as such.

import { unpricedWords } from '../../core/contracts/budget-words.ts';
import type { AnyEvent, EventOf, EventType } from '../../core/contracts/events.ts';
import { formatCount, formatDuration, formatTokens, formatUsd, oneLine } from './format.ts';

export interface EventLine {
  readonly title: string;
  /** Longer text under the title; empty for none. */
  readonly detail: string;
  readonly tone: 'plain' | 'good' | 'wait' | 'bad';
  /** The rule that decided, where a rule did. */
  readonly ruleId?: string;
  /** The pack to look into. */
  readonly packId?: string;
}

type Lines = { readonly [T in EventType]?: (event: EventOf<T>) => EventLine };

const line = (title: string, detail = '', tone: EventLine['tone'] = 'plain'): EventLine => ({ title, detail, tone });

const gateWords = { allow: 'Allowed', ask: 'Must ask', deny: 'Refused' } as const;
const gateTones = { allow: 'good', ask: 'wait', deny: 'bad' } as const;
const decisionWords = { approve: 'Approved', deny: 'Denied', withdraw: 'Withdrawn' } as const;
const settledWords = { done: 'It happened', retry: 'Run it again', abandon: 'Abandoned' } as const;

const lines: Lines = {
  'user.message': ({ body }) =>
    line(body.sender === body.channel ? `Message over ${body.channel}` : `Message from ${body.sender} over ${body.channel}`, body.text),
  'turn.started': ({ body }) => line('Turn started', body.model === null ? 'No model: a call made directly.' : `Model ${body.model}`),
  'turn.steered': ({ body }) => line(`Steered by ${body.sender}`, body.text),
  'turn.cancel_requested': ({ body }) => line('Stop asked for', body.reason, 'wait'),
  'turn.waiting': ({ body }) => line(`Waits for ${formatCount(body.approvalIds.length, 'approval')}`, '', 'wait'),
  'turn.resumed': ({ body }) => line('Went on', body.reason),
  'turn.finished': ({ body }) =>
    line(
      `Turn ended: ${body.status.replace('_', ' ')}`,
      `${formatCount(body.modelCalls, 'model call')}, ${formatCount(body.toolCalls, 'tool call')}, ` +
        `${formatTokens(body.usage.inputTokens + body.usage.outputTokens)}, ${formatUsd(body.costUsd)}` +
        (body.error === null ? '' : `\n${body.error.message}`),
      body.status === 'done' ? 'good' : body.error === null ? 'wait' : 'bad',
    ),
  'assistant.message': ({ body }) => line('Answered', body.text),
  'brain.decided': ({ body }) => line(`Decided: ${body.intent}`, body.reason),
  'plan.drafted': ({ body }) =>
    line(`Planned ${formatCount(body.calls.length, 'call')}: ${body.calls.map(({ tool }) => tool).join(', ')}`, body.text),
  'observation.recorded': ({ body }) =>
    line(
      `Observed ${formatCount(body.callIds.length, 'result')}`,
      body.failed > 0 ? `${body.failed} failed, ${body.repeated} repeated` : '',
    ),
  'verification.finished': ({ body }) =>
    line(body.ok ? 'Checked: as expected' : 'Checked: not as expected', body.detail, body.ok ? 'good' : 'bad'),
  'reflection.recorded': ({ body }) => line(`Reflected: ${body.why}`, body.note),
  'pack.built': ({ body }) => ({
    ...line(
      `Context packed: ${formatTokens(body.tokens)} of ${formatTokens(body.budgetTokens)}`,
      body.sections.map(({ name, tokens }) => `${name} ${tokens}`).join(' · '),
    ),
    packId: body.packId,
  }),
  'model.requested': ({ body }) => line(`Asked ${body.model}`),
  'model.retried': ({ body }) => line(`Attempt ${body.attempt} after ${formatDuration(body.waitMs)}`, body.error.message, 'wait'),
  'model.finished': ({ body }) =>
    line(
      `Model answered in ${formatDuration(body.tookMs)}`,
      [
        `${formatTokens(body.usage.inputTokens)} in, ${formatTokens(body.usage.outputTokens)} out, ${formatUsd(body.costUsd)}`,
        body.calls.length > 0 ? `Asked for ${body.calls.map(({ tool }) => tool).join(', ')}` : '',
      ]
        .filter(Boolean)
        .join('\n'),
    ),
  'model.failed': ({ body }) => line('Model failed', body.error.message, 'bad'),
  'budget.exceeded': ({ body }) =>
    line(
      `Budget of the ${body.scope} ${body.needed === undefined ? 'used up' : 'too small to go on'}`,
      `${body.spent} of ${body.limit} ${body.unit}`,
      'bad',
    ),
  'budget.extended': ({ body }) => {
    const show = body.unit === 'usd' ? formatUsd : formatTokens;
    return line(`More allowed for the ${body.scope} by ${body.by}`, `${show(body.amount)} on top; the limit is now ${show(body.limit)}.`);
  },
  'budget.unpriced': ({ body }) => line('A budget that cannot hold', unpricedWords(body), 'wait'),
  'policy.decided': ({ body }) => ({
    ...line(`${gateWords[body.decision]}: ${body.tool}`, body.reason, gateTones[body.decision]),
    ruleId: body.ruleId,
  }),
  'tool.rejected': ({ body }) => line(`Refused before the gate: ${body.tool}`, body.error.message, 'bad'),
  'approval.requested': ({ body }) => line('Approval asked', `${body.approval.summary}\n${body.approval.risk}`, 'wait'),
  'approval.decided': ({ body }) =>
    line(
      `${decisionWords[body.decision]} by ${body.by}`,
      body.scope === null ? '' : `Scope: ${body.scope.kind}`,
      body.decision === 'approve' ? 'good' : 'wait',
    ),
  'grant.created': ({ body }) => line('Grant given', body.grant.covers),
  'grant.spent': () => line('Grant used'),
  'grant.revoked': ({ body }) => line(`Grant revoked by ${body.by}`, '', 'wait'),
  'tool.requested': ({ body }) => line(`Started ${body.tool}`, body.args),
  'tool.spawned': ({ body }) => line(`Process ${body.pid} started`),
  'tool.finished': ({ body }) =>
    line(
      `${body.tool} ended: ${body.outcome} in ${formatDuration(body.tookMs)}`,
      body.forUser || body.forModel,
      body.outcome === 'ok' ? 'good' : body.outcome === 'error' || body.outcome === 'timeout' ? 'bad' : 'wait',
    ),
  'tool.outcome_unknown': ({ body }) => line(`Outcome of ${body.tool} unknown`, body.reason, 'wait'),
  'tool.outcome_settled': ({ body }) => line(`${settledWords[body.answer]}, said ${body.by}`),
  'checkpoint.taken': ({ body }) =>
    line(
      body.undoes === undefined ? 'Kept what is about to be replaced' : 'Kept what an undo is about to replace',
      body.files.map(({ path }) => path).join('\n'),
    ),
  'checkpoint.closed': ({ body }) => line('Looked at what was left', body.files.map(({ path }) => path).join('\n')),
  'checkpoint.restored': ({ body }) =>
    line(
      `Undone by ${body.by}: ${formatCount(body.files.length, 'file')} put back`,
      [...body.files.map(({ path }) => path), ...body.refused.map(({ path, reason }) => `refused ${path}: ${reason}`)].join('\n'),
      body.refused.length === 0 ? 'good' : 'wait',
    ),
  'panic.engaged': ({ body }) => line(`Panic stop by ${body.by}`, body.reason, 'bad'),
};

const detailCharsMax = 4000;

export function describeEvent(event: AnyEvent): EventLine {
  // Paired by the table, which the compiler cannot follow.
  const describe = lines[event.type] as ((event: AnyEvent) => EventLine) | undefined;
  const described = describe?.(event) ?? line(event.type);
  return { ...described, title: oneLine(described.title, 300), detail: described.detail.slice(0, detailCharsMax) };
}
