// A turn described from its events: the summary, the tree and the time axis. Every event of the log has a sentence.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventTypes, type AnyEvent, type EventOf, type EventType } from '../../../core/contracts/events.ts';
import { foldTurnView } from '../../../core/contracts/turn-view-fold.ts';
import { describeEvent } from '../../lib/describe-event.ts';
import { english } from '../../lib/i18n/english/whole.ts';
import { Formats } from '../../lib/i18n/formats.ts';
import { buildTree, keysOf, pruneTree, rowsOf, type TreeNode } from './build-tree.ts';
import { sumUpTurn } from './sum-up-turn.ts';
import { createAxis, spansOf } from './turn-axis.ts';

const samples = join(import.meta.dirname, '../../../tests/pins/samples');

/** A sample of each type, as stored in a log. */
function sampleOf(type: EventType): AnyEvent {
  const body: unknown = JSON.parse(readFileSync(join(samples, `${type}.v1.json`), 'utf8'));
  return { seq: 1, sessionId: 's', sessionSeq: 1, turnId: 't', step: 1, phase: null, type, v: 1, atMs: 1, body } as AnyEvent;
}

let seq = 0;
function at<T extends EventType>(atMs: number, type: T, body: Partial<EventOf<T>['body']>, phase: AnyEvent['phase'] = null): AnyEvent {
  const sample = sampleOf(type);
  return { ...sample, seq: ++seq, atMs, phase, body: { ...(sample.body as object), ...body } } as unknown as AnyEvent;
}

const usage = { inputTokens: 100, outputTokens: 20, cachedInputTokens: 40 };
const total = { inputTokens: 200, outputTokens: 40, cachedInputTokens: 80 };
const facts = {
  class: 'exec' as const,
  paths: [{ given: 'a.md', real: '/w/a.md', access: 'read' as const, insideWorkspace: true, protectedBy: null }],
  command: { line: 'npm test', cwd: '/w' },
  hosts: ['example.org'],
};

/** Asked, waited a minute for the approval, ran, was verified; a second call was denied. */
function turn(): AnyEvent[] {
  seq = 0;
  const gate = { tool: 'exec', facts, approvalId: null, grantId: null };
  const asked = sampleOf('approval.requested') as EventOf<'approval.requested'>;
  const approval = {
    ...asked.body.approval,
    approvalId: 'a1',
    callId: 'c1',
    tool: 'exec',
    args: '{"command":"npm test"}',
    summary: 'Wants to run npm test',
  };
  return [
    at(0, 'user.message', { text: 'Test it', channel: 'window', sender: 'ada' }, 'interpret'),
    at(0, 'turn.started', { model: 'lab/m' }, 'interpret'),
    at(10, 'brain.decided', { intent: 'pack', callIds: [] }, 'interpret'),
    at(
      20,
      'pack.built',
      { tokens: 900, budgetTokens: 8000, dropped: [{ what: 'old', count: 3, tokens: 10, reason: 'full' }] },
      'interpret',
    ),
    at(30, 'model.requested', { requestId: 'r1', model: 'lab/m' }, 'plan'),
    at(130, 'model.finished', { requestId: 'r1', usage, costUsd: 0.01 }, 'plan'),
    at(140, 'policy.decided', { ...gate, callId: 'c2', decision: 'deny', reason: 'Never.' }, 'policy-gate'),
    at(140, 'policy.decided', { ...gate, callId: 'c1', decision: 'ask' }, 'policy-gate'),
    at(150, 'approval.requested', { approval }, 'policy-gate'),
    at(150, 'turn.waiting', {}, 'policy-gate'),
    at(60_150, 'approval.decided', { approvalId: 'a1', callId: 'c1', decision: 'approve', by: 'bob' }, 'policy-gate'),
    at(60_150, 'turn.resumed', {}),
    at(60_160, 'tool.requested', { callId: 'c1', tool: 'exec', args: '{"command":"npm test"}' }, 'act'),
    at(60_170, 'checkpoint.taken', { callId: 'c1', files: [{ path: '/w/b.md', before: { kind: 'absent' } }] }, 'act'),
    at(60_200, 'checkpoint.closed', { callId: 'c1', files: [{ path: '/w/b.md', after: { kind: 'link', target: 'x' } }] }, 'observe'),
    at(60_260, 'tool.finished', { callId: 'c1', tool: 'exec', outcome: 'ok' }, 'observe'),
    at(60_270, 'verification.finished', { callId: 'c1', ok: true }, 'verify'),
    at(60_280, 'brain.decided', { intent: 'pack', callIds: [] }, 'plan'),
    at(60_290, 'model.requested', { requestId: 'r2', model: 'lab/m' }, 'plan'),
    at(60_300, 'model.finished', { requestId: 'r2', usage, costUsd: 0.01 }, 'plan'),
    at(60_310, 'turn.finished', { status: 'done', error: null, usage: total, costUsd: 0.02 }, 'respond'),
  ];
}

