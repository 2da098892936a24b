// Tests the search over past activity and the export of a turn, with a real log on disk and every indexed kind of event.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AnyDraft, AnyEvent, EventBodies } from '../../contracts/events.ts';
import { created, ended, finished, LogBench, requested, said, started } from '../../../tests/rigs/log-bench.ts';
import type { ActivityFilter } from './session.ts';
import { exportTurn } from './turn-export.ts';

let bench: LogBench;
beforeEach(() => {
  bench = new LogBench();
});
afterEach(() => bench.dispose());

const gate = (callId: string, decision: 'allow' | 'deny', reason: string): AnyDraft => ({
  type: 'policy.decided',
  turnId: 't1',
  phase: 'policy-gate',
  body: {
    callId,
    tool: 'put',
    decision,
    ruleId: 'rule.deny',
    reason,
    facts: { class: 'write', paths: [], command: null, hosts: ['example.org'] },
    idempotency: 'unsafe',
    verifies: false,
    grantId: null,
    approvalId: null,
  },
});
const failed = (callId: string, forModel: string): AnyDraft => {
  const { body } = finished(callId, forModel);
  return { type: 'tool.finished', turnId: 't1', body: { ...(body as EventBodies['tool.finished']), outcome: 'error' } };
};

function find(filter: ActivityFilter, limit = 50): string[] {
  while (bench.log.activity.catchUp());
  return bench.log.activity.find(filter, limit).map(({ type, outcome }) => (outcome === null ? type : `${type} ${outcome}`));
}

function workOfOneTurn(): void {
  bench.log.append('a', [created('Work'), said('Put the kettle on', 't1'), started('t1')]);
  bench.log.append('a', [
    gate('c1', 'allow', 'The kettle may be put.'),
    requested('c1', 't1'),
    { ...finished('c1', 'steam'), turnId: 't1' },
  ]);
  bench.log.append('a', [gate('c2', 'deny', 'No second Kännchen.'), failed('c2', 'ENOENT: no kettle in /kitchen/shelf')]);
  bench.log.append('a', [ended('t1')]);
}

test('finds tools, arguments, decisions and errors, newest first, and no conversation', () => {
  workOfOneTurn();
  expect(find({ query: 'kettle' })).toEqual(['tool.finished error', 'policy.decided allowed']);
  expect(find({ query: 'kannch' })).toEqual(['policy.decided denied']);
  expect(find({ query: 'enoent shelf' })).toEqual(['tool.finished error']);
  expect(find({ query: 'steam' })).toEqual([]);
  expect(find({ query: '"put OR NEAR(' })).toEqual([]);
  expect(find({ query: '***' })).toEqual([]);
  const [hit] = bench.log.activity.find({ query: 'shelf' }, 1);
  expect(hit).toMatchObject({ sessionId: 'a', turnId: 't1', kind: 'tool', tool: 'put', outcome: 'error' });
  expect(hit?.excerpt).toContain('no kettle in /kitchen/shelf');
});

test('combines filters, and starts a page where the previous page ended', () => {
  workOfOneTurn();
  bench.log.append('b', [created('Other'), requested('c3', 't2')]);
  expect(find({ kinds: ['decision'] })).toEqual(['policy.decided denied', 'policy.decided allowed']);
  expect(find({ tool: 'put', outcome: 'error', query: 'put' })).toEqual(['tool.finished error']);
  expect(find({ sessionId: 'b' })).toEqual(['tool.requested']);
  expect(find({ fromMs: bench.clock.nowMs() + 1 })).toEqual([]);
  expect(find({ toMs: bench.clock.nowMs() })).toHaveLength(7);
  const first = bench.log.activity.find({}, 3);
  const rest = bench.log.activity.find({ before: first.at(-1)?.seq ?? 0 }, 50);
  expect(first.length + rest.length).toBe(7);
  expect(new Set([...first, ...rest].map(({ seq }) => seq)).size).toBe(7);
});

test('finds the events of a fork once, and none of a deleted session', () => {
  workOfOneTurn();
  bench.log.fork({ sessionId: 'a', atSessionSeq: 8 }, { sessionId: 'f', title: 'Fork', agentId: 'main', channel: 'cli' });
  expect(find({ query: 'kettle' })).toHaveLength(2);
  bench.log.remove('a', 'system');
  expect(find({ query: 'kettle' })).toEqual([]);
  expect(find({ sessionId: 'a' })).toEqual([]);
});

test('the index survives a restart and is not built again', () => {
  workOfOneTurn();
  expect(find({ query: 'kettle' })).toHaveLength(2);
  bench.reopen();
  expect(bench.log.activity.catchUp()).toBe(false);
  expect(find({ query: 'kettle' })).toHaveLength(2);
});

test('exports a turn as JSON lines or Markdown; content cannot break the format', () => {
  bench.log.append('a', [created('Work'), said('Put ``` it', 't1'), started('t1')]);
  bench.log.append('a', [gate('c1', 'deny', 'No.'), failed('c1', 'a ``` fence\n# and a heading'), ended('t1')]);
  const events: AnyEvent[] = bench.log.reads.turn('a', 't1', bench.log.index.turn('t1')?.firstSeq ?? 0);
  const lines = exportTurn(events, 'jsonl').trimEnd().split('\n');
  expect(lines.map((line) => (JSON.parse(line) as AnyEvent).seq)).toEqual(events.map(({ seq }) => seq));
  const told = exportTurn(events, 'markdown');
  expect(told).toContain('# Turn t1\n');
  expect(told).toContain('## ada asked over cli\n\nPut ``` it');
  expect(told).toContain('- The gate: `put` refused by rule `rule.deny`. No.');
  expect(told).toContain('````\na ``` fence\n# and a heading\n````');
  expect(told).toContain('- Ended: done');
});
