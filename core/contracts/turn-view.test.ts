// The view of a turn: applying events one at a time gives the same view as applying all of them, events are never changed, and the cost of
// an event does not grow with the turn.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventTypes, phases, type AnyEvent, type EventBodies, type EventType } from './events.ts';
import { noUsage } from './llm.ts';
import { applyToTurnView, foldTurnView, unreadableType } from './turn-view-fold.ts';
import { changedNames, createTurnView, isOpen, type TurnEntry, type TurnView } from './turn-view.ts';
import { notDone } from './turn-words.ts';

const samples = join(import.meta.dirname, '../../tests/pins/samples');

/** Event bodies as in logs on disk, including earlier forms. */
const recorded = readdirSync(samples).map((file) => ({
  type: eventTypes.find((name) => file.startsWith(`${name}.v1.`)) ?? 'user.message',
  isUsual: !/\.v1\.\w+\.json$/.test(file),
  body: readFileSync(join(samples, file), 'utf8'),
}));

/** Ids that matter to the fold. Few different values, so that events of a sequence refer to each other. */
const idKeys = /^(?:callId|callIds|undoes|requestId|approvalId|approvalIds|jobId|restoreId)$/;

function withIds(body: unknown, draw: () => number): unknown {
  if (Array.isArray(body)) return body.map((item) => withIds(item, draw));
  if (typeof body !== 'object' || body === null) return body;
  const change = (key: string, value: unknown): unknown => {
    if (!idKeys.test(key)) return withIds(value, draw);
    const drawn = (): string => `${key.slice(0, 2)}${draw() % 3}`;
    return Array.isArray(value) ? value.map(drawn) : value === null ? null : drawn();
  };
  return Object.fromEntries(Object.entries(body).map(([key, value]) => [key, change(key, value)]));
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}

function eventAt(seq: number, type: string, body: unknown): AnyEvent {
  const phase = phases[seq % (phases.length + 1)] ?? null;
  return freeze({
    seq,
    sessionId: 's',
    sessionSeq: seq,
    turnId: 't',
    step: seq >> 3,
    phase,
    type,
    v: 1,
    atMs: 1000 + seq * 10,
    body,
  }) as AnyEvent;
}

const sequences = fc.array(fc.tuple(fc.nat(recorded.length), fc.array(fc.nat(8), { minLength: 1, maxLength: 6 })), {
  maxLength: 80,
  size: 'max',
});

/** Recorded bodies in any order, mixed with events of a later version. */
function eventsOf(drawn: readonly (readonly [number, readonly number[]])[]): AnyEvent[] {
  return drawn.map(([which, numbers], index) => {
    const sample = recorded[which];
    let at = 0;
    const draw = (): number => numbers[at++ % numbers.length] ?? 0;
    return sample === undefined
      ? eventAt(index + 1, 'constructor', {})
      : eventAt(index + 1, sample.type, withIds(JSON.parse(sample.body), draw));
  });
}

const copy = (turn: TurnView): TurnView => JSON.parse(JSON.stringify(turn)) as TurnView;

test('the view is the same however a turn is split and events are repeated', () => {
  fc.assert(
    fc.property(sequences, fc.nat(100), (drawn, cutAt) => {
      const events = eventsOf(drawn);
      const whole = foldTurnView('t', events);
      const cut = cutAt % (events.length + 1);
      // Serialized and parsed in the middle, because no state may be kept outside the view.
      const grown = copy(foldTurnView('t', events.slice(0, cut)));
      if (cut === 0) Object.assign(grown, createTurnView('t', events[0]?.atMs ?? 0));
      for (const event of events.slice(Math.max(0, cut - 5))) applyToTurnView(grown, event);
      expect(copy(grown)).toEqual(copy(whole));
      expect(new Set(whole.entries.map(({ key }) => key)).size).toBe(whole.entries.length);
      expect(named(whole.entries)).toEqual(Object.keys(whole.calls).sort());
      if (events.at(-1)?.type === 'turn.finished')
        expect(Object.values(whole.calls).filter(({ state }) => state === 'waiting')).toEqual([]);
    }),
    { numRuns: 300 },
  );
});

