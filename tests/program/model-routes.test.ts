// Routes and keys in a whole runtime: where a route may be named, how a choice is explained, and unchanged behaviour without them.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { freePort } from '../free-port.ts';
import { TestHome } from '../faults/test-home.ts';
import { bodiesOf, runCase } from '../faults/failover-rig.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';

let home: TestHome;
let near: ScriptedModel;
let far: ScriptedModel;

beforeEach(async () => {
  home = new TestHome();
  near = await ScriptedModel.start([{ answer: { text: 'near' } }]);
  far = await ScriptedModel.start([{ answer: { text: 'far' } }]);
});

afterEach(async () => {
  expect([near.violations, far.violations]).toEqual([[], []]);
  await home.dispose();
  await near.close();
  await far.close();
});

type Routes = NonNullable<NonNullable<ConfigInput['models']>['routes']>;

function config(routes: Routes, more: Omit<ConfigInput, 'models' | 'providers'> & { readonly model?: string } = {}): ConfigInput {
  const { model = 'route/everyday', ...rest } = more;
  return {
    providers: {
      near: { kind: 'openai-compatible', baseUrl: `${near.origin}/v1`, prices: { m: { inputUsdPerMillion: 1, outputUsdPerMillion: 2 } } },
      far: { kind: 'openai-compatible', baseUrl: `${far.origin}/v1`, prices: { m: { inputUsdPerMillion: 0.1, outputUsdPerMillion: 0.2 } } },
    },
    models: { default: model, routes, retries: 0 },
    context: { summaries: { mode: 'off' } },
    ...rest,
  };
}

const both = ['near/m', 'far/m'];

test('a route can be named as default, by an agent, for a session and for one message', async () => {
  const routes: Routes = { everyday: { candidates: both }, cheap: { candidates: both, prefer: 'cost' } };
  const claw = await home.open({ config: config(routes, { agents: { saver: { model: 'route/cheap' } } }) });
  expect((await claw.ask('hi')).text).toBe('near');
  expect((await claw.ask('hi', { agentId: 'saver' })).text).toBe('far');
  const { sessionId } = await claw.op('session.create', { model: 'route/cheap' });
  expect((await claw.ask('hi', { sessionId })).text).toBe('far');
  const sent = await claw.op('message.send', { text: 'hi', model: 'route/cheap' });
  expect((await claw.op('turn.wait', { turnId: sent.turnId })).text).toBe('far');
});

test('an unknown route is refused where it is named, with the list of routes', async () => {
  const claw = await home.open({ config: config({ everyday: { candidates: both } }) });
  await expect(claw.op('message.send', { text: 'hi', model: 'route/none' })).rejects.toMatchObject({ code: 'model_unknown' });
  await expect(claw.op('model.route', { text: 'hi', model: 'route/none' })).rejects.toMatchObject({
    data: { hint: expect.stringContaining('route/everyday') as string },
  });
});

test('a route in a list of models shows what every candidate can do', async () => {
  const claw = await home.open({ config: config({ everyday: { candidates: both } }) });
  const { models } = await claw.op('model.list', {});
  expect(models[0]).toMatchObject({ ref: 'route/everyday', kind: 'route', isDefault: true, inputUsdPerMillion: 1, outputUsdPerMillion: 2 });
});

test('the explanation calls no model and lists candidates, their state and price', async () => {
  const claw = await home.open({
    config: config({ everyday: { candidates: [...both, { model: 'near/large', when: { contextOver: 90_000 } }, 'gone/x'] } }),
  });
  const { candidates, chosen, reason } = await claw.op('model.route', { text: 'Sum up my notes' });
  expect([chosen, reason]).toEqual(['near/m', 'the first in order']);
  expect(candidates.map(({ model, allowed, health, expectedUsd }) => [model, allowed, health, typeof expectedUsd])).toEqual([
    ['near/m', true, 'ok', 'number'],
    ['far/m', true, 'ok', 'number'],
    ['near/large', false, 'ok', 'number'],
    ['gone/x', false, 'ok', 'object'],
  ]);
  expect(candidates[3]?.reason).toBe('no provider "gone" is set up');
  const { chosen: forLong } = await claw.op('model.route', { text: 'long '.repeat(100_000) });
  expect(forLong).not.toBe('near/m');
  expect([near.requests.length, far.requests.length]).toEqual([0, 0]);
});

test('the log, the turn and the command line say why a model was chosen', async () => {
  near.script([{ answer: { refuse: 'overloaded' } }]);
  const claw = await home.open({ config: config({ everyday: { candidates: both } }) });
  const ended = await runCase(claw, 'main', 'hi');
  const { requests = [] } = await claw.op('turn.get', { turnId: ended.turnId });
  expect(requests).toEqual([
    {
      requestId: expect.any(String) as string,
      model: 'near/m',
      route: 'everyday',
      reason: 'the first in order',
      passed: [],
      error: expect.stringContaining('near cannot answer') as string,
    },
    {
      requestId: expect.any(String) as string,
      model: 'far/m',
      route: 'everyday',
      reason: 'it is the only one that may be used',
      passed: [{ model: 'near/m', reason: expect.stringContaining('its server failed') as string }],
      error: null,
    },
  ]);
});

