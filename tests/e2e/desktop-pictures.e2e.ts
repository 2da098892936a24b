// Pictures of what a person sees of the desktop app, for people to look at: the tray's icons on light and dark panels, and the window at
// first start, with a question and while everything is stopped. They are left in test-results.

import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Activity } from '../../main/desktop/desktop-status.ts';
import { encodePng } from '../../main/desktop/png.ts';
import { drawGlyph, type GlyphStyle } from '../../main/desktop/tray-glyph.ts';
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

test('the window at first start, with a question, and while stopped', async () => {
  await takePictures('first-start');
  app.reply({ calls: [{ tool: 'write_file', args: { path: 'notes/plan.md', content: '# Plan\n\nBuy milk, then rest.\n' } }] });
  await app.send('Write the plan down, please.');
  await app.approval.waitFor();
  await takePictures('question');
  await app.driver.clickMenu('panic');
  await app.banner.waitFor();
  await takePictures('stopped');
});

const states: readonly { name: string; activity: Activity; count: number; frame: number }[] = [
  { name: 'idle', activity: 'idle', count: 0, frame: 0 },
  ...[0, 1, 2].map((frame) => ({ name: `working ${frame + 1}`, activity: 'working' as const, count: 0, frame })),
  ...[1, 4, 9, 10].map((count) => ({ name: `waiting ${count > 9 ? '9+' : count}`, activity: 'waiting' as const, count, frame: 0 })),
  { name: 'stopped', activity: 'stopped', count: 0, frame: 0 },
];
const panels: readonly { style: GlyphStyle; panel: string; words: string }[] = [
  { style: 'light', panel: '#f2f1ee', words: '#333' },
  { style: 'dark', panel: '#26252a', words: '#ddd' },
  { style: 'template', panel: '#ffffff', words: '#333' },
];
const sizesPx = [16, 22, 24, 32, 44, 64];

function iconTag(style: GlyphStyle, sizePx: number, state: (typeof states)[number]): string {
  const png = encodePng(drawGlyph({ ...state, style, sizePx }).toPixels(), sizePx, sizePx);
  return `<img width="${sizePx}" height="${sizePx}" src="data:image/png;base64,${png.toString('base64')}">`;
}

test('all icons of the tray, in every size, on the panels they are for', async () => {
  const rows = panels.map(({ style, panel, words }) => {
    const lines = states.map((state) => {
      const icons = sizesPx.map((sizePx) => `<td>${iconTag(style, sizePx, state)}</td>`).join('');
      return `<tr><th>${state.name}</th>${icons}</tr>`;
    });
    return `<table style="background:${panel};color:${words}"><caption>${style}</caption>${lines.join('')}</table>`;
  });
  const page = await app.page.context().newPage();
  await page.setContent(
    `<style>body{margin:8px;display:flex;gap:8px;font:12px sans-serif}table{padding:8px}td{padding:4px 6px;text-align:center}th{font-weight:400;text-align:left}</style>${rows.join('')}`,
  );
  const sizes = await page.evaluate<number[]>('[...document.images].map((image) => image.naturalWidth)');
  expect(sizes).toEqual(panels.flatMap(() => states.flatMap(() => sizesPx)));
  await page.screenshot({ path: `${results}desktop-tray-icons.png`, fullPage: true });
  await page.close();
});
