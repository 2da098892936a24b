// The icons: their pixels are pinned for each state and size, and the PNG written of them is one.

import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import type { NativeImage } from 'electron';
import { expect, test } from 'vitest';
import type { Activity } from './desktop-status.ts';
import { disc, Drawing, outline, roundedSquare, stroke } from './drawing.ts';
import { encodePng } from './png.ts';
import { drawGlyph, type GlyphStyle } from './tray-glyph.ts';
import { TrayIcons } from './tray-icons.ts';

const styles: readonly GlyphStyle[] = ['template', 'light', 'dark'];
const states: readonly { activity: Activity; count: number; frame: number }[] = [
  { activity: 'idle', count: 0, frame: 0 },
  ...[0, 1, 2].map((frame) => ({ activity: 'working' as const, count: 0, frame })),
  ...[1, 5, 9, 10].map((count) => ({ activity: 'waiting' as const, count, frame: 0 })),
  { activity: 'stopped', count: 0, frame: 0 },
];

const pixelsOf = (state: (typeof states)[number], style: GlyphStyle, sizePx: number): Uint8Array =>
  drawGlyph({ ...state, style, sizePx }).toPixels();

test.each([16, 22, 24, 32, 44, 64])('the icons of %i pixels are pinned', (sizePx) => {
  const hashes = states.flatMap((state) =>
    styles.map((style) => {
      const hash = createHash('sha256')
        .update(pixelsOf(state, style, sizePx))
        .digest('hex')
        .slice(0, 16);
      return `${state.activity} ${state.count || state.frame} ${style}: ${hash}`;
    }),
  );
  expect(hashes).toMatchSnapshot();
});

test('no two states look the same, in any style and size', () => {
  for (const style of styles)
    for (const sizePx of [16, 22, 32]) {
      const seen = states.map((state) => Buffer.from(pixelsOf(state, style, sizePx)).toString('base64'));
      expect(new Set(seen).size).toBe(states.length);
    }
});

test('a template is black with alpha alone, and the corners of every icon are clear', () => {
  for (const state of states) {
    const pixels = pixelsOf(state, 'template', 32);
    const coloured = pixels.filter((value, index) => index % 4 !== 3 && value !== 0);
    expect([coloured.length, pixels[3], pixels.at(-1)]).toEqual([0, 0, 0]);
  }
});

test('shapes are where they say', () => {
  const drawing = new Drawing(8, 8);
  drawing.paint(disc({ x: 4, y: 4 }, 3), { r: 10, g: 20, b: 30 });
  drawing.erase(disc({ x: 4, y: 4 }, 1));
  const alpha = (x: number, y: number): number => drawing.toPixels()[(y * 8 + x) * 4 + 3] ?? -1;
  expect([alpha(0, 0), alpha(2, 4) > 200, alpha(3, 3) < 100]).toEqual([0, true, true]);
  const at = { x: 4, y: 4 };
  expect(roundedSquare(at, 3, 0)({ x: 9, y: 4 })).toBe(2);
  expect(outline(disc(at, 3), 2)({ x: 7, y: 4 })).toBe(-1);
  expect(stroke([at, { x: 6, y: 4 }], 2)({ x: 8, y: 4 })).toBe(1);
});

test('a PNG holds the pixels row by row, with the checks of the format', () => {
  const pixels = pixelsOf({ activity: 'idle', count: 0, frame: 0 }, 'light', 16);
  const png = encodePng(pixels, 16, 16);
  const dataLength = png.readUInt32BE(33);
  expect([png.subarray(0, 8).toString('hex'), png.toString('latin1', 12, 16), png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([
    '89504e470d0a1a0a',
    'IHDR',
    16,
    16,
  ]);
  const rows = inflateSync(png.subarray(41, 41 + dataLength));
  expect([rows.length, rows[0], Buffer.compare(rows.subarray(1, 65), Buffer.from(pixels.subarray(0, 64)))]).toEqual([16 * 65, 0, 0]);
});

test('an icon is made once, in the sizes of the platform, for the colours of its desktop', () => {
  let made = 0;
  const sizes: number[] = [];
  let template = 0;
  const image = {
    addRepresentation: ({ width }: { width: number }) => sizes.push(width),
    setTemplateImage: () => (template += 1),
  } as unknown as NativeImage;
  const icons = (platform: NodeJS.Platform): TrayIcons =>
    new TrayIcons({ platform, isDark: () => false, createEmpty: () => ((made += 1), image) });
  const linux = icons('linux');
  linux.of('waiting', 12);
  linux.of('waiting', 99);
  linux.of('idle', 3);
  linux.of('idle', 0);
  expect([made, sizes.slice(0, 4), template]).toEqual([2, [22, 33, 44, 66], 0]);
  icons('darwin').of('idle', 0);
  expect([sizes.slice(-4), template]).toEqual([[18, 27, 36, 54], 1]);
});

test('what will be needed is drawn one density at a time, and then it is there', () => {
  let made = 0;
  const sizes: number[] = [];
  const image = { addRepresentation: ({ width }: { width: number }) => sizes.push(width) } as unknown as NativeImage;
  const icons = new TrayIcons({ platform: 'linux', isDark: () => true, createEmpty: () => ((made += 1), image) });
  let tick: (() => void) | null = null;
  icons.drawAhead((_ms, work) => {
    tick = work;
    return () => (tick = null);
  });
  const ticks = (): number[] => {
    const counts: number[] = [];
    for (; tick !== null; tick()) counts.push(made);
    return counts;
  };
  // Five images of four densities each.
  expect(ticks()).toEqual([0, 1, 2, 3, 4].flatMap((count) => [count, count, count, count]));
  expect([made, sizes]).toEqual([5, Array.from({ length: 5 }, () => [22, 33, 44, 66]).flat()]);
  icons.of('stopped', 0);
  icons.of('working', 0, 2);
  expect(made).toBe(5);
});
