// A message on its way to the disk: the model is called meanwhile, but nothing is acknowledged and no tool runs until it is written, nor if
// writing fails.

import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';
import { AppError } from '../../core/contracts/errors.ts';
import { defineTool, type TrayClaw } from '../../core/index.ts';
import { SessionLog } from '../../core/store/session/session.ts';
import { OpenAiDoorRig } from '../doubles/openai-door.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome } from './test-home.ts';

let home: TestHome;
let model: ScriptedModel;
let claw: TrayClaw;
let ran: number;
let disk: { arrive: () => void; fail: (cause: Error) => void };

const look = () =>
  defineTool({
    name: 'look',
    description: 'Counts its runs.',
    input: z.strictObject({}),
    class: 'read',
    idempotency: () => 'pure',
    facts: () => ({ class: 'read', paths: [], command: null, hosts: [] }),
    summarize: () => 'look',
    run: () => {
      ran += 1;
      return Promise.resolve({ forModel: 'seen' });
    },
  });

beforeEach(async () => {
  ran = 0;
  home = new TestHome();
  model = await ScriptedModel.start([
    { results: 0, answer: { calls: [{ tool: 'look', args: {} }] } },
    { results: 1, answer: { text: 'done' } },
  ]);
  claw = await home.open({ config: model.config('openai'), tools: [look()] });
  const was = Object.getOwnPropertyDescriptor(SessionLog.prototype, 'transactAhead')?.value as SessionLog['transactAhead'];
  SessionLog.prototype.transactAhead = function (work) {
    const committed = was.call(this, work);
    const held = new Promise<void>((resolve, reject) => (disk = { arrive: resolve, fail: reject }));
    return { value: committed.value as never, onDisk: Promise.all([committed.onDisk, held]).then(() => undefined) };
  };
  onTestFinished(() => void (SessionLog.prototype.transactAhead = was));
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

/** Waits until the request has been sent, and long enough for its answer to be handled: the time of several direct calls. */
async function answered(): Promise<void> {
  await until(() => model.requests.length === 1, 'the model is asked');
  for (let calls = 0; calls < 5; calls += 1) {
    const { outcome } = await claw.op('tool.run', { tool: 'calc', args: { expression: '1+1' } });
    expect(outcome).toBe('ok');
  }
}

test('the model is called while the message is written; answer and tool wait', async () => {
  let isAcknowledged = false;
  const sending = claw.op('message.send', { text: 'look' }).then((accepted) => {
    isAcknowledged = true;
    return accepted;
  });
  await answered();
  expect([isAcknowledged, ran]).toEqual([false, 0]);
  disk.arrive();
  const { turnId } = await sending;
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done', text: 'done' });
  expect(ran).toBe(1);
});

test('a message that cannot be written is refused, and its turn does nothing', async () => {
  const sending = claw.op('message.send', { text: 'look' });
  sending.catch(() => undefined);
  await answered();
  disk.fail(new AppError('store_full', 'The disk is full.'));
  await expect(sending).rejects.toMatchObject({ code: 'store_full' });
  await claw.op('session.list', {});
  expect([ran, model.requests.length]).toEqual([0, 1]);
});

test("a program at OpenAI's door hears nothing before its message is written", async () => {
  const rig = await OpenAiDoorRig.start([{ answer: { text: 'one two three', pieceChars: 4 } }]);
  try {
    const ask = async (): Promise<Response> =>
      rig.send('/v1/chat/completions', { model: 'trayclaw', stream: true, messages: [{ role: 'user', content: 'count' }] });
    let isBegun = false;
    const asking = ask().then((response) => {
      isBegun = true;
      return response;
    });
    await until(() => rig.model.requests.length === 1, 'the model is asked');
    await rig.claw.op('tool.run', { tool: 'calc', args: { expression: '1+1' } });
    expect(isBegun).toBe(false);
    disk.arrive();
    const pieces = [...(await (await asking).text()).matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text);
    expect(pieces.join('')).toBe('one two three');

    const refused = ask();
    await until(() => rig.model.requests.length === 2, 'the model is asked again');
    disk.fail(new AppError('store_full', 'The disk is full.'));
    expect((await refused).status).toBe(500);
  } finally {
    await rig.dispose();
  }
});
