// Reads the list of tracked files from git's index (versions 2 to 4, SHA-1), as described in gitformat-index. Rejects an index that
// contains anything unknown.

export interface TrackedFiles {
  readonly paths: readonly string[];
  /** Paths that are separate repositories. */
  readonly submodules: readonly string[];
}

const ENTRIES_MAX = 200_000;
const HASH_BYTES = 20;
const FIXED_BYTES = 62;
const MODE_AT = 24;
const EXTENDED = 0x4000;
const GITLINK = 0o160000;
/**
 * Optional extensions, which can be ignored. In git, a lower-case first letter marks a required extension, such as one that keeps part of
 * the list in another file.
 */
const harmlessExtension = /^[A-Z]/;

/** Returns null if the format of the index is not supported. */
export function readIndex(bytes: Buffer): TrackedFiles | null {
  if (bytes.length < 12 + HASH_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  const version = bytes.readUInt32BE(4);
  const count = bytes.readUInt32BE(8);
  if (version < 2 || version > 4 || count > ENTRIES_MAX) return null;
  const paths: string[] = [];
  const submodules: string[] = [];
  let at = 12;
  let before: Buffer = Buffer.alloc(0);
  for (let entry = 0; entry < count; entry++) {
    const read = readEntry(bytes, at, version, before);
    if (read === null) return null;
    const path = read.name.toString('utf8');
    paths.push(path);
    if ((read.mode & 0o170000) === GITLINK) submodules.push(path);
    at = read.next;
    before = read.name;
  }
  return hasKnownExtensions(bytes, at) ? { paths, submodules } : null;
}

interface Entry {
  readonly name: Buffer;
  readonly mode: number;
  readonly next: number;
}

function readEntry(bytes: Buffer, at: number, version: number, before: Buffer): Entry | null {
  if (at + FIXED_BYTES > bytes.length) return null;
  const mode = bytes.readUInt32BE(at + MODE_AT);
  const isExtended = (bytes.readUInt16BE(at + FIXED_BYTES - 2) & EXTENDED) !== 0;
  const nameAt = at + FIXED_BYTES + (isExtended ? 2 : 0);
  if (version < 4) {
    const end = bytes.indexOf(0, nameAt);
    if (end < 0) return null;
    // Entries are padded with one to eight NULs to a multiple of eight bytes.
    const next = at + Math.ceil((end + 1 - at) / 8) * 8;
    return { name: bytes.subarray(nameAt, end), mode, next };
  }
  const dropped = readOffset(bytes, nameAt);
  const end = dropped === null ? -1 : bytes.indexOf(0, dropped.next);
  if (dropped === null || end < 0 || dropped.value > before.length) return null;
  const name = Buffer.concat([before.subarray(0, before.length - dropped.value), bytes.subarray(dropped.next, end)]);
  return { name, mode, next: end + 1 };
}

/** Reads the variable-width integer of pack files (offset encoding). */
function readOffset(bytes: Buffer, at: number): { value: number; next: number } | null {
  let byte = bytes[at];
  if (byte === undefined) return null;
  let value = byte & 0x7f;
  let next = at + 1;
  while ((byte & 0x80) !== 0) {
    byte = bytes[next];
    if (byte === undefined || next - at > 5) return null;
    value = (value + 1) * 128 + (byte & 0x7f);
    next += 1;
  }
  return { value, next };
}

function hasKnownExtensions(bytes: Buffer, start: number): boolean {
  let at = start;
  while (at + 8 <= bytes.length - HASH_BYTES) {
    if (!harmlessExtension.test(bytes.toString('latin1', at, at + 4))) return false;
    at += 8 + bytes.readUInt32BE(at + 4);
  }
  return at === bytes.length - HASH_BYTES;
}
