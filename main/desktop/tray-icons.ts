// Makes the images of the tray from the drawn glyph, each once, in the sizes and the colours of the platform.

import type { NativeImage } from 'electron';
import type { Activity } from './desktop-status.ts';
import { encodePng } from './png.ts';
import { drawGlyph, type GlyphStyle } from './tray-glyph.ts';

export interface TrayIconsOptions {
  createEmpty(): NativeImage;
  readonly platform: NodeJS.Platform;
  isDark(): boolean;
}

const COUNT_MAX = 10;
/** Points; one image for each density of screen. */
const sizePoints: Readonly<Partial<Record<NodeJS.Platform, number>>> = { darwin: 18, win32: 16 };
const LINUX_POINTS = 22;
const densities = [1, 1.5, 2, 3] as const;
/** What may have to be shown at once. One set of images takes up to twenty milliseconds to draw. */
const soonNeeded: readonly (readonly [Activity, number, number])[] = [
  ['stopped', 0, 0],
  ['working', 0, 0],
  ['waiting', 1, 0],
  ['working', 0, 1],
  ['working', 0, 2],
];
const DRAW_EVERY_MS = 150;

export class TrayIcons {
  readonly #options: TrayIconsOptions;
  readonly #made = new Map<string, NativeImage>();

  constructor(options: TrayIconsOptions) {
    this.#options = options;
  }

  of(activity: Activity, count: number, frame = 0): NativeImage {
    const style = this.#style();
    const shownCount = activity === 'waiting' ? Math.min(count, COUNT_MAX) : 0;
    const key = `${style}/${activity}/${shownCount}/${frame}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const image = this.#options.createEmpty();
    const points = sizePoints[this.#options.platform] ?? LINUX_POINTS;
    for (const scaleFactor of densities) {
      const sizePx = Math.round(points * scaleFactor);
      const pixels = drawGlyph({ activity, count: shownCount, frame, style, sizePx }).toPixels();
      image.addRepresentation({ scaleFactor, width: sizePx, height: sizePx, buffer: encodePng(pixels, sizePx, sizePx) });
    }
    if (style === 'template') image.setTemplateImage(true);
    this.#made.set(key, image);
    return image;
  }

  /** Draws what will be needed while nothing is waited for, one at a time, so that no press waits for a drawing. */
  drawAhead(every: (ms: number, work: () => void) => () => void): () => void {
    const left = [...soonNeeded];
    const stop = every(DRAW_EVERY_MS, () => {
      const next = left.shift();
      if (next !== undefined) this.of(...next);
      if (left.length === 0) stop();
    });
    return stop;
  }

  #style(): GlyphStyle {
    if (this.#options.platform === 'darwin') return 'template';
    return this.#options.isDark() ? 'dark' : 'light';
  }
}
