// Tests the engine in a real child process with a strict double of its library: its answers, and that its failures (crashing, hanging,
// being slow, refusing its file) affect only the current call.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { installEngineDouble, type EngineKnobs } from '../../../../tests/doubles/engine/knobs.ts';
import { plainTemplate, scriptedGguf, type GgufScript } from '../../../../tests/doubles/gguf.ts';
import { ManualClock } from '../../../../tests/doubles/manual-clock.ts';
import { systemLater } from '../../../base/clock.ts';
import { silentLogger } from '../../../base/logger.ts';
import { AppError } from '../../../contracts/errors.ts';
import { EmbeddedEngine, type EngineTimes } from './embedded-engine.ts';
import type { CompleteOrder } from './engine-messages.ts';
import { installedEngine } from './engine-place.ts';
import { startNodeChild } from './start-child.ts';
import { createSharedClock } from '../../../../tests/own-clock.ts';

const file = { file: 'model.gguf', contextTokens: 4_096, threads: 1 };
const never = new AbortController().signal;
const words = Array.from({ length: 200 }, (_, at) => ` word${at}`);
const tool = {
  name: 'read_file',
  description: 'Reads.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
};

class Bench {
  readonly home = mkdtempSync(join(tmpdir(), 'trayclaw-engine-'));
  readonly clock = new ManualClock();
  readonly tracked = new Set<number>();
  readonly engine: EmbeddedEngine;

  constructor(script: GgufScript, knobs: EngineKnobs, times: Partial<EngineTimes>) {
    this.put(script, knobs);
    this.engine = new EmbeddedEngine({
      home: this.home,
      userHome: this.home,
      library: () => installedEngine(this.home),
      start: startNodeChild,
      environment: () => ({}),
      track: (pid) => {
        this.tracked.add(pid);
        return () => void this.tracked.delete(pid);
      },
      clock: this.clock,
      later: systemLater,
      logger: silentLogger,
      times,
    });
  }

  put(script: GgufScript, knobs: EngineKnobs): void {
    installEngineDouble(this.home, knobs);
    writeFileSync(join(this.home, 'model.gguf'), scriptedGguf(script));
  }

  /** Returns the answer and its pieces; `onText` is called with each piece. */
  async ask(order: Partial<CompleteOrder> = {}, signal = never, onText: (piece: string) => void = () => undefined) {
    const said: string[] = [];
    const reasoning: string[] = [];
    const text = (piece: string): void => {
      said.push(piece);
      onText(piece);
    };
    const listener = { text, reasoning: (piece: string) => void reasoning.push(piece), calling: () => undefined, alive: () => undefined };
    const whole: CompleteOrder = { messages: [{ role: 'user', content: 'Hi' }], tools: [], maxTokens: null, output: null, ...order };
    const answer = await this.engine.complete(file, whole, listener, signal);
    return { ...answer, said, text: said.join(''), reasoning: reasoning.join('') };
  }

  async dispose(): Promise<void> {
    await this.engine.dispose();
    expect([...this.tracked]).toEqual([]);
    rmSync(this.home, { recursive: true, force: true });
  }
}

function open(script: GgufScript = {}, knobs: EngineKnobs = {}, times: Partial<EngineTimes> = {}): Bench {
  const bench = new Bench(script, knobs, times);
  onTestFinished(() => bench.dispose());
  return bench;
}

async function failureOf(work: Promise<unknown>): Promise<AppError> {
  const failure: unknown = await work.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!(failure instanceof AppError)) throw new Error(`it did not fail as it should: ${String(failure)}`);
  return failure;
}

/** Aborts as the time limit of a call does. */
function limit(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new AppError('model_timeout', 'It took too long.')), ms);
  return controller.signal;
}

test('an answer streams in pieces, and the next request reads only new tokens', async () => {
  const bench = open();
  const first = await bench.ask();
  expect(first.said.length).toBeGreaterThan(3);
  expect(first).toMatchObject({ text: 'Hello from a real GGUF file.', finish: 'stop', cachedInputTokens: 0 });
  const second = await bench.ask({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: '', calls: [] },
      { role: 'user', content: 'Again' },
    ],
  });
  expect(second.cachedInputTokens).toBeGreaterThan(5);
  expect(bench.engine.pids).toHaveLength(1);
});

