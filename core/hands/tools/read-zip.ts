// Reads ZIP archives strictly and in memory: the central directory must agree with the entries, entries must not overlap, links and
// encrypted entries are refused, and nothing is unpacked beyond its announced size. Writes nothing.

import { crc32, inflateRawSync } from 'node:zlib';
import { BrokenRule, refusing, type ArchiveEntry, type Refusal } from '../../base/archive.ts';

export interface ZipRules {
  readonly entryBytesMax: number;
  readonly entriesMax: number;
  readonly refusal: Refusal;
}

interface Listed {
  readonly path: string;
  readonly method: number;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly headerAt: number;
}

const END = 0x06054b50;
const LISTED = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const LISTED_BYTES = 46;
const LOCAL_BYTES = 30;
const COMMENT_MAX = 65_535;
const ENCRYPTED = 1;
const UTF8 = 0x800;
const UNIX = 3;
const KIND = 0o170000;
const PLAIN = 0o100000;
const FOLDER = 0o040000;
const LINK = 0o120000;
/** Text rarely compresses better than this. */
const RATIO_MAX = 200;
const RATIO_FREE_BYTES = 1_000_000;

/** The files of the archive in their order. Fails with `rules.refusal`. */
export function readZip(bytes: Buffer, rules: ZipRules): ArchiveEntry[] {
  const guarded = <T>(read: () => T): T => refusing(rules.refusal, read);
  return guarded(() => readEntries(bytes, rules)).map(({ path, content }) => ({ path, content: () => guarded(content) }));
}

function readEntries(bytes: Buffer, rules: ZipRules): ArchiveEntry[] {
  const end = findEnd(bytes);
  const count = bytes.readUInt16LE(end + 10);
  const listAt = bytes.readUInt32LE(end + 16);
  const listBytes = bytes.readUInt32LE(end + 12);
  if (bytes.readUInt16LE(end + 4) !== 0 || bytes.readUInt16LE(end + 8) !== count) throw new BrokenRule('the archive is in several parts');
  if (count > rules.entriesMax) throw new BrokenRule('the archive has too many entries');
  if (listAt + listBytes !== end) throw new BrokenRule('the directory of the archive is not where it should be');
  const listed = readList(bytes, { at: listAt, end, count });
  assertBounds(listed, bytes.length);
  return openAll(bytes, { listed, listAt, entryBytesMax: rules.entryBytesMax });
}

function findEnd(bytes: Buffer): number {
  for (let at = bytes.length - END_BYTES; at >= 0 && at >= bytes.length - END_BYTES - COMMENT_MAX; at -= 1) {
    if (bytes.readUInt32LE(at) !== END) continue;
    if (at + END_BYTES + bytes.readUInt16LE(at + 20) !== bytes.length) throw new BrokenRule('there are bytes after the end of the archive');
    return at;
  }
  throw new BrokenRule('it is not a whole ZIP archive');
}

function readList(bytes: Buffer, { at, end, count }: { at: number; end: number; count: number }): Listed[] {
  const found: Listed[] = [];
  for (let number = 0; number < count; number += 1) {
    if (at + LISTED_BYTES > end || bytes.readUInt32LE(at) !== LISTED) throw new BrokenRule('the directory of the archive is damaged');
    const nameBytes = bytes.readUInt16LE(at + 28);
    const next = at + LISTED_BYTES + nameBytes + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
    if (next > end) throw new BrokenRule('the directory of the archive is damaged');
    const path = nameOf(bytes.subarray(at + LISTED_BYTES, at + LISTED_BYTES + nameBytes), bytes.readUInt16LE(at + 8));
    assertKind(bytes, at, path);
    found.push({
      path,
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      packed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      headerAt: bytes.readUInt32LE(at + 42),
    });
    at = next;
  }
  if (at !== end) throw new BrokenRule('the directory of the archive is damaged');
  return found;
}