test('the next turn skips a failed candidate, also after a restart', async () => {
  near.script([{ answer: { refuse: 'overloaded' }, times: 1 }, { answer: { text: 'near' } }]);
  const given = config({ everyday: { candidates: both } });
  const claw = await home.open({ config: given });
  expect((await claw.ask('one')).text).toBe('far');
  expect((await claw.ask('two')).text).toBe('far');
  expect(near.requests).toHaveLength(1);
  await claw.close();
  const later = await home.open({ config: given });
  expect((await later.ask('three')).text).toBe('far');
  expect(near.requests).toHaveLength(1);
});

test('a model that is named directly is never replaced', async () => {
  near.script([{ answer: { refuse: 'overloaded' } }]);
  const claw = await home.open({ config: config({ everyday: { candidates: both } }, { model: 'near/m' }) });
  const { status, error } = await claw.ask('hi');
  expect([status, error?.code, far.requests.length]).toEqual(['failed', 'model_unavailable', 0]);
});

test('private data is not sent to a candidate that may not receive it', async () => {
  const candidates = [{ model: 'far/m', when: { private: false } }, 'near/m'];
  const claw = await home.open({ config: config({ everyday: { candidates } }) });
  expect((await claw.ask('hi')).text).toBe('far');
  const content = Buffer.from('balance: 12').toString('base64');
  const { turnId } = await claw.op('message.send', { text: 'see the file', attachments: [{ name: 'account.txt', base64: content }] });
  expect((await claw.op('turn.wait', { turnId })).text).toBe('near');
});

test('if no candidate may be used the turn says why, and calls none', async () => {
  const claw = await home.open({ config: config({ everyday: { candidates: [{ model: 'far/m', when: { contextOver: 900_000 } }] } }) });
  const { status, error } = await claw.ask('hi');
  expect([status, error?.code]).toEqual(['failed', 'no_model']);
  expect(error?.message).toContain('only for requests of more than 900000 tokens');
  expect(far.requests).toHaveLength(0);
});

test('if the budget is too small for one candidate, another is used', async () => {
  const routes: Routes = { everyday: { candidates: both } };
  const claw = await home.open({ config: config(routes, { budget: { perTurnUsd: 0.002 } }) });
  expect((await claw.ask('hi')).text).toBe('far');
});

test('after a key is rejected the next one is used, and stays in use', async () => {
  const keyed = await ScriptedModel.start([{ answer: { text: 'well' } }], { key: 'second-key-value' });
  try {
    home.env['FIRST'] = 'first-key-value';
    home.env['SECOND'] = 'second-key-value';
    const lab = { kind: 'openai-compatible' as const, baseUrl: `${keyed.origin}/v1`, apiKey: 'env:FIRST', keys: ['env:SECOND'] };
    const claw = await home.open({ config: { providers: { lab }, models: { default: 'lab/m' } } });
    const first = await runCase(claw, 'main', 'hi');
    expect([first.text, bodiesOf(first, 'model.retried').map(({ waitMs, error }) => [waitMs, error.code])]).toEqual([
      'well',
      [[0, 'model_auth']],
    ]);
    expect((await claw.ask('again')).text).toBe('well');
    expect(keyed.requests.map(({ key }) => key)).toEqual(['first-key-value', 'second-key-value', 'second-key-value']);
  } finally {
    await keyed.close();
  }
});

test('with a single key, a rejected key fails the call at once', async () => {
  const keyed = await ScriptedModel.start([{ answer: { text: 'well' } }], { key: 'right' });
  try {
    home.env['ONLY'] = 'wrong-key-value';
    const lab = { kind: 'openai-compatible' as const, baseUrl: `${keyed.origin}/v1`, apiKey: 'env:ONLY' };
    const claw = await home.open({ config: { providers: { lab }, models: { default: 'lab/m' } } });
    const { status, error } = await claw.ask('hi');
    expect([status, error?.code, keyed.requests.length]).toEqual(['failed', 'model_auth', 1]);
  } finally {
    await keyed.close();
  }
});

test('a summary through a route also falls back to the next candidate', async () => {
  near.script([{ answer: { refuse: 'server-error' } }]);
  const closed = await freePort();
  const claw = await home.open({
    config: {
      ...config({ everyday: { candidates: both }, sums: { candidates: ['dead/m', 'near/m', 'far/m'] } }, { model: 'far/m' }),
      providers: {
        ...config({}).providers,
        dead: { kind: 'openai-compatible', baseUrl: `http://127.0.0.1:${closed}/v1` },
      },
      context: { summaries: { mode: 'model', model: 'route/sums' } },
    },
  });
  far.script([{ answer: { text: 'Erika moves on 2027-03-14 to Berlin 4711.' } }]);
  const { sessionId } = await claw.ask('Erika moves on 2027-03-14 to Berlin 4711.');
  for (let n = 0; n < 4; n++) await claw.ask(`Noted ${n}: Berlin 4711.`, { sessionId });
  const summary = await claw.op('session.compact', { sessionId });
  expect(summary.method).toBe('model');
  expect(near.requests).toHaveLength(1);
});