test('a cancelled answer ends at once, and its child is reused without its state', async () => {
  const bench = open({ say: words }, { tokenMs: 5 });
  const controller = new AbortController();
  let nowMs = (): number => performance.now();
  let cancelledMs = 0;
  const cut = bench.ask({}, controller.signal, (piece) => {
    if (!piece.includes('word5') || controller.signal.aborted) return;
    nowMs = createSharedClock();
    cancelledMs = nowMs();
    controller.abort(new AppError('cancelled', 'Stopped.'));
  });
  expect(await failureOf(cut)).toMatchObject({ code: 'cancelled' });
  expect(nowMs() - cancelledMs).toBeLessThan(200);
  const [pid] = bench.engine.pids;
  expect(await bench.ask({ maxTokens: 3 })).toMatchObject({ finish: 'length', outputTokens: 3 });
  expect(bench.engine.pids).toEqual([pid]);
});

test('a crash mid-answer fails only that call, and the next call starts a new child', async () => {
  const bench = open({ say: words }, { abortAfter: 10 });
  const failure = await failureOf(bench.ask());
  expect(failure).toMatchObject({ code: 'model_unavailable', message: 'The engine stopped while model.gguf was in use.' });
  expect(failure.data['said']).toContain('ggml_abort');
  bench.put({ say: ['Well', '.'] }, {});
  expect(await bench.ask()).toMatchObject({ text: 'Well.' });
});

test('calls queued behind a crash fail with the same message', async () => {
  const bench = open({ say: words }, { abortAfter: 10 });
  const failures = await Promise.all([bench.ask(), bench.ask(), bench.engine.embed(file, ['a'], never)].map(failureOf));
  expect(new Set(failures.map(({ message }) => message))).toEqual(new Set(['The engine stopped while model.gguf was in use.']));
});

test('a tool call follows the schema of an offered tool, whatever the model prefers', async () => {
  const asked = { tools: [tool] };
  const free = open();
  expect(await free.ask(asked)).toMatchObject({
    text: '',
    finish: 'tool_calls',
    calls: [{ name: 'read_file', args: '{"path":"notes.txt"}' }],
  });
  const wrong = ['<tool_call>', '{"name": "delete_everything", "arguments": {}}', '</tool_call>'];
  const held = open({ call: wrong });
  expect(await held.ask(asked)).toMatchObject({ finish: 'tool_calls', calls: [{ name: 'read_file', args: '{"path":""}' }] });
  // Negative control: without a grammar the model writes whatever it prefers.
  const unheld = open({ call: wrong }, { refusesGrammars: true });
  expect(await unheld.ask(asked)).toMatchObject({ calls: [{ name: 'delete_everything' }] });
});

test('an answer with a schema follows it, whatever the model prefers', async () => {
  const output = {
    type: 'object',
    properties: { name: { type: 'string' }, size: { type: 'string', enum: ['small', 'large'] }, people: { type: 'integer' } },
    required: ['name', 'size', 'people'],
  };
  const bench = open({ say: ['Berlin', ' is', ' large', '.'] });
  const { text } = await bench.ask({ output });
  expect(JSON.parse(text)).toEqual({ name: '', size: 'large', people: 0 });
  expect(await bench.ask()).toMatchObject({ text: 'Berlin is large.' });
  const unheld = open({ say: ['Berlin', '.'] }, { refusesGrammars: true });
  expect(await unheld.ask({ output })).toMatchObject({ text: 'Berlin.' });
});

test('reasoning that the model marks is not part of the answer', async () => {
  const bench = open({ say: ['<think>', 'Hm', '.', '</think>', '\n\n', 'Yes', '?'] });
  expect(await bench.ask()).toMatchObject({ reasoning: 'Hm.', text: 'Yes?' });
});

test('a template without tools or system messages gets the conversation as text', async () => {
  const bench = open({
    template: plainTemplate,
    call: ['-'],
    say: ['<tool_call>', '{"name": "read_file", "arguments": {"path": "a"}}', '</tool_call>'],
  });
  const messages: CompleteOrder['messages'] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Read' },
    { role: 'assistant', content: 'So be it', calls: [{ id: 'abcdefghi', name: 'read_file', args: { path: 'b' } }] },
    { role: 'tool', id: 'abcdefghi', name: 'read_file', content: 'milk' },
  ];
  expect(await bench.ask({ messages, tools: [tool] })).toMatchObject({ calls: [{ name: 'read_file', args: '{"path":"a"}' }] });
});

