// Two programs on two ports that assign each other tasks: one calls the other as a subagent. Answers are untrusted, their cost counts here,
// a loop ends, and nothing leaves without the gate.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { startEarlierPeer } from '../doubles/a2a-earlier-peer.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';
import type { Rule } from '../doubles/scripted-model.ts';
import { freePort } from '../free-port.ts';
import { bodies, eventsOf, help } from './helper-rig.ts';

vi.setConfig({ testTimeout: 40_000 });

const rigs: OpenAiDoorRig[] = [];
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.dispose();
});

const allowed: ConfigInput = { policy: { rules: [{ then: 'allow', when: { tools: ['subagent', 'spawn'], hosts: ['127.0.0.1'] } }] } };
const answering: readonly Rule[] = [{ answer: { text: 'far answer', usage: { input: 1000, output: 500 } } }];
const calling: readonly Rule[] = [
  { user: /^go/, results: 0, answer: { calls: [help('Look it up', { agent_id: 'other' })] } },
  { user: /^go/, answer: ({ toolResults }) => ({ text: `it said ${toolResults.at(-1)?.text ?? ''}` }) },
  { answer: { text: 'hello' } },
];

async function startFar(rules: readonly Rule[] = answering, more: ConfigInput = {}): Promise<{ far: OpenAiDoorRig; key: string }> {
  const far = await OpenAiDoorRig.start(rules, { doors: { a2a: { enabled: true } }, ...more });
  rigs.push(far);
  return { far, key: (await far.token({ door: 'a2a', name: 'near', scope: ['agents'] })).key };
}

async function startNear(url: string, key: string, more: ConfigInput = {}, rules = calling): Promise<OpenAiDoorRig> {
  const peers = { other: { url, token: 'env:PEER_TOKEN', description: 'looks things up' } };
  const near = await OpenAiDoorRig.start(rules, { a2a: { peers }, ...more }, { PEER_TOKEN: key });
  rigs.push(near);
  return near;
}

test('a peer is called as a subagent: once, with taint, its cost counted here', async () => {
  const { far, key } = await startFar();
  const near = await startNear(`http://127.0.0.1:${far.port}`, key, allowed);
  const { agents } = await near.claw.op('agent.list', {});
  expect(agents.map(({ agentId, model }) => [agentId, model])).toContainEqual(['other', 'a2a/other']);
  const result = await near.claw.ask('go', { sessionId: 'work' });
  expect([result.status, result.text]).toEqual(['done', 'it said far answer']);
  const events = await eventsOf(near.claw);
  expect(bodies(events, 'a2a.finished')).toMatchObject([{ status: 'done', text: 'far answer' }]);
  expect(bodies(events, 'taint.marked').flatMap(({ sources }) => sources)).toContainEqual({ kind: 'message', where: 'a2a:other' });
  expect(far.model.requests).toHaveLength(1);
  const { peers } = await near.claw.op('a2a.peers', {});
  expect(peers).toMatchObject([{ peer: 'other', state: 'connected', name: 'TrayClaw', once: true, open: 0 }]);
  // The other machine sees only the task: no prompt and no memory of this one.
  expect(JSON.stringify(far.model.requests[0])).not.toContain('it said');
});

test('the words of a refusal are the peer’s, and mark the session', async () => {
  await using peer = await startEarlierPeer([], () => Promise.resolve(), 'Write x.md, then ask again.');
  const near = await startNear(peer.url, 'key', allowed);
  const result = await near.claw.ask('go', { sessionId: 'work' });
  expect([result.status, result.text]).toEqual(['done', expect.stringContaining('Write x.md, then ask again.')]);
  const marked = bodies(await eventsOf(near.claw), 'taint.marked').flatMap(({ sources }) => sources);
  expect(marked).toContainEqual({ kind: 'message', where: 'a2a:other' });
});

async function say({ claw }: OpenAiDoorRig, text: string): Promise<string> {
  const { turnId } = await claw.op('message.send', { text, sessionId: 'talk', agentId: 'other' });
  return (await claw.op('turn.wait', { turnId })).text;
}

test('a conversation with a peer continues in its own context there', async () => {
  const { far, key } = await startFar([
    { answer: ({ body }) => ({ text: `heard ${JSON.stringify(body['messages']).match(/"role":"user"/g)?.length ?? 0}` }) },
  ]);
  const near = await startNear(`http://127.0.0.1:${far.port}`, key);
  const answers = [await say(near, 'Hi'), await say(near, 'And?')];
  expect(answers).toEqual(['heard 1', 'heard 2']);
});

test('without a rule a task for another machine waits for approval; denied, nothing leaves', async () => {
  const { far, key } = await startFar();
  const near = await startNear(`http://127.0.0.1:${far.port}`, key);
  const { turnId } = await near.claw.op('message.send', { text: 'go', sessionId: 'work' });
  const waiting = await near.claw.op('turn.wait', { turnId });
  expect([waiting.status, waiting.pending?.[0]?.summary]).toEqual(['waiting', 'Wants to ask the agent other at 127.0.0.1: Look it up']);
  await near.claw.op('approval.decide', { approvalId: waiting.pending?.[0]?.approvalId ?? '', decision: 'deny' });
  await near.claw.op('turn.wait', { turnId });
  expect(far.model.requests).toHaveLength(0);
});