test('the summary follows the log: calls by outcome, files, hosts, approvals, cost', () => {
  expect(sumUpTurn(foldTurnView('t', turn()), 999_999, ({ tool }) => tool)).toMatchObject({
    asked: { sender: 'ada', channel: 'window' },
    tools: [['exec', 1]],
    calls: 1,
    outcomes: [['ok', 1]],
    filesChanged: ['/w/b.md'],
    filesRead: ['a.md'],
    hosts: ['example.org'],
    commands: ['npm test'],
    requests: 2,
    model: 'lab/m',
    largestPack: { tokens: 900 },
    leftOut: 3,
    refused: ['exec: Never.'],
    approvals: [{ summary: 'Wants to run npm test', state: 'approved', decidedBy: 'bob' }],
    checks: { ok: 1, wrong: 0 },
    failures: [],
    status: 'done',
    tookMs: 60_310,
    waitedMs: 60_000,
    usage: total,
    costUsd: 0.02,
  });
});

test('a running turn is summed up so far, and an undo does not count as work of the turn', () => {
  const open = turn().slice(0, 10);
  expect(sumUpTurn(foldTurnView('t', open), 5_150, ({ tool }) => tool)).toMatchObject({
    status: null,
    tookMs: 5_150,
    waitedMs: 5_000,
    costUsd: 0.01,
    calls: 0,
  });
  const undone = [
    ...turn(),
    at(70_000, 'checkpoint.taken', { callId: 'u1', undoes: ['c1'], files: [{ path: '/w/z.md', before: { kind: 'absent' } }] }),
    at(70_001, 'checkpoint.closed', { callId: 'u1', files: [{ path: '/w/z.md', after: { kind: 'link', target: 'x' } }] }),
    at(70_002, 'checkpoint.restored', { files: [{ path: '/w/b.md' }] }),
  ];
  expect(sumUpTurn(foldTurnView('t', undone), 0, ({ tool }) => tool)).toMatchObject({ filesChanged: ['/w/b.md'], filesUndone: 1 });
});

function treeOf(events: readonly AnyEvent[]): TreeNode {
  const telling = { words: english, format: new Formats('en-GB', english.common), call: ({ tool }: { tool: string }) => tool };
  return buildTree(events, foldTurnView('t', events), new Map(events.map((event) => [event.seq, describeEvent(event, telling)])));
}

function outline(node: TreeNode): unknown {
  const name = node.kind === 'event' ? node.event.type : node.kind === 'step' ? node.step : node.kind === 'phase' ? node.phase : node.kind;
  return node.children.length === 0 ? name : [name, ...node.children.map(outline)];
}

