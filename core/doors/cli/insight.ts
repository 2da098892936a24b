// Formats one turn and one context pack for a terminal.

import { counted } from '../../base/counted.ts';
import type { OpResult } from '../../contracts/ops.ts';
import type { TurnDetails } from '../../contracts/op-results.ts';
import type { Paint } from './output.ts';
import { facts, money, table, when } from './table.ts';

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
  const part = (title: string, text: string): string => `${paint('bold', title)}\n${text}`;
  return [
    about,
    part(
      'Phases',
      table(
        ['PHASE', 'SINCE', 'EVENTS'],
        turn.phases.map((one) => [one.phase, when(one.atMs), String(one.events)]),
        'None.',
      ),
    ),
    ...whyModels(turn).map((rows) => part('Models', table(['MODEL', 'ROUTE', 'WHY', 'FAILED'], rows, 'None.'))),
    part(
      'Calls',
      table(
        ['CALL', 'OUTCOME', 'GATE', 'RULE', 'WHAT', 'OUTPUT'],
        turn.calls.map((one) => [one.callId, one.outcome, one.decision ?? '-', one.ruleId ?? '-', calledWhat(one), outputOf(one)]),
        'None.',
      ),
    ),
    part(
      'Decisions',
      table(
        ['STEP', 'INTENT', 'WHY'],
        turn.decisions.map((one) => [String(one.step), one.intent, one.reason]),
        'None.',
      ),
    ),
  ].join('\n\n');
}

/** Only if a route chose a model. Otherwise the model is named above. */
function whyModels({ requests = [] }: TurnDetails): string[][][] {
  if (!requests.some(({ route }) => route !== null)) return [];
  return [requests.map(({ model, route, reason, error }) => [model, route ?? '-', reason ?? '-', error ?? '-'])];
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
  return [
    facts([
      ['Pack', pack.packId],
      ['Turn', pack.turnId],
      ['Tokens', `${pack.tokens} of ${pack.budgetTokens}`],
      ['Reported', reported(pack.reported ?? null)],
      ['Summary', summary(pack.summary ?? null)],
    ]),
    table(
      ['SECTION', 'TOKENS', 'ITEMS'],
      pack.sections.map((one) => [one.name, String(one.tokens), String(one.items)]),
      'No sections.',
    ),
    table(
      ['LEFT OUT', 'COUNT', 'TOKENS', 'WHY'],
      pack.dropped.map((one) => [one.what, String(one.count), String(one.tokens), one.reason]),
      'Nothing was left out.',
    ),
    table(
      ['SHORTENED', 'FROM', 'TO', 'WHY'],
      pack.truncated.map((one) => [one.what, String(one.fromTokens), String(one.toTokens), one.reason]),
      'Nothing was shortened.',
    ),
    table(
      ['FROM', 'SOURCE', 'TOKENS', 'TITLE'],
      (pack.parts ?? []).map((one) => [one.section, one.source, String(one.tokens), one.title]),
      'Nothing from memory, knowledge or skills.',
    ),
    table(
      ['ROLE', 'TEXT'],
      pack.messages.map((one) => [one.role, one.text]),
      'No messages.',
    ),
  ].join('\n\n');
}

function summary(held: OpResult<'pack.get'>['summary']): string {
  if (held === null || held === undefined) return '-';
  return `${counted(held.messages, 'message')} from ${when(held.fromAtMs)} to ${when(held.toAtMs)}, in ${held.tokens} tokens`;
}

function reported(usage: { readonly inputTokens: number; readonly cachedInputTokens: number } | null): string {
  return usage === null ? '-' : `${usage.inputTokens} by the server, ${usage.cachedInputTokens} of them from its cache`;
}
