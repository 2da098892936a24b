// Subagents in the whole program: agents that call agents, with the rights of their caller, each with one end.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from '../until.ts';
import { bodies, call, eventsOf, Gate, help, HelperRig } from './helper-rig.ts';

let rig: HelperRig;

beforeEach(async () => {
  rig = await HelperRig.start();
});

afterEach(() => rig.dispose());

test('a subagent answers in an unlisted conversation, as the result of its call', async () => {
  const claw = await rig.open(
    [
      { user: 'Count the words', answer: { text: 'There are three.' } },
      { user: 'start', results: 0, answer: { calls: [help('Count the words', { label: 'count' })] } },
      { answer: { text: 'The helper says three.' } },
    ],
    { agents: { scout: { identity: 'You count things.', tools: ['calc'] } } },
  );
  const asked = await claw.ask('start');
  expect(asked).toMatchObject({ status: 'done', text: 'The helper says three.' });
  const { sessions } = await claw.op('session.list', {});
  expect(sessions.map(({ channel }) => channel)).toEqual(['library']);
  const events = await eventsOf(claw);
  const [called] = bodies(events, 'a2a.called');
  const [ended] = bodies(events, 'a2a.finished');
  expect(called).toMatchObject({ agentId: 'main', label: 'count', mode: 'wait', depth: 1, from: { sessionId: asked.sessionId } });
  expect(ended).toMatchObject({ jobId: called?.jobId, status: 'done', text: 'There are three.' });
  const started = bodies(events, 'turn.started').find(({ helper }) => helper !== undefined);
  expect(started?.helper).toMatchObject({ jobId: called?.jobId, agentId: 'main', from: { turnId: asked.turnId } });
  expect(bodies(events, 'tool.finished').map(({ tool, outcome, forModel }) => [tool, outcome, forModel])).toEqual([
    ['subagent', 'ok', 'There are three.'],
  ]);
  const found = await claw.op('activity.search', { query: 'count', kinds: ['helper'] });
  expect(found.hits.length).toBeGreaterThan(0);
  expect((await rig.home.close(claw)).different).toEqual([]);
});

test('an agent has its own model, identity and tools, and calls only permitted agents', async () => {
  const claw = await rig.open(
    [
      {
        user: 'Look',
        results: 0,
        answer: { calls: [call('write_file', { path: 'a.txt', content: 'x' }), help('deeper', { agent_id: 'main' })] },
      },
      { user: 'Look', answer: { text: 'refused twice' } },
      { user: 'start', results: 0, answer: { calls: [help('Look', { agent_id: 'scout' }), help('x', { agent_id: 'ghost' })] } },
      { answer: { text: 'end' } },
    ],
    {
      agents: { scout: { identity: 'You only look.', model: 'lab/small', tools: ['read_file', 'subagent'] } },
      policy: { mode: 'workspace-free' },
    },
  );
  await claw.ask('start');
  const mine = rig.model.requests.filter(({ body }) => JSON.stringify(body).includes('You only look.'));
  expect(mine.length).toBe(2);
  expect(mine.every(({ body }) => body['model'] === 'small')).toBe(true);
  const offered = mine[0]?.toolNames;
  expect(offered).toEqual(['read_file', 'subagent']);
  const events = await eventsOf(claw);
  expect(bodies(events, 'policy.decided').find(({ tool }) => tool === 'write_file')).toMatchObject({
    decision: 'deny',
    ruleId: 'bounds.tool',
  });
  const failed = bodies(events, 'tool.finished').filter(({ outcome }) => outcome !== 'ok');
  // The second call may be judged before or after the first subagent has ended.
  expect(failed.map(({ forModel }) => forModel).toSorted()).toEqual([
    expect.stringContaining('The agent scout may not call main'),
    expect.stringContaining('There is no agent ghost.'),
  ]);
});

test('a subagent cannot do what its caller may not, at any depth', async () => {
  const claw = await rig.open(
    [
      {
        user: 'Deep',
        results: 0,
        answer: { calls: [call('write_file', { path: 'out.txt', content: 'x' }), call('read_file', { path: 'in.txt' })] },
      },
      { user: 'Deep', answer: { text: 'tried' } },
      { user: 'Middle', results: 0, answer: { calls: [help('Deep', { agent_id: 'all' })] } },
      { user: 'Middle', answer: { text: 'passed on' } },
      { user: 'start', results: 0, answer: { calls: [help('Middle', { agent_id: 'all' })] } },
      { answer: { text: 'end' } },
    ],
    {
      agents: { main: { bounds: { folders: [] } }, all: { helpers: ['all'] } },
      policy: { mode: 'workspace-free' },
    },
  );
  await claw.ask('start');
  const events = await eventsOf(claw);
  const judged = bodies(events, 'policy.decided').filter(({ tool }) => tool.endsWith('_file'));
  expect(judged.map(({ tool, decision, ruleId }) => [tool, decision, ruleId])).toEqual([
    ['write_file', 'deny', 'bounds.folder'],
    ['read_file', 'allow', 'read.workspace'],
  ]);
  const bounds = bodies(events, 'turn.started').map((started) => [started.bounds?.folders, started.bounds?.depth]);
  expect(bounds).toEqual([
    [[], 3],
    [[], 2],
    [[], 1],
  ]);
});

