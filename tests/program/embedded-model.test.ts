// A GGUF file as a model in the engine's child process: answers, a tool call through the gate, stopping, a killed child, a broken file,
// embeddings. Each case runs with the strict double, and with the real engine if `npm run soak -- embedded-model` has installed it.

import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import { installedEngine } from '../../core/mind/llm/llm.ts';
import { installEngineDouble } from '../doubles/engine/knobs.ts';
import { scriptedGguf, type GgufScript } from '../doubles/gguf.ts';
import { TestHome } from '../faults/test-home.ts';
import { engineHome, has, needs } from '../needs.ts';
import { createSharedClock } from '../own-clock.ts';

const engine = 'the GGUF engine (npm run soak -- embedded-model installs it)';
const engines = [
  { name: 'with the double', isReal: false, options: needs('Linux') },
  { name: 'with the real engine', isReal: true, options: needs(engine) },
];
const WINDOW = 65_536;
/** Long enough to be stopped in the middle. */
const long = Array.from({ length: 1_500 }, (_, at) => ` word${at}`);

beforeAll(async () => {
  if (!has(engine) || installedEngine(engineHome) !== null) return;
  mkdirSync(engineHome, { recursive: true });
  const home = new TestHome();
  const claw = await home.open();
  const { folder } = await claw.op('engine.install', {});
  await home.close(claw);
  mkdirSync(join(engineHome, 'engine'), { recursive: true });
  cpSync(folder, folder.replace(home.path, engineHome), { recursive: true });
  await home.dispose();
}, 300_000);

async function openWith(isReal: boolean, script: GgufScript = {}, config: ConfigInput = {}): Promise<{ home: TestHome; claw: TrayClaw }> {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  if (isReal) symlinkSync(join(engineHome, 'engine'), join(home.path, 'engine'));
  else installEngineDouble(home.path, { tokenMs: 1 });
  writeFileSync(join(home.path, 'model.gguf'), scriptedGguf(script));
  home.configure({ providers: { mine: { kind: 'embedded', file: 'model.gguf', threads: 1, contextTokens: WINDOW } }, ...config });
  return { home, claw: await home.open() };
}

/** The pids of the engine processes of the data folder. */
function enginePids(): number[] {
  const table = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim();
  return table
    .split(' ')
    .filter((pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-child'))
    .map(Number);
}

/** Resolves once this text was streamed. */
function spoken(claw: TrayClaw, words: string): Promise<void> {
  let text = '';
  return new Promise((resolve) => {
    const stop = claw.onDelta((delta) => {
      if (delta.kind === 'text') text += delta.text;
      if (!text.includes(words)) return;
      stop();
      resolve();
    });
  });
}

describe.each(engines)('$name', ({ isReal, options }) => {
  const open = (script?: GgufScript, config?: ConfigInput) => openWith(isReal, script, config);

  test('a GGUF file answers; its name, window and price are known', options, async () => {
    const { claw } = await open({ say: ['-'], call: ['Hello', ' from', ' a', ' real', ' GGUF', ' file', '.'] });
    const { models } = await claw.op('model.list', {});
    expect(models.find(({ ref }) => ref === 'mine/model')).toMatchObject({ contextTokens: WINDOW, inputUsdPerMillion: 0, isDefault: true });
    const tried = await claw.op('provider.try', { provider: { name: 'other', kind: 'embedded', file: 'model.gguf' } });
    expect(tried).toMatchObject({ models: [{ modelId: 'model' }], modelId: 'model' });
    const answer = await claw.ask('Hi');
    expect(answer).toMatchObject({ status: 'done', text: 'Hello from a real GGUF file.', usage: { costUsd: 0 } });
    expect(answer.usage.inputTokens).toBeGreaterThan(500);
  });

  test('a tool call goes through the gate and follows the grammar of the tools', options, async () => {
    const wrong = ['<tool_call>', '{"name": "delete_everything", "arguments": {}}', '</tool_call>'];
    const { home, claw } = await open();
    mkdirSync(home.workspace, { recursive: true });
    writeFileSync(join(home.workspace, 'notes.txt'), 'milk');
    const answer = await claw.ask('Read my notes');
    expect(answer).toMatchObject({ status: 'done', text: 'The tool returned something useful!' });
    const { calls } = await claw.op('turn.get', { turnId: answer.turnId });
    expect(calls).toMatchObject([{ tool: 'read_file', args: '{"path":"notes.txt"}', outcome: 'ok' }]);
    const second = await open({ call: wrong });
    const turn = await second.claw.op('message.send', { text: 'Delete everything' });
    await second.claw.op('turn.wait', { turnId: turn.turnId, timeoutMs: 20_000 });
    const made = (await second.claw.op('turn.get', { turnId: turn.turnId })).calls.map(({ tool }) => tool);
    expect(made).not.toContain('delete_everything');
  });

  test('stopping a turn stops the answer within 200 ms, and the child is reused', options, async () => {
    const { claw } = await open({ say: ['-'], call: long });
    const tookMs: number[] = [];
    for (let round = 0; round < 20; round++) {
      const begun = spoken(claw, 'word20 ');
      const { turnId } = await claw.op('message.send', { text: 'Talk' });
      await begun;
      const nowMs = createSharedClock();
      const startMs = nowMs();
      await claw.op('turn.cancel', { turnId });
      expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'cancelled' });
      tookMs.push(nowMs() - startMs);
    }
    expect(Math.max(...tookMs)).toBeLessThan(200);
    expect(enginePids()).toHaveLength(1);
  });

  test('a child killed in mid-answer fails that call, and the next call restarts it', options, async () => {
    const { claw } = await open({ say: ['-'], call: long });
    const begun = spoken(claw, 'word20 ');
    const { turnId } = await claw.op('message.send', { text: 'Talk' });
    await begun;
    const [pid = 0] = enginePids();
    process.kill(pid, 'SIGKILL');
    const failed = await claw.op('turn.wait', { turnId });
    expect(failed).toMatchObject({
      status: 'failed',
      error: { code: 'model_unavailable', message: 'The engine stopped while model.gguf was in use.' },
    });
    const again = spoken(claw, 'word20 ');
    const next = await claw.op('message.send', { text: 'Talk' });
    await again;
    expect(enginePids()).not.toContain(pid);
    await claw.op('turn.cancel', { turnId: next.turnId });
  });

  test('the panic stop kills the child', options, async () => {
    const { claw } = await open({ say: ['-'], call: long });
    const begun = spoken(claw, 'word20 ');
    await claw.op('message.send', { text: 'Talk' });
    await begun;
    const nowMs = createSharedClock();
    const startMs = nowMs();
    await claw.op('panic.engage', {});
    await expect.poll(() => enginePids()).toEqual([]);
    expect(nowMs() - startMs).toBeLessThan(2_000);
  });

  test('a broken file is an error of the call, and is not retried for a while', options, async () => {
    const { claw } = await open({ isBroken: true });
    const first = await claw.ask('Hi');
    expect(first).toMatchObject({ status: 'failed', error: { message: 'The engine stopped while loading model.gguf.' } });
    const second = await claw.ask('Hi');
    expect(second.error?.hint).toMatch(/^model\.gguf is tried again in \d+ seconds/);
    expect(enginePids()).toEqual([]);
  });

  test('the engine creates the vectors of memory', options, async () => {
    const { claw } = await open({}, { embeddings: { kind: 'embedded', file: 'model.gguf' } });
    await claw.op('memory.add', { text: 'The garage is painted green.' });
    await vi.waitFor(
      async () => expect((await claw.op('knowledge.list', {})).embedder).toMatchObject({ waiting: 0, dimensions: 32, problem: null }),
      { timeout: 20_000, interval: 200 },
    );
  });
});

