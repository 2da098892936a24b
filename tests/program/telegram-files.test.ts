// Files over Telegram in the whole program: what the model sees of received files, albums as one message, files the agent sends, and
// messages about files that are too large.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sleep } from '../../core/base/waits.ts';
import { TelegramRig, type TelegramRigOptions } from '../doubles/telegram/telegram-rig.ts';
import { until } from '../until.ts';
import { Person } from '../doubles/telegram/person.ts';

const png = (n: number): Buffer =>
  Buffer.concat([
    Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
    Buffer.from([n]),
  ]);

async function open(options: TelegramRigOptions = {}): Promise<TelegramRig> {
  const rig = await TelegramRig.start(options);
  onTestFinished(() => rig.dispose());
  return rig;
}

interface SaidByUser {
  readonly text: string;
  readonly attachments?: readonly { readonly name: string; readonly sizeBytes: number }[];
}

async function messagesOf({ claw }: TelegramRig): Promise<SaidByUser[]> {
  const { sessions } = await claw.op('session.list', {});
  const all = await Promise.all(sessions.map(({ sessionId }) => claw.op('session.get', { sessionId, types: ['user.message'] })));
  return all.flatMap(({ events }) => events.map(({ body }) => body as SaidByUser));
}

const lastRequest = (rig: TelegramRig): string => JSON.stringify(rig.model.requests.at(-1)?.body);

test('the model sees a received document, and only shows its name', async () => {
  const rig = await open();
  await rig.pair();
  rig.ada.sendDocument('../../the plan; v2.txt', Buffer.from('Meet at nine by the old harbour.'), 'what does it say?');
  await rig.hears(/^You said: what does it say/);
  expect(lastRequest(rig)).toContain('Meet at nine by the old harbour.');
  expect((await messagesOf(rig))[0]?.attachments).toMatchObject([{ name: '.._.._the plan; v2.txt', sizeBytes: 32 }]);
});

test('an album is one message with all its pictures', async () => {
  const rig = await open();
  await rig.pair();
  for (const n of [1, 2, 3]) rig.ada.sendPhoto(png(n), n === 1 ? 'which is best?' : '', { album: 'a1' });
  rig.ada.write('and hurry');
  await rig.hears(/^You said: which is best/);
  await rig.hears('You said: and hurry');
  const said = await messagesOf(rig);
  expect(said.map(({ text, attachments = [] }) => [text, attachments.length])).toEqual([
    ['which is best?', 3],
    ['and hurry', 0],
  ]);
  expect(rig.double.updates.unconfirmed).toEqual([]);
});

test('a text that the app split into several messages is one message', async () => {
  const rig = await open();
  await rig.pair();
  const lines = Array.from({ length: 300 }, (_, n) => `Line ${n} of the minutes of the meeting.`).join('\n');
  const word = 'x'.repeat(5_000);
  rig.ada.writeLong(lines);
  await rig.hears(/^You said: Line 0 of/);
  rig.ada.writeLong(word);
  await rig.hears(/^You said: xxx/);
  expect((await messagesOf(rig)).map(({ text }) => text)).toEqual([lines, word]);
  expect(rig.ada.heard().filter((text) => text.startsWith('You said'))).toHaveLength(2);
});

test('a panic stop among the parts of a long text is not a part', async () => {
  const rig = await open();
  await rig.pair();
  rig.ada.write('y'.repeat(4_096));
  rig.ada.write('/panic');
  await rig.hears(/stopped/i);
  expect((await rig.claw.op('panic.status', {})).engaged).toBe(true);
});

test('a long text, and a forwarded one, do not take the next message with them', async () => {
  const rig = await open();
  await rig.pair();
  const [long, forwarded] = ['a'.repeat(3_000), 'b'.repeat(4_096)];
  const now = Math.floor(Date.now() / 1000);
  rig.ada.write(long, { date: now - 60 });
  rig.ada.write('later', { date: now - 30 });
  rig.ada.write(forwarded, { forwardedFrom: 'Eve' });
  rig.ada.write('what is that?');
  await rig.hears('You said: what is that?');
  expect((await messagesOf(rig)).map(({ text }) => text)).toEqual([long, 'later', forwarded, 'what is that?']);
});

