// Reads the pack that a git server sends for one commit, in memory: there is no working tree, hook, filter, submodule or setting that could
// run anything. Every object is identified by the hash of its content, so the commit id covers every file.

import { createHash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import { inflateSync, type InputType } from 'node:zlib';
import type { ArchiveEntry } from '../../hands/tar/tar.ts';
import { refusal } from './package-paths.ts';

const OBJECTS_MAX = 60_000;
const INFLATED_BYTES_MAX = 200_000_000;
const TREE_DEPTH_MAX = 20;
const FILES_MAX = 20_000;
const kinds: Readonly<Record<number, string>> = { 1: 'commit', 2: 'tree', 3: 'blob', 4: 'tag' };
const OFFSET_DELTA = 6;
const NAMED_DELTA = 7;
const lfsPointer = Buffer.from('version https://git-lfs.github.com/spec/');

interface GitObject {
  readonly kind: string;
  readonly content: Buffer;
}

interface Delta {
  readonly offset: number;
  /** The offset of the base object in the pack, or its id. */
  readonly base: number | string;
  readonly content: Buffer;
}

/** The files of a commit. Reading the content of links, submodules and LFS files fails. Fails with denied. */
export function filesOfCommit(pack: Buffer, commit: string): readonly ArchiveEntry[] {
  const objects = readPack(pack);
  const found = (id: string, kind: string): Buffer => {
    const object = objects.get(id);
    if (object?.kind !== kind) throw refusal(`the repository did not send the ${kind} ${id.slice(0, 12)}`);
    return object.content;
  };
  const root = /^tree ([0-9a-f]{40})\n/.exec(found(commit, 'commit').subarray(0, 64).toString('latin1'))?.[1];
  if (root === undefined) throw refusal(`the commit ${commit.slice(0, 12)} names no tree`);
  const entries: ArchiveEntry[] = [];
  const walk = (id: string, above: string, depth: number): void => {
    if (depth > TREE_DEPTH_MAX) throw refusal('its folders are nested too deep');
    for (const { mode, name, id: own } of treeEntries(found(id, 'tree'))) {
      const path = above + name;
      if (mode === '40000') walk(own, `${path}/`, depth + 1);
      else entries.push({ path, content: () => contentOf(path, mode, () => found(own, 'blob')) });
      if (entries.length > FILES_MAX) throw refusal(`it has more than ${FILES_MAX} files`);
    }
  };
  walk(root, '', 0);
  return entries;
}

function contentOf(path: string, mode: string, blob: () => Buffer): Buffer {
  const shown = JSON.stringify(path.slice(0, 120));
  if (mode === '160000') throw refusal(`${shown} is a submodule, and only the repository itself is fetched`);
  if (!/^100(?:644|755|664)$/.test(mode)) throw refusal(`${shown} is a link or no plain file`);
  const content = blob();
  if (content.subarray(0, lfsPointer.length).equals(lfsPointer)) throw refusal(`${shown} is kept in Git LFS, which is not fetched`);
  return content;
}

function* treeEntries(tree: Buffer): Generator<{ readonly mode: string; readonly name: string; readonly id: string }> {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  for (let at = 0; at < tree.length;) {
    const end = tree.indexOf(0, at);
    if (end < 0 || end + 21 > tree.length) throw refusal('a folder of the repository is damaged');
    const [, mode, name] = /^(\d{5,6}) (.+)$/s.exec(decoded(utf8, tree.subarray(at, end))) ?? [];
    if (mode === undefined || name === undefined || name.includes('/')) throw refusal('a folder of the repository is damaged');
    yield { mode, name, id: tree.toString('hex', end + 1, end + 21) };
    at = end + 21;
  }
}

function decoded(utf8: TextDecoder, bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw refusal('the repository has names that cannot be read');
  }
}

function readPack(pack: Buffer): ReadonlyMap<string, GitObject> {
  const body = pack.subarray(0, -20);
  const isWhole = pack.length >= 32 && body.toString('latin1', 0, 4) === 'PACK' && body.readUInt32BE(4) === 2;
  if (!isWhole || !createHash('sha1').update(body).digest().equals(pack.subarray(-20)))
    throw refusal('the pack of the repository is damaged');
  const count = body.readUInt32BE(8);
  if (count > OBJECTS_MAX) throw refusal(`the repository has more than ${OBJECTS_MAX} objects`);
  const objects = new Map<string, GitObject>();
  const byOffset = new Map<number, GitObject>();
  const deltas: Delta[] = [];
  let inflated = 0;
  const keep = (offset: number, object: GitObject): void => {
    inflated += object.content.length;
    if (inflated > INFLATED_BYTES_MAX) throw refusal('the repository unpacks to more than 200 MB');
    byOffset.set(offset, object);
    objects.set(idOf(object), object);
  };
  for (let at = 12, left = count; left > 0; left -= 1) {
    const entry = entryAt(body, at);
    const kind = kinds[entry.type];
    if (kind === undefined) deltas.push({ offset: at, base: entry.base, content: entry.content });
    else keep(at, { kind, content: entry.content });
    at = entry.end;
  }
  applyAll(deltas, (base) => (typeof base === 'number' ? byOffset.get(base) : objects.get(base)), keep);
  return objects;
}

