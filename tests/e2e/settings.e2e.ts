// The settings as a form: changed, rejected, reset and searched, with the file as the only source of truth.

import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { looksGood, shoot, violations } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Read {
  readonly file: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

async function toSection({ page }: WindowUnderTest, section: string): Promise<void> {
  await page.evaluate(`location.hash = '#/settings/${section}'`);
}

async function openSettings(section: string, opened = openSession): Promise<WindowUnderTest> {
  const window = await opened(browser);
  await window.page
    .getByRole('navigation', { name: /^(Main|Hauptnavigation)$/ })
    .locator('a[href="#/settings"]')
    .click();
  await window.page.getByRole('heading', { name: 'Appearance' }).waitFor();
  await toSection(window, section);
  await window.page.locator(`[data-section="${section}"]`).waitFor();
  return window;
}

const rowOf = ({ page }: WindowUnderTest, key: string): Locator => page.locator(`form[data-key="${key}"]`);
const fileOf = async ({ host }: WindowUnderTest): Promise<Read['file']> => ((await host.op('config.get', {})) as Read).file;

test('a number is saved with a note about the next start, undone, and reset', async () => {
  const window = await openSettings('limits', openWindow);
  const row = rowOf(window, 'limits.steps');
  // The default is said only where it is not in use.
  expect(await row.getByText('Default: 50').count()).toBe(0);
  await row.getByRole('spinbutton').fill('20');
  await row.getByText('Default: 50').waitFor();
  await row.getByRole('spinbutton').press('Enter');
  await row.getByText('changed', { exact: true }).waitFor();
  await row.getByText('takes effect after a restart').waitFor();
  expect((await fileOf(window))['limits']).toEqual({ steps: 20 });
  await row.getByRole('button', { name: 'Undo' }).click();
  await expect.poll(() => row.getByRole('spinbutton').inputValue()).toBe('50');
  expect((await fileOf(window))['limits']).toEqual({});
  await row.getByRole('spinbutton').fill('30');
  await row.getByRole('button', { name: 'Save' }).click();
  await row.getByRole('button', { name: 'Reset to default: Model calls per turn' }).click();
  await expect.poll(() => row.getByText('changed', { exact: true }).count()).toBe(0);
  expect((await fileOf(window))['limits']).toEqual({});
  await window.host.stop();
  await window.host.start();
  expect(window.incidents).toEqual([]);
});

test('a rejected value is explained at its field, and the typed text is kept', async () => {
  const window = await openSettings('limits');
  const before = await fileOf(window);
  const row = rowOf(window, 'limits.steps');
  await rowOf(window, 'limits.sameCall').getByRole('spinbutton').fill('7');
  await row.getByRole('spinbutton').fill('0');
  await row.getByRole('button', { name: 'Save' }).click();
  await row.getByRole('alert').getByText('limits.steps').waitFor();
  expect(await row.getByRole('spinbutton').inputValue()).toBe('0');
  expect(await row.getByRole('spinbutton').getAttribute('aria-invalid')).toBe('true');
  expect(await rowOf(window, 'limits.sameCall').getByRole('spinbutton').inputValue()).toBe('7');
  expect(await fileOf(window)).toEqual(before);
  expect(await violations(window.page)).toEqual([]);
  await row.getByRole('button', { name: 'Discard' }).click();
  expect(await row.getByRole('spinbutton').inputValue()).toBe('50');
  expect(await row.getByRole('alert').count()).toBe(0);
});

test('choices, lists, kinds, named numbers and services are written correctly', async () => {
  const window = await openSettings('policy');
  await rowOf(window, 'policy.mode').getByRole('combobox').selectOption({ label: 'Locked-down' });
  await expect.poll(async () => (await fileOf(window))['policy']).toEqual({ mode: 'locked-down' });
  const commands = rowOf(window, 'policy.allowCommands');
  for (const command of ['git status', 'npm test']) {
    await commands.getByRole('textbox').fill(command);
    await commands.getByRole('textbox').press('Enter');
    await commands.getByRole('listitem').getByText(command).waitFor();
  }
  await commands.getByRole('button', { name: 'Remove git status' }).click();
  await expect.poll(async () => (await fileOf(window))['policy']?.['allowCommands']).toEqual(['npm test']);
  await rowOf(window, 'safety.personalData').getByRole('checkbox', { name: 'Mail addresses' }).check();
  await expect.poll(async () => (await fileOf(window))['safety']).toEqual({ personalData: ['card', 'iban', 'email'] });
  const rates = rowOf(window, 'policy.limits.callsPerMinute');
  await rates.getByRole('spinbutton', { name: 'Network' }).fill('5');
  await rates.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await fileOf(window))['policy']?.['limits'])
    .toEqual({
      callsPerMinute: { network: 5, message: 20, exec: 60 },
    });
  await toSection(window, 'web');
  const search = rowOf(window, 'web.search');
  await search.getByRole('combobox').selectOption({ label: 'SearXNG' });
  await search.getByRole('textbox', { name: 'Address' }).fill('http://127.0.0.1:8888/');
  await search.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await fileOf(window))['web'])
    .toEqual({
      search: { provider: 'searxng', baseUrl: 'http://127.0.0.1:8888/' },
    });
  expect(window.incidents).toEqual([]);
});

