// An agent's identity in the window: the form, its versions with their differences, restoring one; and prompt files in the same way.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Kept {
  readonly version: number;
  readonly capsule: {
    readonly role?: string;
    readonly constraints: readonly string[];
    readonly risk: string;
    readonly prompts: readonly string[];
  };
}

const capsuleOf = async ({ host }: WindowUnderTest): Promise<Kept> => (await host.op('identity.get', {})) as Kept;

async function openIdentity({ page }: WindowUnderTest): Promise<Locator> {
  const main = page.getByRole('list', { name: 'Agents' }).getByRole('region', { name: 'main', exact: true });
  await main.locator('summary', { hasText: 'Identity' }).press('Enter');
  await main.getByRole('form', { name: 'Who main is' }).waitFor();
  return main;
}

test('a form edits an identity; versions are compared, and each change is undone', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await window.message.waitFor();
  await host.op('prompt.set', { name: 'house-style', text: 'Be brief.' });
  await window.go('Agents');
  const main = await openIdentity(window);
  const save = main.getByRole('button', { name: 'Save as a new version' });
  expect(await save.isDisabled()).toBe(true);
  await main.getByLabel('Role').fill('You keep the books.');
  await main.getByLabel('Rules it always follows, one per line').fill('Never push.\n\nAsk first.');
  await main.getByLabel('How cautious it is').selectOption({ label: 'read-only' });
  await main.getByText('Changes nothing. The gate enforces this').waitFor();
  await main.getByRole('checkbox', { name: 'house-style' }).press('Space');
  await main.getByLabel('Reason (kept with the version)').fill('A first try');
  await save.press('Enter');
  const versions = main.getByRole('list', { name: 'Versions of main' });
  await versions.getByText('A first try').waitFor();
  expect(await capsuleOf(window)).toMatchObject({
    version: 1,
    capsule: { role: 'You keep the books.', constraints: ['Never push.', 'Ask first.'], risk: 'read-only', prompts: ['house-style'] },
  });
  await main.getByRole('group', { name: 'Identity of main' }).getByText('Be brief.').waitFor();

  await main.getByLabel('Role').fill('You keep the books of a small shop.');
  await save.press('Enter');
  await versions.getByText('version 2', { exact: true }).waitFor();
  const difference = main.getByRole('group', { name: 'Differences in version 1 to 2' });
  await difference.locator('ins').waitFor();
  expect(await difference.locator('ins').allInnerTexts()).toEqual(['+You keep the books of a small shop.']);
  expect(await difference.locator('del').allInnerTexts()).toEqual(['-You keep the books.']);
  await looksGood(page, 'identity', () => difference.scrollIntoViewIfNeeded());

  await main.getByLabel('Compare', { exact: true }).selectOption({ label: 'nothing' });
  await main.getByRole('group', { name: 'Differences in version 2' }).locator('ins', { hasText: 'Never push.' }).waitFor();

  await versions.getByRole('button', { name: 'Restore version 1 of main' }).press('Enter');
  await versions.getByText('Back to version 1.').waitFor();
  expect(await main.getByLabel('Role').inputValue()).toBe('You keep the books.');
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await versions.getByText('Back to version 2.').waitFor();
  await expect.poll(() => main.getByLabel('Role').inputValue()).toBe('You keep the books of a small shop.');
  expect((await capsuleOf(window)).version).toBe(4);
  expect(window.incidents).toEqual([]);
});

test('a draft survives a change through another door, and saving reports the conflict', async () => {
  const window = await openWindow(browser);
  const { page, host } = window;
  await window.message.waitFor();
  await window.go('Agents');
  const main = await openIdentity(window);
  await main.getByLabel('Style').fill('Shortly.');
  await host.op('identity.set', { role: 'You were faster.' });
  await main.getByRole('list', { name: 'Versions of main' }).getByText('version 1', { exact: true }).waitFor();
  expect(await main.getByLabel('Style').inputValue()).toBe('Shortly.');
  await main.getByRole('button', { name: 'Save as a new version' }).click();
  await page.getByRole('alert').getByText('The identity of main is at version 1 by now, not 0.').waitFor();
  await main.getByRole('button', { name: 'Discard' }).click();
  await expect.poll(() => main.getByLabel('Role').inputValue()).toBe('You were faster.');
  expect((await capsuleOf(window)).version).toBe(1);
});

test('prompt files are written, compared and restored; an empty source is reported', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser, { config: { prompts: { house: { url: 'http://127.0.0.1:9/house.md' } } } });
  const { page, host } = window;
  await window.message.waitFor();
  await host.op('prompt.set', { name: 'house', text: 'Kept here.' });
  await window.go('Agents');
  const list = page.getByRole('list', { name: 'Prompt files' });
  await page.locator('summary', { hasText: 'New prompt file' }).press('Enter');
  await page.getByLabel('Name', { exact: true }).fill('style');
  await page.getByLabel('Text', { exact: true }).fill('One.\nTwo.');
  await page.getByRole('button', { name: 'Add', exact: true }).press('Enter');
  const style = list.getByRole('region', { name: 'style' });
  await style.getByText('a local file', { exact: true }).waitFor();
  await style.locator('summary', { hasText: 'Text and versions' }).press('Enter');
  await style.getByLabel('Text', { exact: true }).fill('One.\nThree.');
  await style.getByRole('button', { name: 'Save as a new version' }).press('Enter');
  const difference = style.getByRole('group', { name: 'Differences in version 1 to 2' });
  await difference.locator('ins').waitFor();
  expect(await difference.locator('ins, del').allInnerTexts()).toEqual(['-Two.', '+Three.']);

  const house = list.getByRole('region', { name: 'house' });
  await house.getByText('a local file; the remote source has nothing newer').waitFor();
  await house.getByRole('button', { name: 'Check now: the remote source of house' }).press('Enter');
  await house.getByText('a local file, because the remote source returned nothing').waitFor();
  await looksGood(page, 'prompt-files', () => style.scrollIntoViewIfNeeded());

  await style.getByRole('button', { name: 'Restore version 1 of style' }).press('Enter');
  await style.getByText('version 3', { exact: true }).first().waitFor();
  expect(await host.op('prompt.get', { name: 'style' })).toMatchObject({ version: 3, text: 'One.\nTwo.' });
  await page.getByRole('button', { name: 'Undo', exact: true }).click();
  await style.getByText('version 4', { exact: true }).first().waitFor();
  expect(await host.op('prompt.get', { name: 'style' })).toMatchObject({ version: 4, text: 'One.\nThree.' });
  expect(window.incidents).toEqual([]);
});
