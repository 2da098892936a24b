// Second opinions in the whole program: a verifier before a spend call, the governor's findings, a panel that disagrees, and their cost;
// and an unchanged program without any of them.

import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let model: ScriptedModel;
let paid: number;

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
  paid = 0;
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

const pay = () =>
  defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.strictObject({ usd: z.number() }),
    class: 'spend',
    idempotency: () => 'unsafe',
    facts: () => ({ class: 'spend', paths: [], command: null, hosts: [] }),
    summarize: ({ usd }) => `pay ${usd} US dollars`,
    run: () => {
      paid += 1;
      return Promise.resolve({ forModel: 'paid' });
    },
  });

const free: ConfigInput['policy'] = { rules: [{ when: { tools: ['pay'] }, then: 'allow' }] };

async function open(config: ConfigInput): Promise<TrayClaw> {
  const { providers, models } = model.config('openai');
  return home.open({
    config: { providers, sandbox: { mode: 'off' }, policy: free, ...config, models: { ...models, ...config.models } },
    tools: [pay()],
  });
}

const typesOf = (events: readonly AnyEvent[]): string[] => events.map(({ type }) => type);

async function eventsOf(claw: TrayClaw, sessionId: string): Promise<readonly AnyEvent[]> {
  return (await claw.op('session.get', { sessionId, limit: 200 })).events as readonly AnyEvent[];
}

test('an invalid call does not run, its verdict is recorded, and its cost is counted', async () => {
  model.script([
    { times: 1, answer: { calls: [{ tool: 'pay', args: { usd: 20 } }] } },
    { times: 1, answer: { text: '{"verdict":"INVALID","reason":"Nobody asked to pay."}', usage: { input: 100, output: 10 } } },
    { times: 1, answer: { text: 'I did not pay.' } },
  ]);
  const claw = await open({ verify: { classes: ['spend'], by: 'lab/judge' } });
  const { text, sessionId, turnId } = await claw.ask('Look at the shop');
  const events = await eventsOf(claw, sessionId);
  const verified = events.flatMap((event) => (event.type === 'call.verified' ? [event.body] : []));
  expect([text, paid, verified]).toMatchObject(['I did not pay.', 0, [{ by: 'lab/judge', verdict: 'INVALID', outcome: 'deny' }]]);
  expect(events.flatMap((event) => (event.type === 'policy.decided' ? [event.body.ruleId] : []))).toEqual(['verify.invalid']);
  expect(model.requests).toHaveLength(3);
  const { rows } = await claw.op('usage.get', { by: 'model' });
  expect(Object.fromEntries(rows.map(({ key, modelCalls }) => [key, modelCalls]))).toEqual({ 'lab/judge': 1, 'lab/scripted': 2 });
  expect(await claw.op('replay.run', { turnId })).toMatchObject({ identical: true });
  await home.close(claw);
});

test('the governor explains a turn, tries past ones, and writes nothing for that', async () => {
  model.script([
    { times: 1, answer: { calls: [{ tool: 'pay', args: { usd: 1 } }] } },
    { times: 1, answer: { text: 'Paid.' } },
  ]);
  const claw = await open({});
  const { turnId, sessionId } = await claw.ask('Pay one dollar');
  const before = typesOf(await eventsOf(claw, sessionId));
  const explained = await claw.op('governor.explain', { turnId });
  expect([explained.recorded, explained.findings.map(({ ruleId }) => ruleId)]).toEqual([false, ['risk.validate', 'risk.escalate']]);
  expect(await claw.op('governor.try', {})).toMatchObject({ turns: 1, calls: 1, tightened: 1 });
  expect([paid, typesOf(await eventsOf(claw, sessionId)), model.requests.length]).toEqual([1, before, 2]);
  expect(before.filter((type) => /^(governor|call\.verified|opinion)/.test(type))).toEqual([]);
  await home.close(claw);
});

test('a panel that disagrees is recorded in the turn, and readable after a restart', async () => {
  model.script([
    { times: 1, answer: { text: 'Berlin has 3.7 million people.' } },
    { times: 1, answer: { text: 'Berlin has 3.9 million people.' } },
    {
      times: 1,
      answer: { text: '{"verdict":"revise","best":null,"disagreement":0.8,"text":"About 3.9 million.","reason":"They differ."}' },
    },
  ]);
  const panels = { careful: { members: ['lab/other'], judge: 'lab/judge' } };
  const claw = await open({ models: { panels } });
  const { turnId } = await claw.ask('How many people live in Berlin?');
  const opinion = await claw.op('model.opinion', { turnId, panel: 'careful' });
  expect(opinion).toMatchObject({
    verdict: 'revise',
    disagreement: 0.8,
    opinions: [{ model: 'lab/other', text: 'Berlin has 3.9 million people.' }],
  });
  await home.close(claw);
  const again = await open({ models: { panels } });
  expect(await again.op('opinion.list', { turnId })).toEqual({ opinions: [opinion] });
  expect(await again.op('replay.run', { turnId })).toMatchObject({ identical: true });
  await home.close(again);
});

test('the panic stop ends an opinion that a person requested', async () => {
  model.script([{ times: 1, answer: { text: 'Yes.' } }, { answer: { silent: true } }]);
  const claw = await open({ models: { panels: { careful: { members: ['lab/other'], judge: 'lab/judge' } } } });
  const { turnId } = await claw.ask('Is it so?');
  const asked = claw.op('model.opinion', { turnId, panel: 'careful' });
  await expect.poll(() => model.requests.length).toBe(2);
  await claw.op('panic.engage', {});
  expect(await asked).toMatchObject({ verdict: 'ask', opinions: [{ error: 'it was stopped' }] });
  await home.close(claw);
});

test('an agent with a second opinion gets one for its answer automatically', async () => {
  model.script([
    { times: 1, answer: { text: 'Yes.' } },
    { times: 1, answer: { text: 'No.' } },
    { times: 1, answer: { text: '{"verdict":"ask","disagreement":1}' } },
  ]);
  const claw = await open({ agents: { main: { secondOpinion: 'lab/other' } } });
  const { turnId } = await claw.ask('Is it so?');
  await expect
    .poll(async () => (await claw.op('opinion.list', { turnId })).opinions)
    .toMatchObject([{ by: 'agent main', finished: true, verdict: 'ask', disagreement: 1 }]);
  await home.close(claw);
});
