// Reads commits and trees from git's database of objects: loose ones, and packs with an index of version 2 (gitformat-pack). Bounded, and
// null for anything it does not know. Runs nothing.

import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { applyDelta, readPackEntry, type GitKind } from '../../base/git-format.ts';

export interface GitObject {
  readonly kind: GitKind;
  readonly bytes: Buffer;
}

const OBJECT_BYTES_MAX = 4_000_000;
const INDEX_BYTES_MAX = 40_000_000;
const PACKS_MAX = 50;
const CHAIN_MAX = 60;
const ID_BYTES = 20;
const HEADER_BYTES_MAX = 64;

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
    const kind = /^(commit|tree|blob|tag) \d+$/.exec(bytes.toString('latin1', 0, end))?.[1] as GitKind | undefined;
    return kind === undefined ? null : { kind, bytes: bytes.subarray(end + 1) };
  }

  #unpack(pack: Pack, offset: number, left: number): GitObject | null {
    const { kind, size, base, contentAt } = readPackEntry(pack.bytes(offset, HEADER_BYTES_MAX), 0);
    if (size > OBJECT_BYTES_MAX || left === 0) return null;
    const content = (): Buffer => pack.inflate(offset + contentAt, size);
    if (kind !== null) return { kind, bytes: content() };
    const changed = typeof base === 'number' ? this.#unpack(pack, offset - base, left - 1) : this.read(base ?? '');
    return changed === null ? null : { kind: changed.kind, bytes: applyDelta(changed.bytes, content(), OBJECT_BYTES_MAX) };
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

/** Anything unreadable or cut short counts as unknown. */
function attempt<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