test('two programs that call each other: the call back is refused, and both end', async () => {
  const port = await freePort();
  const passOn = (agent: string): readonly Rule[] => [
    { results: 0, answer: { calls: [help('Pass it on', { agent_id: agent })] } },
    { answer: ({ toolResults }) => ({ text: `got: ${toolResults.at(-1)?.text ?? ''}` }) },
  ];
  const opened = { doors: { a2a: { enabled: true } }, ...allowed };
  const peer = (name: string, at: number): ConfigInput => ({
    a2a: { peers: { [name]: { url: `http://127.0.0.1:${at}`, token: 'file:token' } } },
  });
  const first = await OpenAiDoorRig.start(passOn('second'), { ...opened, ...peer('second', port) });
  rigs.push(first);
  const second = await OpenAiDoorRig.start(passOn('first'), { ...opened, ...peer('first', first.port) });
  rigs.push(second);
  await second.listen(undefined, port);
  writeFileSync(join(first.home.path, 'token'), (await second.token({ door: 'a2a', name: 'first' })).key);
  writeFileSync(join(second.home.path, 'token'), (await first.token({ door: 'a2a', name: 'second' })).key);
  const { turnId } = await first.claw.op('message.send', { text: 'begin', sessionId: 'loop' });
  // The task is another agent's text, so what it asks for needs a person there, whatever the rules allow.
  for await (const event of second.claw.events({ after: 0 })) {
    if (event.type !== 'approval.requested') continue;
    await second.claw.op('approval.decide', { approvalId: event.body.approval.approvalId, decision: 'approve', scope: { kind: 'once' } });
    break;
  }
  const { status, text } = await first.claw.op('turn.wait', { turnId });
  expect([status, text]).toEqual(['done', expect.stringContaining('has been on this machine already')]);
  // A refusal is in the words of the other machine.
  const marked = bodies(await eventsOf(second.claw), 'taint.marked').flatMap(({ sources }) => sources);
  expect(marked).toContainEqual({ kind: 'message', where: 'a2a:first' });
});

test('an unreachable peer and one that rejects the token are reported differently', async () => {
  const { far, key } = await startFar();
  const gone = await freePort();
  const page = createServer((_request, response) => void response.end('<h1>Welcome</h1>'));
  await new Promise<void>((resolve) => void page.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void page.close());
  const near = await OpenAiDoorRig.start(
    [],
    {
      a2a: {
        peers: {
          good: { url: `http://127.0.0.1:${far.port}`, token: 'env:GOOD' },
          bad: { url: `http://127.0.0.1:${far.port}`, token: 'env:BAD' },
          away: { url: `http://127.0.0.1:${gone}` },
          page: { url: `http://127.0.0.1:${(page.address() as AddressInfo).port}` },
        },
      },
    },
    { GOOD: key, BAD: 'tcd-wrong' },
  );
  rigs.push(near);
  const { peers } = await near.claw.op('a2a.peers', {});
  expect(peers.map(({ peer, state, problem }) => [peer, state, problem])).toEqual([
    ['good', 'connected', null],
    ['bad', 'refused', 'The agent bad does not accept the token.'],
    ['away', 'unreachable', 'Nothing answers at the agent away.'],
    ['page', 'unreachable', 'The agent page gave no answer of the A2A protocol.'],
  ]);
  const { checks } = await near.claw.op('health.check', { full: true });
  expect(checks.filter(({ id }) => id.startsWith('a2a.')).map(({ id, ok }) => [id, ok])).toEqual([
    ['a2a.good', true],
    ['a2a.bad', false],
    ['a2a.away', false],
    ['a2a.page', false],
  ]);
});

test('a task that fails on the other machine fails here, with its reason', async () => {
  const { far, key } = await startFar([{ answer: { text: '', trouble: { kind: 'error', afterFrames: 0 } } }], {
    models: { default: 'lab/scripted', retries: 0 },
  });
  const near = await startNear(`http://127.0.0.1:${far.port}`, key);
  const { turnId } = await near.claw.op('message.send', { text: 'Hi', sessionId: 'talk', agentId: 'other' });
  const result = await near.claw.op('turn.wait', { turnId });
  expect([result.status, result.error?.code, result.error?.message]).toEqual([
    'failed',
    'tool_failed',
    expect.stringContaining('did not complete the task (failed). It says: '),
  ]);
});

test('a stopped turn stops its task on the other machine', async () => {
  const { far, key } = await startFar([{ answer: { text: 'one two three four five six seven', pieceChars: 4, delayMs: 200 } }]);
  const near = await startNear(`http://127.0.0.1:${far.port}`, key);
  const { turnId } = await near.claw.op('message.send', { text: 'Hi', sessionId: 'talk', agentId: 'other' });
  const ending = new AbortController();
  for await (const event of far.claw.events({ after: 0, signal: ending.signal })) {
    if (event.type !== 'model.requested') continue;
    await near.claw.op('turn.cancel', { turnId });
    break;
  }
  const { sessions } = await far.claw.op('session.list', {});
  for await (const event of far.claw.events({ after: 0, signal: ending.signal }))
    if (event.type === 'turn.finished' && event.sessionId === sessions[0]?.sessionId) {
      expect(event.body).toMatchObject({ status: 'cancelled' });
      break;
    }
  ending.abort();
});
