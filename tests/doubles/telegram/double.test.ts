// Tests the double itself with the real client: it must be as strict as the real server, or tests that use it prove nothing.

import { Api, GrammyError, HttpError } from 'grammy/web';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../manual-clock.ts';
import { BotApiDouble, type DoubleOptions } from './bot-api-double.ts';
import { Person } from './person.ts';

async function open(options: DoubleOptions = {}) {
  const clock = new ManualClock();
  const double = await new BotApiDouble({ nowMs: () => clock.nowMs(), ...options }).start();
  onTestFinished(() => double.stop());
  const api = new Api(double.token, { apiRoot: double.apiRoot });
  const ada = new Person(double, { id: 42, name: 'Ada' });
  return { double, api, ada, clock };
}

const refusal = (code: number, words: string): unknown =>
  expect.objectContaining({ error_code: code, description: expect.stringContaining(words) as string });

test('updates stay until a higher offset confirms them; an empty poll waits for one', async () => {
  const { double, api, ada } = await open();
  ada.write('one');
  ada.write('two');
  const first = await api.getUpdates({ timeout: 5 });
  expect(first.map((update) => update.message?.text)).toEqual(['one', 'two']);
  expect(await api.getUpdates({ offset: first[0]?.update_id ?? 0 })).toEqual(first);
  const held = api.getUpdates({ offset: (first[1]?.update_id ?? 0) + 1, timeout: 30 });
  await expect.poll(() => double.updates.polls).toBe(3);
  ada.write('three');
  expect((await held).map((update) => update.message?.text)).toEqual(['three']);
  expect(double.updates.unconfirmed).toHaveLength(1);
  ada.write('four');
  expect((await api.getUpdates({ offset: -1 })).map((update) => update.message?.text)).toEqual(['four']);
  expect(double.updates.unconfirmed).toHaveLength(1);
});

test('of two pollers the earlier gets a conflict; a webhook prevents polling', async () => {
  const { double, api } = await open();
  const ended = api.getUpdates({ timeout: 30 }).catch((cause: unknown) => cause);
  await expect.poll(() => double.updates.polls).toBe(1);
  const later = api.getUpdates({ timeout: 1 });
  expect(await ended).toEqual(refusal(409, 'terminated by other getUpdates request'));
  expect(await later).toEqual([]);
  await api.setWebhook('https://example.org/hook');
  await expect(api.getUpdates()).rejects.toEqual(refusal(409, 'while webhook is active'));
  await api.deleteWebhook();
  expect(await api.getUpdates()).toEqual([]);
});

test.each([
  ['HTML', 'a <b>c', `Can't find end tag corresponding to start tag "b"`],
  ['HTML', 'ä <b>c</i>', 'Unmatched end tag at byte offset 7, expected "</b>", found "</i>"'],
  ['HTML', 'x</b>', 'Unexpected end tag at byte offset 1'],
  ['HTML', '1 < 2', 'Unclosed start tag at byte offset 2'],
  ['HTML', '<h1>x</h1>', 'Unsupported start tag "h1" at byte offset 0'],
  ['MarkdownV2', 'a.b', `Character '.' is reserved and must be escaped with the preceding '\\'`],
  ['MarkdownV2', 'ä *b', "Can't find end of Bold entity at byte offset 3"],
  ['MarkdownV2', '`b', "Can't find end of Code entity at byte offset 0"],
] as const)('%s %j is refused: %s', async (parse_mode, text, words) => {
  const { api } = await open();
  await expect(api.sendMessage(42, text, { parse_mode })).rejects.toEqual(refusal(400, `can't parse entities: ${words}`));
});

test('formatted text is shown plain with entities, counted in UTF-16', async () => {
  const { api, ada } = await open();
  await api.sendMessage(42, '😀<b>x &lt; y</b><pre><code class="language-ts">a</code></pre>', { parse_mode: 'HTML' });
  await api.sendMessage(42, '*b* \\. `c\\`` [t](http://a.b/c)', { parse_mode: 'MarkdownV2' });
  expect(ada.shown().map(({ text, entities }) => ({ text, entities }))).toEqual([
    {
      text: '😀x < ya',
      entities: [
        { type: 'bold', offset: 2, length: 5 },
        { type: 'code', offset: 7, length: 1, language: 'ts' },
        { type: 'pre', offset: 7, length: 1 },
      ],
    },
    {
      text: 'b . c` t',
      entities: [
        { type: 'bold', offset: 0, length: 1 },
        { type: 'code', offset: 4, length: 2 },
        { type: 'text_link', offset: 7, length: 1, url: 'http://a.b/c' },
      ],
    },
  ]);
});

test('lengths count after parsing the formatting; buttons carry at most 64 bytes', async () => {
  const { api } = await open();
  const longest = '<b>' + '😀'.repeat(2048) + '</b>';
  await api.sendMessage(42, longest, { parse_mode: 'HTML' });
  await expect(api.sendMessage(42, longest + 'x', { parse_mode: 'HTML' })).rejects.toEqual(refusal(400, 'message is too long'));
  await expect(api.sendMessage(42, '<b> </b>', { parse_mode: 'HTML' })).rejects.toEqual(refusal(400, 'message text is empty'));
  const button = (callback_data: string) => ({ reply_markup: { inline_keyboard: [[{ text: 'x', callback_data }]] } });
  await api.sendMessage(42, 'x', button('x'.repeat(64)));
  await expect(api.sendMessage(42, 'x', button('ä'.repeat(33)))).rejects.toEqual(refusal(400, 'BUTTON_DATA_INVALID'));
  await expect(api.sendMessage(7, 'x')).rejects.toEqual(refusal(400, 'chat not found'));
});

