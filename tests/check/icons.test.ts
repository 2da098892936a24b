// The pictures of the app and of the tray: all present, with the stated sizes, in valid containers, and different for each state.

import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodePng } from '../e2e/driver/picture.ts';
import { projectRoot } from './fixture-tree.ts';

const folder = join(projectRoot, 'build', 'icons');

interface Picture {
  /** The picture's name in the container. */
  readonly label: string;
  readonly sizePx: number;
  /** The decoded pixels, because the compression of a PNG differs between versions of zlib. */
  readonly pixels: string;
}

test('the app has its icon in every size, and so has the window', () => {
  const linux = [16, 24, 32, 48, 64, 128, 256, 512, 1024].map((px) => `${px}x${px}.png`);
  expect(readdirSync(folder).sort()).toEqual([...linux, 'icon.icns', 'icon.ico', 'icon.png'].sort());
  for (const name of [...linux, 'icon.png']) {
    const [{ sizePx } = { sizePx: 0 }] = pictures(name, readFileSync(join(folder, name)));
    expect({ name, sizePx }).toEqual({ name, sizePx: name === 'icon.png' ? 256 : Number.parseInt(name, 10) });
  }
});

const states = [
  'idle',
  ...[1, 2, 3].map((frame) => `working-${frame}`),
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 'more'].map((count) => `waiting-${count}`),
  'stopped',
];

test.each([
  ['template', [18, 36]],
  ['light', [16, 22, 24, 32, 44]],
  ['dark', [16, 22, 24, 32, 44]],
] as const)('the tray has a picture of each state in each size, no two alike: %s', (style, sizes) => {
  const within = join(projectRoot, 'build', 'tray-icons', style);
  expect(readdirSync(within).sort()).toEqual(states.flatMap((state) => sizes.map((px) => `${state}-${px}.png`)).sort());
  for (const px of sizes) {
    const seen = states.map((state) => {
      const { width, height, pixels } = decodePng(readFileSync(join(within, `${state}-${px}.png`)));
      const coloured = pixels.filter((value, index) => index % 4 !== 3 && value !== 0);
      // The corners are transparent, and macOS colours a template image itself.
      expect([width, height, pixels[3], pixels.at(-1)]).toEqual([px, px, 0, 0]);
      if (style === 'template') expect(coloured).toHaveLength(0);
      return Buffer.from(pixels).toString('base64');
    });
    expect(new Set(seen).size).toBe(states.length);
  }
});

test("the ICO and ICNS contain the system's sizes, and each entry has the stated size", () => {
  const read = (name: string): readonly (readonly [string, number])[] =>
    pictures(name, readFileSync(join(folder, name))).map(({ label, sizePx }) => [label, sizePx]);
  expect(read('icon.ico')).toEqual([16, 20, 24, 32, 40, 48, 64, 128, 256].map((sizePx) => [String(sizePx), sizePx]));
  expect(read('icon.icns')).toEqual([
    ['ic11', 32],
    ['ic12', 64],
    ['ic07', 128],
    ['ic13', 256],
    ['ic08', 256],
    ['ic14', 512],
    ['ic09', 512],
    ['ic10', 1024],
  ]);
});

function pictures(name: string, data: Buffer): Picture[] {
  if (name.endsWith('.ico')) return icoParts(data);
  if (name.endsWith('.icns')) return icnsParts(data);
  return [picture(name, data)];
}

function icoParts(data: Buffer): Picture[] {
  expect([data.readUInt16LE(0), data.readUInt16LE(2)]).toEqual([0, 1]);
  const parts = Array.from({ length: data.readUInt16LE(4) }, (_, index) => {
    const at = 6 + 16 * index;
    const [lengthBytes, offset] = [data.readUInt32LE(at + 8), data.readUInt32LE(at + 12)];
    return { ...picture(String(data.readUInt8(at) || 256), data.subarray(offset, offset + lengthBytes)), end: offset + lengthBytes };
  });
  expect(parts.at(-1)?.end).toBe(data.length);
  return parts.map(({ end: _end, ...part }) => part);
}

function icnsParts(data: Buffer): Picture[] {
  expect([data.toString('latin1', 0, 4), data.readUInt32BE(4)]).toEqual(['icns', data.length]);
  const parts: Picture[] = [];
  for (let at = 8; at < data.length; at += data.readUInt32BE(at + 4)) {
    parts.push(picture(data.toString('latin1', at, at + 4), data.subarray(at + 8, at + data.readUInt32BE(at + 4))));
  }
  return parts;
}

/** Checks that a PNG has a header, one run of pixels and an end, as our own writer produces it. */
function picture(label: string, png: Buffer): Picture {
  const lengthBytes = png.readUInt32BE(33);
  expect([png.toString('latin1', 1, 4), png.toString('latin1', 37, 41), png.length]).toEqual(['PNG', 'IDAT', 33 + 12 + lengthBytes + 12]);
  const rows = inflateSync(png.subarray(41, 41 + lengthBytes));
  const sizePx = png.readUInt32BE(16);
  expect(rows.length).toBe(sizePx * (4 * sizePx + 1));
  return { label, sizePx, pixels: createHash('sha256').update(rows).digest('hex') };
}
