// The glyph of the tray: a tray with three claw marks. Hollow when idle, with a dot when working, with a count when it waits for a person,
// a struck square when stopped. Pure: from a state to pixels.

import { curve, disc, Drawing, outline, roundedSquare, stroke, type Colour, type Point } from './drawing.ts';
import type { Activity } from './desktop-status.ts';

/** light and dark name the panel behind the glyph; template is black with alpha, which macOS colours. */
export type GlyphStyle = 'template' | 'light' | 'dark';

export interface Glyph {
  readonly activity: Activity;
  readonly count: number;
  /** The position of the dot of `working`: 0, 1, 2. */
  readonly frame: number;
  readonly style: GlyphStyle;
  readonly sizePx: number;
}

const UNITS = 24;
const PEN = 2;

const tray: readonly Point[] = [
  { x: 2.2, y: 13.4 },
  { x: 7.7, y: 13.4 },
  { x: 9.2, y: 16.3 },
  { x: 14.8, y: 16.3 },
  { x: 16.3, y: 13.4 },
  { x: 21.8, y: 13.4 },
  { x: 21.8, y: 19.2 },
  { x: 20.2, y: 20.9 },
  { x: 3.8, y: 20.9 },
  { x: 2.2, y: 19.2 },
  { x: 2.2, y: 13.4 },
];
const marks: readonly (readonly Point[])[] = [6.9, 12.1, 17.3].map((x, index) =>
  curve({ x: x + 1, y: 2.8 }, { x: x + 0.9, y: 6.6 }, { x: x - 0.9, y: index === 1 ? 10.8 : 9.8 }),
);

const inks: Readonly<Record<GlyphStyle, Colour>> = {
  template: { r: 0, g: 0, b: 0 },
  light: { r: 38, g: 36, b: 33 },
  dark: { r: 244, g: 242, b: 238 },
};
const accents: Readonly<Record<'working' | 'waiting' | 'stopped', Colour>> = {
  working: { r: 26, g: 156, b: 148 },
  waiting: { r: 217, g: 136, b: 6 },
  stopped: { r: 214, g: 48, b: 49 },
};
const white: Colour = { r: 255, g: 255, b: 255 };

export function drawGlyph(glyph: Glyph): Drawing {
  const drawing = new Drawing(glyph.sizePx, UNITS);
  const ink = inks[glyph.style];
  if (glyph.activity === 'stopped') {
    drawStopped(drawing, glyph.style);
    return drawing;
  }
  drawing.paint(stroke(tray, PEN), ink);
  for (const mark of marks) drawing.paint(stroke(mark, PEN), ink);
  if (glyph.activity === 'working') drawDot(drawing, glyph);
  if (glyph.activity === 'waiting') drawCount(drawing, glyph);
  return drawing;
}

function drawStopped(drawing: Drawing, style: GlyphStyle): void {
  const colour = style === 'template' ? inks.template : accents.stopped;
  drawing.paint(outline(roundedSquare({ x: 12, y: 12 }, 8.6, 2), PEN + 0.4), colour);
  drawing.paint(
    stroke(
      [
        { x: 5.4, y: 18.6 },
        { x: 18.6, y: 5.4 },
      ],
      PEN + 0.4,
    ),
    colour,
  );
}

function drawDot(drawing: Drawing, { frame, style }: Glyph): void {
  const centre = { x: 6.4 + 5.6 * (frame % 3), y: 18.6 };
  drawing.erase(disc(centre, 3.6));
  drawing.paint(disc(centre, 2.6), style === 'template' ? inks.template : accents.working);
}

function drawCount(drawing: Drawing, { count, style }: Glyph): void {
  const centre = { x: 16.4, y: 16.4 };
  drawing.erase(disc(centre, 8.4));
  const isTemplate = style === 'template';
  drawing.paint(disc(centre, 7.4), isTemplate ? inks.template : accents.waiting);
  for (const line of digitLines(count, centre)) {
    // In a template the digit is a hole: colour would be lost.
    if (isTemplate) drawing.erase(stroke(line, 1.7));
    else drawing.paint(stroke(line, 1.7), white);
  }
}

/** Digits of straight lines on a grid of 2 by 4; a plus sign means more than nine. */
const digits: Readonly<Record<string, readonly (readonly (readonly [number, number])[])[]>> = {
  '1': [
    [
      [0.4, 0.9],
      [1.2, 0],
      [1.2, 4],
    ],
  ],
  '2': [
    [
      [0, 0.8],
      [0.4, 0],
      [1.6, 0],
      [2, 0.8],
      [2, 1.5],
      [0, 4],
      [2, 4],
    ],
  ],
  '3': [
    [
      [0, 0],
      [2, 0],
      [1, 1.7],
      [2, 2.6],
      [2, 3.3],
      [1.4, 4],
      [0, 4],
    ],
  ],
  '4': [
    [
      [1.6, 4],
      [1.6, 0],
      [0, 2.8],
      [2.2, 2.8],
    ],
  ],
  '5': [
    [
      [2, 0],
      [0.2, 0],
      [0.2, 1.8],
      [1.5, 1.8],
      [2, 2.4],
      [2, 3.3],
      [1.4, 4],
      [0, 4],
    ],
  ],
  '6': [
    [
      [1.8, 0],
      [0.6, 0.6],
      [0, 2],
      [0, 3.4],
      [0.6, 4],
      [1.5, 4],
      [2, 3.4],
      [2, 2.4],
      [1.5, 1.8],
      [0, 2],
    ],
  ],
  '7': [
    [
      [0, 0],
      [2, 0],
      [0.8, 4],
    ],
  ],
  '8': [
    [
      [1, 1.8],
      [0.2, 1.2],
      [0.2, 0.5],
      [0.7, 0],
      [1.3, 0],
      [1.8, 0.5],
      [1.8, 1.2],
      [1, 1.8],
      [0, 2.6],
      [0, 3.4],
      [0.6, 4],
      [1.4, 4],
      [2, 3.4],
      [2, 2.6],
      [1, 1.8],
    ],
  ],
  '9': [
    [
      [2, 2],
      [0.5, 2.2],
      [0, 1.6],
      [0, 0.6],
      [0.5, 0],
      [1.4, 0],
      [2, 0.6],
      [2, 2],
      [1.4, 3.4],
      [0.2, 4],
    ],
  ],
  '+': [
    [
      [1, 0.6],
      [1, 3.4],
    ],
    [
      [-0.4, 2],
      [2.4, 2],
    ],
  ],
};

function digitLines(count: number, centre: Point): Point[][] {
  const sign = count > 9 ? '+' : String(Math.max(1, count));
  const scale = 2.1;
  return (digits[sign] ?? []).map((line) => line.map(([x, y]) => ({ x: centre.x + (x - 1) * scale, y: centre.y + (y - 2) * scale })));
}
