// Behaviour that only Discord has, over a strict double: resumed sessions, sends repeated with the same nonce, refused tokens and intents,
// button presses by other people.

import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { discordTokenVariable, startDiscordBench, type DiscordPerson } from '../doubles/discord/discord-bench.ts';
import { previewsOf } from '../doubles/discord/discord-chats.ts';
import { DiscordDouble, type DoubleOptions } from '../doubles/discord/discord-double.ts';
import { until } from '../until.ts';
import { ConformanceRig } from './conformance-rig.ts';

async function open(options: DoubleOptions = {}) {
  const double = new DiscordDouble(options);
  const rig = new ConformanceRig('discord', () => startDiscordBench(double));
  onTestFinished(() => rig.dispose());
  await rig.start();
  return { double, rig, ada: (await rig.ada()) as DiscordPerson };
}

test('a cut session is resumed and delivers what was written meanwhile', async () => {
  const { double, rig, ada } = await open();
  for (const text of ['first cut', 'second cut']) {
    double.cut();
    ada.write(text);
    await rig.hears(ada, `You said: ${text}`);
    await rig.running();
  }
  expect([double.identified.length, double.resumed]).toEqual([1, 2]);
});

test('pausing the channel while it connects leaves nothing that fails later', async () => {
  const { double, rig } = await open();
  const held: Socket[] = [];
  double.held = held;
  double.cut();
  await until(() => held.length > 0, 'it connects again');
  expect((await rig.claw.op('channel.pause', { channel: 'discord' })).channels[0]?.state).toBe('paused');
  // Wait until the library has ended the connection.
  await sleep(20);
  for (const socket of held) socket.resetAndDestroy();
  double.held = null;
  await rig.claw.op('channel.resume', { channel: 'discord' });
  await rig.running();
});

test('a send that is cut off is repeated, and arrives once', async () => {
  const { double, rig, ada } = await open();
  const posts = `POST /channels/${ada.chatId}/messages`;
  for (const when of ['after', 'before', 'flood'] as const) {
    double.faults.push({ begins: posts, when });
    ada.write('/status');
    await until(() => double.faults.length === 0, 'the fault was met');
    await rig.delivered();
  }
  expect(ada.heard().filter((text) => text.includes('0 approvals waiting'))).toHaveLength(3);
});

test('an answer whose token was refused is sent with the next connection', async () => {
  const { double, rig, ada } = await open();
  double.faults.push({ begins: `POST /channels/${ada.chatId}/messages`, when: 'unauthorized' });
  ada.write('refused once');
  await rig.hears(ada, 'You said: refused once');
  await rig.delivered();
  expect([double.faults, double.identified.length]).toEqual([[], 2]);
});

test('messages beyond one page of history are found, even if reading fails at first', async () => {
  const { double, rig, ada } = await open();
  await rig.settleWith('before');
  await rig.close();
  const gets = `GET /channels/${ada.chatId}/messages`;
  for (const when of ['before', 'flood', 'before'] as const) double.faults.push({ begins: gets, when });
  for (let at = 0; at < 130; at++) ada.write('', { type: 6 });
  ada.write('far behind');
  await rig.open();
  await rig.hears(ada, 'You said: far behind');
  expect(double.faults).toEqual([]);
});

test('a chat that cannot be read keeps its position until the next connection', async () => {
  const { double, rig, ada } = await open();
  await rig.settleWith('before');
  await rig.close();
  double.faults.push(...Array.from({ length: 4 }, () => ({ begins: `GET /channels/${ada.chatId}/messages`, when: 'before' as const })));
  ada.write('missed');
  await rig.open();
  await until(() => double.faults.length === 0, 'the faults were met');
  await rig.settleWith('live');
  double.cut();
  await rig.hears(ada, 'You said: missed');
  expect(ada.heard().filter((text) => text === 'You said: live')).toHaveLength(1);
});

test('no message of the agent makes Discord fetch the addresses in it', async () => {
  const { rig, ada } = await open();
  ada.write('look at https://a.example/secret');
  await rig.hears(ada, 'You said: look at https://a.example/secret');
  ada.write('/stop https://b.example/');
  await rig.delivered();
  expect(ada.heard().filter((text) => text.includes('https://'))).not.toEqual([]);
  expect(ada.shown().flatMap((message) => previewsOf(message))).toEqual([]);
});

test('a forwarded message comes with its files, as content of others', async () => {
  const { rig, ada } = await open();
  ada.forward('the minutes', 'minutes.txt', 'Meet at nine.');
  await rig.hears(ada, /^You said: the minutes/);
  const { sessions } = await rig.claw.op('session.list', {});
  const found = await Promise.all(
    sessions.map(({ sessionId }) => rig.claw.op('session.get', { sessionId, types: ['user.message', 'taint.marked'] })),
  );
  const events = found.flatMap((session) => session.events);
  expect(events.filter(({ type }) => type === 'user.message').map(({ body }) => body)).toMatchObject([
    { text: 'the minutes', attachments: [{ name: 'minutes.txt', sizeBytes: 13 }] },
  ]);
  expect(events.some(({ type }) => type === 'taint.marked')).toBe(true);
});

test('a button decides only for the person and the chat it was made for', async () => {
  const { double, rig, ada } = await open();
  const { turnId } = await rig.claw.op('message.send', { text: 'write the file' });
  await rig.hears(ada, /Wants to write/);
  const question = ada.shown().findLast(({ components }) => components.length > 0);
  const button = question?.components[0]?.components[0];
  if (question === undefined || button === undefined) throw new Error('there is no button');
  expect(button.label).toBe('Approve once');
  const eve = (await rig.bench.person('eve')) as DiscordPerson;
  const press = eve.pressData(question, button.custom_id);
  await until(() => press.answer !== null, 'the press is answered');
  const madeUp = ada.pressData(question, `${button.custom_id.slice(0, 6)}AAAAAAAAAAAAAAAAAA:y`);
  await until(() => madeUp.answer !== null, 'the press is answered');
  expect([press.answer, madeUp.answer]).toEqual(['This question was not asked of you.', 'This button belongs to nothing that is asked.']);
  expect((await rig.claw.op('approval.list', {})).approvals).toHaveLength(1);
  const own = ada.press('Deny');
  await until(() => own.answer === 'Answered here: denied.', 'the own press decided');
  await until(() => question.components.length === 0 && question.content.endsWith('Answered here: denied.'), 'the buttons are gone');
  expect((await rig.claw.op('turn.wait', { turnId, timeoutMs: 20_000 })).text).toBe('That is settled.');
  expect(double.chats.presses.size).toBe(3);
});

test.each([
  ['a token that does not hold', {}, 'another-token-than-that', /does not take the token/],
  ['an intent that is turned off', { mayReadContent: false }, null, /Message Content Intent/],
] as const)('%s is said, with the remedy', async (_what, options, token, words) => {
  const double = new DiscordDouble(options);
  const rig = new ConformanceRig('discord', async () => {
    const bench = await startDiscordBench(double);
    return { ...bench, environment: { [discordTokenVariable]: token ?? double.token } };
  });
  onTestFinished(() => rig.dispose());
  await rig.start('refused');
  const { channels } = await rig.claw.op('channel.list', {});
  expect(channels[0]?.problem).toMatch(words);
  const { checks } = await rig.claw.op('health.check', {});
  expect(checks.find(({ id }) => id === 'channel-discord')).toMatchObject({ ok: false, detail: expect.stringMatching(words) as string });
});
