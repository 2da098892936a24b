// Negative controls: one check for each place that removes secrets, run twice. With all of them it reports nothing; without only that one
// it reports the leak, so none can be removed unnoticed.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import * as z from 'zod';
import { stillRedacted } from '../../core/base/redacted.ts';
import type { FaultHooks, RedactedSink } from '../../core/compose.ts';
import { SafetyChecks } from '../../core/guard/safety/safety.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import type { ToolContext, ToolDefinition, ToolResult } from '../../core/contracts/tools.ts';
import type { TurnDeps } from '../../core/runtime/turns/turns.ts';
import { LineFile } from '../../core/features/usage/usage.ts';
import { createFileLogger } from '../../main/file-logger.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { eventsOf } from '../faults/replay-check.ts';
import { TestHome } from '../faults/test-home.ts';
import { createRandomText } from './secret-samples.ts';

/** Has no known form, so it is recognised only after it was registered. */
const secret = `orchid ${createRandomText(3)(24)}`;
const half = secret.slice(-12);

let home: TestHome;
let model: ScriptedModel;

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start([{ answer: { text: 'done' } }]);
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

const blind = (safety: SafetyChecks): SafetyChecks => {
  const none = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] }, personalData: [] });
  none.register = (value, name) => safety.register(value, name);
  return none;
};
const without = (...sinks: readonly RedactedSink[]): FaultHooks => ({
  replaceSafety: (safety, sink) => (sinks.includes(sink) ? blind(safety) : safety),
});
const replace = (parts: Partial<TurnDeps>): FaultHooks => ({ replaceParts: (real) => ({ ...real, ...parts }) });

function readTool(name: string, run: (context: ToolContext, args: { text?: string | undefined }) => ToolResult): ToolDefinition {
  return defineTool({
    name,
    description: 'Of a test.',
    input: z.strictObject({ text: z.string().optional() }),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => name,
    run: (args, context) => Promise.resolve().then(() => run(context, args)),
  });
}

interface Opened {
  readonly faults?: FaultHooks;
  readonly tools?: readonly ToolDefinition[];
  readonly outputBytesMax?: number;
  /** If false, the secret is not registered with the runtime. */
  readonly isKnown?: boolean;
}

function open({ faults = {}, tools = [], outputBytesMax = 48_000, isKnown = true }: Opened): Promise<TrayClaw> {
  const { providers, models } = model.config('openai');
  const other = { kind: 'openai-compatible' as const, baseUrl: model.origin, apiKey: 'env:ORCHID' };
  return home.open({
    config: { providers: isKnown ? { ...providers, other } : providers, models, tools: { outputBytesMax } },
    environment: { ...process.env, ...(isKnown ? { ORCHID: secret } : {}) },
    logger: createFileLogger(home.path, 'debug'),
    tools,
    faults,
  });
}

const fileText = (...names: readonly string[]): string =>
  names.map((name) => (existsSync(join(home.path, name)) ? readFileSync(join(home.path, name), 'utf8') : '')).join('\n');
const report = (where: string, text: string): string[] =>
  text.includes(secret) || text.includes(half) ? [`the secret stands in ${where}`] : [];

async function newSession(claw: TrayClaw): Promise<string> {
  return (await claw.op('session.create', {})).sessionId;
}

test('the event log', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const claw = await open({ faults });
    await claw.op('session.rename', { sessionId: await newSession(claw), title: `about ${secret}` });
    await home.close(claw);
    return report('the database', fileText('trayclaw.db', 'trayclaw.db-wal'));
  };
  expect(await check({})).toEqual([]);
  expect(await check(without('event-log'))).toEqual(['the secret stands in the database']);
});

test('the app log', async () => {
  const fail = readTool('fail', () => {
    throw new Error(`it failed on ${secret}`);
  });
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const claw = await open({ faults, tools: [fail] });
    await claw.op('tool.run', { tool: 'fail', args: {} });
    await home.close(claw);
    return report('the app log', fileText('logs/trayclaw.log'));
  };
  expect(await check({})).toEqual([]);
  expect(await check(without('app-log'))).toEqual(['the secret stands in the app log']);
});

test('stored content', async () => {
  const keep = readTool('keep', (context) => ({
    forModel: 'kept',
    artifacts: [context.artifacts.put(`some text and ${secret}`, { name: 'kept', mediaType: 'text/plain' })],
  }));
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const claw = await open({ faults, tools: [keep] });
    const { artifacts } = await claw.op('tool.run', { tool: 'keep', args: {} });
    await home.close(claw);
    const { sha256 } = artifacts[0] ?? { sha256: '' };
    return report('an artifact', fileText(`artifacts/${sha256.slice(0, 2)}/${sha256.slice(2)}`));
  };
  expect(await check({})).toEqual([]);
  expect(await check(without('artifacts'))).toEqual(['the secret stands in an artifact']);
});

test('the result of a tool, before it is cut', async () => {
  const cutting = readTool('cutting', (_context, args) => ({ forModel: 'x'.repeat(8_000) + secret + '.'.repeat(Number(args.text)) }));
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const claw = await open({ faults, tools: [cutting], outputBytesMax: 2_000 });
    const found = new Set<string>();
    // For any lengths of head and tail, the cut goes through the secret at some of these values.
    for (let dots = 640; dots < 900; dots += 8) {
      const { forModel } = await claw.op('tool.run', { tool: 'cutting', args: { text: String(dots) } });
      for (const leak of report('a result', forModel)) found.add(leak);
    }
    await home.close(claw);
    return [...found];
  };
  expect(await check({})).toEqual([]);
  expect(await check(without('tool-results'))).toEqual(['the secret stands in a result']);
});

