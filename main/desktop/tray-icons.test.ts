// The tray shows the committed picture of its state, in each size of the platform, as a template image on macOS only.

import { fileURLToPath } from 'node:url';
import type { NativeImage } from 'electron';
import { expect, test } from 'vitest';
import { TrayIcons } from './tray-icons.ts';

const folder = fileURLToPath(new URL('../../build/tray-icons', import.meta.url));

interface Made {
  readonly parts: { scaleFactor?: number; width?: number; px: number }[];
  isTemplate: boolean;
}

interface Theme {
  shouldUseDarkColors: boolean;
  shouldUseDarkColorsForSystemIntegratedUI: boolean;
}

function rig(
  platform: NodeJS.Platform,
  { screenScale = 1, desktops = [] }: { screenScale?: number; desktops?: string[] } = {},
): { icons: TrayIcons; made: Made[]; theme: Theme } {
  const made: Made[] = [];
  const theme = { shouldUseDarkColors: false, shouldUseDarkColorsForSystemIntegratedUI: false };
  const createEmpty = (): NativeImage => {
    const one: Made = { parts: [], isTemplate: false };
    made.push(one);
    return {
      addRepresentation: ({ scaleFactor = 0, width = 0, buffer }: { scaleFactor?: number; width?: number; buffer: Buffer }) =>
        one.parts.push({ scaleFactor, width, px: buffer.readUInt32BE(16) }),
      setTemplateImage: (isTemplate: boolean) => (one.isTemplate = isTemplate),
    } as unknown as NativeImage;
  };
  return { icons: new TrayIcons({ platform, theme, scaleFactor: () => screenScale, desktops, createEmpty, folder }), made, theme };
}

test.each([
  ['darwin', 2, [18, 36], [1, 2]],
  ['linux', 2, [22, 44], [1, 2]],
  // Electron makes the icon of Windows of one size: the one of the screen.
  ['win32', 1, [16], [1]],
  ['win32', 1.25, [24], [1]],
  ['win32', 1.5, [24], [1]],
  ['win32', 2, [32], [1]],
  ['win32', 3, [32], [1]],
] as const)('every state has a picture for %s at the scale %d: %j', (platform, scale, sizes, scales) => {
  const { icons, made } = rig(platform, { screenScale: scale });
  const isTemplate = platform === 'darwin';
  icons.of('idle', 3);
  icons.of('stopped', 0);
  for (const frame of [0, 1, 2]) icons.of('working', 0, frame);
  for (let count = 0; count <= 12; count += 1) icons.of('waiting', count);
  // Counts of 0 and 1 share a picture, and so do those above nine.
  expect(made).toHaveLength(15);
  for (const one of made) expect(one).toEqual({ isTemplate, parts: sizes.map((px, at) => ({ scaleFactor: scales[at], width: px, px })) });
});

test('creates each image once, and again when the panel changes colour', () => {
  const { icons, made, theme } = rig('linux');
  icons.of('waiting', 12);
  expect(icons.of('waiting', 99)).toBe(icons.of('waiting', 12));
  theme.shouldUseDarkColors = true;
  icons.of('waiting', 12);
  expect(made).toHaveLength(2);
});

test('on Windows the picture follows the task bar, whose colour differs from that of the windows', () => {
  const { icons, theme } = rig('win32');
  const onLight = icons.of('idle', 0);
  theme.shouldUseDarkColors = true;
  expect(icons.of('idle', 0)).toBe(onLight);
  theme.shouldUseDarkColorsForSystemIntegratedUI = true;
  expect(icons.of('idle', 0)).not.toBe(onLight);
});

test.each([
  [['ubuntu', 'GNOME'], true],
  [['XFCE'], true],
  [['KDE'], false],
  [[], false],
])('the picture is for a dark panel on a desktop whose panel is dark with light windows too: %j', (desktops, isDark) => {
  const { icons, made, theme } = rig('linux', { desktops });
  icons.of('idle', 0);
  theme.shouldUseDarkColors = true;
  icons.of('idle', 0);
  expect(made).toHaveLength(isDark ? 1 : 2);
});
