// The app's icon as files: PNG files for Linux and the window, an ICO and an ICNS.

import { encodePng } from '../main/desktop/png.ts';
import { drawAppIcon } from './app-icon.mjs';
import { encodeIcns, encodeIco, icnsSizes, icoSizes } from './icon-containers.mjs';

const linuxSizes = [16, 24, 32, 48, 64, 128, 256, 512, 1024];
/** The window's own icon, read from the package. */
const WINDOW_PX = 256;

/** @returns {{ name: string, data: Buffer }[]} */
export function createIconFiles() {
  return [
    ...linuxSizes.map((sizePx) => ({ name: `${sizePx}x${sizePx}.png`, data: sized(sizePx, 'other').png })),
    { name: 'icon.png', data: sized(WINDOW_PX, 'other').png },
    { name: 'icon.ico', data: encodeIco(icoSizes.map((sizePx) => sized(sizePx, 'other'))) },
    { name: 'icon.icns', data: encodeIcns(icnsSizes.map((sizePx) => sized(sizePx, 'mac'))) },
  ];
}

/**
 * @param {number} sizePx
 * @param {'mac' | 'other'} platform
 */
function sized(sizePx, platform) {
  return { sizePx, png: encodePng(drawAppIcon(sizePx, platform), sizePx, sizePx) };
}
