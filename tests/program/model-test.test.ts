// A live test of a model: an answer, and a clear message for each failure; counted in the usage, and limited in time.

import { chmodSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { toAppError } from '../../core/contracts/errors.ts';
import type { ToolDefinition } from '../../core/index.ts';
import { freeTool } from '../doubles/free-tool.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';
import { until } from '../until.ts';

async function open(answer: Parameters<typeof ScriptedModel.start>[0], tools: readonly ToolDefinition[] = [], budget = {}) {
  const model = await ScriptedModel.start(answer);
  const home = new TestHome();
  const claw = await home.open({ config: { ...model.config('openai'), budget }, tools });
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  return { model, claw, home };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'done',
    (cause: unknown) => toAppError(cause).code,
  );
}

test('a model that answers passes, is asked for little, and the call is counted', async () => {
  const { model, claw } = await open([{ answer: { text: 'ok', usage: { input: 7, output: 1 } } }]);
  expect(await claw.op('model.test', { model: 'lab/scripted' })).toMatchObject({
    ok: true,
    error: null,
    usage: { inputTokens: 7, outputTokens: 1 },
  });
  expect(model.requests.map(({ body }) => body['max_tokens'])).toEqual([16]);
  expect((await claw.op('usage.get', { by: 'model' })).rows).toMatchObject([{ key: 'lab/scripted', modelCalls: 1, inputTokens: 7 }]);
  const provider = { kind: 'openai-compatible', baseUrl: `${model.origin}/v1` } as const;
  expect(await claw.op('model.test', { model: 'fresh/other', provider })).toMatchObject({ ok: true });
  expect(model.requests.at(-1)?.model).toBe('other');
  expect((await claw.op('model.presets', {})).presets.map(({ id }) => id)).toContain('openrouter');
});

test('the panic stop and a used-up budget keep a test from asking the model', async () => {
  const { model, claw } = await open([{ answer: { text: 'ok', usage: { input: 900, output: 100 } } }], [], { perDayTokens: 10_000 });
  const provider = { name: 'fresh', kind: 'openai-compatible', baseUrl: `${model.origin}/v1` } as const;
  const refusals = async (): Promise<readonly string[]> => [
    await codeOf(claw.op('model.test', { model: 'lab/scripted' })),
    await codeOf(claw.op('provider.try', { provider, modelId: 'scripted' })),
    (await claw.op('health.check', { full: true })).checks.find(({ id }) => id === 'model.turn')?.detail ?? '',
  ];
  await claw.op('panic.engage', {});
  const stopped = 'lab/scripted: No model is asked while everything is stopped.';
  expect(await refusals()).toEqual(['panic_engaged', 'panic_engaged', stopped]);
  expect(model.requests).toEqual([]);

  await claw.op('panic.release', {});
  while (model.requests.length < 20 && (await codeOf(claw.op('model.test', { model: 'lab/scripted' }))) === 'done');
  const asked = model.requests.length;
  expect(asked).toBeGreaterThan(1);
  const spent = 'lab/scripted: The budget of the day allows no more model calls.';
  expect(await refusals()).toEqual(['over_budget', 'over_budget', spent]);
  expect(model.requests.length).toBe(asked);
});

test('the panic stop aborts a test under way', async () => {
  const { model, claw } = await open([{ answer: { silent: true } }]);
  const testing = claw.op('model.test', { model: 'lab/scripted' });
  await until(() => model.requests.length === 1, 'the model is asked');
  await claw.op('panic.engage', {});
  expect(await testing).toMatchObject({ ok: false, tookMs: expect.toSatisfy((tookMs: number) => tookMs < 10_000) });
});

test.each([
  ['unauthorized', 'model_auth'],
  ['quota', 'model_quota'],
  ['rate-limited', 'model_rate_limited'],
] as const)('refused as %s is %s, tried once, with what to do', async (refuse, code) => {
  const { model, claw } = await open([{ answer: { refuse } }]);
  const { ok, error } = await claw.op('model.test', { model: 'lab/scripted' });
  expect([ok, error?.code, model.requests.length]).toEqual([false, code, 1]);
  expect(error?.hint).toEqual(expect.any(String));
});

