import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CodeReply, CodeRequest } from './code-tokens.ts';
import { codeCharsMax, WorkerHighlighter, type CodeWorker } from './highlighter.ts';

class WorkerFake implements CodeWorker {
  readonly asked: CodeRequest[] = [];
  readonly #onReply: (reply: CodeReply) => void;
  isEnded = false;

  constructor(onReply: (reply: CodeReply) => void) {
    this.#onReply = onReply;
  }

  ask(request: CodeRequest): void {
    this.asked.push(request);
  }

  end(): void {
    this.isEnded = true;
  }

  answer(): void {
    const request = this.asked.at(-1);
    if (request === undefined) throw new Error('nothing was asked');
    this.#onReply({ id: request.id, lines: [[[request.text, 'keyword']]] });
  }
}

const never = new AbortController().signal;
const workers: WorkerFake[] = [];

function createHighlighter(): WorkerHighlighter {
  workers.length = 0;
  return new WorkerHighlighter((onReply) => {
    const worker = new WorkerFake(onReply);
    workers.push(worker);
    return worker;
  });
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('texts are read one after the other by one worker, which ends when none has come for a while', async () => {
  const highlighter = createHighlighter();
  const found = Promise.all([highlighter.highlight('a', 'js', never), highlighter.highlight('b', 'js', never)]);
  expect(workers[0]?.asked.map(({ text }) => text)).toEqual(['a']);
  workers[0]?.answer();
  workers[0]?.answer();
  expect(await found).toEqual([[[['a', 'keyword']]], [[['b', 'keyword']]]]);
  expect([workers.length, workers[0]?.isEnded]).toEqual([1, false]);
  vi.advanceTimersByTime(60_000);
  expect(workers[0]?.isEnded).toBe(true);
});

test('a text that takes too long stays plain, and the next one gets a new worker', async () => {
  const highlighter = createHighlighter();
  const found = Promise.all([highlighter.highlight('slow', 'js', never), highlighter.highlight('b', 'js', never)]);
  vi.advanceTimersByTime(5000);
  expect([workers.length, workers[0]?.isEnded]).toEqual([2, true]);
  workers[1]?.answer();
  expect(await found).toEqual([null, [[['b', 'keyword']]]]);
});

test('what is withdrawn, too long or of no language is not read', async () => {
  const highlighter = createHighlighter();
  const ending = new AbortController();
  const first = highlighter.highlight('a', 'js', never);
  const second = highlighter.highlight('b', 'js', ending.signal);
  ending.abort();
  expect(
    await Promise.all([second, highlighter.highlight('x'.repeat(codeCharsMax + 1), 'js', never), highlighter.highlight('c', '', never)]),
  ).toEqual([null, null, null]);
  workers[0]?.answer();
  await first;
  expect(workers[0]?.asked.map(({ text }) => text)).toEqual(['a']);
});
