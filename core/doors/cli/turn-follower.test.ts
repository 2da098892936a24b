// The terminal output for an answer that breaks off and is requested again.

import { expect, test } from 'vitest';
import { BoundedQueue } from '../../base/bounded-queue.ts';
import type { AnyEvent, DeltaNotice } from '../../contracts/events.ts';
import { TurnFollower } from './turn-follower.ts';

const delta = (text: string): DeltaNotice => ({ kind: 'text', sessionId: 's', turnId: 't', callId: null, text });
const event = (type: string, body: object): AnyEvent => ({ type, turnId: 't', body }) as unknown as AnyEvent;

function followed() {
  const printed: string[] = [];
  let tell: (notice: DeltaNotice) => void = () => undefined;
  const waiting = new BoundedQueue<AnyEvent>(10);
  let wake: () => void = () => undefined;
  const source = async function* (): AsyncGenerator<AnyEvent> {
    for (;;) {
      const next = waiting.shift();
      if (next === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (next.type === 'turn.finished') return;
      else yield next;
    }
  };
  const claw = {
    op: () => Promise.reject(new Error('nothing is asked here')),
    close: () => Promise.resolve(),
    events: source,
    onDelta: (listener: (notice: DeltaNotice) => void) => {
      tell = listener;
      return () => undefined;
    },
  };
  const follower = new TurnFollower(claw, {
    onText: (text) => void printed.push(text),
    onWarning: (text) => void printed.push(`<${text}>`),
    onCallFinished: () => undefined,
    onDoing: () => undefined,
    onDecided: () => undefined,
  });
  follower.start();
  follower.follow('t');
  const record = async (one: AnyEvent): Promise<void> => {
    waiting.push(one);
    wake();
    await new Promise<void>((resolve) => setImmediate(resolve));
  };
  return { printed, follower, tell: (text: string) => tell(delta(text)), record };
}

test('marks the part of a broken answer and starts the next one below it', async () => {
  const { printed, follower, tell, record } = followed();
  tell('one two');
  const error = { code: 'model_cut_off', message: 'lab broke off.' };
  await record(event('model.failed', { requestId: 'r1', error, partialText: 'one two', tookMs: 1, again: true }));
  tell('one two ');
  tell('three');
  await record(event('model.finished', { text: 'one two three' }));
  follower.finishText('one two three');
  await record(event('turn.finished', {}));
  follower.stop();
  expect(printed).toEqual(['one two', '\n', '<lab broke off. It is asked once more.>', 'one two ', 'three']);
});

test('prints each text once if records arrive before all deltas', async () => {
  const { printed, follower, tell, record } = followed();
  tell('I look fir');
  await record(event('model.finished', { text: 'I look first.' }));
  await record(event('model.finished', { text: 'I write it.' }));
  tell('st.');
  tell('I write');
  tell(' it.');
  tell(' And more');
  await record(event('turn.finished', {}));
  follower.stop();
  expect(printed).toEqual(['I look fir', 'st.', '\nI write it.', '\n And more']);
});

test('does not print text again that the result of the turn contained first', async () => {
  const { printed, follower, tell, record } = followed();
  tell('I look first.');
  await record(event('model.finished', { text: 'I look first.' }));
  follower.finishText('I write it.');
  follower.finishText('I write it.');
  tell('I write it.');
  await record(event('model.finished', { text: 'I write it.' }));
  tell('Done.');
  await record(event('model.finished', { text: 'Done.' }));
  follower.finishText('Done.');
  await record(event('turn.finished', {}));
  follower.stop();
  expect(printed).toEqual(['I look first.', '\nI write it.', '\nDone.']);
});
