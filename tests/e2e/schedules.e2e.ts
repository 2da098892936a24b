// Schedules in the window: created by mouse and by keyboard alone, previewed by the host, run, paused, changed, removed and restored; the
// heartbeat and the task list.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import type { ScheduleView } from '../../core/contracts/features/schedule.ts';
import { createTrayClaw } from '../../core/index.ts';
import { looksGood } from './driver/looks.ts';
import { launchBrowser, openSession, openWindow, type OpenOptions, type WindowUnderTest } from './driver/open-window.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

async function openSchedules(options: OpenOptions = {}): Promise<WindowUnderTest> {
  const { before, ...rest } = { ...options, context: { timezoneId: 'Europe/Berlin', ...options.context } };
  const window = await (before === undefined ? openSession(browser, rest) : openWindow(browser, { ...rest, before }));
  if (before === undefined) for (const { scheduleId } of await schedulesOf(window)) await window.host.op('schedule.remove', { scheduleId });
  await window.go('Schedules');
  await window.page.getByText('No open tasks.').waitFor();
  return window;
}

const schedulesOf = async ({ host }: WindowUnderTest): Promise<ScheduleView[]> =>
  ((await host.op('schedule.list', {})) as { schedules: ScheduleView[] }).schedules;

const morning = {
  name: 'Morning look',
  prompt: 'Look at the notes and say what is due.',
  spec: { kind: 'cron', expr: '0 8 * * 1-5', zone: 'Europe/Berlin' },
};

test("a schedule is created with the host's preview of its times and the typed limits", { timeout: 180_000 }, async () => {
  const window = await openSchedules();
  const { page } = window;
  await page.getByText('Nothing is scheduled.').waitFor();
  await page.getByRole('button', { name: 'New schedule' }).click();
  const form = page.getByRole('form', { name: 'New schedule' });
  await form.getByLabel('Name').fill(morning.name);
  await form.getByLabel('What to do').fill(morning.prompt);
  expect(await form.getByLabel('Time zone').inputValue()).toBe('Europe/Berlin');
  const times = form.getByRole('list', { name: 'Next due' }).getByRole('listitem');
  await expect.poll(() => times.count()).toBe(5);
  expect(await times.allInnerTexts()).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(/^(Mon|Tue|Wed|Thu|Fri).*08:00$/)));
  expect(await form.getByRole('checkbox', { name: 'Fri' }).isChecked()).toBe(true);
  await looksGood(page, 'schedule-days');
  await form.getByRole('radio', { name: 'Custom (cron)' }).check();
  await form.getByLabel('Cron rule', { exact: true }).fill('61 8 * * *');
  await expect.poll(() => times.count()).toBe(0);
  expect(await form.getByRole('status', { name: 'Next due' }).innerText()).not.toBe('');
  await form.getByRole('button', { name: 'Add schedule' }).click();
  await form.getByRole('alert').waitFor();
  expect(await schedulesOf(window)).toEqual([]);
  await form.getByLabel('Cron rule', { exact: true }).fill('0 8 * * 1-5');
  expect(await form.getByRole('alert').count()).toBe(0);
  await form.getByText('What it may use').click();
  await form.getByLabel('Maximum US dollars').fill('0.25');
  await form.getByLabel('Maximum model calls').fill('4');
  await form.getByLabel('Minutes an approval waits').fill('5');
  await form.getByRole('checkbox', { name: 'Network' }).check();
  await form.getByLabel('If a time passed while nothing could run').selectOption({ label: 'skip it' });
  await looksGood(page, 'schedule-form');
  await form.getByRole('button', { name: 'Add schedule' }).click();
  const card = page.getByRole('list', { name: 'Schedules' }).getByRole('region', { name: morning.name });
  await card.getByText('every weekday at 08:00, Berlin').waitFor();
  const [made] = await schedulesOf(window);
  expect(made).toMatchObject({
    ...morning,
    missed: 'skip',
    approvalMs: 300_000,
    bounds: { usd: 0.25, steps: 4, classes: ['network'], tools: null, grants: false },
  });
  expect(window.incidents).toEqual([]);
});

