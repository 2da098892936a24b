// The pictures of README.md: the current window with an approval, in both themes. TRAYCLAW_BASELINES=write takes them again.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launchBrowser, openWindow } from './driver/open-window.ts';
import { compare, decodePng, shrink } from './driver/picture.ts';

const folder = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
/** The share of cells that may differ: other times of day and another model name. */
const differingMax = 0.01;

const files = {
  'orders.csv': 'date,customer,item,euros\n2026-03-02,Meyer,oak table,780\n2026-03-09,Tanaka,two chairs,310\n2026-03-20,Okafor,shelf,240\n',
  'meeting.md': '# Meeting\n\n- The lease starts on 1 May.\n- Everything must be delivered before the move.\n',
};
const summary = [
  '# March',
  '',
  '| customer | item | euros |',
  '| --- | --- | ---: |',
  '| Meyer | oak table | 780 |',
  '| Tanaka | two chairs | 310 |',
  '| Okafor | shelf | 240 |',
  '',
  'Total: 1,330 euros. All of it must be delivered before the move on 1 May.',
  '',
].join('\n');

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

test('the pictures of README.md show the current window', async () => {
  const window = await openWindow(browser, {
    files,
    replies: [
      { text: 'Your train leaves at 9:14 from platform 6.' },
      { text: 'I sorted 212 photos into 9 folders.' },
      {
        text: 'I read the orders and the notes of the meeting first.',
        calls: [
          { tool: 'read_file', args: { path: 'orders.csv' } },
          { tool: 'read_file', args: { path: 'meeting.md' } },
        ],
      },
      {
        text: 'There are three orders. I put them in a summary, with the date they depend on.',
        calls: [{ tool: 'write_file', args: { path: 'march.md', content: summary } }],
      },
    ],
    context: { reducedMotion: 'reduce', viewport: { width: 1200, height: 860 } },
  });
  const { page } = window;
  for (const [said, answer] of [
    ['When does my train leave?', 'platform 6'],
    ['Sort the photos of May by place', '9 folders'],
  ] as const) {
    await window.send(said);
    await window.conversation.getByText(answer).waitFor();
    await page.getByRole('button', { name: 'New session', exact: true }).click();
  }
  await window.send('Sum up the orders of March in march.md');
  await expect.poll(() => window.approval.getByRole('button', { name: 'Approve once' }).isEnabled()).toBe(true);
  await window.message.focus();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    const seen = await page.screenshot({ animations: 'disabled' });
    const file = `${folder}window-${colorScheme}.png`;
    if (process.env['TRAYCLAW_BASELINES'] === 'write') writeFileSync(file, seen);
    const { share, hasBlock } = compare(shrink(decodePng(readFileSync(file))), shrink(decodePng(seen)));
    expect({ colorScheme, isSame: share <= differingMax && !hasBlock }).toEqual({ colorScheme, isSame: true });
  }
  expect(window.incidents).toEqual([]);
});
