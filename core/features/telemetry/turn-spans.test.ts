import { expect, test } from 'vitest';
import type { AnyEvent } from '../../contracts/events.ts';
import { tracesJson } from './otlp-json.ts';
import { traceOfTurn } from './turn-spans.ts';

const told = 'it is about /home/ada/salary.csv';
const error = { code: 'tool_failed', message: told };
const bodies = {
  'turn.started': { agentId: 'main', model: 'lab/one' },
  'model.requested': { requestId: 'r1', model: 'lab/one' },
  'model.failed': { requestId: 'r1', error, costUsd: null },
  'policy.decided': { callId: 'c1', tool: 'read_file', decision: 'deny', ruleId: 'rule.deny', reason: told },
  'tool.rejected': { callId: 'c2', tool: 'read_file', error },
  'tool.requested': { callId: 'c3', tool: 'exec', args: told },
  'tool.outcome_unknown': { callId: 'c3', reason: told },
  'verification.finished': { callId: 'c4', ok: false, detail: told },
  'turn.finished': { status: 'failed', error, text: told, usage: { inputTokens: 1, outputTokens: 1 }, costUsd: null },
};
const events = Object.entries(bodies).map(
  ([type, body], seq) => ({ type, body, seq, atMs: seq, turnId: 'trn_1', sessionId: 'ses_1' }) as unknown as AnyEvent,
);
const errorsOf = (content: boolean) =>
  traceOfTurn(events, { content, redact: (text) => text.replace('ada', 'X') })?.spans.map((span) => span.error);

test('without content, errors are codes and rule ids', () => {
  expect(errorsOf(false)).toEqual(['tool_failed', 'tool_failed', 'rule.deny', 'tool_failed', 'unknown_outcome', 'failed']);
  expect(JSON.stringify(traceOfTurn(events, { content: false, redact: (text) => text }))).not.toContain('salary');
});

test('with content, errors are sentences without secrets', () => {
  expect(errorsOf(true)).toEqual(Array.from({ length: 6 }, () => 'it is about /home/X/salary.csv'));
});

test('an attribute has the same type in all spans, also a cost of nothing', () => {
  const costs = [0, 0.25, 1e300].map((usd) => ({ 'trayclaw.cost.usd': usd, 'gen_ai.usage.input_tokens': 3 }));
  const spans = costs.map((attributes, at) => ({
    key: `k${at}`,
    parent: null,
    name: 'chat lab/one',
    kind: 'client' as const,
    startMs: 1,
    endMs: 2,
    error: null,
    attributes,
  }));
  const json = tracesJson([{ rootTurnId: 't', turnId: 't', sessionId: 's', spans }], { version: '1', instance: 'i' });
  const sent = json.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans).flatMap((scope) => scope.spans);
  expect(sent.map(({ attributes }) => attributes.map(({ value }) => value))).toEqual(
    [0, 0.25, 1e300].map((doubleValue) => [{ doubleValue }, { intValue: '3' }]),
  );
});
