// Agents of the library: one answer, an answer step by step, a conversation, and answers from background work.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createAgent, createTrayClaw, type AgentArrival, type AgentUpdate } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { projectRoot } from '../docs/documents.ts';
import { until } from '../until.ts';
import { TestHome } from '../faults/test-home.ts';

async function open(config: object = {}) {
  const model = await ScriptedModel.start([{ answer: { text: 'hello' } }]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const { providers = {}, ...rest } = model.config('openai');
  const claw = await home.open({ config: { ...rest, providers, agents: { scout: {} }, ...config } });
  return { claw, home, model };
}

const writes = { calls: [{ tool: 'write_file', args: { path: '/tmp/outside-of-the-workspace.txt', content: 'x' } as never }] };

async function all<T>(updates: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const update of updates) seen.push(update);
  return seen;
}

test('a run is a separate conversation with the named agent', async () => {
  const { claw } = await open();
  const agent = claw.agent('scout');
  const [first, second] = [await agent.run('one'), await agent.run('two')];
  expect([first.status, first.text, second.status]).toEqual(['done', 'hello', 'done']);
  expect(first.sessionId).not.toBe(second.sessionId);
  expect((await claw.op('session.get', { sessionId: first.sessionId })).session.agentId).toBe('scout');
  await expect(claw.agent('stranger').run('x')).rejects.toMatchObject({ message: expect.stringContaining('stranger') });
});

