// The same conversation over telegram-test-api, an independent Bot API server: it supports neither drafts nor typing, ignores offsets and
// holds no poll. A smoke test; the double enforces the rules of the real server.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as telegramTestApi from 'telegram-test-api';
import { expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome } from '../faults/test-home.ts';
import { freePort } from '../free-port.ts';

// CommonJS: Node's default import is the class itself, while the types declare a module that contains it.
const TelegramServer = telegramTestApi.default as unknown as typeof telegramTestApi.default.default;
const token = '7000002:a-token-for-tests-alone';

test('pairing, a conversation, and a desktop approval answered with a button', async () => {
  const server = new TelegramServer({ port: await freePort(), host: '127.0.0.1', storeTimeout: 60 });
  await server.start();
  const model = await ScriptedModel.start([
    { user: 'write', results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a.md', content: 'x' } }] } },
    { user: 'write', results: 1, answer: { text: 'It is written.' } },
    { answer: ({ userText }) => ({ text: `You said: **${userText}**` }) },
  ]);
  const home = new TestHome();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
    await server.stop();
  });
  home.env['TEST_BOT_TOKEN'] = token;
  const telegram = { token: 'env:TEST_BOT_TOKEN', apiRoot: server.config.apiURL };
  const claw = await home.open({ config: { ...model.config('openai'), channels: { telegram } } });
  const client = server.getClient(token, { timeout: 20_000, userId: 42, chatId: 42 });
  const heard: { text: string; messageId: number; buttons: string[] }[] = [];
  const listen = async (): Promise<void> => {
    for (const update of await client.getUpdatesHistory()) {
      if (!('message' in update) || !('chat_id' in update.message)) continue;
      const { messageId, message } = update as unknown as { messageId: number; message: { text: string; reply_markup?: unknown } };
      if (heard.some((known) => known.messageId === messageId)) continue;
      heard.push({ text: message.text, messageId, buttons: dataIn(message.reply_markup) });
    }
  };
  const hears = (words: RegExp): Promise<void> =>
    until(
      async () => {
        await listen();
        return heard.some(({ text }) => words.test(text));
      },
      `${String(words)} is heard`,
    );

  await until(async () => (await claw.op('telegram.status', {})).state === 'running', 'the bot runs');
  const { code, pairingId } = await claw.op('telegram.pair', {});
  await client.sendMessage(client.makeMessage(code));
  await hears(/confirm it at the computer/);
  await claw.op('telegram.confirm', { pairingId });
  await hears(/You are paired/);
  await client.sendMessage(client.makeMessage('hello'));
  await until(async () => (await claw.op('session.list', {})).sessions.some(({ status }) => status === 'done'), 'it is answered');
  await hears(/You said/);

  await claw.op('message.send', { text: 'write it' });
  await hears(/Wants to write a\.md/);
  const question = heard.find(({ buttons }) => buttons.length > 0);
  await client.sendCallback(
    client.makeCallbackQuery(question?.buttons[0] ?? '', { message: { message_id: question?.messageId ?? 0 } as never }),
  );
  await until(() => existsSync(join(home.workspace, 'a.md')), 'the yes had its effect');
  expect((await claw.op('approval.list', { all: true })).approvals).toMatchObject([{ state: 'approved', decidedBy: 'telegram:42' }]);
});

function dataIn(markup: unknown): string[] {
  const parsed = (typeof markup === 'string' ? JSON.parse(markup) : markup) as
    | { inline_keyboard?: { callback_data: string }[][] }
    | undefined;
  return (parsed?.inline_keyboard ?? []).flat().map((button) => button.callback_data);
}
