// Dead letters in the whole program: automatic retries, failures that wait for a person, and that neither a restart nor a stop makes a
// message run twice.

import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { Caller } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import { freeTool } from '../doubles/free-tool.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';

const away: Caller = { channel: 'telegram', actor: 'telegram:7' };
const down: Rule['answer'] = { refuse: 'server-error' };
const soon = { retries: 3, firstWaitMs: 100, longestWaitMs: 100 };
const late = { retries: 3, firstWaitMs: 86_400_000, longestWaitMs: 86_400_000 };

/** A tool that only reads, but must not be run twice. */
const stamp = freeTool('stamp', {
  idempotency: () => 'unsafe',
  run: () => Promise.resolve({ forModel: 'stamped' }),
});

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

function open(deadLetters: ConfigInput['deadLetters'] = soon): Promise<TrayClaw> {
  const config = { ...model.config('openai'), deadLetters };
  return home.open({ config: { ...config, models: { ...config.models, retries: 0 } }, tools: [stamp] });
}

async function send(claw: TrayClaw, text: string, caller: Caller = away) {
  const { turnId } = await claw.op('message.send', { text, sessionId: 'ses_a' }, caller);
  return claw.op('turn.wait', { turnId });
}

async function letters(claw: TrayClaw) {
  return (await claw.op('dlq.list', {})).letters;
}

/** Collects the log's events about dead letters, from its beginning, including future ones. */
function follow(claw: TrayClaw): AnyEvent[] {
  const events: AnyEvent[] = [];
  void (async () => {
    for await (const event of claw.events({ after: 0 })) if (event.type.startsWith('dead_letter.')) events.push(event);
  })();
  return events;
}

const names = (events: readonly AnyEvent[]): string[] => events.map(({ type }) => type.replace('dead_letter.', ''));

/** Polls until the values are equal; a failure shows the last value. */
async function untilEqual(look: () => unknown, wanted: unknown): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  let seen: unknown;
  do {
    seen = await look();
    if (isDeepStrictEqual(seen, wanted)) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  } while (Date.now() < deadlineMs);
  expect(seen).toEqual(wanted);
}

test('a transient failure of an unattended turn is retried until it is answered', async () => {
  model.script([
    { times: 2, answer: down },
    { user: 'the report', answer: { text: 'here it is' } },
  ]);
  const claw = await open();
  expect((await send(claw, 'the report, please')).status).toBe('failed');
  const story = follow(claw);
  await untilEqual(() => names(story), ['captured', 'retried', 'captured', 'retried', 'settled']);
  expect(await letters(claw)).toEqual([]);
  expect(model.requests.length).toBe(3);
  const ids = new Set(story.map(({ body }) => (body as { letterId: string }).letterId));
  expect(ids.size).toBe(1);
  expect((await claw.op('session.get', { sessionId: 'ses_a' })).session).toMatchObject({ lastText: 'here it is', status: 'done' });
  expect(await home.close(claw)).toMatchObject({ different: [] });
});

test('after the last retry a person may retry or dismiss it', async () => {
  model.script([{ answer: down }]);
  const claw = await open({ ...soon, retries: 2 });
  await send(claw, 'hopeless');
  await untilEqual(async () => (await letters(claw))[0]?.state, 'left');
  const [letter] = await letters(claw);
  expect(letter).toMatchObject({ attempt: 3, left: 'It failed 3 times.', nature: 'transient', retryAtMs: null, channel: 'telegram' });
  expect(letter?.reason.code).toBe('model_unavailable');
  expect(model.requests.length).toBe(3);

  model.script([{ answer: { text: 'at last' } }]);
  const { turnId } = await claw.op('dlq.retry', { letterId: letter?.letterId ?? '' });
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done', text: 'at last' });
  await untilEqual(() => letters(claw), []);

  model.script([{ answer: { refuse: 'unauthorized' } }]);
  await send(claw, 'no key');
  await untilEqual(async () => (await letters(claw)).map(({ nature, left }) => [nature, left !== '']), [['permanent', true]]);
  expect(await claw.op('dlq.clear', {})).toEqual({ cleared: 1 });
  expect(await letters(claw)).toEqual([]);
  await expect(claw.op('dlq.clear', { letterId: 'let_none' })).rejects.toMatchObject({ code: 'not_found' });
});

