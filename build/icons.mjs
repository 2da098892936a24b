// `node build/icons.mjs`: draws the app's icon into build/icons: PNG files for Linux and the window, an ICO and an ICNS. The files are
// committed; a test holds them against the drawing.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { encodePng } from '../main/desktop/png.ts';
import { drawAppIcon } from './app-icon.mjs';
import { projectRoot } from './files.mjs';
import { encodeIcns, encodeIco, icnsSizes, icoSizes } from './icon-containers.mjs';

const linuxSizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
/** The window's own icon, read from the package. */
const WINDOW_PX = 256;

/**
 * @param {number} sizePx
 * @param {'mac' | 'other'} platform
 */
const sized = (sizePx, platform) => ({ sizePx, png: encodePng(drawAppIcon(sizePx, platform), sizePx, sizePx) });

const files = [
  ...linuxSizes.map((sizePx) => ({ name: `${sizePx}x${sizePx}.png`, data: sized(sizePx, 'other').png })),
  { name: 'icon.png', data: sized(WINDOW_PX, 'other').png },
  { name: 'icon.ico', data: encodeIco(icoSizes.map((sizePx) => sized(sizePx, 'other'))) },
  { name: 'icon.icns', data: encodeIcns(icnsSizes.map((sizePx) => sized(sizePx, 'mac'))) },
];
const folder = join(projectRoot, 'build', 'icons');
mkdirSync(folder, { recursive: true });
for (const { name, data } of files) {
  writeFileSync(join(folder, name), data);
  process.stdout.write(`${name.padEnd(14)}${data.length} bytes\n`);
}
