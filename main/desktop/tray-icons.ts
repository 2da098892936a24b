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
/** Icons that may be needed at once. Drawing the images of all densities takes up to twenty milliseconds. */
const soonNeeded: readonly (readonly [Activity, number, number])[] = [
  ['stopped', 0, 0],
  ['working', 0, 0],
  ['waiting', 1, 0],
  ['working', 0, 1],
  ['working', 0, 2],
];
const DRAW_EVERY_MS = 40;

interface Drawing {
  readonly style: GlyphStyle;
  readonly activity: Activity;
  readonly count: number;
  readonly frame: number;
}

export class TrayIcons {
  readonly #options: TrayIconsOptions;
  readonly #made = new Map<string, NativeImage>();
  /** Images of single densities, until an icon is complete. */
  readonly #drawn = new Map<string, Buffer>();

  constructor(options: TrayIconsOptions) {
    this.#options = options;
  }

  of(activity: Activity, count: number, frame = 0): NativeImage {
    const drawing = this.#drawingOf(activity, count, frame);
    const key = keyOf(drawing);
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const image = this.#options.createEmpty();
    for (const scaleFactor of densities) {
      const sizePx = this.#sizePx(scaleFactor);
      image.addRepresentation({ scaleFactor, width: sizePx, height: sizePx, buffer: this.#draw(drawing, sizePx) });
      this.#drawn.delete(`${key}/${sizePx}`);
    }
    if (drawing.style === 'template') image.setTemplateImage(true);
    this.#made.set(key, image);
    return image;
  }

  /** Draws what will be needed while nothing is waited for, one density at a time, so that no press waits for a drawing. */
  drawAhead(every: (ms: number, work: () => void) => () => void): () => void {
    const left = soonNeeded.flatMap((needed) => densities.map((scaleFactor) => ({ needed, scaleFactor })));
    const stop = every(DRAW_EVERY_MS, () => {
      const next = left.shift();
      if (next !== undefined) this.#drawOne(next.needed, next.scaleFactor);
      if (left.length === 0) stop();
    });
    return stop;
  }

  #drawOne(needed: (typeof soonNeeded)[number], scaleFactor: number): void {
    const drawing = this.#drawingOf(...needed);
    if (this.#made.has(keyOf(drawing))) return;
    this.#draw(drawing, this.#sizePx(scaleFactor));
    if (scaleFactor === densities.at(-1)) this.of(...needed);
  }

  #draw(drawing: Drawing, sizePx: number): Buffer {
    const key = `${keyOf(drawing)}/${sizePx}`;
    const known = this.#drawn.get(key);
    if (known !== undefined) return known;
    const buffer = encodePng(drawGlyph({ ...drawing, sizePx }).toPixels(), sizePx, sizePx);
    this.#drawn.set(key, buffer);
    return buffer;
  }

  #drawingOf(activity: Activity, count: number, frame: number): Drawing {
    return { style: this.#style(), activity, count: activity === 'waiting' ? Math.min(count, COUNT_MAX) : 0, frame };
  }

  #sizePx(scaleFactor: number): number {
    return Math.round((sizePoints[this.#options.platform] ?? LINUX_POINTS) * scaleFactor);
  }

  #style(): GlyphStyle {
    if (this.#options.platform === 'darwin') return 'template';
    return this.#options.isDark() ? 'dark' : 'light';
  }
}

function keyOf({ style, activity, count, frame }: Drawing): string {
  return `${style}/${activity}/${count}/${frame}`;
}
