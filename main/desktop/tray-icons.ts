// The tray's pictures, in the sizes and colours of the platform. They are files in `build/tray-icons`; nothing is drawn here.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeImage, NativeTheme } from 'electron';
import type { Activity } from './desktop-status.ts';

export interface TrayIconsOptions {
  createEmpty(): NativeImage;
  readonly platform: NodeJS.Platform;
  /** The colours of the windows, and on Windows those of the task bar, which may differ. */
  readonly theme: Pick<NativeTheme, 'shouldUseDarkColors' | 'shouldUseDarkColorsForSystemIntegratedUI'>;
  /** Of the screen with the task bar, on Windows. */
  scaleFactor(): number;
  /** The names of the desktop, as in XDG_CURRENT_DESKTOP; empty outside Linux. */
  readonly desktops: readonly string[];
  /** The folder that contains the pictures. */
  readonly folder: string;
}

/** Sizes for the screen densities; Electron scales between them. */
const pixels: Readonly<Partial<Record<NodeJS.Platform, readonly number[]>>> = { darwin: [18, 36], win32: [16, 24, 32] };
const LINUX_PIXELS: readonly number[] = [22, 44];
const COUNT_MAX = 9;
/** Desktops whose panel is dark whatever the colours of the windows: GNOME's always, that of Xfce since 4.16 unless a person changes it. */
const withDarkPanel: ReadonlySet<string> = new Set(['GNOME', 'Unity', 'XFCE']);

export class TrayIcons {
  readonly #options: TrayIconsOptions;
  readonly #made = new Map<string, NativeImage>();

  constructor(options: TrayIconsOptions) {
    this.#options = options;
  }

  of(activity: Activity, count: number, frame = 0): NativeImage {
    const style = this.#style();
    const name = pictureName(activity, count, frame);
    const sizes = this.#sizes();
    const key = `${style}/${name}-${sizes.join()}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const { folder } = this.#options;
    const image = this.#options.createEmpty();
    for (const size of sizes) {
      const buffer = readFileSync(join(folder, style, `${name}-${size}.png`));
      image.addRepresentation({ scaleFactor: size / (sizes[0] ?? size), width: size, height: size, buffer });
    }
    // Black with an alpha channel; macOS applies the colour.
    if (style === 'template') image.setTemplateImage(true);
    this.#made.set(key, image);
    return image;
  }

  #sizes(): readonly number[] {
    const { platform } = this.#options;
    const sizes = pixels[platform] ?? LINUX_PIXELS;
    if (platform !== 'win32') return sizes;
    // Electron makes the icon of the first size only, and Windows enlarges it.
    const [normal = 0] = sizes;
    return [sizes.find((size) => size >= normal * this.#options.scaleFactor()) ?? Math.max(...sizes)];
  }

  /** `light` and `dark` name the colour of the panel, not of the picture. */
  #style(): 'template' | 'light' | 'dark' {
    const { platform, theme, desktops } = this.#options;
    if (platform === 'darwin') return 'template';
    if (desktops.some((name) => withDarkPanel.has(name))) return 'dark';
    const isDark = platform === 'win32' ? theme.shouldUseDarkColorsForSystemIntegratedUI : theme.shouldUseDarkColors;
    return isDark ? 'dark' : 'light';
  }
}

function pictureName(activity: Activity, count: number, frame: number): string {
  if (activity === 'working') return `working-${frame + 1}`;
  if (activity === 'waiting') return `waiting-${count > COUNT_MAX ? 'more' : Math.max(1, count)}`;
  return activity;
}
