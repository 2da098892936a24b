// Formats one turn and one context pack for a terminal.

import { counted } from '../../base/counted.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { TurnDetails } from '../../contracts/op-results.ts';
import { tabled } from './kernel/view.ts';
import type { Paint } from './output.ts';
import { facts, money, when } from './table.ts';

export function describeTurn(turn: TurnDetails, paint: Paint): string {
  const about = facts([
    ['Turn', turn.turnId],
    ['Session', turn.sessionId],
    ['Status', turn.status],
    ['Model', turn.model ?? '-'],
    ['Started', when(turn.startedAtMs)],
    ['Finished', when(turn.finishedAtMs)],
    ['Tokens', `${turn.usage.inputTokens} in, ${turn.usage.outputTokens} out`],
    ['Cost', money(turn.costUsd)],
    ['Packs', turn.packs.join(', ') || '-'],
    ...(turn.error === null ? [] : [['Error', turn.error.message] as const]),
  ]);
  const { requests = [] } = turn;
  const part = (title: string, text: string): string => `${paint('bold', title)}\n${text}`;
  return [
    about,
    part('Phases', tabled(turn.phases, { PHASE: 'phase', SINCE: 'atMs', EVENTS: 'events' }, 'None.')),
    // Without a route, the model is named above.
    ...(requests.some(({ route }) => route !== null)
      ? [part('Models', tabled(requests, { MODEL: 'model', ROUTE: 'route', WHY: 'reason', FAILED: 'error' }, 'None.'))]
      : []),
    part(
      'Calls',
      tabled(
        turn.calls,
        { CALL: 'callId', OUTCOME: 'outcome', GATE: 'decision', RULE: 'ruleId', WHAT: calledWhat, OUTPUT: outputOf },
        'None.',
      ),
    ),
    part('Decisions', tabled(turn.decisions, { STEP: 'step', INTENT: 'intent', WHY: 'reason' }, 'None.')),
  ].join('\n\n');
}

const OUTPUT_CHARS_MAX = 200;

/** A call that was allowed without an approval has no summary. */
function calledWhat(call: TurnDetails['calls'][number]): string {
  return call.summary === '' ? `${call.tool} ${call.args}` : call.summary;
}

/** Truncated; --json prints the whole output. */
function outputOf({ forUser }: TurnDetails['calls'][number]): string {
  const text = forUser.trim();
  return text.length > OUTPUT_CHARS_MAX ? `${text.slice(0, OUTPUT_CHARS_MAX)}…` : text;
}

export function describePack(pack: OpResult<'pack.get'>): string {
  const about = facts([
    ['Pack', pack.packId],
    ['Turn', pack.turnId],
    ['Tokens', `${pack.tokens} of ${pack.budgetTokens}`],
    ['Reported', reported(pack.reported ?? null)],
    ['Summary', summary(pack.summary ?? null)],
  ]);
  return contents(about, pack);
}

export function describePreview(pack: OpResult<'pack.preview'>): string {
  const about = facts([
    ['Model', pack.model],
    ['Tokens', `${pack.tokens} of ${pack.budgetTokens}`],
  ]);
  return contents(about, pack);
}

function contents(about: string, pack: Omit<OpResult<'pack.preview'>, 'model'>): string {
  return [
    about,
    tabled(pack.sections, { SECTION: 'name', TOKENS: 'tokens', ITEMS: 'items' }, 'No sections.'),
    tabled(pack.dropped, { 'LEFT OUT': 'what', COUNT: 'count', TOKENS: 'tokens', WHY: 'reason' }, 'Nothing was left out.'),
    tabled(pack.truncated, { SHORTENED: 'what', FROM: 'fromTokens', TO: 'toTokens', WHY: 'reason' }, 'Nothing was shortened.'),
    tabled(
      pack.parts ?? [],
      { FROM: 'section', SOURCE: 'source', TOKENS: 'tokens', TITLE: 'title' },
      'Nothing from memory, knowledge or skills.',
    ),
    tabled(pack.messages, { ROLE: 'role', TEXT: 'text' }, 'No messages.'),
  ].join('\n\n');
}

function summary(held: OpResult<'pack.get'>['summary']): string {
  if (held === null || held === undefined) return '-';
  return `${counted(held.messages, 'message')} from ${when(held.fromAtMs)} to ${when(held.toAtMs)}, in ${held.tokens} tokens`;
}

function reported(usage: { readonly inputTokens: number; readonly cachedInputTokens: number } | null): string {
  return usage === null ? '-' : `${usage.inputTokens} by the server, ${usage.cachedInputTokens} of them from its cache`;
}