test('a schedule is run, paused, resumed, changed, and removed after a moment to undo', { timeout: 180_000 }, async () => {
  const window = await openSchedules({ replies: [{ text: 'The milk is due.' }] });
  const { page, host } = window;
  await host.op('schedule.create', morning);
  const card = page.getByRole('list', { name: 'Schedules' }).getByRole('region', { name: morning.name });
  // A schedule created through another door appears without a notice.
  await card.getByText('Not due yet.').waitFor();
  await card.getByRole('button', { name: 'Run now: Morning look' }).click();
  const fired = card.getByRole('list', { name: 'Last times' });
  await fired.getByText('ran, done').waitFor();
  await card.getByRole('button', { name: 'Pause Morning look' }).click();
  await card.getByText('paused', { exact: true }).waitFor();
  expect((await schedulesOf(window)).map(({ enabled, nextMs }) => [enabled, nextMs])).toEqual([[false, []]]);
  await card.getByRole('button', { name: 'Resume Morning look' }).click();
  await expect.poll(() => card.getByRole('list', { name: 'Next times' }).getByRole('listitem').count()).toBe(5);
  await looksGood(page, 'schedules');
  await card.getByRole('button', { name: 'Change Morning look' }).click();
  const form = page.getByRole('form', { name: 'Change the schedule' });
  await form.getByRole('radio', { name: 'Every…' }).check();
  await form.getByLabel('Every', { exact: true }).fill('90');
  await form.getByLabel('Unit').selectOption({ label: 'minutes' });
  await form.getByRole('button', { name: 'Save' }).click();
  await card.getByText('every 90 minutes').waitFor();
  expect((await schedulesOf(window))[0]).toMatchObject({ prompt: morning.prompt, spec: { kind: 'every', everyMs: 5_400_000 } });
  await card.getByRole('button', { name: 'Remove Morning look' }).click();
  expect((await schedulesOf(window)).length).toBe(1);
  await card.getByRole('button', { name: 'Undo: keep Morning look' }).click();
  await card.getByRole('button', { name: 'Remove Morning look' }).click();
  await card.getByRole('button', { name: 'Remove Morning look now' }).click();
  await page.getByText('Nothing is scheduled.').waitFor();
  expect(await schedulesOf(window)).toEqual([]);
  expect(window.incidents).toEqual([]);
});

test("times in another zone than the schedule's say whose they are", async () => {
  const window = await openSchedules();
  const { page, host } = window;
  await host.op('schedule.create', { ...morning, spec: { ...morning.spec, zone: 'America/New_York' } });
  await host.op('schedule.create', { ...morning, name: 'Here' });
  const card = (name: string) => page.getByRole('list', { name: 'Schedules' }).getByRole('region', { name });
  await card(morning.name).getByText('Times of this computer, Berlin.').waitFor();
  await card('Here').getByText('every weekday at 08:00, Berlin').waitFor();
  expect(await page.getByText('Times of this computer').count()).toBe(1);
});

test('each coming time is below its point, wide and narrow', async () => {
  const window = await openSchedules();
  const { page, host } = window;
  await host.op('schedule.create', morning);
  const times = page.getByRole('list', { name: 'Next times' }).getByRole('listitem');
  await expect.poll(() => times.count()).toBe(5);
  const lefts = (): Promise<number[]> => times.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().left)));
  const tops = (): Promise<number[]> => times.evaluateAll((all) => all.map((one) => Math.round(one.getBoundingClientRect().top)));
  // The points are pseudo-elements at the left edge of each time.
  const points = await page.evaluate<string[]>(
    "[...document.querySelectorAll('.times li')].map((one) => getComputedStyle(one, '::before').left)",
  );
  expect([new Set(await tops()).size, new Set(await lefts()).size, new Set(points)]).toEqual([1, 5, new Set(['0px'])]);
  await looksGood(page, 'schedules-line');
  await page.setViewportSize({ width: 360, height: 800 });
  await expect.poll(async () => [new Set(await tops()).size, new Set(await lefts()).size]).toEqual([5, 1]);
});

