// The time limits of one attempt at a model call.

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { noUsage, type ModelReply } from '../../contracts/llm.ts';
import { runAttempt, type Attempt, type AttemptOutcome } from './attempt.ts';
import type { ProgressSink } from './reply-reader.ts';

const reply: ModelReply = { text: 'It is here.', reasoning: '', calls: [], usage: noUsage, usageReported: true, finishReason: 'stop' };

/** Stops this process for more than a second in the middle of an answer; the rest comes as soon as the event loop runs again. */
async function answerAfterStop(sink: ProgressSink): Promise<ModelReply> {
  sink.text('It is');
  setTimeout(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_300), 1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  sink.text(' here.');
  return reply;
}

const run = (work: Attempt['run']): Promise<AttemptOutcome> =>
  runAttempt(
    { provider: 'lab', limits: { firstTokenMs: 50, idleMs: 50 }, clock: systemClock, run: work },
    { text: () => undefined },
    new AbortController().signal,
  );

test('time in which this process did not run is not the silence of a server', async () => {
  expect(await run(answerAfterStop)).toMatchObject({ ok: true, reply });
});

test('silence after it still ends the attempt', async () => {
  const outcome = await run(async (sink) => {
    await answerAfterStop(sink);
    return new Promise(() => undefined);
  });
  expect(outcome).toMatchObject({ ok: false, error: { code: 'model_timeout' }, hasDelivered: true });
});