test('the tree: steps begin with the pack; a call is where it ran, with its decisions', () => {
  const root = treeOf(turn());
  expect(outline(root)).toEqual([
    'turn',
    [0, ['interpret', 'user.message', 'turn.started']],
    [
      1,
      ['interpret', 'brain.decided', 'pack.built'],
      ['plan', ['model', 'model.requested', 'model.finished']],
      ['policy-gate', ['call', 'policy.decided'], 'turn.waiting', 'turn.resumed'],
      [
        'act',
        [
          'call',
          'policy.decided',
          'approval.requested',
          'approval.decided',
          'tool.requested',
          'checkpoint.taken',
          'checkpoint.closed',
          'tool.finished',
          'verification.finished',
        ],
      ],
    ],
    [2, ['plan', 'brain.decided', ['model', 'model.requested', 'model.finished']], ['respond', 'turn.finished']],
  ]);
  const call = root.children[1]?.children[3]?.children[0];
  expect(call).toMatchObject({ kind: 'call', tool: 'exec', tone: 'good', fromMs: 60_160, toMs: 60_260 });
  expect(root.children[1]?.tone).toBe('bad');
});

test('a row has its level and its place among its neighbours; hidden ones have no row', () => {
  const root = treeOf(turn());
  expect(rowsOf(root, new Set()).map(({ level, isOpen }) => [level, isOpen])).toEqual([[1, false]]);
  const steps = rowsOf(root, new Set(['turn']));
  expect(steps.map(({ level, place, setSize }) => [level, place, setSize])).toEqual([
    [1, 1, 1],
    [2, 1, 3],
    [2, 2, 3],
    [2, 3, 3],
  ]);
  const pruned = pruneTree(root, ({ type }) => type === 'verification.finished');
  expect(pruned === null ? null : outline(pruned)).toEqual(['turn', [1, ['act', ['call', 'verification.finished']]]]);
  expect(pruneTree(root, () => false)).toBe(null);
  expect(new Set(keysOf(root, () => true)).size).toBe(keysOf(root, () => true).length);
});

test('the axis is true to time, except that a long wait is shortened', () => {
  const events = turn();
  const axis = createAxis(foldTurnView('t', events));
  expect(axis.parts.map(({ isWait }) => isWait)).toEqual([false, true, false]);
  expect(axis.at(60_150) - axis.at(150)).toBeCloseTo(0.08);
  expect([axis.at(-5), axis.at(0), axis.at(60_310), axis.at(99_999)]).toEqual([0, 0, 1, 1]);
  expect(axis.at(130) - axis.at(30)).toBeCloseTo(axis.at(60_260) - axis.at(60_160));
  expect(axis.ticksMs[0]).toBe(0);
  expect(axis.ticksMs.at(-1)).toBeCloseTo(60_310);
  const moments = events.map(({ atMs }) => axis.at(atMs));
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  const finished = events.find(({ type }) => type === 'tool.finished');
  expect(spansOf(events, foldTurnView('t', events)).get(finished?.seq ?? 0)).toEqual({ fromMs: 60_160, toMs: 60_260 });
});

/** Events of a session or the program, never of a turn. */
const ofNoTurn = /^(?:session|instance)\.|^panic\.measured$/;

test('every event a turn can hold has a sentence', () => {
  const telling = { words: english, format: new Formats('en-GB', english.common), call: ({ tool }: { tool: string }) => tool };
  const all = readdirSync(samples).map((file) => {
    const type = eventTypes.find((name) => file.startsWith(`${name}.v1.`)) ?? 'turn.started';
    const body: unknown = JSON.parse(readFileSync(join(samples, file), 'utf8'));
    const { title, detail } = describeEvent({ ...sampleOf(type), body } as AnyEvent, telling);
    return { type, title, detail };
  });
  expect(all.length).toBeGreaterThanOrEqual(eventTypes.length);
  // Where a sentence is shown, a no-break space is marked as a hidden character.
  expect(all.filter(({ title, detail }) => `${title}${detail}`.includes('\u{a0}'))).toEqual([]);
  expect(
    all.filter(({ type, title }) => title === '' || /undefined|\[object/.test(title) || (title === type && !ofNoTurn.test(type))),
  ).toEqual([]);
});