test('a session remembers its turns, is found again, and belongs to its agent', async () => {
  const { claw, model } = await open();
  const talk = await claw.agent('scout').session();
  await talk.run('my number is 7');
  await talk.run('what is it?');
  expect(JSON.stringify(model.requests.at(-1))).toContain('my number is 7');
  const again = await createAgent(claw, { agentId: 'scout' }).session({ sessionId: talk.sessionId });
  expect((await again.run('again')).sessionId).toBe(talk.sessionId);
  await expect(claw.agent().session({ sessionId: talk.sessionId })).rejects.toMatchObject({ code: 'conflict' });
  await expect(claw.agent().session({ sessionId: 'ses_none' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a stream yields the text and every event of its turn in order, then the answer', async () => {
  const { claw } = await open();
  const updates: AgentUpdate[] = await all(claw.agent().stream('hi'));
  const text = updates.map((update) => (update.kind === 'text' ? update.text : '')).join('');
  expect(text).toBe('hello');
  const last = updates.at(-1);
  if (last?.kind !== 'answer') throw new Error('no answer');
  const told = updates.flatMap((update) => (update.kind === 'event' ? [update.event.seq] : []));
  const { events } = await claw.op('session.get', { sessionId: last.answer.sessionId, limit: 5_000 });
  expect(told).toEqual(events.filter(({ turnId }) => turnId === last.answer.turnId).map(({ seq }) => seq));
  expect(last.answer).toMatchObject({ status: 'done', text: 'hello' });
});

test('a slow reader of a long answer loses no event and no text', async () => {
  const { claw, model } = await open();
  const long = 'word '.repeat(4_000);
  model.script([{ answer: { text: long } }]);
  let text = '';
  let events = 0;
  for await (const update of claw.agent().stream('hi')) {
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
    if (update.kind === 'text') text += update.text;
    if (update.kind === 'event') events += 1;
  }
  expect([text.trim(), events > 5]).toEqual([long.trim(), true]);
});

test('leaving a stream does not stop the turn; an aborted signal does', async () => {
  const { claw, model } = await open();
  for await (const update of claw.agent().stream('hi')) if (update.kind === 'event') break;
  await claw.whenIdle();
  const { sessions } = await claw.op('session.list', {});
  expect(sessions.map(({ status }) => status)).toEqual(['done']);
  model.script([{ answer: { silent: true } }]);
  const stop = new AbortController();
  const running = claw.agent().run('wait', { signal: stop.signal });
  setTimeout(() => stop.abort(), 200);
  expect((await running).status).toBe('cancelled');
});

test('a run whose signal was aborted before sends nothing', async () => {
  const { claw, model } = await open();
  const agent = claw.agent();
  const signal = AbortSignal.abort();
  await expect(agent.run('hi', { signal })).rejects.toMatchObject({ code: 'cancelled' });
  await expect(all(agent.stream('hi', { signal }))).rejects.toMatchObject({ code: 'cancelled' });
  await expect(claw.ask('hi', { signal })).rejects.toMatchObject({ code: 'cancelled' });
  expect([model.requests.length, (await claw.op('session.list', {})).sessions]).toEqual([0, []]);
});

test('a library without a data folder is refused in words', async () => {
  for (const wrong of [undefined, {}, { home: '' }, { home: 5 }])
    await expect(createTrayClaw(wrong as never)).rejects.toMatchObject({
      code: 'invalid_params',
      hint: expect.stringContaining('home') as string,
    });
});

test('an approval is answered by the program, or ends the run as waiting', async () => {
  const { claw, model } = await open();
  model.script([{ results: 0, answer: writes }, { answer: { text: 'over' } }]);
  const asked: string[] = [];
  const agent = claw.agent({
    onApproval: ({ tool }) => {
      asked.push(tool);
      return 'deny';
    },
  });
  expect(await agent.run('write')).toMatchObject({ status: 'done', text: 'over' });
  expect(asked).toEqual(['write_file']);
  const waiting = await claw.agent().run('write');
  expect([waiting.status, waiting.pending?.map(({ tool }) => tool)]).toEqual(['waiting', ['write_file']]);
});

test('behind a turn that waits, a run names its approval, and a handler can decide it', async () => {
  const { claw, model } = await open();
  model.script([
    { user: 'write', results: 0, answer: { ...writes, delayMs: 100 } },
    { user: 'write', answer: { text: 'over' } },
    { answer: { text: 'next' } },
  ]);
  // One is sent while the earlier turn still runs, the other when it waits.
  const first = claw.agent().run('write');
  await until(async () => (await claw.op('running.list', {})).turns.length > 0, 'the first turn runs');
  const sessionId = (await claw.op('running.list', {})).turns[0]?.sessionId ?? '';
  const early = claw.ask('early', { sessionId });
  const { pending, turnId } = await first;
  const waits = { status: 'waiting', text: '', pending, behind: turnId };
  expect(pending).toHaveLength(1);
  expect(await early).toMatchObject(waits);
  expect(await claw.ask('late', { sessionId })).toMatchObject(waits);
  const talk = await claw.agent({ onApproval: () => 'deny' }).session({ sessionId });
  const last = await talk.run('last');
  expect(last).toMatchObject({ status: 'done', text: 'next' });
  expect(last).not.toHaveProperty('behind');
});

test('a handler that decides nothing ends the run as waiting; one that comes too late accepts the other decision', async () => {
  const { claw, model } = await open();
  model.script([{ results: 0, answer: writes }, { answer: { text: 'over' } }]);
  let asked = 0;
  const undecided = claw.agent({ onApproval: () => void (asked += 1) });
  const left = await undecided.run('write');
  expect([left.status, asked, left.pending?.map(({ facts }) => facts.paths.map(({ access }) => access))]).toEqual([
    'waiting',
    1,
    [['write']],
  ]);
  const late = claw.agent({
    onApproval: async ({ approvalId, args }) => {
      expect(JSON.parse(args)).toMatchObject({ path: expect.any(String) as string });
      await claw.op('approval.decide', { approvalId, decision: 'deny' });
      return 'approve' as const;
    },
  });
  expect(await late.run('write')).toMatchObject({ status: 'done', text: 'over' });
});

test('receive yields answers of work started elsewhere, but none of its runs', async () => {
  const { claw, model } = await open();
  const agent = claw.agent('scout');
  const stop = new AbortController();
  const arrived: AgentArrival[] = [];
  const receiving = (async () => {
    for await (const arrival of agent.receive({ signal: stop.signal })) {
      arrived.push(arrival);
      if (arrived.length === 3) stop.abort();
    }
  })();
  await agent.run('my own');
  await claw.ask('of another agent');
  const elsewhere = await claw.ask('through another door', { agentId: 'scout' });
  model.script([{ results: 0, answer: writes }, { answer: { text: 'over' } }]);
  const question = await claw.ask('write', { agentId: 'scout' });
  const [pending] = question.pending ?? [];
  await until(() => arrived.length === 2, 'the question arrives');
  await claw.op('approval.decide', { approvalId: pending?.approvalId ?? '', decision: 'deny' });
  await receiving;
  expect(arrived.map(({ kind, turnId, text, pending: asked }) => [kind, turnId, text, asked.length])).toEqual([
    ['answer', elsewhere.turnId, 'hello', 0],
    ['question', question.turnId, '', 1],
    ['answer', question.turnId, 'over', 0],
  ]);
});

test('receive continues from a position in the log', async () => {
  const { claw } = await open();
  const first = await claw.ask('one');
  const second = await claw.ask('two');
  const of = async (after: number): Promise<AgentArrival | undefined> => {
    for await (const arrival of claw.agent().receive({ after })) return arrival;
    return undefined;
  };
  const one = await of(0);
  expect(one?.turnId).toBe(first.turnId);
  expect((await of(one?.seq ?? 0))?.turnId).toBe(second.turnId);
});

test("the library's types come from contracts and the ports of a program", () => {
  const index = readFileSync(join(projectRoot, 'core/index.ts'), 'utf8');
  const types = [...index.matchAll(/^(?:import|export) type [^;]*? from '([^']+)'/gm)].map((match) => match[1] ?? '');
  expect(types.length).toBeGreaterThan(8);
  // From the layer below, only the two ports that a program provides.
  const ports = ['./base/clock.ts', './base/logger.ts'];
  expect(types.filter((path) => !path.startsWith('./contracts/') && !ports.includes(path))).toEqual([]);
  // A type may also be imported next to a value.
  expect(index).not.toMatch(/\{[^}]*\btype\s+\w/);
});

test('an unknown option is rejected, and nothing is sent', async () => {
  const { claw, model, home } = await open();
  const agent = claw.agent();
  const slip = (name: string): object => ({ [name]: 'x' });
  const refused = (name: string): object => ({
    code: 'invalid_params',
    message: expect.stringMatching(new RegExp(` has no option ${name}\\.$`)),
  });
  await expect(claw.ask('x', slip('sesionId'))).rejects.toMatchObject(refused('sesionId'));
  await expect(claw.ask('x', slip('model'))).rejects.toMatchObject(refused('model'));
  await expect(agent.run('x', slip('onText'))).rejects.toMatchObject(refused('onText'));
  await expect(all(agent.stream('x', slip('timeout')))).rejects.toMatchObject(refused('timeout'));
  await expect(all(agent.receive(slip('since')))).rejects.toMatchObject(refused('since'));
  await expect(agent.session(slip('id'))).rejects.toMatchObject(refused('id'));
  expect(() => claw.agent(slip('name'))).toThrow('agent has no option name.');
  expect(() => claw.events({ after: 0, ...slip('session') })).toThrow('events has no option session.');
  await expect(home.open(slip('hooc'))).rejects.toMatchObject(refused('hooc'));
  // @ts-expect-error -- the types reject it as well.
  await expect(claw.ask('x', { sesionId: 'x' })).rejects.toMatchObject(refused('sesionId'));
  expect(model.requests).toEqual([]);
});
