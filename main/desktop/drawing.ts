// A small drawing surface: shapes given by their distance from each point, painted with smooth edges, later ones over earlier ones.
// For icons of a few dozen pixels; everything is computed for every pixel.

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Distance of a point from the shape's edge, negative inside, in the units of the drawing. */
export type Shape = (point: Point) => number;

export interface Colour {
  readonly r: number;
  readonly g: number;
  readonly b: number;
}

export class Drawing {
  readonly sizePx: number;
  readonly #scale: number;
  readonly #pixels: Float64Array;

  /** A square of `units` by `units`, painted on `sizePx` by `sizePx` pixels. */
  constructor(sizePx: number, units: number) {
    this.sizePx = sizePx;
    this.#scale = sizePx / units;
    this.#pixels = new Float64Array(sizePx * sizePx * 4);
  }

  paint(shape: Shape, colour: Colour): void {
    this.#each(shape, (index, cover) => {
      const pixels = this.#pixels;
      const under = pixels[index + 3] ?? 0;
      const alpha = cover + under * (1 - cover);
      const mix = (over: number, old: number): number => (alpha === 0 ? 0 : (over * cover + old * under * (1 - cover)) / alpha);
      pixels[index] = mix(colour.r, pixels[index] ?? 0);
      pixels[index + 1] = mix(colour.g, pixels[index + 1] ?? 0);
      pixels[index + 2] = mix(colour.b, pixels[index + 2] ?? 0);
      pixels[index + 3] = alpha;
    });
  }

  /** Erases: a hole to see the panel through. */
  erase(shape: Shape): void {
    this.#each(shape, (index, cover) => {
      this.#pixels[index + 3] = (this.#pixels[index + 3] ?? 0) * (1 - cover);
    });
  }

  /** Rows from the top, RGBA. */
  toPixels(): Uint8Array {
    const out = new Uint8Array(this.#pixels.length);
    for (let index = 0; index < out.length; index += 1) {
      const value = this.#pixels[index] ?? 0;
      out[index] = Math.round(index % 4 === 3 ? value * 255 : value);
    }
    return out;
  }

  #each(shape: Shape, visit: (index: number, cover: number) => void): void {
    for (let row = 0; row < this.sizePx; row += 1) {
      for (let column = 0; column < this.sizePx; column += 1) {
        const distance = shape({ x: (column + 0.5) / this.#scale, y: (row + 0.5) / this.#scale });
        const cover = Math.min(1, Math.max(0, 0.5 - distance * this.#scale));
        if (cover > 0) visit((row * this.sizePx + column) * 4, cover);
      }
    }
  }
}

/** A line through points, with round ends and joints. */
export function stroke(points: readonly Point[], width: number): Shape {
  return (point) => {
    let nearest = Infinity;
    for (let index = 1; index < points.length; index += 1) {
      const from = points[index - 1];
      const to = points[index];
      if (from !== undefined && to !== undefined) nearest = Math.min(nearest, distanceToSegment(point, from, to));
    }
    return nearest - width / 2;
  };
}

export function disc(centre: Point, radius: number): Shape {
  return (point) => length(point.x - centre.x, point.y - centre.y) - radius;
}

export function roundedSquare(centre: Point, half: number, radius: number): Shape {
  return (point) => {
    const x = Math.abs(point.x - centre.x) - half + radius;
    const y = Math.abs(point.y - centre.y) - half + radius;
    return length(Math.max(x, 0), Math.max(y, 0)) + Math.min(Math.max(x, y), 0) - radius;
  };
}

/** The edge of a shape, as wide as a pen. */
export function outline(shape: Shape, width: number): Shape {
  return (point) => Math.abs(shape(point)) - width / 2;
}

/** A curve with one control point, as points. */
export function curve(from: Point, control: Point, to: Point, steps = 8): Point[] {
  return Array.from({ length: steps + 1 }, (_, step) => {
    const t = step / steps;
    const u = 1 - t;
    return { x: u * u * from.x + 2 * u * t * control.x + t * t * to.x, y: u * u * from.y + 2 * u * t * control.y + t * t * to.y };
  });
}

function distanceToSegment(point: Point, from: Point, to: Point): number {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : Math.min(1, Math.max(0, ((point.x - from.x) * dx + (point.y - from.y) * dy) / squared));
  return length(point.x - from.x - along * dx, point.y - from.y - along * dy);
}

/** Ten times as quick as Math.hypot, whose care for very large numbers no icon needs. */
function length(x: number, y: number): number {
  return Math.sqrt(x * x + y * y);
}
