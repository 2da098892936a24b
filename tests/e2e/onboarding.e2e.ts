// Setting up a provider in the window: the key goes to the vault, the connection is tested, the provider is saved and used at once; and
// choosing among models.

import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { launchBrowser, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const key = 'sk-test-0123456789';

interface Read {
  readonly file: { readonly providers?: unknown; readonly models?: unknown };
}
const fileOf = async ({ host }: WindowUnderTest): Promise<Read['file']> => ((await host.op('config.get', {})) as Read).file;

async function startForm(page: Page, origin: string): Promise<void> {
  await page.getByRole('button', { name: 'Add a provider' }).click();
  await page.getByRole('radio', { name: 'Other, OpenAI-compatible' }).check();
  const form = page.getByRole('form', { name: 'Add a provider' });
  await form.getByRole('textbox', { name: 'Name', exact: true }).fill('works');
  await form.getByRole('textbox', { name: 'Address' }).fill(`${origin}/v1`);
  await form.getByRole('combobox', { name: 'Model' }).fill('tiny');
}

/**
 * Creates the vault, which the form asks for after the key was tested. Nothing can be saved before it exists, however fast the person is.
 */
async function makeVault(page: Page): Promise<void> {
  const form = page.getByRole('form', { name: 'Add a provider' });
  await form.getByLabel('New vault passphrase').fill('correct horse battery');
  await form.getByLabel('Repeat passphrase').fill('correct horse battery');
  await form.getByRole('button', { name: 'Create vault' }).click();
}

async function startModel(): Promise<ScriptedModel> {
  const model = await ScriptedModel.start([{ answer: { text: 'ok' } }], { key });
  onTestFinished(() => model.close());
  return model;
}

test('a provider is tested and saved, its key only in the vault, and answers at once', async () => {
  const model = await startModel();
  const window = await openWindow(browser, { usesDemo: true });
  const { page } = window;
  await window.page.evaluate("location.hash = '#/settings/models'");
  await startForm(page, model.origin);
  const form = page.getByRole('form', { name: 'Add a provider' });
  await form.getByLabel('Key', { exact: true }).fill('sk-the-wrong-key-0');
  await form.getByRole('button', { name: 'Test', exact: true }).click();
  const verdict = form.getByRole('status', { name: 'Model test' });
  await expect.poll(() => verdict.innerText()).toMatch(/key/i);
  await form.getByLabel('Key', { exact: true }).fill(key);
  await form.getByRole('spinbutton', { name: 'Input, US$ per million tokens' }).fill('2');
  await form.getByRole('spinbutton', { name: 'Output, US$ per million tokens' }).fill('8');
  await form.getByRole('button', { name: 'Test', exact: true }).click();
  await expect
    .poll(() => verdict.innerText())
    .toMatch(/^works\/tiny answered: first word after .+ms.*, full answer after .+, \$0\.0\d+\.$/);
  await makeVault(page);
  await form.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('list', { name: 'Providers' }).getByText('keychain:works').waitFor();
  expect(await fileOf(window)).toEqual({
    models: { default: 'works/tiny' },
    providers: {
      works: {
        kind: 'openai-compatible',
        baseUrl: `${model.origin}/v1`,
        apiKey: 'keychain:works',
        prices: { tiny: { inputUsdPerMillion: 2, outputUsdPerMillion: 8 } },
      },
    },
  });
  expect(await page.content()).not.toContain(key);
  await page.getByRole('status', { name: 'Model and budget' }).getByText('works/tiny').waitFor();
  await window.go('Chat');
  await window.send('Say it');
  await window.conversation.getByText('ok', { exact: true }).waitFor();
  expect(model.requests.at(-1)?.model).toBe('tiny');
  expect(window.incidents).toEqual([]);
});

test('cancelling leaves neither a provider nor a key', async () => {
  const model = await startModel();
  const window = await openWindow(browser, { usesDemo: true });
  await window.page.evaluate("location.hash = '#/settings/models'");
  await startForm(window.page, model.origin);
  const form = window.page.getByRole('form', { name: 'Add a provider' });
  await form.getByLabel('Key', { exact: true }).fill(key);
  await form.getByRole('button', { name: 'Test', exact: true }).click();
  await form.getByRole('button', { name: 'Save', exact: true }).waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();
  const status = (await window.host.op('secret.status', {})) as { hasVault: boolean };
  expect(status.hasVault).toBe(false);
  expect((await fileOf(window)).providers).toBeUndefined();
});

test('another model is used at once; a provider is removed and restored', async () => {
  const window = await openWindow(browser);
  const { page } = window;
  await window.page.evaluate("location.hash = '#/settings/models'");
  const table = page.getByRole('table', { name: 'Models' });
  await table.getByRole('cell', { name: '$2.00 in, $8.00 out', exact: true }).waitFor();
  await table.getByRole('button', { name: 'Use demo/offline' }).click();
  await page.getByRole('status', { name: 'Model and budget' }).getByText('demo/offline').waitFor();
  await page.getByRole('searchbox', { name: 'Find a model, or enter provider/model' }).fill('lab/other');
  await page.getByRole('button', { name: 'Use lab/other' }).click();
  await page.getByRole('status', { name: 'Model and budget' }).getByText('lab/other').waitFor();
  const before = await fileOf(window);
  await page.getByRole('button', { name: 'Test lab' }).click();
  await page
    .getByRole('status', { name: 'Model test' })
    .getByText(/lab\/other answered/)
    .waitFor();
  await page.getByRole('button', { name: 'Remove lab' }).click();
  await page.getByRole('button', { name: 'Undo: put lab back' }).click();
  await page.getByRole('button', { name: 'Remove lab' }).waitFor();
  expect(await fileOf(window)).toEqual(before);
  expect(window.incidents).toEqual([]);
});

test('a model server that starts later is found by searching again', async () => {
  const window = await openWindow(browser, { usesDemo: true });
  const { page } = window;
  let hasStarted = false;
  // The spec must not depend on the servers of this computer, so the host's findings are replaced.
  await page.route('**/api/ops/model.list', async (route) => {
    const response = await route.fetch();
    const reply = (await response.json()) as { result: { models: { source: string }[] } };
    const known = reply.result.models.filter(({ source }) => !source.includes('://'));
    const found = { ref: 'ollama/qwen3', provider: 'ollama', kind: 'ollama', source: 'Ollama at http://127.0.0.1:11434' };
    const looks = (route.request().postDataJSON() as { look?: boolean }).look === true;
    reply.result.models = hasStarted && looks ? [...known, { ...known[0], ...found, isDefault: false } as { source: string }] : known;
    await route.fulfill({ response, json: reply });
  });
  await window.page.evaluate("location.hash = '#/settings/models'");
  await page.getByText('No model server found on this computer.').waitFor();
  hasStarted = true;
  await page.getByRole('button', { name: 'Look for local servers' }).click();
  await page.getByText('Found on this computer: Ollama at http://127.0.0.1:11434.').waitFor();
  await page.getByRole('button', { name: 'Use ollama/qwen3' }).click();
  await expect.poll(async () => (await fileOf(window)).models).toEqual({ default: 'ollama/qwen3' });
  // The list is read once more after a change; a pending request must not outlive the page.
  await page.unrouteAll({ behavior: 'wait' });
});
