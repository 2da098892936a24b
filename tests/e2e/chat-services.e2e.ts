// Chat services other than Telegram in the settings, against a strict double of Discord: a person is paired by a code and a confirmation
// here, the service is paused and resumed, the access is revoked.

import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DiscordPerson } from '../doubles/discord/discord-bench.ts';
import { DiscordDouble } from '../doubles/discord/discord-double.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('a person is paired over Discord, the service is paused, the access is revoked', { timeout: 120_000 }, async () => {
  const double = new DiscordDouble();
  await double.start();
  onTestFinished(() => double.stop());
  const window = await openWindow(browser, {
    config: { channels: { discord: { token: 'file:discord-token', apiRoot: double.apiRoot } } },
    before: (home) => {
      writeFileSync(join(home, 'discord-token'), double.token);
      chmodSync(join(home, 'discord-token'), 0o600);
      return Promise.resolve();
    },
  });
  const { page, host } = window;
  await window.message.waitFor();
  await page.evaluate("location.hash = '#/settings/channels'");
  const card = page.getByRole('group', { name: 'Discord' });
  await card.getByText(/^Connected as /).waitFor();
  await card.getByRole('button', { name: 'Pair someone' }).click();
  const code = await card.getByRole('status', { name: 'Code to send' }).innerText();
  const ada = new DiscordPerson(double, 'ada', { id: '41' });
  ada.write(code);
  const question = card.getByRole('group', { name: 'Is this you?' });
  await question.getByText('Id 41').waitFor();
  await looksGood(page, 'chat-services');
  await question.getByRole('button', { name: 'Yes, pair' }).click();
  await card.getByText('ada', { exact: true }).waitFor();
  await expect.poll(() => ada.heard().join('\n')).toContain('You are paired');

  await card.getByRole('button', { name: 'Pause' }).click();
  await card.getByText('Paused: nothing is fetched and nothing is sent.').waitFor();
  // Still paused after the state is read again.
  await page.waitForResponse((response) => response.url().endsWith('/channel.list'));
  await card.getByText('Paused: nothing is fetched and nothing is sent.').waitFor();
  await card.getByRole('button', { name: 'Resume' }).click();
  await card.getByText(/^Connected as /).waitFor();

  await card.getByRole('button', { name: 'Revoke ada' }).click();
  await card.getByRole('button', { name: 'Press again to revoke ada' }).click();
  await card.getByText('No one is paired yet.', { exact: false }).waitFor();
  expect(await host.op('channel.people', {})).toEqual({ people: [] });
  expect(window.incidents).toEqual([]);
});
