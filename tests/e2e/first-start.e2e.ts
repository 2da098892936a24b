// The first start with each way to a model: the number of clicks, the time to the first answer, and the appearance.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { installEngineDouble } from '../doubles/engine/knobs.ts';
import { scriptedGguf } from '../doubles/gguf.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { freePort } from '../free-port.ts';
import { needs } from '../needs.ts';
import { looksGood, shoot } from './driver/looks.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Counts a person's actions; the time runs until the first answer. */
class Steps {
  clicks = 0;
  fields = 0;
  readonly #fromMs = performance.now();

  async click(place: Locator): Promise<void> {
    this.clicks += 1;
    await place.click();
  }

  async fill(place: Locator, text: string): Promise<void> {
    this.fields += 1;
    await place.fill(text);
  }

  /** Prints the time. It depends on the machine, so it has no upper bound. */
  told(way: string): readonly [clicks: number, fields: number] {
    process.stdout.write(
      `first answer, ${way}: ${this.clicks} clicks, ${this.fields} fields, ${Math.round(performance.now() - this.#fromMs)} ms\n`,
    );
    return [this.clicks, this.fields];
  }
}

/** Whether the element is visible at its centre: neither outside the window nor covered. */
const isOnTop = (part: Locator): Promise<boolean> =>
  part.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.contains(element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2));
  });

const nothing = { providers: {}, models: {} };

async function startModel(): Promise<ScriptedModel> {
  const model = await ScriptedModel.start([{ answer: { text: 'Hello there.' } }]);
  onTestFinished(() => model.close());
  return model;
}

const firstTask = ({ page }: WindowUnderTest): Locator => page.getByRole('list', { name: 'Example tasks' }).getByRole('button').first();

test('a detected local server answers after one click', { timeout: 120_000 }, async () => {
  const model = await startModel();
  const window = await openWindow(browser, { config: { ...nothing, providers: { ollama: { kind: 'ollama', baseUrl: model.origin } } } });
  const steps = new Steps();
  await firstTask(window).waitFor();
  await looksGood(window.page, 'first-start-local');
  await steps.click(firstTask(window));
  await window.conversation.getByText('Hello there.', { exact: true }).waitFor();
  expect(steps.told('local server')).toEqual([1, 0]);
  expect(window.incidents).toEqual([]);
});

test('a pasted key takes six clicks and four fields, including a new vault', { timeout: 120_000 }, async () => {
  const model = await startModel();
  const window = await openWindow(browser, { config: nothing });
  const { page } = window;
  const steps = new Steps();
  await page.getByRole('group', { name: 'Ways to get a model' }).waitFor();
  await looksGood(page, 'first-start-ways');
  await steps.click(page.getByRole('button', { name: 'Paste a key' }));
  const form = page.getByRole('form', { name: 'Add a provider' });
  await form.getByRole('radio', { name: 'OpenAI', exact: true }).waitFor();
  expect(await form.getByRole('radio', { name: /Ollama|GGUF/ }).count()).toBe(0);
  await steps.click(form.getByRole('radio', { name: 'Other, OpenAI-compatible' }));
  await steps.fill(form.getByRole('textbox', { name: 'Address' }), `${model.origin}/v1`);
  await steps.fill(form.getByLabel('Key', { exact: true }), 'sk-test-0123456789');
  await looksGood(page, 'first-start-key');
  await steps.click(form.getByRole('button', { name: 'Test', exact: true }));
  await steps.fill(form.getByLabel('New vault passphrase'), 'correct horse battery');
  await steps.fill(form.getByLabel('Repeat passphrase'), 'correct horse battery');
  await steps.click(form.getByRole('button', { name: 'Create vault' }));
  await steps.click(form.getByRole('button', { name: 'Save', exact: true }));
  await form.waitFor({ state: 'detached' });
  await steps.click(firstTask(window));
  await window.conversation.getByText('Hello there.', { exact: true }).waitFor();
  expect(steps.told('pasted key')).toEqual([6, 4]);
  expect(window.incidents).toEqual([]);
});

test.each([1280, 360])('a rejected key is reported in view, in a window %d wide', { timeout: 120_000 }, async (width) => {
  const model = await ScriptedModel.start([{ answer: { text: 'Hello there.' } }], { key: 'sk-right' });
  onTestFinished(() => model.close());
  const window = await openWindow(browser, { config: nothing });
  const { page } = window;
  await page.setViewportSize({ width, height: 800 });
  await page.getByRole('button', { name: 'Paste a key' }).click();
  const form = page.getByRole('form', { name: 'Add a provider' });
  await form.getByRole('radio', { name: 'Other, OpenAI-compatible' }).click();
  await form.getByRole('textbox', { name: 'Address' }).fill(`${model.origin}/v1`);
  await form.getByLabel('Key', { exact: true }).fill('sk-wrong-0123456789');
  await form.getByRole('button', { name: 'Test', exact: true }).press('Enter');
  const said = form.getByText('did not accept the key');
  await said.waitFor();
  // The form asks for a vault only when the person saves the rejected key anyway.
  expect(await form.getByLabel('New vault passphrase').count()).toBe(0);
  for (const part of [said, form.getByRole('button', { name: 'Test', exact: true })]) await expect.poll(() => isOnTop(part)).toBe(true);
  await shoot(page, `first-start-refused-${width}`);
  await form.getByRole('button', { name: 'Save anyway' }).press('Enter');
  await expect.poll(() => form.getByLabel('New vault passphrase').evaluate((field) => field.matches(':focus'))).toBe(true);
  expect(window.incidents).toEqual([]);
});

