// Stores the window's place in a small file of the data folder. Drops a place outside all screens; ignores an unreadable file.

import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { jsonIn } from '../../core/base/json.ts';
import { makeFolders } from '../../core/base/make-folders.ts';
import { renameOver } from '../../core/base/rename-over.ts';
import type { Rectangle } from 'electron';
import * as z from 'zod';

const placeSchema = z.strictObject({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int().min(360).max(20_000),
  height: z.number().int().min(300).max(20_000),
  maximized: z.boolean(),
});
export type WindowPlace = z.infer<typeof placeSchema>;

/** At least this many pixels of the window must be on a screen, so that it can be dragged. */
const VISIBLE_MIN = 100;

export class WindowPlaceFile {
  readonly #path: string;

  constructor(home: string) {
    this.#path = join(home, 'run', 'window.json');
  }

  /** The last place, if a current screen shows it. */
  read(screens: readonly Rectangle[]): WindowPlace | null {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch {
      // There is no file before the first save.
      return null;
    }
    const parsed = placeSchema.safeParse(jsonIn(text));
    return parsed.success && screens.some((screen) => overlap(parsed.data, screen)) ? parsed.data : null;
  }

  /** Never throws: losing the place is harmless. */
  write(place: WindowPlace): void {
    try {
      makeFolders({ mkdirSync, statSync }, dirname(this.#path));
      const next = `${this.#path}.${process.pid}`;
      writeFileSync(next, JSON.stringify(place), { mode: 0o600 });
      renameOver({ renameSync }, next, this.#path);
    } catch {
      // Other parts report a full or read-only disk.
    }
  }
}

function overlap(place: Rectangle, screen: Rectangle): boolean {
  const width = Math.min(place.x + place.width, screen.x + screen.width) - Math.max(place.x, screen.x);
  const height = Math.min(place.y + place.height, screen.y + screen.height) - Math.max(place.y, screen.y);
  return width >= VISIBLE_MIN && height >= VISIBLE_MIN;
}