test('the prompt', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    // It was said before it was known as a secret.
    const before = await open({ isKnown: false });
    const { sessionId } = await before.ask(`remember ${secret}`);
    await home.close(before);
    model.requests.length = 0;
    const claw = await open({ faults });
    await claw.ask('go on', { sessionId });
    await home.close(claw);
    return report('the prompt', model.requests.map(({ body }) => JSON.stringify(body)).join('\n'));
  };
  expect(await check({})).toEqual([]);
  expect(await check(without('prompt'))).toEqual(['the secret stands in the prompt']);
});

test('the output of the doors: operations, events, exports, errors', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const before = await open({ isKnown: false });
    const { sessionId } = await before.ask(`remember ${secret}`);
    await home.close(before);
    const claw = await open({ faults });
    const events: unknown[] = [];
    for await (const event of eventsOf(claw, sessionId)) events.push(event);
    const { text } = await claw.op('session.export', { sessionId, format: 'markdown' });
    const got = await claw.op('session.get', { sessionId });
    const failure = await claw.op('turn.get', { turnId: `no ${secret}`.slice(0, 100) }).catch((cause: unknown) => String(cause));
    await home.close(claw);
    const given = { events, text, got, failure };
    return Object.entries(given).flatMap(([name, value]) => report(name, JSON.stringify(value)));
  };
  expect(await check({})).toEqual([]);
  expect(await check(without('doors'))).toEqual(['events', 'text', 'got', 'failure'].map((name) => `the secret stands in ${name}`));
});

test('the arguments of a call', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const got: string[] = [];
    const take = readTool('take', (_context, args) => {
      got.push(args.text ?? '');
      return { forModel: 'taken' };
    });
    model.script([{ results: 0, answer: { calls: [{ tool: 'take', args: { text: secret } }] } }, { answer: { text: 'done' } }]);
    const claw = await open({ faults, tools: [take] });
    await claw.ask('use it');
    await home.close(claw);
    // Without the secret, the call would do something other than what was requested.
    return got.flatMap((text) => ['the call was made', ...report('a call', text)]);
  };
  expect(await check({})).toEqual([]);
  expect(await check(replace({ redactJson: (text) => ({ text: stillRedacted(text), found: [] }) }))).toEqual([
    'the call was made',
    'the secret stands in a call',
  ]);
});

test('streamed text, cut anywhere', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    model.script([{ answer: { text: `It is ${secret}, as you know.`, pieceChars: 5 } }]);
    const claw = await open({ faults });
    const seen: string[] = [];
    claw.onDelta((delta) => seen.push(delta.text));
    await claw.ask('say it');
    await home.close(claw);
    expect(seen.join('')).toContain('as you know.');
    return report('the deltas', seen.join(''));
  };
  expect(await check({})).toEqual([]);
  expect(await check(replace({ redactStream: () => ({ push: (piece) => piece, end: () => '' }) }))).toEqual([
    'the secret stands in the deltas',
  ]);
});

test('the output of a command while it runs', async () => {
  const say = readTool('say', (context) => {
    for (const piece of secret.match(/.{1,5}/g) ?? []) context.onOutput(piece);
    return { forModel: 'said' };
  });
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const claw = await open({ faults, tools: [say] });
    const seen: string[] = [];
    claw.onDelta((delta) => seen.push(delta.text));
    await claw.op('tool.run', { tool: 'say', args: {} });
    await home.close(claw);
    return report('live output', seen.join(''));
  };
  expect(await check({})).toEqual([]);
  expect(await check(replace({ redactStream: () => ({ push: (piece) => piece, end: () => '' }) }))).toEqual([
    'the secret stands in live output',
  ]);
});

test('the report of a crash', () => {
  const check = (how: 'report' | 'bare'): string[] => {
    const child = fileURLToPath(new URL('crash-child.ts', import.meta.url));
    const token = createRandomText(5)(32);
    const env = { PATH: process.env['PATH'] ?? '', HOME: home.path, LAB_API_TOKEN: token };
    const { stderr, status } = spawnSync(process.execPath, [child, how, home.path], { env, encoding: 'utf8', timeout: 60_000 });
    expect([existsSync(join(home.path, 'crashing')), status === 0, stderr.includes('the server refused')]).toEqual([true, false, true]);
    return stderr.includes(token) ? ['the secret stands in the report'] : [];
  };
  expect(check('report')).toEqual([]);
  expect(check('bare')).toEqual(['the secret stands in the report']);
});

test('telemetry lines', () => {
  const safety = new SafetyChecks({ policy: { allowDomains: [], denyDomains: [] } });
  safety.register(secret, 'orchid');
  const check = (redact: (line: string) => string): string[] => {
    const path = join(home.path, 'telemetry.jsonl');
    const sink = new LineFile({ path, logger: { log: () => undefined }, redact });
    sink.write([{ kind: 'turn', sessionId: secret }]);
    return report('telemetry', readFileSync(path, 'utf8'));
  };
  expect(check((line) => safety.redactJson(line).text)).toEqual([]);
  expect(check((line) => line)).toEqual(['the secret stands in telemetry']);
});