test('entries with fields are added, changed, ordered and removed without JSON', async () => {
  const window = await openSettings('models');
  const panels = rowOf(window, 'models.panels');
  await panels.getByRole('textbox', { name: 'Name of the new entry' }).fill('careful');
  await panels.getByRole('button', { name: 'Add', exact: true }).last().click();
  const models = panels.getByRole('textbox', { name: 'Models', exact: true });
  for (const model of ['demo/offline', 'demo/other']) {
    await models.fill(model);
    await models.press('Enter');
  }
  await panels.getByRole('textbox', { name: /^Judge/ }).fill('demo/judge');
  await panels.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await fileOf(window))['models']?.['panels'])
    .toEqual({ careful: { members: ['demo/offline', 'demo/other'], judge: 'demo/judge' } });
  await shoot(window.page, 'settings-panels');
  await toSection(window, 'policy');
  const rules = rowOf(window, 'policy.rules');
  for (const [at, decision] of ['Deny', 'Ask'].entries()) {
    await rules.getByRole('button', { name: 'Add', exact: true }).last().click();
    const entry = rules.locator('details[open]');
    await entry.getByRole('checkbox', { name: at === 0 ? 'Network' : 'Commands' }).check();
    await entry.getByRole('combobox', { name: 'Decision' }).selectOption({ label: decision });
  }
  await rules.getByRole('button', { name: 'Move up: Entry 2' }).click();
  await rules.getByRole('button', { name: 'Save' }).click();
  await expect
    .poll(async () => (await fileOf(window))['policy']?.['rules'])
    .toEqual([
      { when: { classes: ['exec'] }, then: 'ask' },
      { when: { classes: ['network'] }, then: 'deny' },
    ]);
  await rules.locator('summary').first().click();
  await rules.scrollIntoViewIfNeeded();
  await shoot(window.page, 'settings-rules');
  expect(await violations(window.page)).toEqual([]);
  await rules.getByRole('button', { name: 'Remove Entry 1' }).click();
  await rules.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await fileOf(window))['policy']?.['rules']).toEqual([{ when: { classes: ['network'] }, then: 'deny' }]);
  await toSection(window, 'verify');
  const verify = rowOf(window, 'verify');
  await verify.getByRole('checkbox', { name: 'Spending' }).check();
  await verify.getByRole('combobox', { name: /^Cortensor nodes/ }).selectOption('5');
  await verify.getByRole('button', { name: 'Save' }).click();
  await verify.getByRole('alert').getByText('verify.by').waitFor();
  await verify.getByRole('textbox', { name: /^Verifier/ }).fill('demo/offline');
  await verify.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await fileOf(window))['verify']).toEqual({ classes: ['spend'], replicas: 5, by: 'demo/offline' });
  await shoot(window.page, 'settings-verify');
  expect(window.incidents).toEqual([]);
});

test('saving, here or elsewhere, moves neither the focus nor the scroll position', async () => {
  const window = await openSettings('limits');
  const { page } = window;
  const steps = rowOf(window, 'limits.steps');
  const field = steps.getByRole('spinbutton');
  await field.fill('20');
  await field.press('Enter');
  await steps.getByText('changed', { exact: true }).waitFor();
  await window.host.op('config.set', { key: 'limits.sameCall', value: 7 });
  await rowOf(window, 'limits.sameCall').getByText('changed', { exact: true }).waitFor();
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  expect(await page.locator(':focus').getAttribute('id')).toBe(await field.getAttribute('id'));
  expect(window.incidents).toEqual([]);
});

test('times and sizes are edited in human units', async () => {
  const window = await openSettings('limits', openWindow);
  const turn = rowOf(window, 'limits.turnMs');
  expect([await turn.getByRole('spinbutton').inputValue(), await turn.getByRole('combobox', { name: 'Unit' }).inputValue()]).toEqual([
    '1',
    'hours',
  ]);
  // A screen reader lists controls by their names alone.
  const unit = turn.getByRole('combobox', { name: `Unit ${await turn.getByRole('heading').textContent()}`, exact: true });
  expect(await unit.locator('option:checked').textContent()).toBe('hour');
  await unit.selectOption('minutes');
  expect(await unit.locator('option:checked').textContent()).toBe('minutes');
  expect(await turn.getByRole('spinbutton').inputValue()).toBe('60');
  await turn.getByRole('spinbutton').fill('20');
  await turn.getByRole('button', { name: 'Save' }).click();
  await expect.poll(async () => (await fileOf(window))['limits']).toEqual({ turnMs: 1_200_000 });
  await shoot(window.page, 'settings-units');
  await toSection(window, 'plugins');
  await rowOf(window, 'plugins.settings').getByText('Written as JSON, because').waitFor();
  expect(window.incidents).toEqual([]);
});

