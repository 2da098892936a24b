// Reads gzipped tar archives strictly and in memory: only plain files and folders, every header with a valid checksum, names from PAX and
// GNU headers, and the commit id that git stores in an archive. Writes nothing.

import { gunzipSync } from 'node:zlib';
import { BrokenRule, refusing, type ArchiveEntry, type Refusal } from '../../base/archive.ts';

const BLOCK = 512;
const HEADER_BYTES_MAX = 100_000;
const RATIO_MAX = 200;
const RATIO_FREE_BYTES = 1_000_000;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface TarArchive {
  readonly entries: readonly ArchiveEntry[];
  /** The commit, if git created the archive. */
  readonly commit: string | null;
}

export interface TarRules {
  readonly unpackedBytesMax: number;
  readonly entriesMax: number;
  readonly refusal: Refusal;
}

/** Fails with `rules.refusal`. */
export function readTarGz(packed: Buffer, { unpackedBytesMax, entriesMax, refusal }: TarRules): TarArchive {
  return refusing(refusal, () => readTar(inflate(packed, unpackedBytesMax), entriesMax));
}

function inflate(packed: Buffer, unpackedBytesMax: number): Buffer {
  const most = Math.min(unpackedBytesMax, RATIO_FREE_BYTES + packed.length * RATIO_MAX);
  try {
    return gunzipSync(packed, { maxOutputLength: most });
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    throw new BrokenRule(isTooLarge ? 'it is packed so tightly that it can only be meant to fill the disk' : 'it is not a whole archive');
  }
}

interface Around {
  readonly entries: ArchiveEntry[];
  commit: string | null;
  /** The name of the next entry, if a header before it states one. */
  path: string | null;
}

function readTar(bytes: Buffer, entriesMax: number): TarArchive {
  const around: Around = { entries: [], commit: null, path: null };
  let at = 0;
  while (at + BLOCK <= bytes.length) {
    const header = bytes.subarray(at, at + BLOCK);
    if (header.every((byte) => byte === 0)) return around;
    assertChecksum(header);
    const size = numberIn(header, 124, 12);
    const start = at + BLOCK;
    if (start + size > bytes.length) throw new BrokenRule('the archive ends in the middle of a file');
    takeEntry(around, header, bytes.subarray(start, start + size));
    if (around.entries.length > entriesMax) throw new BrokenRule('the archive has too many entries');
    at = start + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new BrokenRule('the archive has no end');
}

function takeEntry(around: Around, header: Buffer, content: Buffer): void {
  const kind = String.fromCharCode(header[156] ?? 0);
  if (kind === 'x' || kind === 'g') takePax(around, kind, paxOf(content));
  else if (kind === 'L') around.path = textOf(content.subarray(0, HEADER_BYTES_MAX)).replace(/\0+$/, '');
  else {
    const path = around.path ?? nameIn(header);
    around.path = null;
    takeFile(around, { path, kind }, content);
  }
}

function takePax(around: Around, kind: 'x' | 'g', said: ReadonlyMap<string, string>): void {
  if (said.has('size') || said.has('linkpath')) throw new BrokenRule('the archive says one thing of a file in two ways');
  if (kind === 'x') around.path = said.get('path') ?? around.path;
  else if (said.has('path')) throw new BrokenRule('the archive gives all its files one name');
  else around.commit = commitIn(said.get('comment') ?? '');
}

function takeFile({ entries }: Around, { path, kind }: { readonly path: string; readonly kind: string }, content: Buffer): void {
  const shown = JSON.stringify(path.slice(0, 120));
  if (kind === '1' || kind === '2') throw new BrokenRule(`${shown} is a link`);
  if (kind === '5') return;
  if (kind !== '0' && kind !== '\0') throw new BrokenRule(`${shown} is not a plain file`);
  if (!path.endsWith('/')) entries.push({ path: path.replace(/^\.\//, ''), content: () => content });
}

/** Parses records of the form `LENGTH KEY=VALUE\n`, where the length includes itself. */
function paxOf(content: Buffer): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  if (content.length > HEADER_BYTES_MAX) throw new BrokenRule('a header of the archive is too long');
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.subarray(at, Math.max(at, space)).toString('latin1'));
    const record = content.subarray(space + 1, at + length);
    const equals = record.indexOf(0x3d);
    if (space < 0 || !Number.isInteger(length) || length <= space - at + 1 || equals < 0 || record.at(-1) !== 0x0a)
      throw new BrokenRule('a header of the archive is damaged');
    said.set(textOf(record.subarray(0, equals)), textOf(record.subarray(equals + 1, -1)));
    at += length;
  }
  return said;
}

function commitIn(comment: string): string | null {
  return /^[0-9a-f]{40}$|^[0-9a-f]{64}$/.test(comment) ? comment : null;
}

function nameIn(header: Buffer): string {
  const prefix = header.subarray(257, 263).toString('latin1') === 'ustar\0' ? textIn(header, 345, 155) : '';
  const name = textIn(header, 0, 100);
  return prefix === '' ? name : `${prefix}/${name}`;
}

function textIn(header: Buffer, at: number, length: number): string {
  const field = header.subarray(at, at + length);
  const end = field.indexOf(0);
  return textOf(end < 0 ? field : field.subarray(0, end));
}

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new BrokenRule('the archive has names that cannot be read');
  }
}

function numberIn(header: Buffer, at: number, length: number): number {
  const text = header
    .subarray(at, at + length)
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .trim();
  if (!/^[0-7]*$/.test(text)) throw new BrokenRule('a header of the archive is damaged');
  return text === '' ? 0 : Number.parseInt(text, 8);
}

function assertChecksum(header: Buffer): void {
  let sum = 0;
  for (const [at, byte] of header.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
  if (sum !== numberIn(header, 148, 8)) throw new BrokenRule('a header of the archive is damaged');
}
