// Reads the pack that a git server sends for one commit, in memory: there is no working tree, hook, filter, submodule or setting that could
// run anything. Every object is identified by the hash of its content, so the commit id covers every file.

import { createHash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import { inflateSync, type InputType } from 'node:zlib';
import { applyDelta, readPackEntry, readTree, type GitKind, type PackEntry } from '../../base/git-format.ts';
import type { ArchiveEntry } from '../../base/archive.ts';
import { refusal } from './package-paths.ts';

const OBJECTS_MAX = 60_000;
const INFLATED_BYTES_MAX = 200_000_000;
const TREE_DEPTH_MAX = 20;
const FILES_MAX = 20_000;
const DAMAGED = 'the pack of the repository is damaged';
const lfsPointer = Buffer.from('version https://git-lfs.github.com/spec/');

interface GitObject {
  readonly kind: GitKind;
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
  const found = (id: string, kind: GitKind): Buffer => {
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

function treeEntries(tree: Buffer): readonly { readonly mode: string; readonly name: string; readonly id: string }[] {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  const entries = undamaged('a folder of the repository is damaged', () => readTree(tree));
  return entries.map(({ mode, name, id }) => ({ mode, name: decoded(utf8, name), id }));
}

function undamaged<T>(why: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw cause instanceof RangeError ? refusal(why) : cause;
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
  if (!isWhole || !createHash('sha1').update(body).digest().equals(pack.subarray(-20))) throw refusal(DAMAGED);
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
    const { kind, base, content } = entry;
    if (kind !== null) keep(at, { kind, content });
    else if (base !== null) deltas.push({ offset: at, base: typeof base === 'number' ? at - base : base, content });
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
      keep(delta.offset, {
        kind: base.kind,
        content: undamaged(DAMAGED, () => applyDelta(base.content, delta.content, INFLATED_BYTES_MAX)),
      });
      return false;
    });
    if (later.length === open.length) throw refusal('the pack of the repository is not complete');
    open = later;
  }
}

function entryAt(body: Buffer, start: number): Pick<PackEntry, 'kind' | 'base'> & { readonly content: Buffer; readonly end: number } {
  const { kind, size, base, contentAt } = undamaged(DAMAGED, () => readPackEntry(body, start));
  const { content, taken } = inflate(body.subarray(contentAt), size);
  return { kind, base, content, end: contentAt + taken };
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
  throw refusal(DAMAGED);
}

function idOf({ kind, content }: GitObject): string {
  return createHash('sha1').update(`${kind} ${content.length}\0`).update(content).digest('hex');
}
