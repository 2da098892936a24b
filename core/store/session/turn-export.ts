// Exports one turn as a file a person can keep: every event as a line of JSON, or in order as Markdown, with reasons, answers and costs.

import { counted } from '../../base/counted.ts';
import { formatUsd } from '../../base/format-usd.ts';
import { applyByType, type EventTable } from '../../contracts/event-table.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { foldTurnView } from '../../contracts/turn-view-fold.ts';
import { describeAnswer, endWordsOf, failoverWords, gateWords } from '../../contracts/turn-words.ts';
import { exportJsonl, fence } from './session-export.ts';

const parts: EventTable<[], string | null> = {
  'user.message': ({ body }) => `## ${body.sender} asked over ${body.channel}\n\n${body.text}`,
  'turn.steered': ({ body }) => `## ${body.sender} added\n\n${body.text}`,
  'plan.drafted': ({ body }) =>
    body.calls.length === 0
      ? null
      : `**Planned** ${body.calls.map(({ tool }) => code(tool)).join(', ')}${body.text === '' ? '' : `\n\n${body.text}`}`,
  'brain.decided': ({ body, step }) => `- Step ${step}: ${body.intent}. ${body.reason}`,
  'pack.built': ({ body }) => {
    const dropped = body.dropped.reduce((sum, { count }) => sum + count, 0);
    return `- The model saw ${body.tokens} of at most ${body.budgetTokens} tokens${dropped === 0 ? '' : `; ${counted(dropped, 'part was', 'parts were')} left out`}.`;
  },
  'model.finished': ({ body }) =>
    `- The model answered after ${Math.round(body.tookMs)} ms: ${body.usage.inputTokens} tokens in, ${body.usage.outputTokens} out, ${money(body.costUsd)}.`,
  'model.retried': ({ body }) => `- Asked again (attempt ${body.attempt}): ${body.error.message}`,
  'model.requested': ({ body }) =>
    body.route === undefined ? null : `- ${code(body.model)} was asked by the route ${body.route.name}: ${body.route.reason}.`,
  'model.failed': ({ body }) =>
    body.failover !== undefined
      ? `- ${failoverWords(body)}`
      : `- ${body.again === true ? 'The answer broke off; asked once more' : 'The model failed'}: ${body.error.message}`,
  'policy.decided': ({ body }) => `- The gate: ${code(body.tool)} ${gateWords[body.decision]} by rule ${code(body.ruleId)}. ${body.reason}`,
  'tool.rejected': ({ body }) => `- ${code(body.tool)} never reached the gate: ${body.error.message}`,
  'approval.requested': ({ body: { approval } }) => `- Approval requested: ${approval.summary}. Risk: ${approval.risk}`,
  'approval.decided': ({ body }) => `- ${describeAnswer(body)}${body.scope === null ? '' : ` (${body.scope.kind})`}.`,
  'tool.requested': ({ body }) => `### Called ${code(body.tool)}\n\n${fence(body.args, 'json')}`,
  'tool.finished': ({ body }) =>
    `${code(body.tool)} ended: **${body.outcome}** after ${Math.round(body.tookMs)} ms\n\n${fence(body.forModel, '')}`,
  'tool.outcome_unknown': ({ body }) => `${code(body.tool)}: **outcome unknown**. ${body.reason}`,
  'tool.outcome_settled': ({ body }) => `- ${body.by} said: ${body.answer}.`,
  'checkpoint.taken': ({ body }) =>
    body.files.length === 0 ? null : `- Kept before the change: ${body.files.map(({ path }) => code(path)).join(', ')}`,
  'checkpoint.restored': ({ body }) => `- Undone by ${body.by}: ${body.files.map(({ path }) => code(path)).join(', ') || 'nothing'}`,
  'verification.finished': ({ body }) => `- Checked, ${body.ok ? 'as expected' : 'not as expected'}: ${body.detail}`,
  'reflection.recorded': ({ body }) => `- Reflected (${body.why}): ${body.note}`,
  'budget.exceeded': ({ body }) => `- The budget of the ${body.scope} held it up: ${body.spent} of ${body.limit} ${body.unit}.`,
  'taint.marked': ({ body }) =>
    body.sources.length === 0
      ? null
      : `- Read untrusted content: ${body.sources.map(({ kind, where }) => `${kind} ${code(where)}`).join(', ')}`,
  'assistant.message': ({ body }) => `## Answer\n\n${body.text}`,
  'turn.cancel_requested': ({ body }) => `- Asked to stop (${body.by}): ${body.reason}`,
};

export function exportTurn(events: readonly AnyEvent[], format: 'jsonl' | 'markdown'): string {
  return format === 'jsonl' ? exportJsonl(events) : turnMarkdown(events);
}

function turnMarkdown(events: readonly AnyEvent[]): string {
  const told = events.flatMap((event) => {
    const part = applyByType(parts, event) ?? null;
    return part === null ? [] : [part];
  });
  return [heading(events), ...joinLists(told)].join('\n\n') + '\n';
}

function heading(events: readonly AnyEvent[]): string {
  const turn = foldTurnView(events[0]?.turnId ?? '', events);
  const { status, usage, costUsd, requests, error, beganAtMs, finishedAtMs } = turn;
  const lines = [`# Turn ${turn.turnId}`, ''];
  if (events.length > 0) lines.push(`- Began: ${new Date(beganAtMs).toISOString()}`);
  if (turn.hasStart) lines.push(`- Model: ${turn.model ?? 'none, a call made directly'}`);
  if (finishedAtMs === null) return [...lines, '- Not ended yet'].join('\n');
  const calls = Object.values(turn.calls).filter(({ startedAtMs }) => startedAtMs !== null);
  lines.push(
    `- Ended: ${endWordsOf(status)}${error === null ? '' : `. ${error.message}`}`,
    `- Took: ${finishedAtMs - beganAtMs} ms`,
    `- ${counted(requests.length, 'model call')}, ${counted(calls.length, 'tool call')}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${money(costUsd)}`,
  );
  return lines.join('\n');
}

/** Joins adjacent list items into one list. */
function joinLists(told: readonly string[]): string[] {
  const joined: string[] = [];
  for (const part of told) {
    const last = joined.at(-1);
    if (part.startsWith('- ') && last?.startsWith('- ') === true) joined[joined.length - 1] = `${last}\n${part}`;
    else joined.push(part);
  }
  return joined;
}

function money(usd: number | null): string {
  return usd === null ? 'cost unknown' : formatUsd(usd);
}

/** Formats inline code so that its own backticks cannot end it. */
function code(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const ticks = '`'.repeat(longest + 1);
  const flat = text.replaceAll(/\s+/g, ' ');
  return longest === 0 ? `${ticks}${flat}${ticks}` : `${ticks} ${flat} ${ticks}`;
}