test('links behind words and round videos reach the model as what they are', async () => {
  const rig = await open({ config: { attachments: { fileBytesMax: 100_000 } } });
  await rig.pair();
  rig.ada.write('read this and that', { links: { this: 'https://a.example/1?x=(2)', that: 'https://b.example/' } });
  await rig.hears(/^You said: read/);
  rig.ada.sendRoundVideo(Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0isommp42', 'latin1'));
  await until(async () => (await messagesOf(rig)).length === 2, 'the video arrived');
  expect(await messagesOf(rig)).toMatchObject([
    { text: 'read [this](https://a.example/1?x=(2)) and [that](https://b.example/)' },
    { text: '', attachments: [{ name: 'round-video.mp4', mediaType: 'video/mp4', sizeBytes: 24 }] },
  ]);
});

test('an album in a group belongs to the photo with the mention; else it is skipped', async () => {
  const rig = await open({ telegram: { groups: 'mention' } });
  await rig.pair();
  const inGroup = new Person(rig.double, { id: 42, name: 'Ada', groupId: -900 });
  for (const n of [1, 2]) inGroup.sendPhoto(png(n), '', { album: 'silent' });
  for (const n of [3, 4]) inGroup.sendPhoto(png(n), n === 3 ? '@double_bot look' : '', { album: 'meant' });
  await rig.hears(/^You said: @double_bot look/, inGroup);
  expect((await messagesOf(rig)).map(({ attachments = [] }) => attachments.length)).toEqual([2]);
});

test('an album interrupted by a restart is still one message, once', async () => {
  let isSlow = true;
  // Before the restart the album never becomes idle; after it, as usual.
  const wait = (ms: number, signal: AbortSignal): Promise<boolean> => sleep(isSlow && ms === 1_000 ? 3_600_000 : ms, signal);
  const rig = await open({ program: { wait } });
  await rig.pair();
  for (const n of [1, 2]) rig.ada.sendPhoto(png(n), n === 1 ? 'all three' : '', { album: 'a2' });
  await until(() => rig.double.updates.unconfirmed.length === 0, 'two were put down');
  await rig.close();
  expect(rig.model.requests).toEqual([]);
  isSlow = false;
  rig.ada.sendPhoto(png(3), '', { album: 'a2' });
  await rig.open();
  await rig.hears(/^You said: all three/);
  await rig.close();
  await rig.open();
  rig.ada.write('next');
  await rig.hears('You said: next');
  expect((await messagesOf(rig)).map(({ text, attachments = [] }) => [text, attachments.length])).toEqual([
    ['all three', 3],
    ['next', 0],
  ]);
  expect(rig.ada.heard().filter((text) => text.startsWith('You said: all'))).toHaveLength(1);
});

test('sent files arrive unchanged: images as images, others under their names', async () => {
  const args = { content: 'Here they are.', files: ['dot.png', 'a list; of "things".csv'] };
  const rig = await open({
    rules: [
      { user: 'send', results: 0, answer: { calls: [{ tool: 'message', args }] } },
      { user: 'send', answer: { text: 'Sent.' } },
    ],
  });
  await rig.pair();
  mkdirSync(rig.home.workspace, { recursive: true });
  const list = Buffer.from('a,b\r\n1,2\r\n'.repeat(50_000));
  writeFileSync(join(rig.home.workspace, 'dot.png'), png(7));
  writeFileSync(join(rig.home.workspace, 'a list; of "things".csv'), list);
  rig.ada.write('send them');
  await until(() => rig.ada.shown().filter(({ file }) => file !== null).length === 2, 'both arrived');
  const files = rig.ada.shown().flatMap(({ file }) => (file === null ? [] : [file]));
  expect(files.map(({ kind, name }) => [kind, name])).toEqual([
    ['photo', 'dot.png'],
    ['document', 'a list; of _things_.csv'],
  ]);
  expect(files.map(({ bytes }) => bytes.equals(bytes.length > 1000 ? list : png(7)))).toEqual([true, true]);
  expect(rig.ada.heard()).toContain('Here they are.');
  expect(rig.ada.heard()).not.toContain('Sent.');
});

test('files over a limit are reported, and the rest of the message is not lost', async () => {
  const args = { content: 'The film.', files: ['film.bin'] };
  const rig = await open({
    config: { attachments: { fileBytesMax: 100_000_000, messageBytesMax: 500_000_000 } },
    rules: [
      { user: 'send', results: 0, answer: { calls: [{ tool: 'message', args }] } },
      { user: 'send', answer: ({ toolResults }) => ({ text: `It said: ${JSON.stringify(toolResults)}` }) },
    ],
  });
  await rig.pair();
  // The server delivers at most 20 MB, whatever is allowed here.
  rig.ada.sendDocument('huge.bin', Buffer.alloc(21 * 1024 * 1024), 'look');
  await rig.hears(/^"huge\.bin" is larger than 20 MB\.\nSend a smaller one/);
  mkdirSync(rig.home.workspace, { recursive: true });
  writeFileSync(join(rig.home.workspace, 'film.bin'), Buffer.alloc(51 * 1024 * 1024));
  rig.ada.write('send it');
  const { text } = await rig.hears(/^It said/);
  expect(text).toMatch(/over the limit of|more than 50 MB together/);
  expect(rig.ada.shown().every(({ file }) => file === null)).toBe(true);
});