/** Applies deltas repeatedly until none is left, because the base of a delta may come later in the pack. */
function applyAll(
  deltas: readonly Delta[],
  baseOf: (base: number | string) => GitObject | undefined,
  keep: (offset: number, object: GitObject) => void,
): void {
  for (let open = deltas; open.length > 0;) {
    const later = open.filter((delta) => {
      const base = baseOf(delta.base);
      if (base === undefined) return true;
      keep(delta.offset, { kind: base.kind, content: applied(base.content, delta.content) });
      return false;
    });
    if (later.length === open.length) throw refusal('the pack of the repository is not complete');
    open = later;
  }
}

function entryAt(body: Buffer, start: number): { type: number; base: number | string; content: Buffer; end: number } {
  let at = start;
  const next = (): number => {
    const byte = body[at];
    if (byte === undefined) throw refusal('the pack of the repository is damaged');
    at += 1;
    return byte;
  };
  const first = next();
  const type = (first >> 4) & 7;
  let size = first & 15;
  for (let byte = first, scale = 16; byte >= 128; scale *= 128) {
    byte = next();
    size += (byte & 127) * scale;
  }
  let base: number | string = '';
  if (type === OFFSET_DELTA) {
    let byte = next();
    let back = byte & 127;
    while (byte >= 128) {
      byte = next();
      back = (back + 1) * 128 + (byte & 127);
    }
    base = start - back;
  } else if (type === NAMED_DELTA) {
    base = body.toString('hex', at, at + 20);
    at += 20;
  } else if (kinds[type] === undefined) throw refusal('the pack of the repository is damaged');
  const { content, taken } = inflate(body.subarray(at), size);
  return { type, base, content, end: at + taken };
}

/** Node returns how many bytes it consumed, which its types do not declare. */
const inflateWithInfo = inflateSync as unknown as (
  input: InputType,
  options: object,
) => { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } };

function inflate(from: Buffer, size: number): { content: Buffer; taken: number } {
  if (size > INFLATED_BYTES_MAX) throw refusal('the repository has a file of more than 200 MB');
  try {
    const { buffer, engine } = inflateWithInfo(from, { info: true, maxOutputLength: Math.max(size, 1) });
    if (buffer.length === size) return { content: buffer, taken: engine.bytesWritten };
  } catch {
    // Damaged data and data longer than announced get the same refusal.
  }
  throw refusal('the pack of the repository is damaged');
}

function applied(base: Buffer, delta: Buffer): Buffer {
  const bad = () => refusal('the pack of the repository is damaged');
  let at = 0;
  const next = (): number => {
    const byte = delta[at];
    if (byte === undefined) throw bad();
    at += 1;
    return byte;
  };
  const sizeHere = (): number => {
    let size = 0;
    for (let byte = 128, scale = 1; byte >= 128; scale *= 128) {
      byte = next();
      size += (byte & 127) * scale;
    }
    return size;
  };
  const few = (bits: number, count: number): number => {
    let value = 0;
    for (let bit = 0; bit < count; bit += 1) if ((bits >> bit) & 1) value += next() * 256 ** bit;
    return value;
  };
  if (sizeHere() !== base.length) throw bad();
  const size = sizeHere();
  if (size > INFLATED_BYTES_MAX) throw bad();
  const parts: Buffer[] = [];
  let length = 0;
  while (at < delta.length) {
    const op = next();
    const copies = op >= 128;
    const from = copies ? few(op, 4) : at;
    const many = copies ? few(op >> 4, 3) || 0x10000 : op;
    if (!copies) at += op;
    const source = copies ? base : delta;
    if (many === 0 || from + many > source.length) throw bad();
    parts.push(source.subarray(from, from + many));
    length += many;
    if (length > size) throw bad();
  }
  if (length !== size) throw bad();
  return Buffer.concat(parts, size);
}

function idOf({ kind, content }: GitObject): string {
  return createHash('sha1').update(`${kind} ${content.length}\0`).update(content).digest('hex');
}
