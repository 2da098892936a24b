// Reads the beginning of a GGUF file: whether it is one, and the window the model was trained with. Reads a bounded piece; the engine reads
// the rest. Source: the GGUF specification, version 3.

import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { AppError } from '../../../contracts/errors.ts';

export interface GgufHead {
  /** Null if it is beyond the piece that is read. */
  readonly contextTokens: number | null;
}

const PIECE_BYTES = 256 * 1024;
const HEADER_BYTES = 24;
const ENTRIES_MAX = 500;
const VERSION_MIN = 2;
const TYPE_STRING = 8;
const TYPE_ARRAY = 9;
/** Sizes in bytes by value type. Strings and arrays (0) state their own size. */
const sizes: readonly number[] = [1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8];

/** Fails with model_unavailable if the file is missing, and with model_rejected if it is not a GGUF file. */
export function readGgufHead(path: string): GgufHead {
  const piece = readPiece(path);
  const isGguf = piece.length >= HEADER_BYTES && piece.toString('latin1', 0, 4) === 'GGUF' && piece.readUInt32LE(4) >= VERSION_MIN;
  if (!isGguf) {
    throw new AppError('model_rejected', `${basename(path)} is not a GGUF file.`, {
      hint: 'Models in this format end in .gguf; a download that was broken off may look like one.',
    });
  }
  const entries = Math.min(Number(piece.readBigUInt64LE(16)), ENTRIES_MAX);
  return { contextTokens: findWindow(piece, entries) };
}

function readPiece(path: string): Buffer {
  try {
    const handle = openSync(path, 'r');
    try {
      const piece = Buffer.alloc(PIECE_BYTES);
      return piece.subarray(0, readSync(handle, piece, 0, PIECE_BYTES, 0));
    } finally {
      closeSync(handle);
    }
  } catch (cause) {
    throw new AppError('model_unavailable', `${path} cannot be read.`, { cause, hint: 'Check the path of the file.' });
  }
}

function findWindow(piece: Buffer, entries: number): number | null {
  const reader = new PieceReader(piece);
  for (let entry = 0; entry < entries; entry++) {
    const key = reader.text();
    const type = reader.word();
    if (key === null || type === null) return null;
    const isWindow = key.endsWith('.context_length') && (type === 4 || type === 5);
    if (isWindow) return reader.word();
    if (!reader.skip(type)) return null;
  }
  return null;
}

class PieceReader {
  readonly #piece: Buffer;
  #at = HEADER_BYTES;

  constructor(piece: Buffer) {
    this.#piece = piece;
  }

  word(): number | null {
    if (this.#at + 4 > this.#piece.length) return null;
    this.#at += 4;
    return this.#piece.readUInt32LE(this.#at - 4);
  }

  text(): string | null {
    const length = this.#length();
    if (length === null || this.#at + length > this.#piece.length) return null;
    this.#at += length;
    return this.#piece.toString('utf8', this.#at - length, this.#at);
  }

  skip(type: number): boolean {
    if (type === TYPE_STRING) return this.text() !== null;
    if (type !== TYPE_ARRAY) return this.#move(sizes[type] ?? Infinity);
    const kind = this.word();
    const count = this.#length();
    if (kind === null || count === null || kind === TYPE_ARRAY) return false;
    if (kind !== TYPE_STRING) return this.#move(count * (sizes[kind] ?? Infinity));
    for (let item = 0; item < count; item++) if (this.text() === null) return false;
    return true;
  }

  #length(): number | null {
    if (this.#at + 8 > this.#piece.length) return null;
    this.#at += 8;
    return Number(this.#piece.readBigUInt64LE(this.#at - 8));
  }

  #move(bytes: number): boolean {
    this.#at += bytes;
    return this.#at <= this.#piece.length;
  }
}
