// A limit for one model call, and answers bounded by the remaining budget: the request is refused before it is sent, or it is sent with the
// bound in it.

import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from './test-home.ts';

/** One dollar per million input tokens, a thousand per million output tokens: an answer of 1000 tokens costs one dollar. */
const prices = { inputUsdPerMillion: 1, outputUsdPerMillion: 1_000 };

async function open(budget: ConfigInput['budget'], isPriced = true) {
  const home = new TestHome();
  const model = await ScriptedModel.start([{ answer: { text: 'fine', usage: { input: 1000, output: 100 } } }]);
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const { providers = {}, models } = model.config('openai');
  const { lab } = providers;
  if (lab?.kind !== 'openai-compatible') throw new Error('no provider');
  const config = { providers: { lab: { ...lab, ...(isPriced ? { prices: { scripted: prices } } : {}) } }, models, budget };
  return { claw: await home.open({ config }), model, home, config };
}

const boundOf = (model: ScriptedModel): unknown => {
  const body = model.requests.at(-1)?.body;
  return body?.['max_tokens'] ?? body?.['max_completion_tokens'];
};

test('a call within its limit sends a bound for the answer', async () => {
  const { claw, model } = await open({ perCallUsd: 0.5 });
  expect((await claw.ask('hello')).status).toBe('done');
  // The cost of the request is subtracted first: some thousand tokens are some tenths of a cent.
  expect(boundOf(model)).toBeGreaterThan(450);
  expect(boundOf(model)).toBeLessThan(500);
});

test.each([
  ['dollars', { perCallUsd: 0.01 }, 'usd'],
  ['tokens', { perCallTokens: 100 }, 'tokens'],
  ['no dollars', { perCallUsd: 0 }, 'usd'],
] as const)('a call that cannot keep its limit in %s is not made', async (_name, budget, unit) => {
  const { claw, model } = await open(budget);
  const ended = await claw.ask('hello');
  expect([ended.status, model.requests.length]).toEqual(['over_budget', 0]);
  expect(ended.error).toMatchObject({
    code: 'over_budget',
    message: expect.stringContaining('One model call may cost'),
    data: { scope: 'call', unit },
  });
});

test('without a price, only the token limit bounds the answer', async () => {
  const { claw, model } = await open({ perCallUsd: 0.5, perCallTokens: 9_000 }, false);
  expect((await claw.ask('hello')).status).toBe('done');
  expect(boundOf(model)).toBeLessThan(9_000);
  expect(boundOf(model)).toBeGreaterThan(1_000);
});

test("the rest of a session's budget bounds the answer; no budget means no bound", async () => {
  const { claw, model } = await open({ perSessionUsd: 1 });
  const { sessionId } = await claw.ask('hello');
  const first = Number(boundOf(model));
  expect((await claw.ask('again', { sessionId })).status).toBe('done');
  // The answer of 100 tokens cost a tenth of a dollar.
  expect(first - Number(boundOf(model))).toBeGreaterThan(95);
  const free = await open({});
  await free.claw.ask('hello');
  expect(boundOf(free.model)).toBeUndefined();
});

test('the command line exits with 4 if one call is too expensive', async () => {
  const { claw, home, config } = await open({ perCallUsd: 0.01 });
  await claw.close();
  home.configure(config);
  const ended = await home.command(['ask', 'hello']);
  expect([ended.code, JSON.stringify(ended)]).toEqual([4, expect.stringContaining('One model call may cost')]);
});