test.each([
  ['somebody watches', { channel: 'window', actor: 'window' } as const, [{ answer: down }], /You were there/],
  [
    'it had done what must not happen twice',
    away,
    [{ times: 1, answer: { calls: [{ tool: 'stamp', args: {} }] } }, { answer: down }],
    /must not happen twice: stamp/,
  ],
  ['the same would happen again', away, [{ answer: { refuse: 'quota' } }], /until something is changed/],
] as const)('it is left to a person at once where %s', async (_name, caller, rules, why) => {
  model.script(rules);
  const claw = await open();
  await send(claw, 'do it', caller);
  await untilEqual(async () => (await letters(claw)).map(({ state, attempt }) => [state, attempt]), [['left', 1]]);
  expect((await letters(claw))[0]?.left).toMatch(why);
  expect(model.requests.length).toBe(rules.length);
});

test('a stopped turn is not a dead letter, and a later message settles a seen failure', async () => {
  model.script([{ answer: { silent: true } }]);
  const claw = await open();
  const { turnId } = await claw.op('message.send', { text: 'long', sessionId: 'ses_a' }, away);
  await untilEqual(() => model.requests.length, 1);
  await claw.op('turn.cancel', { turnId });
  const second = await claw.op('message.send', { text: 'long', sessionId: 'ses_a' }, away);
  await untilEqual(() => model.requests.length, 2);
  await claw.op('panic.engage', {});
  expect((await claw.op('turn.get', { turnId: second.turnId })).status).toBe('stopped');
  await claw.op('panic.release', {});
  model.script([{ times: 1, answer: down }, { answer: { text: 'fine' } }]);
  await send(claw, 'watched', { channel: 'window', actor: 'window' });
  await untilEqual(async () => (await letters(claw)).length, 1);
  await send(claw, 'never mind', { channel: 'window', actor: 'window' });
  const story = follow(claw);
  await untilEqual(() => names(story), ['captured', 'settled']);
});

test('the panic stop holds every retry; its release resumes them', async () => {
  model.script([{ times: 1, answer: down }, { answer: { text: 'fine' } }]);
  const claw = await open({ ...soon, firstWaitMs: 200, longestWaitMs: 200 });
  await send(claw, 'later');
  await untilEqual(async () => (await letters(claw))[0]?.state, 'waiting');
  await claw.op('panic.engage', {});
  const dueMs = (await letters(claw))[0]?.retryAtMs ?? 0;
  await untilEqual(() => Date.now() > dueMs + 100, true);
  expect([model.requests.length, (await letters(claw))[0]?.state]).toEqual([1, 'waiting']);
  await claw.op('panic.release', {});
  const story = follow(claw);
  await untilEqual(() => names(story), ['captured', 'retried', 'settled']);
});

test('a dead letter survives a restart, and an interrupted retry is not repeated', async () => {
  model.script([{ times: 1, answer: down }, { answer: { silent: true } }]);
  const first = await open(late);
  await send(first, 'over night');
  await untilEqual(async () => (await letters(first))[0]?.state, 'waiting');
  const letterId = (await letters(first))[0]?.letterId ?? '';
  await first.close();

  const second = await open(late);
  expect(await letters(second)).toMatchObject([{ letterId, state: 'waiting', attempt: 1 }]);
  await second.op('dlq.retry', { letterId });
  await untilEqual(() => model.requests.length, 2);
  await expect(second.op('dlq.retry', { letterId })).rejects.toMatchObject({ code: 'conflict' });
  await second.close();

  model.script([{ answer: { text: 'good morning' } }]);
  const third = await open(soon);
  const story = follow(third);
  await untilEqual(() => names(story), ['captured', 'retried', 'settled']);
  const events = (await third.op('session.get', { sessionId: 'ses_a', limit: 500 })).events;
  expect(events.filter(({ type }) => type === 'turn.superseded').length).toBe(1);
  expect(events.filter(({ type }) => type === 'turn.finished').length).toBe(2);
  expect(await third.op('audit.verify', {})).toMatchObject({ ok: true });
});

test('a failure not yet noted when the program ended is noted once at the next start', async () => {
  model.script([{ answer: down }]);
  const first = await open(late);
  await send(first, 'unseen');
  await untilEqual(async () => (await letters(first)).length, 1);
  await first.close();
  for (const _ of [1, 2]) {
    const claw = await open(late);
    await claw.op('session.create', { title: 'x' });
    expect((await letters(claw)).length).toBe(1);
    const story = follow(claw);
    await untilEqual(() => names(story), ['captured']);
    await claw.close();
  }
});
