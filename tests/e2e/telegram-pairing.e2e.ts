// Telegram in the settings, against a strict double of the Bot API: the token is stored in the vault; a person is paired by a code and a
// confirmation here, refused, revoked; the bot is paused; and a message of uncertain delivery.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { OutboundInfo } from '../../core/contracts/outbox-ops.ts';
import { BotApiDouble } from '../doubles/telegram/bot-api-double.ts';
import { Person } from '../doubles/telegram/person.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type OpenOptions, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function openChannels(options: OpenOptions = {}): Promise<{ window: WindowUnderTest; api: BotApiDouble }> {
  const api = await new BotApiDouble().start();
  onTestFinished(() => api.stop());
  const window = await openWindow(browser, {
    config: { channels: { telegram: { token: 'file:bot-token', apiRoot: api.apiRoot } } },
    before: (home) => {
      writeFileSync(join(home, 'bot-token'), api.token);
      chmodSync(join(home, 'bot-token'), 0o600);
      return Promise.resolve();
    },
    ...options,
  });
  await window.message.waitFor();
  await window.page.evaluate("location.hash = '#/settings/channels'");
  await window.page.getByText('Connected as @double_bot.').waitFor();
  return { window, api };
}

const peopleOf = async ({ host }: WindowUnderTest): Promise<string[]> =>
  ((await host.op('telegram.list', {})) as { people: { userId: string }[] }).people.map(({ userId }) => userId);

/** Shows a code and has the person send it. Returns the code. */
async function sendCode({ page }: WindowUnderTest, person: Person): Promise<string> {
  await page.getByRole('button', { name: 'Pair someone' }).click();
  const code = await page.getByRole('status', { name: 'Code to send' }).innerText();
  expect(code).toMatch(/^[2-9A-HJKMNP-Z]{8}$/);
  person.write(code);
  await page.getByRole('group', { name: 'Is this you?' }).waitFor();
  return code;
}

test('the token is stored in the vault, its name in the file, and never on the page', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await window.message.waitFor();
  await page.evaluate("location.hash = '#/settings/channels'");
  await page.getByRole('button', { name: 'Set up Telegram' }).press('Enter');
  const form = page.getByRole('form', { name: 'Set up Telegram' });
  await form.getByText('@BotFather').waitFor();
  // The form has found that there is no place to store the token.
  await form.getByLabel('New vault passphrase').waitFor();
  await form.getByText('This computer has no unlocked keychain').waitFor();
  expect(await form.getByLabel('Bot token').isDisabled()).toBe(true);
  await form.getByLabel('New vault passphrase').fill('correct horse battery');
  await form.getByLabel('Repeat passphrase').fill('correct horse battery');
  await form.getByRole('button', { name: 'Create vault' }).click();
  await form.getByLabel('Bot token').fill('123456:a-token-nobody-may-see');
  await form.getByLabel('Bot token').press('Enter');
  await page.getByText('Restart TrayClaw to connect.').waitFor();
  const { file } = (await window.host.op('config.get', {})) as { file: Record<string, unknown> };
  expect(file['channels']).toEqual({ telegram: { token: 'keychain:telegram' } });
  expect(await window.host.op('secret.list', {})).toEqual({ names: ['telegram'] });
  expect(await page.content()).not.toContain('a-token-nobody-may-see');
  expect(window.incidents).toEqual([]);
});

test('the sender of the code is shown by name and id, and is paired only by consent', { timeout: 180_000 }, async () => {
  const { window, api } = await openChannels();
  const { page } = window;
  const person = new Person(api, { id: 4711, name: 'Ada' });
  const code = await sendCode(window, person);
  const question = page.getByRole('group', { name: 'Is this you?' });
  await question.getByText('Ada').waitFor();
  await question.getByText('Id 4711').waitFor();
  expect(await peopleOf(window)).toEqual([]);
  await looksGood(page, 'telegram-question');
  await question.getByRole('button', { name: 'Yes, pair' }).press('Enter');
  const row = page.getByRole('list', { name: 'Paired people' }).getByRole('listitem');
  await row.getByText('Ada').waitFor();
  expect(await peopleOf(window)).toEqual(['4711']);
  await expect.poll(() => Promise.resolve(person.shown().some(({ text }) => text.includes('You are paired')))).toBe(true);
  // The code is used up and no longer shown.
  expect(await page.content()).not.toContain(code);
  await row.getByRole('button', { name: 'Revoke Ada' }).click();
  expect(await peopleOf(window)).toEqual(['4711']);
  await row.getByRole('button', { name: 'Press again to revoke Ada' }).click();
  await page.getByText('No one is paired yet.').waitFor();
  expect(await peopleOf(window)).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test('a refused or revoked code pairs no one; a paused bot says so and continues', async () => {
  const { window, api } = await openChannels();
  const { page } = window;
  const person = new Person(api, { id: 4712, name: 'Eve' });
  await sendCode(window, person);
  await page.getByRole('button', { name: 'No, refuse' }).click();
  await page.getByText('No one is paired yet.').waitFor();
  await page.getByRole('button', { name: 'Pair someone' }).click();
  await page.getByRole('button', { name: 'Cancel the code' }).click();
  await page.getByRole('button', { name: 'Pair someone' }).waitFor();
  expect(await window.host.op('telegram.list', {})).toEqual({ people: [], pairings: [] });
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Paused: nothing is fetched and nothing is sent.').waitFor();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('Connected as @double_bot.').waitFor();
  expect(window.incidents).toEqual([]);
});

test('a message of uncertain delivery waits for a person and is resent on request', { timeout: 180_000 }, async () => {
  const { window, api } = await openChannels({ replies: [{ text: 'The milk is bought.' }] });
  const { page } = window;
  const person = new Person(api, { id: 4713, name: 'Ada' });
  await sendCode(window, person);
  await page.getByRole('button', { name: 'Yes, pair' }).click();
  await expect.poll(() => Promise.resolve(person.shown().some(({ text }) => text.includes('You are paired')))).toBe(true);
  const answers = (): number => person.shown().filter(({ text }) => text.includes('The milk is bought.')).length;
  for (const method of ['sendMessage', 'editMessageText']) api.fault({ method, kind: 'cut-after' });
  person.write('Buy milk');
  await page.evaluate("location.hash = '#/health/unfinished'");
  const rows = page.getByRole('list', { name: 'Messages to chats' }).getByRole('listitem');
  await rows.getByText('may have arrived').waitFor();
  await rows.getByText('The milk is bought.').waitFor();
  await page.getByRole('link', { name: 'Unfinished, 1 waiting for you' }).waitFor();
  await looksGood(page, 'undelivered');
  const before = answers();
  await rows.getByRole('button', { name: 'Send again: The milk is bought.' }).press('Enter');
  await page.getByText('Every message was delivered.').waitFor();
  await expect.poll(() => Promise.resolve(answers())).toBe(before + 1);
  const { items } = (await window.host.op('outbox.list', {})) as { items: OutboundInfo[] };
  expect(items).toEqual([]);
  expect(window.incidents).toEqual([]);
});
