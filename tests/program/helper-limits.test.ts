// The limits on subagents in the whole program: depth, number, time, cost, and their end with their caller.

import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { defineTool } from '../../core/index.ts';
import type { Rule } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { bodies, call, eventsOf, Gate, help, HelperRig } from './helper-rig.ts';
import { ownNow } from '../own-clock.ts';

/** How many are called at once in the test of many; with more than the default, it also prints how long it took. */
const CROWD = Number(process.env['TRAYCLAW_HELPERS'] ?? 12);

let rig: HelperRig;

beforeEach(async () => {
  rig = await HelperRig.start();
});

afterEach(() => rig.dispose());

test('levels of subagents end at the limit', async () => {
  const claw = await rig.open(
    [{ when: ({ toolResults }) => toolResults.length === 0, answer: { calls: [help('Go on')] } }, { answer: { text: 'back' } }],
    {
      helpers: { depth: 2 },
    },
  );
  await claw.ask('start');
  const events = await eventsOf(claw);
  expect(bodies(events, 'a2a.called')).toHaveLength(2);
  expect(bodies(events, 'a2a.called').map(({ depth }) => depth)).toEqual([1, 2]);
  expect(bodies(events, 'tool.finished').map(({ outcome, forModel }) => [outcome, forModel.split(':')[0]])[0]).toEqual([
    'error',
    'No subagent may be called from here',
  ]);
});

test(
  `${CROWD} subagents at once, with a limit of 10 running, next to a turn`,
  async () => {
    const gate = new Gate();
    const tasks = Array.from({ length: CROWD }, (_, at) => help(`Part ${at}.`));
    const claw = await rig.open(
      [
        { user: /Part \d/, results: 0, answer: { calls: [call('wait_here', { who: 'one' })] } },
        { user: /Part \d/, answer: { text: 'part done' } },
        { user: 'start', results: 0, answer: { calls: tasks } },
        { answer: { text: 'all done' } },
      ],
      { helpers: { perTurn: 10, atOnce: 64 }, limits: { parallelTurns: 1, parallelReads: 32 } },
      [gate.tool()],
    );
    const before = process.memoryUsage().rss;
    const startedMs = ownNow();
    const asking = claw.ask('start');
    await until(() => gate.entered.length === Math.min(10, CROWD), 'they are at work');
    const { helpers } = await claw.op('helper.list', {});
    expect(helpers.filter(({ state }) => state === 'running').length).toBe(Math.min(10, CROWD));
    gate.open();
    const asked = await asking;
    const tookMs = ownNow() - startedMs;
    expect(asked).toMatchObject({ status: 'done', text: 'all done' });
    expect(gate.most).toBeLessThanOrEqual(10);
    const ends = bodies(await eventsOf(claw), 'a2a.finished');
    expect(ends.length).toBe(CROWD);
    expect(ends.every(({ status }) => status === 'done')).toBe(true);
    if (CROWD > 12)
      process.stdout.write(
        `${JSON.stringify({ helpers: CROWD, tookMs: Math.round(tookMs), memoryMb: Math.round((process.memoryUsage().rss - before) / 1e6) })}\n`,
      );
  },
  30_000 + CROWD * 2_000,
);

test('a stopped caller stops everything below it within a second', async () => {
  const gate = new Gate();
  const claw = await rig.open(
    [
      { user: 'Leaf', answer: { calls: [call('wait_here', { who: 'leaf' })] } },
      { user: 'Branch', answer: { calls: [help('Leaf one'), help('Leaf two'), call('spawn', { task: 'Leaf three' })] } },
      { user: 'start', answer: { calls: [help('Branch one'), help('Branch two'), help('Branch three'), help('Branch four')] } },
    ],
    { helpers: { perTurn: 3 } },
    [gate.tool()],
  );
  const { turnId } = await claw.op('message.send', { text: 'start' });
  await until(() => gate.entered.length === 6, 'they are at work');
  const startedMs = ownNow();
  await claw.op('turn.cancel', { turnId });
  await until(async () => (await claw.op('helper.list', {})).helpers.length === 0, 'no helper is left');
  const tookMs = ownNow() - startedMs;
  const { helpers } = await claw.op('helper.list', { all: true });
  expect(helpers.map(({ status }) => status).filter((status) => status !== 'cancelled')).toEqual([]);
  expect(helpers.length).toBe(10);
  await until(() => gate.left.length === 6, 'they have left');
  const statuses = bodies(await eventsOf(claw), 'turn.finished').map(({ status }) => status);
  expect(statuses.every((status) => status === 'cancelled')).toBe(true);
  expect(tookMs).toBeLessThan(1_000);
});