test('a time during the previous turn is reported as skipped', { timeout: 120_000 }, async () => {
  const asks = { calls: [{ tool: 'write_file', args: { path: 'a.txt', content: 'x' } }] };
  const window = await openSchedules({ replies: [asks, { text: 'Done.' }] });
  const { page, host } = window;
  const card = page.getByRole('list', { name: 'Schedules' }).getByRole('region', { name: 'Often' });
  const fired = card.getByRole('list', { name: 'Last times' });
  // Due in a few seconds; until then the first turn has reached its approval.
  const spec = { kind: 'every', everyMs: 60_000, anchorMs: Date.now() - 54_000 };
  const { scheduleId } = (await host.op('schedule.create', { name: 'Often', prompt: 'Write it.', spec })) as { scheduleId: string };
  await host.op('schedule.run', { scheduleId });
  await fired.getByText('ran, waiting').waitFor();
  await fired.getByText('skipped: the last turn was still running').waitFor();
  await looksGood(page, 'schedules-overlap');
  expect(window.incidents).toEqual([]);
});

test('times that passed while nothing ran are reported with their number', { timeout: 120_000 }, async () => {
  const hourMs = 3_600_000;
  const window = await openSchedules({ before: (home) => scheduleInThePast(home, 5 * hourMs + hourMs / 2, hourMs) });
  const { page } = window;
  const fired = page.getByRole('region', { name: 'Hourly' }).getByRole('list', { name: 'Last times' });
  await fired.getByText('missed: nothing could run at the time · 5 times').waitFor();
  const [made] = await schedulesOf(window);
  expect(made?.last).toMatchObject([{ disposition: 'missed', count: 5 }]);
  await looksGood(page, 'schedules-missed');
  expect(window.incidents).toEqual([]);
});

/** Creates a schedule with a clock in the past; the program has not run since. */
async function scheduleInThePast(home: string, agoMs: number, everyMs: number): Promise<void> {
  const nowMs = Date.now() - agoMs;
  const claw = await createTrayClaw({ home, clock: new ManualClock(nowMs), config: { models: { default: 'demo/offline' } } });
  await claw.op('schedule.create', {
    name: 'Hourly',
    prompt: 'Look.',
    spec: { kind: 'every', everyMs, anchorMs: nowMs },
    missed: 'skip',
  });
  await claw.close();
}

test('by keyboard alone: from the palette to a saved schedule', async () => {
  const window = await openSchedules();
  const { page } = window;
  await page.keyboard.press('Alt+Shift+1');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').getByRole('combobox').fill('new schedule');
  await page.keyboard.press('Enter');
  const form = page.getByRole('form', { name: 'New schedule' });
  await form.waitFor();
  const focusedLabel = (): Promise<string> => page.evaluate<string>('document.activeElement?.labels?.[0]?.textContent ?? ""');
  await expect.poll(focusedLabel).toBe('Name');
  await page.keyboard.type('Water');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Remind me to drink.');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowDown');
  expect(await form.getByRole('radio', { name: 'Every…' }).isChecked()).toBe(true);
  await page.keyboard.press('Tab');
  expect(await focusedLabel()).toBe('Every');
  await page.keyboard.press('Control+a');
  await page.keyboard.type('2');
  await page.keyboard.press('Enter');
  await page.getByText('every 2 hours').waitFor();
  // The focus has returned to where it started.
  await expect.poll(() => page.evaluate<string>('document.activeElement?.textContent?.trim() ?? ""')).toBe('New schedule');
  expect((await schedulesOf(window)).map(({ name, spec }) => [name, spec.kind])).toEqual([['Water', 'every']]);
});

test('the heartbeat runs on request without a model if idle; tasks come and go', async () => {
  const window = await openSchedules({ context: { locale: 'en-GB' } });
  const { page, host } = window;
  const beat = page.getByRole('region', { name: 'Heartbeat' });
  await beat.getByText('On, every 30 minutes.').waitFor();
  await beat.getByText('HEARTBEAT.md').last().waitFor();
  await beat.getByRole('button', { name: 'Check now' }).click();
  await beat.getByText('HEARTBEAT.md asks for nothing.').waitFor();
  const { rows } = (await host.op('usage.get', { by: 'day', days: 1 })) as { rows: { modelCalls: number }[] };
  expect(rows.reduce((sum, { modelCalls }) => sum + modelCalls, 0)).toBe(0);
  const field = page.getByRole('textbox', { name: 'New task' });
  await field.fill('Call the plumber');
  await field.press('Enter');
  const tasks = page.getByRole('list', { name: 'Tasks' });
  await tasks.getByText('Call the plumber').waitFor();
  await tasks.getByRole('button', { name: 'Done: Call the plumber' }).click();
  await page.getByText('No open tasks.').waitFor();
  expect(window.incidents).toEqual([]);
});
