// Reads commits and trees from git's database of objects: loose ones, and packs with an index of version 2 (gitformat-pack). Bounded, and
// null for anything it does not know. Runs nothing.

import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';

export interface GitObject {
  readonly kind: 'commit' | 'tree' | 'blob' | 'tag';
  readonly bytes: Buffer;
}

const OBJECT_BYTES_MAX = 4_000_000;
const INDEX_BYTES_MAX = 40_000_000;
const PACKS_MAX = 50;
const CHAIN_MAX = 60;
const ID_BYTES = 20;
const HEADER_BYTES_MAX = 64;
const kinds: Readonly<Record<number, GitObject['kind']>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };

export class GitObjects {
  readonly #folder: string;
  readonly #packs: readonly Pack[] | null;

  /** `folder` is the folder `objects` of a repository. */
  constructor(folder: string) {
    this.#folder = folder;
    this.#packs = packsIn(join(folder, 'pack'));
  }

  read(id: string): GitObject | null {
    return attempt(() => {
      for (const pack of this.#packs ?? []) {
        const offset = pack.find(id);
        if (offset !== null) return this.#unpack(pack, offset, CHAIN_MAX);
      }
      return this.#loose(id);
    });
  }

  /** Returns the only object whose name begins so, or null if there are none or several. */
  complete(prefix: string): string | null {
    if (this.#packs === null) return null;
    const folder = prefix.slice(0, 2);
    const loose = (attempt(() => readdirSync(join(this.#folder, folder))) ?? []).map((rest) => `${folder}${rest}`);
    const found = new Set([...loose.filter((id) => id.startsWith(prefix)), ...this.#packs.flatMap((pack) => pack.like(prefix))]);
    const [only, ...more] = found;
    return more.length === 0 ? (only ?? null) : null;
  }

  #loose(id: string): GitObject | null {
    const file = join(this.#folder, id.slice(0, 2), id.slice(2));
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return null;
    const bytes = inflateSync(readFileSync(file), { maxOutputLength: OBJECT_BYTES_MAX });
    const end = bytes.indexOf(0);
    const kind = /^(commit|tree|blob|tag) \d+$/.exec(bytes.toString('latin1', 0, end))?.[1] as GitObject['kind'] | undefined;
    return kind === undefined ? null : { kind, bytes: bytes.subarray(end + 1) };
  }

  #unpack(pack: Pack, offset: number, left: number): GitObject | null {
    const head = pack.bytes(offset, HEADER_BYTES_MAX);
    const { type, size, next } = headOf(head);
    if (size > OBJECT_BYTES_MAX || left === 0) return null;
    const plain = kinds[type];
    if (plain !== undefined) return { kind: plain, bytes: pack.inflate(offset + next, size) };
    if (type !== 6 && type !== 7) return null;
    const back = type === 6 ? distanceAt(head, next) : { value: 0, next: next + ID_BYTES };
    const base = type === 6 ? this.#unpack(pack, offset - back.value, left - 1) : this.read(head.toString('hex', next, next + ID_BYTES));
    if (base === null) return null;
    const bytes = applyDelta(base.bytes, pack.inflate(offset + back.next, size));
    return bytes === null ? null : { kind: base.kind, bytes };
  }
}

/** Returns null if the packs are not all of a known form. */
function packsIn(folder: string): readonly Pack[] | null {
  const names = attempt(() => readdirSync(folder)) ?? [];
  const indexes = names.filter((name) => name.endsWith('.idx'));
  if (indexes.length > PACKS_MAX) return null;
  let left = INDEX_BYTES_MAX;
  const packs: Pack[] = [];
  for (const name of indexes) {
    const file = join(folder, name);
    left -= attempt(() => statSync(file).size) ?? Infinity;
    const index = left < 0 ? null : attempt(() => readFileSync(file));
    if (index?.readUInt32BE(0) !== 0xff744f63 || index.readUInt32BE(4) !== 2) return null;
    packs.push(new Pack(index, join(folder, name.replace(/idx$/, 'pack'))));
  }
  return packs;
}

const FANOUT_AT = 8;
const NAMES_AT = FANOUT_AT + 256 * 4;

class Pack {
  readonly #index: Buffer;
  readonly #file: string;
  readonly #count: number;

  constructor(index: Buffer, file: string) {
    this.#index = index;
    this.#file = file;
    this.#count = index.readUInt32BE(NAMES_AT - 4);
  }

  find(id: string): number | null {
    const at = this.#firstFrom(id);
    return at < this.#count && this.#name(at) === id ? this.#offset(at) : null;
  }

  /** Returns at most two of the names that begin so. */
  like(prefix: string): readonly string[] {
    const at = this.#firstFrom(prefix);
    return [at, at + 1].flatMap((one) => (one < this.#count && this.#name(one).startsWith(prefix) ? [this.#name(one)] : []));
  }

  bytes(offset: number, length: number): Buffer {
    const opened = openSync(this.#file, 'r');
    try {
      const buffer = Buffer.alloc(length);
      return buffer.subarray(0, readSync(opened, buffer, 0, length, offset));
    } finally {
      closeSync(opened);
    }
  }

  inflate(offset: number, size: number): Buffer {
    // Text that cannot be compressed grows by a few bytes in a block.
    const bytes = inflateSync(this.bytes(offset, size + Math.ceil(size / 500) + 200), { maxOutputLength: size + 1 });
    if (bytes.length !== size) throw new RangeError('an object of another size');
    return bytes;
  }

  /** The position of the first name that is not before `id`. */
  #firstFrom(id: string): number {
    let [low, high] = [0, this.#count];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#name(middle) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #name(at: number): string {
    const start = NAMES_AT + at * ID_BYTES;
    return this.#index.toString('hex', start, start + ID_BYTES);
  }

  #offset(at: number): number {
    // The names are followed by a checksum of each object.
    const offsetsAt = NAMES_AT + this.#count * (ID_BYTES + 4);
    const offset = this.#index.readUInt32BE(offsetsAt + at * 4);
    if (offset < 0x80000000) return offset;
    return Number(this.#index.readBigUInt64BE(offsetsAt + this.#count * 4 + (offset - 0x80000000) * 8));
  }
}

function headOf(bytes: Buffer): { readonly type: number; readonly size: number; readonly next: number } {
  let byte = bytes.readUInt8(0);
  const type = (byte >> 4) & 7;
  let size = byte & 15;
  let next = 1;
  for (let scale = 16; (byte & 0x80) !== 0; scale *= 128) {
    byte = bytes.readUInt8(next);
    size += (byte & 0x7f) * scale;
    next += 1;
  }
  return { type, size, next };
}

/** Reads how far back the base of a delta begins. */
function distanceAt(bytes: Buffer, at: number): { readonly value: number; readonly next: number } {
  let byte = bytes.readUInt8(at);
  let value = byte & 0x7f;
  let next = at + 1;
  while ((byte & 0x80) !== 0) {
    byte = bytes.readUInt8(next);
    value = (value + 1) * 128 + (byte & 0x7f);
    next += 1;
  }
  return { value, next };
}

function applyDelta(base: Buffer, delta: Buffer): Buffer | null {
  const source = lengthAt(delta, 0);
  const target = lengthAt(delta, source.next);
  if (source.value !== base.length || target.value > OBJECT_BYTES_MAX) return null;
  const pieces: Buffer[] = [];
  let at = target.next;
  while (at < delta.length) {
    const code = delta.readUInt8(at);
    at += 1;
    if ((code & 0x80) === 0) {
      pieces.push(delta.subarray(at, at + code));
      at += code;
      continue;
    }
    const bits = (from: number, count: number): number => {
      let value = 0;
      for (let bit = 0; bit < count; bit++) {
        if ((code & (1 << (from + bit))) === 0) continue;
        value += delta.readUInt8(at) * 256 ** bit;
        at += 1;
      }
      return value;
    };
    const start = bits(0, 4);
    const length = bits(4, 3) || 0x10000;
    pieces.push(base.subarray(start, start + length));
  }
  const bytes = Buffer.concat(pieces);
  return bytes.length === target.value ? bytes : null;
}

function lengthAt(bytes: Buffer, at: number): { readonly value: number; readonly next: number } {
  let [value, next] = [0, at];
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes.readUInt8(next);
    next += 1;
    value += (byte & 0x7f) * scale;
    if ((byte & 0x80) === 0) return { value, next };
  }
}

/** Anything unreadable or cut short counts as unknown. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
