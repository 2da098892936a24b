// Pictures of the desktop app for people to look at: the tray's icons on light and dark panels, and the window at the first start, with an
// approval and during a panic stop. They are saved in test-results.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DesktopUnderTest } from './desktop-rig.ts';

const results = fileURLToPath(new URL('../../test-results/', import.meta.url));

let app: DesktopUnderTest;
beforeAll(async () => {
  mkdirSync(results, { recursive: true });
  app = await DesktopUnderTest.start();
});
afterAll(() => app.close());

async function takePictures(name: string): Promise<void> {
  expect(await app.page.evaluate('[innerWidth, innerHeight]')).toEqual([1180, 780]);
  for (const colorScheme of ['light', 'dark'] as const) {
    await app.page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await app.page.screenshot({ path: `${results}desktop-${name}-${colorScheme}.png` });
  }
}

test('the window at the first start, with an approval, and while stopped', async () => {
  await takePictures('first-start');
  app.reply({ calls: [{ tool: 'write_file', args: { path: 'notes/plan.md', content: '# Plan\n\nBuy milk, then rest.\n' } }] });
  await app.send('Write the plan down, please.');
  await app.approval.waitFor();
  await takePictures('question');
  await app.driver.clickMenu('panic');
  await app.banner.waitFor();
  await takePictures('stopped');
});

const pictures = fileURLToPath(new URL('../../build/tray-icons/', import.meta.url));
const panels = [
  { style: 'light', panel: '#f2f1ee', words: '#333' },
  { style: 'dark', panel: '#26252a', words: '#ddd' },
  { style: 'template', panel: '#ffffff', words: '#333' },
] as const;

test('all icons of the tray, in every size, on their panels', async () => {
  const named: string[] = [];
  const columns = panels.map(({ style, panel, words }) => {
    const lines = readdirSync(`${pictures}${style}`).map((name) => {
      named.push(name);
      const data = readFileSync(`${pictures}${style}/${name}`).toString('base64');
      return `<tr><th>${name}</th><td><img alt="" src="data:image/png;base64,${data}"></td></tr>`;
    });
    return `<table style="background:${panel};color:${words}"><caption>${style}</caption>${lines.join('')}</table>`;
  });
  const page = await app.page.context().newPage();
  await page.setContent(
    `<style>body{margin:8px;display:flex;gap:8px;font:12px sans-serif}table{padding:8px}th{font-weight:400;text-align:left}</style>${columns.join('')}`,
  );
  const sizes = await page.evaluate<number[]>('[...document.images].map((image) => image.naturalWidth)');
  expect(sizes).toEqual(named.map((name) => Number(/(\d+)\.png$/.exec(name)?.[1])));
  await page.screenshot({ path: `${results}desktop-tray-icons.png`, fullPage: true });
  await page.close();
});