test('the panic stop ends all of them', async () => {
  const gate = new Gate();
  const claw = await rig.open(
    [
      { user: 'Leaf', answer: { calls: [call('wait_here', { who: 'leaf' })] } },
      { user: 'start', answer: { calls: [help('Leaf one'), help('Leaf two'), help('Leaf three')] } },
    ],
    { helpers: { perTurn: 2 } },
    [gate.tool()],
  );
  await claw.op('message.send', { text: 'start' });
  await until(() => gate.entered.length === 2, 'they are at work');
  await claw.op('panic.engage', {});
  await until(async () => (await claw.op('helper.list', {})).helpers.length === 0, 'no helper is left');
  expect((await eventsOf(claw)).filter((event) => event.type === 'turn.finished' && event.body.status !== 'stopped')).toEqual([]);
  await claw.op('panic.release', {});
  expect((await claw.op('helper.list', {})).helpers).toEqual([]);
});

test('the cost of a subagent also counts for its caller', async () => {
  const usage = { input: 3_000, output: 100 };
  const rules: Rule[] = [
    { user: 'Spend', results: 0, answer: { calls: [call('calc', { expression: '1+1' })], usage } },
    { user: 'Spend', results: 1, answer: { calls: [call('calc', { expression: '1+2' })], usage } },
    { user: 'Spend', answer: { text: 'spent', usage } },
    {
      when: ({ toolResults }) => toolResults.length < 8,
      answer: ({ toolResults }) => ({ calls: [help(`Spend ${toolResults.length}`)] }),
    },
    { answer: { text: 'end' } },
  ];
  const claw = await rig.open(rules, { budget: { perTurnTokens: 40_000 } });
  const asked = await claw.ask('start');
  expect(asked.status).toBe('over_budget');
  const { rows } = await claw.op('usage.get', {});
  const used = rows.reduce((sum, row) => sum + row.inputTokens + row.outputTokens, 0);
  expect(used).toBeLessThan(45_000);
  const ends = bodies(await eventsOf(claw), 'turn.finished');
  const own = ends.at(-1);
  expect(own?.toolCalls).toBeGreaterThan(2);
  expect((own?.usage.inputTokens ?? 0) + (own?.usage.outputTokens ?? 0)).toBeLessThan(5_000);
  const { budgets } = await claw.op('budget.get', { turnId: asked.turnId });
  const turn = budgets.find(({ scope, unit }) => scope === 'turn' && unit === 'tokens');
  expect(turn?.spent).toBe(used);
});

test('a subagent that takes too long is ended, and its caller learns the reason', async () => {
  const gate = new Gate();
  const claw = await rig.open(
    [
      { user: 'Slow', answer: { calls: [call('wait_here', { who: 'slow' })] } },
      { user: 'start', results: 0, answer: { calls: [help('Slow')] } },
      { answer: { text: 'too slow' } },
    ],
    { helpers: { minutes: 0.01 } },
    [gate.tool()],
  );
  expect((await claw.ask('start')).text).toBe('too slow');
  const events = await eventsOf(claw);
  expect(bodies(events, 'a2a.finished').map(({ status }) => status)).toEqual(['timeout']);
  expect(
    bodies(events, 'tool.finished')
      .map(({ forModel }) => forModel)
      .at(-1),
  ).toContain('its time ran out');
});

