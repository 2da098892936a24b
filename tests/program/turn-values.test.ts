// The answer of a turn as a value, in the whole program: what is requested, counted, recorded and refused.

import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { TrayClaw } from '../../core/index.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let model: ScriptedModel;
let claw: TrayClaw;

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
  claw = await home.open({ config: { ...model.config('openai'), sandbox: { mode: 'off' } } });
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    name: { type: 'string', minLength: 1 },
    people: { type: 'integer', minimum: 1 },
    river: { type: 'string', pattern: '^[A-Z]' },
  },
  required: ['name', 'people'],
  additionalProperties: false,
};
const town = { name: 'Berlin', people: 3_700_000 };
const says = (text: string) => ({ times: 1, answer: { text, usage: { input: 100, output: 10 } } });

async function given(turnId: string): Promise<object[]> {
  const { sessionId } = await claw.op('turn.get', { turnId });
  const { events } = await claw.op('session.get', { sessionId, limit: 200 });
  return (events as readonly AnyEvent[]).flatMap((event) => (event.type === 'value.given' ? [event.body] : []));
}

test('an answer in words becomes a valid value, repaired once, recorded and counted', async () => {
  model.script([says('Berlin has 3.7 million people.'), says('{"name":"Berlin","people":0}'), says(JSON.stringify(town))]);
  const { turnId } = await claw.ask('How many people live in Berlin?');
  const usage = { inputTokens: 200, outputTokens: 20, cachedInputTokens: 0 };
  expect(await claw.op('turn.value', { turnId, schema })).toMatchObject({ turnId, value: town, model: 'lab/scripted', usage });
  expect(model.violations).toEqual([]);
  expect(model.requests[1]?.userText).toContain('Berlin has 3.7 million people.');
  expect(model.requests[1]?.toolNames).toEqual([]);
  expect(model.requests[2]?.notes.join('')).toContain('people must be');
  expect(await given(turnId)).toMatchObject([{ model: 'lab/scripted', value: town, usage }]);
  const { rows } = await claw.op('usage.get', { by: 'model' });
  expect(rows).toMatchObject([{ key: 'lab/scripted', inputTokens: 300 }]);
  expect(await claw.op('replay.run', { turnId })).toMatchObject({ identical: true });
  await home.close(claw);
});

test('an answer that already is such a value is used without a model call', async () => {
  model.script([says(`\`\`\`json\n${JSON.stringify(town)}\n\`\`\``)]);
  const { turnId } = await claw.ask('Berlin, as JSON');
  expect(await claw.op('turn.value', { turnId, schema })).toMatchObject({ value: town, model: null, costUsd: 0 });
  expect([model.requests.length, await given(turnId)]).toEqual([1, []]);
  await home.close(claw);
});

test('a model that fails twice is an error with its reason, recorded with its cost', async () => {
  model.script([says('Many.'), says('{"name":"Berlin"}'), says('{"name":"Berlin","people":"x"}')]);
  const { turnId } = await claw.ask('How many?');
  await expect(claw.op('turn.value', { turnId, schema })).rejects.toMatchObject({
    code: 'model_bad_reply',
    message: expect.stringContaining('people must be') as unknown,
  });
  expect(await given(turnId)).toMatchObject([{ error: expect.stringContaining('people') as unknown, usage: { inputTokens: 200 } }]);
  await home.close(claw);
});

test.each([
  ['an unknown type', { type: 'town' }],
  ['nothing', {}],
  ['a reference to another place', { $ref: 'https://example.com/town.json' }],
  ['a condition', { if: { type: 'string' }, then: { minLength: 3 } }],
  ['far too much', { type: 'string', description: 'x'.repeat(100_000) }],
])('a schema with %s is rejected before any model call', async (_what, wrong) => {
  model.script([says('Many.')]);
  const { turnId } = await claw.ask('How many?');
  await expect(claw.op('turn.value', { turnId, schema: wrong })).rejects.toMatchObject({ code: 'invalid_params' });
  expect(model.requests).toHaveLength(1);
  await home.close(claw);
});

test('no turn, a turn without an answer, a panic stop and no budget are explained', async () => {
  await expect(claw.op('turn.value', { turnId: 'trn_none', schema })).rejects.toMatchObject({ code: 'not_found' });
  model.script([{ times: 1, answer: { refuse: 'rejected' } }, says('Many.'), says(JSON.stringify(town))]);
  const failed = await claw.ask('How many?');
  await expect(claw.op('turn.value', { turnId: failed.turnId, schema })).rejects.toMatchObject({ code: 'conflict' });
  const { turnId } = await claw.ask('How many?');
  await claw.op('panic.engage', {});
  await expect(claw.op('turn.value', { turnId, schema })).rejects.toMatchObject({ code: 'panic_engaged' });
  await claw.op('panic.release', {});
  await home.close(claw);
  const tight = { ...model.config('openai'), budget: { perTurnTokens: 150 } };
  claw = await home.open({ config: tight });
  await expect(claw.op('turn.value', { turnId, schema })).rejects.toMatchObject({ code: 'over_budget' });
  await home.close(claw);
});