test('the same child computes embeddings, equal for equal texts', async () => {
  const bench = open();
  const { vectors, tokens } = await bench.engine.embed(file, ['green', 'green', 'käse'], never);
  expect(vectors.map(({ length }) => length)).toEqual([32, 32, 32]);
  expect(vectors[0]).toEqual(vectors[1]);
  expect(vectors[0]).not.toEqual(vectors[2]);
  expect(tokens).toBe('greengreen'.length + Buffer.byteLength('käse'));
});

test('a request beyond the window is refused, and a full window ends the answer', async () => {
  const bench = open({ say: words }, { contextTokens: 40 });
  expect(await failureOf(bench.ask({ messages: [{ role: 'user', content: 'x'.repeat(60) }] }))).toMatchObject({
    code: 'model_context_overflow',
    data: { limitTokens: 40 },
  });
  expect(await bench.ask()).toMatchObject({ finish: 'length' });
});

test('a hanging child is ended after the limit of its call, and the next call works', async () => {
  const bench = open({ say: words }, { hangAfter: 3 }, { cancelMs: 100 });
  await bench.ask({ maxTokens: 1 });
  const [pid] = bench.engine.pids;
  // Aborts only while the child hangs: a child that does not hang yet would end the call itself.
  const controller = new AbortController();
  let pieces = 0;
  const onText = (): void => {
    if (++pieces === 3) controller.abort(new AppError('model_timeout', 'It took too long.'));
  };
  expect(await failureOf(bench.ask({}, controller.signal, onText))).toMatchObject({ code: 'model_timeout' });
  await expect.poll(() => bench.engine.pids).toEqual([]);
  bench.put({}, {});
  expect(await bench.ask()).toMatchObject({ text: 'Hello from a real GGUF file.' });
  expect(bench.engine.pids).not.toEqual([pid]);
});

test('a child that ends a cancelled call in time keeps running', async () => {
  const bench = open({ say: words }, { tokenMs: 5 }, { cancelMs: 300 });
  await bench.ask({ maxTokens: 1 });
  const before = bench.engine.pids;
  expect(await failureOf(bench.ask({}, limit(50)))).toMatchObject({ code: 'model_timeout' });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(bench.engine.pids).toEqual(before);
});

test('loading a file that hangs is given up', async () => {
  const bench = open({}, { atLoad: 'hang' }, { loadMs: 300 });
  expect(await failureOf(bench.ask())).toMatchObject({ message: 'The engine stopped while loading model.gguf.' });
});

test('an unused model leaves memory and is loaded again with the next request', async () => {
  const bench = open({}, {}, { idleMs: 50 });
  await bench.ask();
  await expect.poll(() => bench.engine.pids).toEqual([]);
  expect(bench.tracked.size).toBe(0);
  expect(await bench.ask()).toMatchObject({ text: 'Hello from a real GGUF file.' });
});

test.each<[string, GgufScript, EngineKnobs, string]>([
  ['crashes the engine', { isBroken: true }, {}, 'The engine stopped while loading model.gguf.'],
  ['the engine refuses', {}, { atLoad: 'refuse' }, 'The engine cannot load model.gguf: Failed to load model.'],
])('a file that %s is retried with growing delays until the file changes', async (_what, script, knobs, message) => {
  const bench = open(script, knobs);
  const waits: number[] = [];
  for (let round = 0; round < 3; round++) {
    expect(await failureOf(bench.ask())).toMatchObject({ code: 'model_unavailable', message });
    await expect.poll(() => bench.engine.pids).toEqual([]);
    const resting = await failureOf(bench.ask());
    expect(resting.message).toBe(message);
    expect(bench.engine.pids).toEqual([]);
    const [, seconds = '0'] = /again in (\d+) seconds/.exec(resting.hint ?? '') ?? [];
    waits.push(Number(seconds));
    bench.clock.advance(Number(seconds) * 1_000);
  }
  expect(waits).toEqual([10, 20, 40]);
  await failureOf(bench.ask());
  bench.put({ say: ['Well', '.'] }, {});
  expect(await bench.ask()).toMatchObject({ text: 'Well.' });
});