test('the time in which the machine slept does not count for a subagent, the time after it does', async () => {
  const gate = new Gate();
  let sleptMs = 0;
  const clock = { nowMs: () => Date.now() + sleptMs, monotonicMs: () => performance.now() };
  const sleep = defineTool({
    name: 'sleep',
    description: 'The machine sleeps for a day.',
    input: z.strictObject({}),
    class: 'read',
    idempotency: () => 'idempotent',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'sleep',
    run: () => {
      sleptMs += 86_400_000;
      return Promise.resolve({ forModel: 'slept' });
    },
  });
  rig.model.script([
    { user: 'Slow', results: 0, answer: { calls: [call('wait_here', { who: 'slow' })] } },
    { user: 'Slow', answer: { text: 'slow, and done' } },
    { user: 'Quick', answer: { text: 'quick' } },
    { user: 'start', results: 0, answer: { calls: [call('spawn', { task: 'Slow' })] } },
    { user: 'start', results: 1, answer: { calls: [call('sleep', {})] } },
    // Every call checks the deadlines.
    { user: 'start', results: 2, answer: { calls: [help('Quick')] } },
    { answer: { text: 'end' } },
  ]);
  const claw = await rig.home.open({
    config: { helpers: { minutes: 5 }, ...rig.model.config('openai') },
    tools: [gate.tool(), sleep],
    clock,
  });
  expect((await claw.ask('start')).text).toBe('end');
  await new Promise((resolve) => setTimeout(resolve, 50));
  gate.open();
  await until(async () => bodies(await eventsOf(claw), 'a2a.finished').length === 2, 'both ended');
  expect(bodies(await eventsOf(claw), 'a2a.finished').map(({ status }) => status)).toEqual(['done', 'done']);
});

test('a call beyond the limit is refused while others wait; a person ends one', async () => {
  const gate = new Gate();
  const claw = await rig.open(
    [
      { user: 'Leaf', results: 0, answer: { calls: [call('wait_here', { who: 'leaf' })] } },
      { user: 'Leaf', answer: { text: 'leaf' } },
      { user: 'start', results: 0, answer: { calls: [help('Leaf 1'), help('Leaf 2'), help('Leaf 3')] } },
      { answer: { text: 'end' } },
    ],
    { helpers: { perTurn: 1, queued: 1 } },
    [gate.tool()],
  );
  const asking = claw.ask('start');
  await until(() => gate.entered.length === 1, 'they are at work');
  const { helpers } = await claw.op('helper.list', {});
  expect(helpers.map(({ label, state }) => [label, state])).toEqual(
    expect.arrayContaining([
      ['Leaf 1', 'running'],
      ['Leaf 2', 'queued'],
    ]),
  );
  const queued = helpers.find(({ state }) => state === 'queued');
  expect((await claw.op('helper.cancel', { jobId: queued?.jobId ?? '' })).status).toBe('cancelled');
  gate.open();
  await asking;
  const results = bodies(await eventsOf(claw), 'tool.finished').filter(({ tool }) => tool === 'subagent');
  expect(results.map(({ forModel }) => forModel).sort()).toEqual([
    expect.stringContaining('1 subagent calls are already waiting'),
    expect.stringContaining('was stopped'),
    'leaf',
  ]);
});

test('a subagent whose model server is briefly away is retried once, by its queue only', async () => {
  const { models, providers } = rig.model.config('openai');
  const claw = await rig.open(
    [
      { user: 'Flaky', times: 1, answer: { refuse: 'overloaded' } },
      { user: 'Flaky', answer: { text: 'there again' } },
      { user: 'start', results: 0, answer: { calls: [help('Flaky')] } },
      { answer: { text: 'end' } },
    ],
    {},
    [],
    { providers: providers ?? {}, models: { ...models, retries: 0 } },
  );
  expect((await claw.ask('start')).text).toBe('end');
  const events = await eventsOf(claw);
  expect(bodies(events, 'a2a.retried').map(({ attempt }) => attempt)).toEqual([2]);
  expect(bodies(events, 'a2a.started').map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(bodies(events, 'a2a.finished').map(({ status, text }) => [status, text])).toEqual([['done', 'there again']]);
  expect(bodies(events, 'dead_letter.captured')).toEqual([]);
  const [first, second] = bodies(events, 'turn.started').filter(({ helper }) => helper !== undefined);
  expect([second?.bounds, second?.helper]).toEqual([first?.bounds, first?.helper]);
});
