// Traces in the whole program, sent to a receiver as strict as the protocol: the spans of a turn, that failures and restarts neither lose
// nor repeat any, and that nothing is sent unless a receiver is configured.

import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import { soak } from '../soak.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TraceReceiver, type ReceivedSpan } from '../doubles/trace-receiver.ts';
import { TestHome } from '../faults/test-home.ts';

const usage = { input: 10, output: 5 };
const secret = 'sk-live-4b1f0c9d8e7a6b5c4d3e2f1a';
const rules: readonly Rule[] = [
  { user: 'Read', results: 0, answer: { calls: [{ tool: 'list_dir', args: { path: '.' } }], usage } },
  { user: 'Read', results: 1, answer: { text: `It is empty. ${secret}`, usage } },
  { user: 'Break', answer: { refuse: 'rejected' } },
  { answer: { text: 'Hello.', usage } },
];

interface Rig {
  readonly home: TestHome;
  readonly receiver: TraceReceiver;
  readonly open: () => Promise<TrayClaw>;
}

async function rig(telemetry: (url: string) => NonNullable<ConfigInput['telemetry']>, authorization: string | null = null): Promise<Rig> {
  const model = await ScriptedModel.start(rules);
  const receiver = await TraceReceiver.start(authorization);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await receiver.close();
    await model.close();
  });
  const lab = { kind: 'openai-compatible' as const, baseUrl: `${model.origin}/v1` };
  Object.assign(home.env, { API_KEY: secret, LANGFUSE_SECRET: 'sk-lf-0123456789abcdef' });
  home.configure({
    providers: { lab: { ...lab, apiKey: 'env:API_KEY' } },
    models: { default: 'lab/scripted', retries: 0 },
    telemetry: telemetry(receiver.url),
  });
  return { home, receiver, open: () => home.open() };
}

const otlp = (url: string) => ({ otlp: { endpoint: `${url}/v1/traces`, metricsEndpoint: `${url}/v1/metrics` } });

function valueOf(span: ReceivedSpan | undefined, key: string): unknown {
  const value = span?.attributes.find((attribute) => attribute.key === key)?.value;
  return value === undefined ? undefined : Object.values(value)[0];
}

test('a turn is sent with its agent, its models and its tools, without content', async () => {
  const { receiver, open } = await rig(otlp);
  const claw = await open();
  const { turnId, sessionId } = await claw.ask('Read this folder');
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ pending: 0, problem: null });
  expect(receiver.violations).toEqual([]);
  const [turn, ...inner] = receiver.spans;
  expect(inner.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['pack', 'chat lab/scripted', 'execute_tool list_dir', 'pack', 'chat lab/scripted']),
  );
  expect(turn?.name).toBe('invoke_agent main');
  expect(inner.every(({ parentSpanId, traceId }) => parentSpanId === turn?.spanId && traceId === turn?.traceId)).toBe(true);
  expect([
    valueOf(turn, 'gen_ai.conversation.id'),
    valueOf(turn, 'trayclaw.turn.status'),
    valueOf(turn, 'gen_ai.usage.input_tokens'),
  ]).toEqual([sessionId, 'done', '20']);
  const chat = inner.find(({ name }) => name.startsWith('chat'));
  expect([valueOf(chat, 'gen_ai.provider.name'), valueOf(chat, 'gen_ai.request.model'), chat?.kind]).toEqual(['lab', 'scripted', 3]);
  expect(JSON.stringify(receiver.spans)).not.toMatch(/Read this folder|It is empty/);
  expect(receiver.metrics.map(({ name }) => name)).toEqual([
    'gen_ai.client.token.usage',
    'gen_ai.client.operation.duration',
    'trayclaw.client.cost',
  ]);
  const exported = await claw.op('telemetry.export', { turnId });
  const spans = exported.resourceSpans.flatMap((one) => (one['scopeSpans'] as { spans: ReceivedSpan[] }[]).flatMap((scope) => scope.spans));
  expect(spans).toEqual(receiver.spans);
});

test('content is sent only if enabled, and without secrets', async () => {
  const { receiver, open } = await rig((url) => ({ otlp: { ...otlp(url).otlp, content: true } }));
  const claw = await open();
  await claw.ask('Read this folder');
  // The cut of a long text falls into the middle of a character.
  await claw.ask(`${'x'.repeat(15_999)}😀`);
  await claw.op('telemetry.flush', {});
  expect(receiver.violations).toEqual([]);
  const sent = JSON.stringify(receiver.spans);
  expect(sent).toContain('Read this folder');
  expect(sent).toContain('It is empty.');
  expect(sent).not.toContain(secret);
});

const TURNS = soak(24, 10_000);