/** Every call has one entry, its own or in a plan. */
function named(entries: readonly TurnEntry[]): string[] {
  const lines = entries.flatMap((entry) => (entry.kind === 'call' ? [entry.callId] : entry.kind === 'plan' ? entry.callIds : []));
  return [...new Set(lines)].sort();
}

test('an unreadable event leaves a note, an event of a later version leaves nothing', () => {
  const before = foldTurnView('t', [eventAt(1, 'turn.steered', { text: 'Also this', sender: 'ada' })]);
  const after = foldTurnView('t', [
    eventAt(1, 'turn.steered', { text: 'Also this', sender: 'ada' }),
    eventAt(2, unreadableType, {}),
    eventAt(3, 'tool.finished', null),
    eventAt(4, 'turn.grew_wings', { calls: 'many' }),
  ]);
  expect(after.entries.map((entry) => (entry.kind === 'note' ? entry.fact.code : entry.kind))).toEqual([
    'steer',
    'unreadable',
    'unreadable',
  ]);
  expect([before.status, after.status, after.lastSeq]).toEqual(['queued', 'queued', 4]);
});

const usage = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 0 };
const facts = {
  class: 'write' as const,
  command: null,
  hosts: [],
  paths: [{ given: 'a', real: '/w/a', access: 'write' as const, insideWorkspace: true, protectedBy: null }],
};

class Script {
  readonly events: AnyEvent[] = [];

  add<T extends EventType>(type: T, body: Partial<EventBodies[T]>): this {
    const known = recorded.find((sample) => sample.type === type && sample.isUsual)?.body ?? '{}';
    this.events.push(eventAt(this.events.length + 1, type, { ...(JSON.parse(known) as object), ...body }));
    return this;
  }

  get view(): TurnView {
    return foldTurnView('t', this.events);
  }
}

const call = (callId: string): { callId: string; providerCallId: string; tool: string; args: string } => ({
  callId,
  providerCallId: 'p',
  tool: 'write_file',
  args: '{}',
});

function step(script: Script, at: number): Script {
  const calls = [call(`a${at}`), call(`b${at}`)];
  script.add('model.requested', { requestId: `r${at}` }).add('model.finished', { requestId: `r${at}`, text: 'On.', calls, usage });
  script.add('plan.drafted', { calls: calls.map(({ callId, tool }) => ({ callId, tool })) });
  for (const { callId } of calls) script.add('tool.requested', { callId }).add('tool.finished', { callId, outcome: 'ok' });
  return script;
}

test('an event costs the same at the end of a long turn as at its beginning', () => {
  const readsOfStep = (steps: number): number => {
    let reads = 0;
    const counted = <T extends object>(list: T): T =>
      new Proxy(list, { get: (target, key, self) => ((reads += 1), Reflect.get(target, key, self)) });
    const script = new Script();
    for (let at = 0; at < steps; at++) step(script, at);
    const turn = script.view;
    Object.assign(turn, { entries: counted(turn.entries), calls: counted(turn.calls), requests: counted(turn.requests) });
    for (const event of step(script, steps).events.slice(steps * 7)) applyToTurnView(turn, event);
    return reads;
  };
  expect(readsOfStep(400)).toBe(readsOfStep(4));
});