test('going back returns to where the page was scrolled', async () => {
  const window = await openSettings('tools', openWindow);
  const { page } = window;
  const top = () => page.locator('main > .page').evaluate((node) => node.scrollTop);
  await rowOf(window, 'tools.outputBytesMax').waitFor();
  await page.evaluate("document.querySelector('main > .page').scrollTop = 333");
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await window.go('Memory');
  await page.getByText('Nothing is remembered yet.').waitFor();
  await page.goBack();
  await expect.poll(() => top()).toBe(333);
});

test('hotkeys are set by pressing them', async () => {
  const window = await openSettings('desktop');
  const row = rowOf(window, 'desktop.panicKeys');
  const field = row.getByRole('textbox');
  await field.press('Control+Alt+K');
  expect(await field.inputValue()).toBe('Control+Alt+K');
  await field.press('Enter');
  await row.getByText('changed', { exact: true }).waitFor();
  expect((await fileOf(window))['desktop']).toEqual({ panicKeys: 'Control+Alt+K' });
  await looksGood(window.page, 'panic-keys');
  await field.fill('');
  await field.press('Enter');
  await expect.poll(async () => (await fileOf(window))['desktop']).toEqual({ panicKeys: '' });
  expect(window.incidents).toEqual([]);
});

test('settings are found by their text; a channel has its panel and no fields', async () => {
  const window = await openSettings('channels');
  const { page } = window;
  await page.getByRole('group', { name: 'Telegram' }).getByText('Not set up.').waitFor();
  expect(await page.locator('form[data-key^="channels."]').count()).toBe(0);
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('backups');
  await expect
    .poll(() => page.locator('form[data-key]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-key'))))
    .toEqual(['backup.automatic', 'backup.everyHours', 'backup.keep', 'retention.backups']);
  // A search shows settings without the forms of their section; a search for the section's title shows the forms.
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('retries');
  await rowOf(window, 'models.retries').waitFor();
  expect(await page.getByRole('button', { name: 'Add a provider' }).count()).toBe(0);
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('providers');
  await page.getByRole('button', { name: 'Add a provider' }).waitFor();
  await page.getByRole('searchbox', { name: 'Search settings' }).fill('nothing like this');
  await page.getByText('No setting matches “nothing like this”').waitFor();
});

test('a change made elsewhere is shown, and a section has an address', async () => {
  const window = await openSettings('agents');
  await window.host.op('config.set', { key: 'retention.undoDays', value: 3 });
  await expect.poll(() => rowOf(window, 'retention.undoDays').getByRole('spinbutton').inputValue()).toBe('3');
  await window.page.getByRole('navigation', { name: 'Sections' }).getByRole('link', { name: 'Storage' }).click();
  await expect.poll(() => window.page.evaluate<string>('document.activeElement?.textContent ?? ""')).toBe('Storage');
  expect(window.page.url()).toMatch(/#\/settings\/retention$/);
  expect(await rowOf(window, 'retention.undoDays').isVisible()).toBe(true);
});

test('the address of the first section of a group shows the page from its beginning, and dates are written as everywhere', async () => {
  const { page } = await openWindow(browser);
  await page.evaluate("location.hash = '#/settings/models'");
  await page.getByText(/^The prices of \d{1,2} \w{3} \d{4} that come with TrayClaw are in use\.$/).waitFor();
  await expect.poll(() => page.evaluate<string>('document.activeElement.textContent')).toBe('Models and providers');
  expect(await page.locator('main .page').evaluate((view) => view.scrollTop)).toBe(0);
});

test('a row keeps no empty line for buttons that it does not show', async () => {
  const window = await openSettings('models');
  const row = rowOf(window, 'models.timeouts.idleMs');
  const spare = async (): Promise<number> => {
    const [box, control] = [await row.boundingBox(), await row.getByRole('spinbutton').boundingBox()];
    return (box?.height ?? 0) - (control?.height ?? 0);
  };
  expect(await spare()).toBeLessThan(35);
  await row.getByRole('spinbutton').fill('11');
  await row.getByRole('button', { name: 'Save' }).waitFor();
});