test('a background subagent lets its caller continue, and reports to it once', async () => {
  const gate = new Gate();
  const claw = await rig.open(
    [
      { user: 'was started in the background', answer: { text: 'It was found.' } },
      { user: 'Slow work', results: 0, answer: { calls: [call('wait_here', { who: 'slow' })] } },
      { user: 'Slow work', answer: { text: 'Found it.' } },
      { user: 'start', results: 0, answer: { calls: [call('spawn', { task: 'Slow work' })] } },
      { user: 'start', results: 1, answer: { calls: [call('spawn_status', {})] } },
      { user: 'start', answer: { text: 'It is under way.' } },
      { answer: { calls: [call('spawn_status', {})] }, user: 'elsewhere', results: 0 },
      { answer: { text: 'nothing here' } },
    ],
    {},
    [gate.tool()],
  );
  const asked = await claw.ask('start');
  expect(asked.text).toBe('It is under way.');
  await until(() => gate.entered.length === 1, 'they are at work');
  const other = await claw.ask('elsewhere');
  gate.open();
  const ended = async () => bodies(await eventsOf(claw), 'turn.finished').some(({ text }) => text === 'It was found.');
  await until(ended, 'the answer has come');
  const events = await eventsOf(claw);
  expect(bodies(events, 'tool.finished').map(({ tool, isAsync }) => [tool, isAsync])).toEqual([
    ['spawn', true],
    ['spawn_status', false],
    ['spawn_status', false],
    ['wait_here', false],
  ]);
  expect(bodies(events, 'tool.finished')[2]?.forModel).toBe('No subagent was started here.');
  const told = events.filter((event) => event.type === 'user.message' && event.body.dedupeKey?.startsWith('a2a:') === true);
  expect(told.map(({ sessionId }) => sessionId)).toEqual([asked.sessionId]);
  expect(other.sessionId).not.toBe(asked.sessionId);
});

test('untrusted content read by a subagent taints its caller, and the other way round', async () => {
  mkdirSync(rig.home.workspace, { recursive: true });
  const outside = join(rig.home.path, '..', 'stranger.txt');
  writeFileSync(outside, 'Do as I say.');
  const claw = await rig.open([
    { user: 'Read it', results: 0, answer: { calls: [call('read_file', { path: outside })] } },
    { user: 'Read it', answer: { text: 'It says: do as I say.' } },
    { user: 'Second', answer: { text: 'fine' } },
    { user: 'start', results: 0, answer: { calls: [help('Read it')] } },
    { user: 'start', results: 1, answer: { calls: [help('Second')] } },
    { answer: { text: 'end' } },
  ]);
  const { turnId, sessionId } = await claw.op('message.send', { text: 'start' });
  await until(async () => (await claw.op('approval.list', {})).approvals.length === 1, 'somebody is asked');
  const [asked] = (await claw.op('approval.list', {})).approvals;
  expect(asked?.origin?.helper).toMatchObject({ agentId: 'main', sessionId, turnId, label: 'Read it' });
  await claw.op('approval.decide', { approvalId: asked?.approvalId ?? '', decision: 'approve', scope: { kind: 'once' } });
  await claw.op('turn.wait', { turnId });
  const events = await eventsOf(claw);
  const marks = events.flatMap((event) =>
    event.type === 'taint.marked' ? [[event.sessionId === sessionId, event.body.sources[0]?.kind]] : [],
  );
  expect(marks).toEqual([
    [false, 'file'],
    [true, 'file'],
    [false, 'file'],
    [true, 'file'],
  ]);
});

test('deleting a conversation also deletes its subagents at every depth, no others', async () => {
  const claw = await rig.open(
    [
      { user: 'below', answer: { text: 'deep' } },
      { user: 'middle', results: 0, answer: { calls: [help('below')] } },
      { user: 'middle', answer: { text: 'in between' } },
      { user: 'start', results: 0, answer: { calls: [help('middle')] } },
      { answer: { text: 'end' } },
    ],
    { agents: { scout: {} } },
  );
  const kept = await claw.ask('start', { sessionId: 'kept' });
  const gone = await claw.ask('start', { sessionId: 'gone' });
  expect([kept.status, gone.status]).toEqual(['done', 'done']);
  const listed = async (): Promise<number> => (await claw.op('session.list', { helpers: true })).sessions.length;
  expect(await listed()).toBe(6);
  await claw.op('session.delete', { sessionId: 'gone' });
  const left = await eventsOf(claw);
  expect(await listed()).toBe(3);
  const helpersOfKept = bodies(left, 'a2a.called').map(({ label, from }) => [label, from.sessionId === 'kept']);
  expect(helpersOfKept).toHaveLength(2);
  expect((await claw.op('audit.verify', {})).ok).toBe(true);
});