test(
  'a GGUF file: the engine is offered with its size, then four clicks and one field',
  { ...needs('Linux'), timeout: 120_000 },
  async () => {
    let home = '';
    const window = await openWindow(browser, {
      config: nothing,
      before: (folder) => {
        home = folder;
        writeFileSync(join(folder, 'model.gguf'), scriptedGguf({ say: ['-'], call: ['Hello', ' from', ' a', ' file', '.'] }));
        return Promise.resolve();
      },
    });
    const { page } = window;
    const open = page.getByRole('button', { name: 'Use a GGUF file' });
    await open.click();
    const form = page.getByRole('form', { name: 'Add a provider' });
    const box = form.getByRole('group', { name: 'Engine for GGUF files' });
    await box.waitFor();
    expect(await box.innerText()).toMatch(
      /node-llama-cpp [\d.]+: \d+ packages, .*MB to download from registry\.npmjs\.org, .*MB on the disk/,
    );
    await looksGood(page, 'first-start-file');
    await form.getByRole('button', { name: 'Cancel' }).click();
    installEngineDouble(home);
    const steps = new Steps();
    await steps.click(open);
    await form.waitFor();
    await steps.fill(form.getByRole('textbox', { name: 'File' }), join(home, 'model.gguf'));
    expect(await box.count()).toBe(0);
    await steps.click(form.getByRole('button', { name: 'Test', exact: true }));
    await steps.click(form.getByRole('button', { name: 'Save', exact: true }));
    await form.waitFor({ state: 'detached' });
    await steps.click(firstTask(window));
    await window.conversation.getByText('Hello from a file.', { exact: true }).waitFor();
    expect(steps.told('GGUF file')).toEqual([4, 1]);
    expect(window.incidents).toEqual([]);
  },
);

test('a dead server is reported within seconds, and another model is two clicks away', { timeout: 120_000 }, async () => {
  const closed = `http://127.0.0.1:${await freePort()}/v1`;
  const window = await openWindow(browser, {
    config: { providers: { gone: { kind: 'openai-compatible', baseUrl: closed } }, models: { default: 'gone/tiny', retries: 0 } },
  });
  const { page } = window;
  const steps = new Steps();
  await steps.click(firstTask(window));
  const said = window.conversation.getByText(/could not be reached|does not answer|nothing answers|refused/i).first();
  await said.waitFor();
  await looksGood(page, 'first-start-dead');
  await steps.click(page.getByRole('button', { name: 'Another model' }));
  await steps.click(page.getByRole('list', { name: 'Another model' }).getByRole('button', { name: 'demo/offline' }));
  await window.conversation
    .getByText(/oak shelf/)
    .first()
    .waitFor();
  expect(steps.told('dead server, then another model')).toEqual([3, 0]);
  expect(window.incidents).toEqual([]);
});

test('the price list shows its changes before it is used', { timeout: 120_000 }, async () => {
  const window = await openWindow(browser);
  const { page } = window;
  const price = (input: number) => ({
    inputUsdPerMillion: input,
    cachedInputUsdPerMillion: null,
    outputUsdPerMillion: input * 5,
    contextTokens: 400_000,
  });
  const changes = [
    { vendor: 'openai', model: 'gpt-5', before: { ...price(1), contextTokens: null }, after: price(3) },
    { vendor: 'anthropic', model: 'claude-new', before: null, after: price(2) },
  ];
  const answer = (result: unknown) => ({ json: { ok: true, result } });
  const inUse = { source: 'models.dev', builtInOn: '2026-07-02', loaded: null };
  await page.route('**/api/ops/prices.check', (route) =>
    route.fulfill(answer({ id: 'abc', source: 'models.dev', models: 90, added: 1, changed: 1, changes })),
  );
  const used: unknown[] = [];
  await page.route('**/api/ops/prices.use', (route) => {
    used.push(route.request().postDataJSON());
    return route.fulfill(answer({ ...inUse, loaded: { atMs: Date.UTC(2026, 7, 1), models: 90 } }));
  });
  await page.evaluate("location.hash = '#/settings/models'");
  const list = page.getByRole('group', { name: 'Price list' });
  await list.getByText('The prices of 2 Jul 2026 that come with TrayClaw are in use.').waitFor();
  await list.getByRole('button', { name: 'Look for newer prices' }).click();
  await list.getByText('openai/gpt-5').waitFor();
  expect(await list.innerText()).toMatch(/Now: \$1\.00 in, \$5\.00 out · window unknown\s+New: \$3\.00 in, \$15\.00 out/);
  expect(used).toEqual([]);
  await list.scrollIntoViewIfNeeded();
  await looksGood(page, 'price-list', () => list.scrollIntoViewIfNeeded());
  await list.getByRole('button', { name: 'Use these prices' }).click();
  await list.getByText('Prices of 90 models from models.dev are in use').waitFor();
  expect(used).toEqual([{ id: 'abc' }]);
  await page.unrouteAll({ behavior: 'wait' });
  expect(window.incidents).toEqual([]);
});