test('a receiver that is away for half the turns gets each once', { timeout: 120_000 + TURNS * 400 }, async () => {
  const { home, receiver, open } = await rig(otlp);
  let claw = await open();
  for (let turn = 0; turn < TURNS; turn += 1) {
    if (turn === Math.floor(TURNS / 4)) receiver.failing = { status: 503, headers: { 'retry-after': '0' } };
    if (turn === Math.floor((TURNS * 3) / 4)) receiver.failing = null;
    if (turn === Math.floor(TURNS / 2)) {
      expect(await claw.op('telemetry.flush', {})).toMatchObject({ problem: expect.stringContaining('answered 503') as string });
      await home.close(claw);
      claw = await open();
    }
    await claw.ask('Hello');
  }
  await claw.op('telemetry.flush', {});
  const agents = receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'));
  expect([agents.length, new Set(agents.map(({ spanId }) => spanId)).size]).toEqual([TURNS, TURNS]);
  expect(receiver.violations).toEqual([]);
});

test('a permanently refused turn does not block others, and is counted', async () => {
  const { receiver, open } = await rig(otlp);
  const claw = await open();
  receiver.refusedName = 'execute_tool list_dir';
  await claw.ask('Hello');
  await claw.ask('Read this folder');
  await claw.ask('Hello again');
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ pending: 0 });
  expect(receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'))).toHaveLength(2);
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'telemetry.otlp')?.detail).toBe('1 turn was refused by the receiver for good.');
});

test('spans that a receiver drops from a batch are counted, and not sent again', async () => {
  const { receiver, open } = await rig(otlp);
  const claw = await open();
  receiver.rejectedSpans = 2;
  await claw.ask('Hello');
  expect(await claw.op('telemetry.flush', {})).toEqual({ sent: 1, pending: 0, problem: null });
  const { requests } = receiver;
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ sent: 0 });
  expect(receiver.requests).toBe(requests);
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'telemetry.otlp')).toMatchObject({ detail: '2 spans were refused by the receiver for good.' });
});

test('Langfuse gets its keys, its attributes and a score for a failed turn', async () => {
  const keys = `Basic ${Buffer.from('pk-lf-1:sk-lf-0123456789abcdef').toString('base64')}`;
  const { receiver, open } = await rig(
    (url) => ({ langfuse: { baseUrl: url, publicKey: 'pk-lf-1', secretKey: 'env:LANGFUSE_SECRET' } }),
    keys,
  );
  const claw = await open();
  await claw.ask('Hello');
  await claw.ask('Break');
  const tests = [{ input: 'Hello', assert: ['Hello', 'Bye'].map((value) => ({ type: 'contains' as const, value })) }];
  await claw.op('eval.run', { cases: { tests } });
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ sent: 3, pending: 0, problem: null });
  expect(receiver.violations).toEqual([]);
  const agents = receiver.spans.filter(({ name }) => name.startsWith('invoke_agent'));
  expect(agents.map((span) => valueOf(span, 'langfuse.observation.type'))).toEqual(['agent', 'agent']);
  const graded = receiver.spans.find(({ name }) => name === 'evaluate case');
  expect(receiver.scores).toMatchObject([
    { name: 'success', value: 0, traceId: agents[1]?.traceId },
    { name: 'eval', value: 0.5, traceId: graded?.traceId, comment: 'fail' },
  ]);
  const results = graded?.events?.map(({ name, attributes }) => [name, attributes.map(({ value }) => Object.values(value)[0])]);
  expect(results).toEqual([
    ['gen_ai.evaluation.result', ['Hello', 'fail', 0.5]],
    ['gen_ai.evaluation.result', ['contains', 'pass', 1]],
    ['gen_ai.evaluation.result', ['contains', 'fail', 0]],
  ]);
});

test('after wrong keys export waits for a person, and nothing is lost', async () => {
  const { receiver, open } = await rig(otlp, 'Bearer right');
  const claw = await open();
  await claw.ask('Hello');
  const problem = expect.stringContaining('refused the keys (401)') as string;
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ sent: 0, pending: 1, problem });
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'telemetry.otlp')).toMatchObject({ ok: false, fix: 'trayclaw telemetry flush' });
  expect(receiver.spans).toEqual([]);
});

test('a receiver that takes no JSON is named, and nothing is lost', async () => {
  const { receiver, open } = await rig(otlp);
  receiver.failing = { status: 415 };
  const claw = await open();
  await claw.ask('Hello');
  const problem = expect.stringContaining('does not take JSON') as string;
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ sent: 0, pending: 1, problem });
  receiver.failing = null;
  expect(await claw.op('telemetry.flush', {})).toMatchObject({ sent: 1, pending: 0 });
});

test('without a receiver nothing is sent, and flush says what to configure', async () => {
  const { receiver, open } = await rig(() => ({}));
  const claw = await open();
  await claw.ask('Hello');
  await expect(claw.op('telemetry.flush', {})).rejects.toMatchObject({ code: 'conflict', message: 'No receiver of traces is set up.' });
  expect(receiver.requests).toBe(0);
});

test('nothing is sent while the panic stop is engaged', async () => {
  const { receiver, open } = await rig(otlp);
  const claw = await open();
  await claw.ask('Hello');
  await claw.op('telemetry.flush', {});
  const before = receiver.requests;
  await claw.op('panic.engage', {});
  await expect(claw.op('telemetry.flush', {})).rejects.toMatchObject({ code: 'panic_engaged' });
  expect(receiver.requests).toBe(before);
});