test('an edit that changes nothing is refused, and so is one of a missing message', async () => {
  const { api } = await open();
  const { message_id } = await api.sendMessage(42, 'x');
  await api.editMessageText(42, message_id, '<i>x</i>', { parse_mode: 'HTML' });
  await expect(api.editMessageText(42, message_id, '<em>x</em>', { parse_mode: 'HTML' })).rejects.toEqual(
    refusal(400, 'message is not modified'),
  );
  await expect(api.editMessageText(42, 5, 'x')).rejects.toEqual(refusal(400, 'message to edit not found'));
  await api.deleteMessage(42, message_id);
  await expect(api.editMessageText(42, message_id, 'y')).rejects.toEqual(refusal(400, 'message to edit not found'));
});

test('a press is answered once, and not after a quarter of an hour', async () => {
  const { api, ada, clock } = await open();
  await api.sendMessage(42, 'x', { reply_markup: { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] } });
  const query = ada.press('Yes');
  await api.answerCallbackQuery(query, { text: 'done' });
  expect(ada.toldAfterPress(query)).toBe('done');
  await expect(api.answerCallbackQuery(query)).rejects.toEqual(refusal(400, 'query is too old'));
  const late = ada.press('Yes');
  clock.advance(16 * 60_000);
  await expect(api.answerCallbackQuery(late)).rejects.toEqual(refusal(400, 'query is too old'));
});

test('a flood reports its delay; a blocked bot and a revoked token are reported', async () => {
  const { double, api, ada, clock } = await open();
  double.chats.floodMs = 3000;
  await api.sendMessage(42, 'x');
  await expect(api.sendMessage(42, 'y')).rejects.toMatchObject({ error_code: 429, parameters: { retry_after: 3 } });
  clock.advance(3000);
  await api.sendMessage(42, 'y');
  ada.block();
  await expect(api.sendMessage(42, 'z')).rejects.toEqual(refusal(403, 'bot was blocked by the user'));
  double.isRevoked = true;
  await expect(api.getMe()).rejects.toEqual(refusal(401, 'Unauthorized'));
});

test('a draft is shown for half a minute and disappears with the message', async () => {
  const { api, ada, clock } = await open();
  await api.sendMessageDraft(42, 1, 'writ');
  await api.sendMessageDraft(42, 1, 'writing');
  expect(ada.drafts()).toEqual(['writing']);
  clock.advance(30_000);
  expect(ada.drafts()).toEqual([]);
  await api.sendMessageDraft(42, 2, 'more');
  await api.sendMessage(42, 'more');
  expect([ada.drafts(), ada.heard()]).toEqual([[], ['more']]);
  await expect(api.sendMessageDraft(42, 0, 'x')).rejects.toEqual(refusal(400, 'DRAFT_ID_INVALID'));
});

test('files are downloaded through a link with the token, up to 20 MB', async () => {
  const { double, api, ada } = await open();
  ada.sendDocument('a.txt', Buffer.from('content'), 'look');
  ada.sendDocument('big.bin', Buffer.alloc(20 * 1024 * 1024 + 1));
  const [small, big] = (await api.getUpdates()).map((update) => update.message?.document?.file_id ?? '');
  const { file_path } = await api.getFile(small ?? '');
  const got = await fetch(`${double.apiRoot}/file/bot${double.token}/${file_path ?? ''}`);
  expect(await got.text()).toBe('content');
  expect((await fetch(`${double.apiRoot}/file/botother/${file_path ?? ''}`)).status).toBe(404);
  await expect(api.getFile(big ?? '')).rejects.toEqual(refusal(400, 'file is too big'));
});

test('a connection cut before has no effect, one cut after keeps the message', async () => {
  const { double, api, ada } = await open();
  double.fault({ method: 'sendMessage', kind: 'cut-before' });
  await expect(api.sendMessage(42, 'one')).rejects.toBeInstanceOf(HttpError);
  double.fault({ method: 'sendMessage', kind: 'cut-after' });
  await expect(api.sendMessage(42, 'two')).rejects.toBeInstanceOf(HttpError);
  double.fault({ method: 'sendMessage', kind: 'status', status: 502, description: 'Bad Gateway' });
  await expect(api.sendMessage(42, 'three')).rejects.toBeInstanceOf(GrammyError);
  expect(ada.heard()).toEqual(['two']);
  await double.stop();
  await expect(api.sendMessage(42, 'four')).rejects.toBeInstanceOf(HttpError);
  await double.start();
  await api.sendMessage(42, 'five');
  expect(ada.heard()).toEqual(['two', 'five']);
});

test('an unknown method is not found', async () => {
  const { api } = await open({ without: ['sendMessageDraft'] });
  await expect(api.sendMessageDraft(42, 1, 'x')).rejects.toEqual(refusal(404, 'Not Found'));
});