test('reports a missing server and an unknown provider', async () => {
  const { model, claw } = await open([]);
  const provider = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } as const;
  expect((await claw.op('model.test', { model: 'gone/x', provider })).error?.code).toBe('model_unavailable');
  expect((await claw.op('model.test', { model: 'nobody/x' })).error?.code).toBe('model_unknown');
  expect(model.requests.length).toBe(0);
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test("a turn's tools are sent, and the server's rejection of them is shown", async () => {
  const shaky = freeTool('shaky', { idempotency: () => 'pure', run: () => Promise.resolve({ forModel: 'done' }) });
  const { model, claw } = await open([{ answer: { text: 'ok' } }], [shaky]);
  expect(await claw.op('model.test', { model: 'lab/scripted' })).toMatchObject({ ok: true });
  expect(model.requests[0]?.toolNames).toEqual((await claw.op('tool.list', {})).tools.map(({ name }) => name));
  const words = "Invalid schema for function 'shaky': In context=(), object schema missing properties.";
  model.script([{ when: ({ toolNames }) => toolNames.includes('shaky'), answer: { refuse: 'rejected', message: words } }, { answer: {} }]);
  expect((await claw.op('model.test', { model: 'lab/scripted' })).error?.message).toContain(words);
  const health = await claw.op('health.check', { full: true });
  expect(health.checks.find(({ id }) => id === 'model.turn')).toMatchObject({
    ok: false,
    detail: expect.stringContaining(words) as unknown,
  });
  model.script([{ answer: { text: 'ok' } }]);
  const well = await claw.op('health.check', { full: true });
  expect(well.checks.find(({ id }) => id === 'model.turn')).toMatchObject({ ok: true });
  const asked = model.requests.length;
  await claw.op('health.check', {});
  expect(model.requests.length).toBe(asked);
});

test('a window too small for all tools is tested without some, as in a turn', async () => {
  const { model, claw } = await open([
    { when: ({ toolNames }) => toolNames.length > 0, answer: { refuse: 'context-overflow' } },
    { answer: { text: 'ok' } },
  ]);
  expect(await claw.op('model.test', { model: 'lab/scripted' })).toMatchObject({ ok: true });
  expect(model.requests.map(({ toolNames }) => toolNames.length > 0)).toEqual([true, false]);
});

test('with more tools than a request allows, each turn and the test say what they send', async () => {
  const done = () => Promise.resolve({ forModel: 'done' });
  const more = Array.from({ length: 140 }, (_, at) => freeTool(`more_${at}`, { idempotency: () => 'pure', run: done }));
  const { model, claw } = await open(
    [{ user: 'hi', results: 0, answer: { calls: [{ tool: 'more_139', args: {} }] } }, { answer: { text: 'ok' } }],
    more,
  );
  const count = (await claw.op('tool.list', {})).tools.length;
  expect(await claw.ask('hi, do more_139')).toMatchObject({ status: 'done', text: 'ok' });
  expect(await claw.op('model.test', { model: 'lab/scripted' })).toMatchObject({ ok: true, toolsLeftOut: count - 128 });
  expect(model.violations).toEqual([]);
  expect(model.requests.map(({ toolNames }) => toolNames.length)).toEqual([128, 128, 128]);
  expect(model.requests[0]?.toolNames).toEqual(expect.arrayContaining(['read_file', 'exec', 'more_139']));
  expect(model.requests[1]?.toolNames).toEqual(model.requests[0]?.toolNames);
  const { packs } = await claw.op('pack.list', { limit: 1 });
  expect(JSON.stringify(await claw.op('pack.get', { packId: packs[0]?.packId ?? '' }))).toContain('a request takes no more tools');
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'tools')).toMatchObject({ ok: true, detail: expect.stringContaining(`${count} tools`) as unknown });
});

test('a tool disabled in config.yaml is not sent with the test either', async () => {
  const home = new TestHome();
  const model = await ScriptedModel.start([{ answer: { text: 'ok' } }]);
  const claw = await home.open({ config: { ...model.config('openai'), policy: { denyTools: ['exec'] } } });
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  expect(await claw.op('model.test', { model: 'lab/scripted' })).toMatchObject({ ok: true });
  expect(model.requests[0]?.toolNames).not.toContain('exec');
  expect(model.requests[0]?.toolNames).toContain('read_file');
});

test('the quick check makes no paid request, and reports turns only if known', async () => {
  const { model, claw } = await open([{ answer: { text: 'ok' } }]);
  const turnCheck = async (full = false) =>
    (await claw.op('health.check', full ? { full } : {})).checks.find(({ id }) => id === 'model.turn');
  expect(await turnCheck()).toMatchObject({ ok: true, fix: expect.stringContaining('trayclaw doctor --full') as unknown });
  expect(model.requests.length).toBe(0);
  expect(await turnCheck(true)).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/takes the tools of a turn \(\d+ ms, 120 tokens, 0 US\$\)/) as unknown,
  });
  // An answer without a turn does not count.
  expect((await turnCheck())?.fix).toBeDefined();
  await claw.ask('hello');
  const known = await turnCheck();
  expect([known?.ok, known?.fix, known?.detail]).toEqual([true, undefined, 'lab/scripted answered a turn 0 minutes ago.']);
  model.script([{ answer: { refuse: 'rejected' } }]);
  await claw.ask('hello again');
  expect(await turnCheck()).toMatchObject({
    ok: true,
    detail: expect.stringContaining('failed') as unknown,
    fix: expect.any(String) as unknown,
  });
});

test('the quick check finds a rejected key without a request', async () => {
  const model = await ScriptedModel.start([], { key: 'right' });
  const home = new TestHome();
  home.env['MODEL_KEY'] = 'wrong';
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const claw = await home.open({ config: model.config('openai') });
  const { ok, checks } = await claw.op('health.check', {});
  expect([ok, checks.find(({ id }) => id === 'model.turn')?.ok, model.requests.length]).toEqual([false, false, 0]);
});

test('the quick check reports a model that its server does not list', async () => {
  const home = new TestHome();
  const model = await ScriptedModel.start();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const claw = await home.open({ config: { ...model.config('openai'), models: { default: 'lab/other' } } });
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'model.turn')).toMatchObject({ ok: true, fix: expect.stringContaining('models') as unknown });
  expect(model.requests.length).toBe(0);
});

test('a repair of the health check asks no model', async () => {
  const { model, claw, home } = await open([{ answer: { text: 'ok' } }]);
  chmodSync(home.path, 0o755);
  const { check } = await claw.op('health.fix', { checkId: 'permissions', run: true });
  expect([check?.ok, model.requests.length]).toEqual([true, 0]);
});
