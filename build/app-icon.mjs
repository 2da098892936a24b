// Draws the app's icon: the tray glyph cut light into a rounded square. Pure: from a size to pixels.

import { curve, Drawing, roundedSquare, stroke } from '../main/desktop/drawing.ts';

/** @typedef {import('../main/desktop/drawing.ts').Point} Point */
/** @typedef {import('../main/desktop/drawing.ts').Shape} Shape */
/** @typedef {{ pen: number, scale: number }} Weight */

const UNITS = 24;
const black = { r: 0, g: 0, b: 0 };
const ink = [250, 248, 243];
/** From the top of the square to its bottom. */
const ground = [
  [22, 150, 143],
  [6, 94, 92],
];

/** Of the glyph below, in its units. */
const glyphCentre = { x: 12, y: 11.6 };
const tray = [
  { x: 2.6, y: 14.2 },
  { x: 7.4, y: 14.2 },
  { x: 8.9, y: 17 },
  { x: 15.1, y: 17 },
  { x: 16.6, y: 14.2 },
  { x: 21.4, y: 14.2 },
  { x: 21.4, y: 19.4 },
  { x: 19.8, y: 21 },
  { x: 4.2, y: 21 },
  { x: 2.6, y: 19.4 },
  { x: 2.6, y: 14.2 },
];
/** Scratches: the middle one goes deepest. */
const marks = [
  { x: 6.6, end: 11.4 },
  { x: 12, end: 14.2 },
  { x: 17.4, end: 11.4 },
].map(({ x, end }) => curve({ x: x + 2, y: 2.2 }, { x: x + 1.5, y: 7 }, { x: x - 1.5, y: end }, 24));

/**
 * macOS leaves a margin for the shadow it draws (824 of 1024 pixels, in Apple's template); elsewhere the square nearly fills its place.
 * @param {number} sizePx
 * @param {'mac' | 'other'} platform
 * @returns {Uint8Array} rows from the top, RGBA
 */
export function drawAppIcon(sizePx, platform) {
  const half = platform === 'mac' ? (UNITS * 824) / 2048 : UNITS * (sizePx <= 32 ? 0.5 : 0.47);
  const square = new Drawing(sizePx, UNITS);
  square.paint(roundedSquare({ x: 12, y: 12 }, half, half * 0.45), black);
  const glyph = drawGlyph(sizePx, half, weightFor(sizePx));
  return blend(square.toPixels(), glyph.toPixels(), sizePx, half);
}

/**
 * Few pixels need a larger glyph of heavier lines.
 * @param {number} sizePx
 * @returns {Weight}
 */
function weightFor(sizePx) {
  if (sizePx <= 24) return { pen: 2.2, scale: 0.86 };
  if (sizePx <= 48) return { pen: 2, scale: 0.76 };
  return { pen: 1.8, scale: 0.7 };
}

/**
 * @param {number} sizePx
 * @param {number} half
 * @param {Weight} weight
 */
function drawGlyph(sizePx, half, { pen, scale }) {
  const drawing = new Drawing(sizePx, UNITS);
  const factor = (scale * half * 2) / UNITS;
  const place = (/** @type {{ x: number, y: number }} */ { x, y }) => ({
    x: 12 + (x - glyphCentre.x) * factor,
    y: 12 + (y - glyphCentre.y) * factor,
  });
  const width = pen * factor;
  const trayLine = tray.map(place);
  drawing.paint(within(trayLine, width, stroke(trayLine, width)), black);
  for (const mark of marks) {
    const line = mark.map(place);
    drawing.paint(within(line, width * 1.3, scratch(line, width * 1.3)), black);
  }
  return drawing;
}

/**
 * A line that swells and then runs out into a point.
 * @param {Point[]} points
 * @param {number} width where it is widest
 * @returns {Shape}
 */
function scratch(points, width) {
  const radii = points.map((_, index) => (width / 2) * swelling(index / (points.length - 1)));
  return (point) => {
    let nearest = Infinity;
    for (let index = 1; index < points.length; index += 1) {
      const [from, to] = [points[index - 1], points[index]];
      if (from === undefined || to === undefined) continue;
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const along = Math.min(1, Math.max(0, ((point.x - from.x) * dx + (point.y - from.y) * dy) / (dx * dx + dy * dy)));
      const radius = (radii[index - 1] ?? 0) * (1 - along) + (radii[index] ?? 0) * along;
      nearest = Math.min(nearest, Math.hypot(point.x - from.x - along * dx, point.y - from.y - along * dy) - radius);
    }
    return nearest;
  };
}

/** @param {number} along from 0 to 1 */
function swelling(along) {
  const widest = 0.4;
  if (along < widest) return 0.6 + 0.4 * Math.sin(((along / widest) * Math.PI) / 2);
  return 0.1 + 0.9 * Math.cos((((along - widest) / (1 - widest)) * Math.PI) / 2);
}

/**
 * The shape, not computed where it cannot be: most of a large icon.
 * @param {Point[]} points
 * @param {number} margin
 * @param {Shape} shape
 * @returns {Shape}
 */
function within(points, margin, shape) {
  const [left, right] = [Math.min(...points.map(({ x }) => x)) - margin, Math.max(...points.map(({ x }) => x)) + margin];
  const [top, bottom] = [Math.min(...points.map(({ y }) => y)) - margin, Math.max(...points.map(({ y }) => y)) + margin];
  return (point) => (point.x < left || point.x > right || point.y < top || point.y > bottom ? UNITS : shape(point));
}

/**
 * @param {Uint8Array} square
 * @param {Uint8Array} glyph
 * @param {number} sizePx
 * @param {number} half
 */
function blend(square, glyph, sizePx, half) {
  const out = new Uint8Array(square.length);
  for (let index = 0; index < out.length; index += 4) {
    const alpha = square[index + 3] ?? 0;
    if (alpha === 0) continue;
    const row = (Math.floor(index / 4 / sizePx) + 0.5) * (UNITS / sizePx);
    const down = Math.min(1, Math.max(0, (row - 12 + half) / (2 * half)));
    const cover = (glyph[index + 3] ?? 0) / 255;
    for (let channel = 0; channel < 3; channel += 1) {
      const top = ground[0]?.[channel] ?? 0;
      const under = top + ((ground[1]?.[channel] ?? 0) - top) * down;
      out[index + channel] = Math.round(under + ((ink[channel] ?? 0) - under) * cover);
    }
    out[index + 3] = alpha;
  }
  return out;
}
