// Chat services set up in the settings: Discord against its strict double, email against a real IMAP and SMTP server. Errors are shown at
// their field, the connection is tested, the secret is stored in the vault and only its name in the file.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { DiscordDouble } from '../doubles/discord/discord-double.ts';
import { MailServer } from '../doubles/mail/mail-server.ts';
import { needs } from '../needs.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function openForm(name: string): Promise<{ window: WindowUnderTest; card: Locator; form: Locator }> {
  const window = await openWindow(browser);
  await window.message.waitFor();
  await window.host.op('secret.unlock', { passphrase: 'correct horse battery' });
  await window.page.evaluate("location.hash = '#/settings/channels'");
  const card = window.page.getByRole('group', { name, exact: true });
  await card.getByRole('button', { name: `Set up ${name}` }).press('Enter');
  const form = card.getByRole('form', { name: `Set up ${name}` });
  await form.getByRole('button', { name: 'Test connection' }).waitFor();
  return { window, card, form };
}

const fileOf = async ({ host }: WindowUnderTest): Promise<unknown> =>
  ((await host.op('config.get', {})) as { file: Record<string, unknown> }).file['channels'];

test('cancelling the form returns the focus to where it was opened', async () => {
  const { card, form } = await openForm('Email');
  await form.getByRole('button', { name: 'Cancel' }).press('Enter');
  await card.locator('button:focus', { hasText: 'Set up Email' }).waitFor();
});

test(
  'Discord is set up by keyboard; the token is checked and never shown',
  {
    timeout: 180_000,
  },
  async () => {
    const double = new DiscordDouble();
    await double.start();
    onTestFinished(() => double.stop());
    const { window, card, form } = await openForm('Discord');
    const { page } = window;
    const token = form.getByLabel('Bot token', { exact: true });
    await token.press('Enter');
    await form.getByText('1 field is not valid.').waitFor();
    const id = await token.getAttribute('id');
    await expect.poll(() => page.locator(':focus').getAttribute('id')).toBe(id);
    expect(await token.getAttribute('aria-invalid')).toBe('true');
    await form.getByText('More settings').press('Enter');
    await form.getByLabel('Server', { exact: false }).fill(double.apiRoot);

    await token.fill('a-token-that-does-not-hold');
    await form.getByRole('button', { name: 'Test connection' }).press('Enter');
    await form.getByText('It did not connect.').waitFor();
    await form.getByText('Discord does not take the token of the bot', { exact: false }).waitFor();
    await looksGood(page, 'chat-setup-discord');

    await token.fill(double.token);
    await form.getByRole('button', { name: 'Test connection' }).press('Enter');
    await form.getByText(/^It works: connected as /).waitFor();
    expect(await fileOf(window)).toBeUndefined();
    await token.press('Enter');
    await card.getByText('It is set up. Restart TrayClaw to connect.').waitFor();
    await card.locator('button:focus', { hasText: 'Change the settings' }).waitFor();
    expect(await fileOf(window)).toEqual({ discord: { token: 'keychain:discord', apiRoot: double.apiRoot } });
    expect(await window.host.op('secret.list', {})).toEqual({ names: ['discord'] });
    expect(await page.content()).not.toContain(double.token);
    await card.getByRole('button', { name: 'Change the settings' }).waitFor();
    expect(window.incidents).toEqual([]);
  },
);

test(
  'email is set up; both servers are tested and their errors shown before saving',
  {
    ...needs('Dovecot and aiosmtpd'),
    timeout: 180_000,
  },
  async () => {
    const server = await MailServer.start();
    onTestFinished(() => server.stop());
    const { window, card, form } = await openForm('Email');
    const tryIt = form.getByRole('button', { name: 'Test connection' });
    const [imap, smtp] = ['Incoming mail (IMAP)', 'Outgoing mail (SMTP)'].map((name) => form.getByRole('group', { name }));
    if (imap === undefined || smtp === undefined) throw new Error('the form has no servers');
    await form.getByLabel('Address', { exact: true }).fill('agent@tray.example');
    await tryIt.click();
    await form.getByText('2 fields are not valid.').waitFor();
    for (const [group, port] of [
      [imap, server.imapPort],
      [smtp, server.smtpPort('people')],
    ] as const) {
      expect(await group.getByLabel('Host', { exact: true }).getAttribute('aria-invalid')).toBe('true');
      await group.getByLabel('Host', { exact: true }).fill('127.0.0.1');
      await group.getByLabel('Port', { exact: false }).fill(String(port));
      await group.getByLabel('Security', { exact: false }).selectOption('plain');
    }
    await imap.getByLabel('User name', { exact: false }).fill('agent');
    await imap.getByLabel('Password', { exact: false }).fill('a-wrong-password');
    await tryIt.click();
    await form.getByText('Nothing proves who wrote a mail', { exact: false }).waitFor();
    await form.getByLabel('Server whose verdict counts', { exact: false }).fill('mx.tray.example');
    await tryIt.click();
    await imap.getByText('does not take the user name and password', { exact: false }).waitFor();
    await looksGood(window.page, 'chat-setup-email');

    await imap.getByLabel('Password', { exact: false }).fill('right-password');
    // The password for sending defaults to that of the incoming mail.
    await tryIt.click();
    await form.getByText('It works: connected as agent@tray.example.').waitFor();
    await smtp.getByLabel('Port', { exact: false }).fill('9');
    await tryIt.click();
    await smtp.getByText(/Nothing answers at the mail server 127\.0\.0\.1:/).waitFor();
    await smtp.getByLabel('Port', { exact: false }).fill(String(server.smtpPort('people')));
    await form.getByRole('button', { name: 'Save' }).click();
    await card.getByText('It is set up. Restart TrayClaw to connect.').waitFor();
    const loopback = { host: '127.0.0.1', security: 'plain' };
    expect(await fileOf(window)).toEqual({
      email: {
        address: 'agent@tray.example',
        imap: { ...loopback, port: server.imapPort, user: 'agent', password: 'keychain:email-imap-password' },
        smtp: { ...loopback, port: server.smtpPort('people') },
        authserv: 'mx.tray.example',
      },
    });
    expect(await window.host.op('secret.list', {})).toEqual({ names: ['email-imap-password'] });
    expect(window.incidents).toEqual([]);
  },
);
