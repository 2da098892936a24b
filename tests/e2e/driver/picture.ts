// Scaled-down pictures of the window for comparison: at an eighth of the size, differences in font rendering between machines disappear and
// the layout remains.

import { inflateSync } from 'node:zlib';
import { encodePng } from './png.ts';

const shrinkBy = 8;
/** A cell counts as different from this difference on, of 255. */
const cellDiffersFrom = 12;
const signatureBytes = 8;

/** Rows from the top, four bytes per pixel. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/**
 * Decodes a PNG with eight bits per sample, colour with or without alpha, not interlaced: the form that Chromium and this project write.
 */
export function decodePng(file: Buffer): Picture {
  const parts: Buffer[] = [];
  let [width, height, samples] = [0, 0, 0];
  for (let at = signatureBytes; at < file.length;) {
    const length = file.readUInt32BE(at);
    const type = file.toString('latin1', at + 4, at + 8);
    const data = file.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      const kind = data[9];
      if (data[8] !== 8 || data[12] !== 0 || (kind !== 2 && kind !== 6)) throw new Error('a PNG of another kind');
      samples = kind === 6 ? 4 : 3;
    } else if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const rows = unfilter(inflateSync(Buffer.concat(parts)), width * samples, height, samples);
  if (samples === 4) return { width, height, pixels: rows };
  const pixels = new Uint8Array(width * height * 4).fill(255);
  for (let from = 0, to = 0; from < rows.length; from += 3, to += 4) {
    pixels[to] = rows[from] ?? 0;
    pixels[to + 1] = rows[from + 1] ?? 0;
    pixels[to + 2] = rows[from + 2] ?? 0;
  }
  return { width, height, pixels };
}

/** The five filters of PNG (third edition, 9.2). */
function unfilter(data: Buffer, rowBytes: number, height: number, step: number): Uint8Array {
  const rows = new Uint8Array(rowBytes * height);
  let above: Uint8Array = new Uint8Array(rowBytes);
  for (let y = 0; y < height; y++) {
    const from = y * (rowBytes + 1);
    const row = rows.subarray(y * rowBytes, (y + 1) * rowBytes);
    row.set(data.subarray(from + 1, from + 1 + rowBytes));
    addPredicted(data[from] ?? 0, row, above, step);
    above = row;
  }
  return rows;
}

/** Separate loops for the common filters, because one run reads a hundred pictures of a million pixels. */
function addPredicted(filter: number, row: Uint8Array, above: Uint8Array, step: number): void {
  if (filter === 0) return;
  if (filter === 1) for (let x = step; x < row.length; x++) row[x] = (row[x] ?? 0) + (row[x - step] ?? 0);
  else if (filter === 2) for (let x = 0; x < row.length; x++) row[x] = (row[x] ?? 0) + (above[x] ?? 0);
  else addFromThree(filter, row, above, step);
}

function addFromThree(filter: number, row: Uint8Array, above: Uint8Array, step: number): void {
  for (let x = 0; x < row.length; x++) {
    const left = x >= step ? (row[x - step] ?? 0) : 0;
    const corner = x >= step ? (above[x - step] ?? 0) : 0;
    row[x] = (row[x] ?? 0) + predicted(filter, left, above[x] ?? 0, corner);
  }
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const fromLeft = Math.abs(up - corner);
  const fromUp = Math.abs(left - corner);
  const fromCorner = Math.abs(left + up - 2 * corner);
  if (fromLeft <= fromUp && fromLeft <= fromCorner) return left;
  return fromUp <= fromCorner ? up : corner;
}

/** Each cell is the mean of the pixels it covers. */
export function shrink(picture: Picture): Picture {
  const [columns, rows] = [Math.ceil(picture.width / shrinkBy), Math.ceil(picture.height / shrinkBy)];
  const pixels = new Uint8Array(columns * rows * 4);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) pixels.set(meanOf(picture, column, row), (row * columns + column) * 4);
  }
  return { width: columns, height: rows, pixels };
}

function meanOf({ width, height, pixels }: Picture, column: number, row: number): readonly number[] {
  const [right, bottom] = [Math.min(width, (column + 1) * shrinkBy), Math.min(height, (row + 1) * shrinkBy)];
  let [red, green, blue, count] = [0, 0, 0, 0];
  for (let y = row * shrinkBy; y < bottom; y++) {
    for (let x = column * shrinkBy; x < right; x++, count++) {
      const at = (y * width + x) * 4;
      red += pixels[at] ?? 0;
      green += pixels[at + 1] ?? 0;
      blue += pixels[at + 2] ?? 0;
    }
  }
  return [red / count, green / count, blue / count, 255].map(Math.round);
}

export function writePng({ pixels, width, height }: Picture): Buffer {
  return encodePng(pixels, width, height);
}

export interface Comparison {
  /** The share of cells that differ; 1 if the sizes differ. */
  readonly share: number;
  /** Whether a complete rectangle of the size of a small button differs, which changed text never causes. */
  readonly hasBlock: boolean;
  /** The second picture with differences in red. */
  readonly marked: Picture;
}

const block = { columns: 5, rows: 3 };

export function compare(one: Picture, other: Picture): Comparison {
  if (one.width !== other.width || one.height !== other.height) return { share: 1, hasBlock: true, marked: other };
  const pixels = other.pixels.slice();
  const differs = Array.from({ length: pixels.length / 4 }, (_, cell) =>
    [0, 1, 2].some((sample) => Math.abs((one.pixels[cell * 4 + sample] ?? 0) - (other.pixels[cell * 4 + sample] ?? 0)) >= cellDiffersFrom),
  );
  for (const [cell, isOther] of differs.entries()) if (isOther) pixels.set([255, 0, 0], cell * 4);
  const share = differs.filter(Boolean).length / differs.length;
  return { share, hasBlock: findBlock(differs, other.width), marked: { ...other, pixels } };
}

/** Counts adjacent differing cells in each row; a block has its columns in each of its rows. */
function findBlock(differs: readonly boolean[], width: number): boolean {
  let runs = 0;
  /** For each column, the number of consecutive rows with a run that ends there. */
  const heights = Array.from({ length: width }, () => 0);
  for (const [cell, isOther] of differs.entries()) {
    const column = cell % width;
    runs = !isOther ? 0 : column === 0 ? 1 : runs + 1;
    heights[column] = runs >= block.columns ? (heights[column] ?? 0) + 1 : 0;
    if ((heights[column] ?? 0) >= block.rows) return true;
  }
  return false;
}