test('a call that the gate or a person refused shows that, and why', () => {
  const gate = { ruleId: 'r', facts, approvalId: null, grantId: null };
  const asked = JSON.parse(recorded.find(({ type }) => type === 'approval.requested')?.body ?? '{}') as EventBodies['approval.requested'];
  const question = (callId: string): EventBodies['approval.requested'] => ({
    approval: { ...asked.approval, approvalId: `q-${callId}`, callId, state: 'pending' },
  });
  const answer = (callId: string, decision: 'deny' | 'withdraw', by: string): EventBodies['approval.decided'] => ({
    approvalId: `q-${callId}`,
    callId,
    decision,
    by,
    scope: null,
    grantId: null,
    ...(by === 'ada' ? { reason: 'Not today.' } : {}),
  });
  const script = new Script()
    .add('turn.started', { kind: 'chat', calls: ['gate', 'no', 'late', 'gone', 'odd'].map(call) })
    .add('policy.decided', { ...gate, callId: 'gate', decision: 'deny', reason: 'Never.' })
    .add('approval.requested', question('no'))
    .add('approval.requested', question('late'))
    .add('approval.requested', question('gone'))
    .add('tool.rejected', { callId: 'odd', error: { code: 'unknown_tool', message: 'There is no such tool.' } })
    .add('approval.decided', answer('no', 'deny', 'ada'))
    .add('approval.decided', answer('late', 'deny', 'timeout'))
    .add('approval.decided', answer('gone', 'withdraw', 'the end of the turn'));
  const { calls, approvals } = script.view;
  expect(Object.values(calls).map((one) => [one.callId, one.state, notDone(one)])).toEqual([
    ['gate', 'denied', 'Never.'],
    ['no', 'denied', 'Not done: ada denied it: Not today.'],
    ['late', 'denied', 'Not done: no answer in time.'],
    ['gone', 'skipped', 'Not done: the turn has ended.'],
    ['odd', 'error', 'There is no such tool.'],
  ]);
  expect(Object.values(approvals).map(({ state, decidedBy }) => [state, decidedBy])).toEqual([
    ['denied', 'ada'],
    ['denied', 'timeout'],
    ['withdrawn', 'the end of the turn'],
  ]);
});

test('spending includes broken-off answers, until the recorded end replaces it', () => {
  const error = { code: 'model_unavailable', message: 'Gone.' } as const;
  const script = new Script()
    .add('model.requested', { requestId: 'r1' })
    .add('model.failed', { requestId: 'r1', error, partialText: 'Ha', usage, costUsd: 0.5, again: true })
    .add('model.requested', { requestId: 'r2' })
    .add('model.finished', { requestId: 'r2', text: 'Half', calls: [], usage, costUsd: 0.25 });
  expect(script.view).toMatchObject({ usage: { inputTokens: 20, outputTokens: 4, cachedInputTokens: 0 }, costUsd: 0.75, answer: 'Half' });
  expect(script.view.requests.map((request) => [request.requestId, request.error?.message ?? 'answered'])).toEqual([
    ['r1', 'Gone.'],
    ['r2', 'answered'],
  ]);
  script.add('turn.finished', { status: 'done', text: 'Half', error: null, usage: noUsage, costUsd: null });
  expect(script.view).toMatchObject({ usage: noUsage, costUsd: null });
  expect(isOpen(script.view)).toBe(false);
});

test('a stopped model call is not shown as a failure, and its text is kept', () => {
  const failed = (code: 'cancelled' | 'model_unavailable') =>
    new Script()
      .add('model.requested', { requestId: 'r1' })
      .add('model.failed', { requestId: 'r1', error: { code, message: 'Over.' }, partialText: 'Half' })
      .view.entries.map((entry) => entry.kind);
  expect([failed('cancelled'), failed('model_unavailable')]).toEqual([['text'], ['text', 'note']]);
});

test('files have the names their calls gave; an agent is shown with its call', () => {
  const image = { kind: 'file', sha256: 'x', sizeBytes: 1, mode: 0o644 } as const;
  const script = new Script()
    .add('turn.started', { calls: [call('c1'), call('c2')] })
    .add('policy.decided', { callId: 'c1', decision: 'allow', facts })
    .add('checkpoint.taken', { callId: 'c1', files: [{ path: '/w/a', before: { kind: 'absent' } }] })
    .add('checkpoint.closed', {
      callId: 'c1',
      files: [
        { path: '/w/a', after: image },
        { path: '/w/b', after: image },
      ],
    })
    .add('a2a.called', { jobId: 'j', agentId: 'scout', from: { sessionId: 's', turnId: 't', callId: 'c2' } })
    .add('a2a.started', { jobId: 'j', sessionId: 'hlp_1' })
    .add('a2a.finished', { jobId: 'j', status: 'done' });
  expect([...changedNames(script.view)]).toEqual([
    ['/w/a', 'a'],
    ['/w/b', '/w/b'],
  ]);
  expect(script.view.calls['c2']?.helper).toEqual({ agentId: 'scout', sessionId: 'hlp_1', end: 'done' });
});