test('the child receives none of the keys, and ends with its parent', needs('Linux'), async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  installEngineDouble(home.path);
  writeFileSync(join(home.path, 'model.gguf'), scriptedGguf());
  home.configure({ providers: { mine: { kind: 'embedded', file: 'model.gguf', threads: 1 } } });
  home.env['OPENAI_API_KEY'] = 'sk-of-the-person';
  const serving = await home.serve();
  const headers = { authorization: `Bearer ${serving.token}`, 'content-type': 'application/json' };
  const sent = await fetch(`${serving.url}/api/ops/message.send`, { method: 'POST', headers, body: '{"text":"Hi"}' });
  expect(sent.status).toBe(200);
  const children = (): number[] =>
    readFileSync(`/proc/${serving.child.pid}/task/${serving.child.pid}/children`, 'utf8')
      .trim()
      .split(' ')
      .filter((pid) => pid !== '')
      .map(Number);
  const engineOf = (): number | undefined =>
    children().find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-child'));
  await vi.waitFor(() => expect(engineOf()).toBeDefined(), { timeout: 20_000 });
  const pid = engineOf() ?? 0;
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain('sk-of-the-person');
  await serving.end('SIGKILL');
  await expect.poll(() => existsSync(`/proc/${pid}`)).toBe(false);
});

test('without the engine a call says how to install it, and starts nothing', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  writeFileSync(join(home.path, 'model.gguf'), scriptedGguf());
  home.configure({ providers: { mine: { kind: 'embedded', file: 'model.gguf' } } });
  const claw = await home.open();
  const answer = await claw.ask('Hi');
  expect(answer).toMatchObject({
    status: 'failed',
    error: { code: 'model_unavailable', message: 'The engine that runs GGUF files is not installed.' },
  });
  expect(answer.error?.hint).toContain('trayclaw model install-engine');
  const { checks } = await claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'engine')).toMatchObject({ ok: false, fix: 'Install it: trayclaw model install-engine' });
  expect(checks.find(({ id }) => id === 'model-file.mine')).toMatchObject({ ok: true });
});

test('a command line started by a tool cannot install the engine', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  home.env['TRAYCLAW_CALL'] = 'call_1';
  const ended = await home.command(['model', 'install-engine', '--yes']);
  expect(ended).toMatchObject({ code: 1, json: { error: { code: 'forbidden' } } });
});

test('without --yes and a person, the command prints the sizes and installs nothing', async () => {
  const home = new TestHome();
  onTestFinished(() => home.dispose());
  const shown = await home.command(['model', 'install-engine']);
  expect(shown).toMatchObject({ code: 3, json: { state: 'absent', source: 'registry.npmjs.org' } });
  expect(shown.json).toMatchObject({ downloadBytes: expect.any(Number) as number, diskBytes: expect.any(Number) as number });
});
