// The bytes of git's objects: entries of a pack, deltas and trees (gitformat-pack). Pure. Every function fails with RangeError for damaged
// bytes.

export type GitKind = 'commit' | 'tree' | 'blob' | 'tag';

export interface PackEntry {
  /** Null for a delta. */
  readonly kind: GitKind | null;
  /** The size of the content when it is unpacked, in bytes. */
  readonly size: number;
  /** The object that a delta changes: how many bytes before the entry its own begins, or its id. Null for any other entry. */
  readonly base: number | string | null;
  /** Where the packed content begins. */
  readonly contentAt: number;
}

export interface TreeEntry {
  readonly mode: string;
  readonly name: Buffer;
  readonly id: string;
}

const kinds: Readonly<Record<number, GitKind>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFFSET_DELTA = 6;
const NAMED_DELTA = 7;
const ID_BYTES = 20;

/** Reads one byte after the other. `at` is the position of the next one. */
class Cursor {
  readonly #bytes: Buffer;
  at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  next(): number {
    const byte = this.#bytes.readUInt8(this.at);
    this.at += 1;
    return byte;
  }

  /** A number in groups of seven bits, the lowest first. `first` is a byte that was read already, whose bits are in `value`. */
  grouped(first: number, value: number, scale: number): number {
    let sum = value;
    for (let byte = first, factor = scale; byte >= 128; factor *= 128) {
      byte = this.next();
      sum += (byte & 127) * factor;
    }
    return sum;
  }
}

/** `bytes` must contain the whole head of the entry, which is at most 64 bytes long. */
export function readPackEntry(bytes: Buffer, start: number): PackEntry {
  const cursor = new Cursor(bytes, start);
  const first = cursor.next();
  const type = (first >> 4) & 7;
  const size = cursor.grouped(first, first & 15, 16);
  const kind = kinds[type] ?? null;
  const base = kind === null ? baseAt(bytes, cursor, type) : null;
  return { kind, size, base, contentAt: cursor.at };
}

function baseAt(bytes: Buffer, cursor: Cursor, type: number): number | string {
  if (type === OFFSET_DELTA) {
    let byte = cursor.next();
    let back = byte & 127;
    while (byte >= 128) {
      byte = cursor.next();
      back = (back + 1) * 128 + (byte & 127);
    }
    return back;
  }
  const id = bytes.toString('hex', cursor.at, cursor.at + ID_BYTES);
  if (type !== NAMED_DELTA || id.length < 2 * ID_BYTES) throw new RangeError('no entry of a pack');
  cursor.at += ID_BYTES;
  return id;
}

/** Fails with RangeError as well if the result would be longer than `bytesMax`. */
export function applyDelta(base: Buffer, delta: Buffer, bytesMax: number): Buffer {
  const cursor = new Cursor(delta, 0);
  const few = (bits: number, count: number): number => {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1) if ((bits >> bit) & 1) value += cursor.next() * 256 ** bit;
    return value;
  };
  const baseSize = cursor.grouped(128, 0, 1);
  const size = cursor.grouped(128, 0, 1);
  if (baseSize !== base.length || size > bytesMax) throw new RangeError('a delta of another object');
  const parts: Buffer[] = [];
  let length = 0;
  while (cursor.at < delta.length) {
    const op = cursor.next();
    const copies = op >= 128;
    const from = copies ? few(op, 4) : cursor.at;
    const many = copies ? few(op >> 4, 3) || 0x10000 : op;
    if (!copies) cursor.at += op;
    const source = copies ? base : delta;
    length += many;
    if (many === 0 || from + many > source.length || length > size) throw new RangeError('a damaged delta');
    parts.push(source.subarray(from, from + many));
  }
  if (length !== size) throw new RangeError('a damaged delta');
  return Buffer.concat(parts, size);
}

export function readTree(tree: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < tree.length;) {
    const space = tree.indexOf(0x20, at);
    const end = tree.indexOf(0, at);
    const mode = tree.toString('latin1', at, Math.max(at, space));
    const name = tree.subarray(space + 1, Math.max(space + 1, end));
    const isWhole = end + 1 + ID_BYTES <= tree.length && name.length > 0 && !name.includes(0x2f);
    if (!isWhole || !/^\d{5,6}$/.test(mode)) throw new RangeError('a damaged tree');
    entries.push({ mode, name, id: tree.toString('hex', end + 1, end + 1 + ID_BYTES) });
    at = end + 1 + ID_BYTES;
  }
  return entries;
}