function nameOf(bytes: Buffer, flags: number): string {
  if ((flags & ENCRYPTED) !== 0) throw new BrokenRule('the archive is encrypted');
  const isAscii = bytes.every((byte) => byte < 0x80);
  if (!isAscii && (flags & UTF8) === 0) throw new BrokenRule('the archive has names in an unknown alphabet');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new BrokenRule('the archive has names that cannot be read');
  }
}

function assertKind(bytes: Buffer, at: number, path: string): void {
  if (bytes.readUInt8(at + 5) !== UNIX) return;
  const kind = (bytes.readUInt32LE(at + 38) >>> 16) & KIND;
  if (kind === LINK) throw new BrokenRule(`${JSON.stringify(path.slice(0, 120))} is a link`);
  if (kind !== 0 && kind !== PLAIN && kind !== FOLDER) throw new BrokenRule(`${JSON.stringify(path.slice(0, 120))} is not a plain file`);
}

/** Checks the announced sizes before anything is unpacked. */
function assertBounds(listed: readonly Listed[], archiveBytes: number): void {
  const total = listed.reduce((sum, { size }) => sum + size, 0);
  if (total > RATIO_FREE_BYTES + archiveBytes * RATIO_MAX)
    throw new BrokenRule('it is packed so tightly that it can only be meant to fill the disk');
}

interface Directory {
  readonly listed: readonly Listed[];
  readonly listAt: number;
  readonly entryBytesMax: number;
}

function openAll(bytes: Buffer, { listed, listAt, entryBytesMax }: Directory): ArchiveEntry[] {
  const entries: ArchiveEntry[] = [];
  let free = 0;
  for (const one of listed.toSorted((a, b) => a.headerAt - b.headerAt)) {
    const { start, end } = placeOf(bytes, one, listAt);
    if (one.headerAt < free) throw new BrokenRule('two entries of the archive share their bytes');
    free = end;
    if (one.path.endsWith('/')) {
      if (one.size > 0) throw new BrokenRule(`the folder ${JSON.stringify(one.path.slice(0, 120))} has content`);
    } else entries.push({ path: one.path, content: () => unpack(bytes.subarray(start, end), one, entryBytesMax) });
  }
  return entries;
}

/** The range of the entry's data. The local header must have the name and the method that the directory states. */
function placeOf(bytes: Buffer, { path, headerAt, method, packed }: Listed, listAt: number): { start: number; end: number } {
  if (headerAt + LOCAL_BYTES > listAt || bytes.readUInt32LE(headerAt) !== LOCAL) throw new BrokenRule('an entry of the archive is damaged');
  const nameEnd = headerAt + LOCAL_BYTES + bytes.readUInt16LE(headerAt + 26);
  const start = nameEnd + bytes.readUInt16LE(headerAt + 28);
  const end = start + packed;
  if (end > listAt) throw new BrokenRule('an entry of the archive is damaged');
  const local = nameOf(bytes.subarray(headerAt + LOCAL_BYTES, nameEnd), bytes.readUInt16LE(headerAt + 6));
  if (local !== path || bytes.readUInt16LE(headerAt + 8) !== method) {
    throw new BrokenRule(
      `the archive calls one entry both ${JSON.stringify(path.slice(0, 120))} and ${JSON.stringify(local.slice(0, 120))}`,
    );
  }
  return { start, end };
}

function unpack(packed: Buffer, { path, method, size, crc }: Listed, bytesMax: number): Buffer {
  const wrong = (): Error => new BrokenRule(`${JSON.stringify(path.slice(0, 120))} is not what the archive says of it`);
  if (size > bytesMax) throw new BrokenRule(`it unpacks to more than ${bytesMax / 1_000_000} MB`);
  if (method !== 0 && method !== 8) throw new BrokenRule(`${JSON.stringify(path.slice(0, 120))} is packed in an unknown way`);
  let content: Buffer;
  try {
    content = method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: size + 1 });
  } catch {
    throw wrong();
  }
  if (content.length !== size || crc32(content) !== crc) throw wrong();
  return content;
}
