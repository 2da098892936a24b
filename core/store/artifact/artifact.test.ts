import Database from 'better-sqlite3';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { isAppError } from '../../contracts/errors.ts';
import { ArtifactStore, artifactMigrations } from './artifact.ts';
import { needs } from '../../../tests/needs.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function open(options: { sizeBytesMax?: number } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'artifacts-'));
  folders.push(folder);
  const db = new Database(':memory:');
  for (const migration of artifactMigrations) migration.up(db);
  const clock = new ManualClock();
  const store = new ArtifactStore({ db, folder, clock, ...options });
  const fileOf = (sha256: string) => join(folder, sha256.slice(0, 2), sha256.slice(2));
  return { folder, db, clock, store, fileOf };
}

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (cause) {
    return isAppError(cause) ? cause.code : `not an AppError: ${String(cause)}`;
  }
  return 'no failure';
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
const sha256 = (content: string): string => createHash('sha256').update(content).digest('hex');

test('stores content once under its hash, readable by id, prefixed id and name', () => {
  const { store, fileOf, folder, clock } = open();
  const ref = store.put('hello', { name: 'a.txt', mediaType: 'text/plain', sessionId: 's1', callId: 'c1' });
  expect(ref).toEqual({ sha256: sha256('hello'), name: 'a.txt', mediaType: 'text/plain', sizeBytes: 5 });
  expect(readFileSync(fileOf(ref.sha256), 'utf8')).toBe('hello');
  expect([ref.sha256, `sha256:${ref.sha256}`, 'a.txt'].map((id) => text(store.read(id)))).toEqual(['hello', 'hello', 'hello']);
  const written = statSync(fileOf(ref.sha256)).ino;
  clock.advance(5);
  store.put(Buffer.from('hello'), { name: 'b.txt', mediaType: 'text/html', sessionId: 's2' });
  expect(statSync(fileOf(ref.sha256)).ino).toBe(written);
  expect(store.list()).toEqual([
    {
      ...ref,
      name: 'b.txt',
      mediaType: 'text/html',
      aliases: ['a.txt', 'b.txt'],
      createdAtMs: clock.nowMs(),
      sessionId: 's2',
      callId: null,
    },
  ]);
  expect(store.list({ sessionId: 's1' }).map((entry) => entry.name)).toEqual(['a.txt']);
  expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
});

test('files and folders are accessible only to their owner', needs('a Unix system'), () => {
  const { store, fileOf, folder } = open();
  const { sha256: id } = store.put('x', { name: 'x', mediaType: 'text/plain' });
  expect([statSync(fileOf(id)).mode & 0o777, statSync(join(folder, id.slice(0, 2))).mode & 0o777]).toEqual([0o600, 0o700]);
});

test('a repeated use is one row', () => {
  const { store, db } = open();
  for (let i = 0; i < 3; i++) store.put('same', { name: 'n', mediaType: 'text/plain', sessionId: 's', callId: 'c' });
  expect(db.prepare('SELECT COUNT(*) FROM artifact_uses').pluck().get()).toBe(1);
});

test('a newer alias wins in its session; other sessions keep their own', () => {
  const { store } = open();
  const first = store.put('one', { name: 'report', mediaType: 'text/plain', sessionId: 's1' });
  store.put('two', { name: 'report', mediaType: 'text/plain', sessionId: 's1' });
  store.put('three', { name: 'report', mediaType: 'text/plain', sessionId: 's2' });
  expect(text(store.read('report', undefined, 's1'))).toBe('two');
  expect(text(store.read('report', undefined, 's2'))).toBe('three');
  expect(text(store.read('report'))).toBe('three');
  store.alias(first.sha256, 'report', 's1');
  expect(text(store.read('report', undefined, 's1'))).toBe('one');
  expect(codeOf(() => store.alias('nothing', 'x'))).toBe('not_found');
});

test('clamps ranges to the content', () => {
  const { store } = open();
  const { sha256: id } = store.put('0123456789', { name: 'd', mediaType: 'text/plain' });
  expect(text(store.read(id, { offset: 3, length: 4 }))).toBe('3456');
  expect(text(store.read(id, { offset: 8, length: 100 }))).toBe('89');
  expect(text(store.read(id, { offset: 99, length: 1 }))).toBe('');
});

test('reports a changed, truncated or missing file; storing the content repairs it', () => {
  const { store, fileOf } = open();
  const about = { name: 'd', mediaType: 'text/plain' };
  const { sha256: id } = store.put('0123456789', about);
  writeFileSync(fileOf(id), '0123456780');
  expect(codeOf(() => store.read(id))).toBe('store_corrupt');
  store.put('0123456789', about);
  expect(text(store.read(id))).toBe('0123456789');
  truncateSync(fileOf(id), 4);
  expect(codeOf(() => store.read(id, { offset: 0, length: 2 }))).toBe('store_corrupt');
  rmSync(fileOf(id));
  expect(codeOf(() => store.read(id))).toBe('artifact_missing');
  expect(codeOf(() => store.read('../../etc/passwd'))).toBe('not_found');
  expect(codeOf(() => store.read('f'.repeat(64)))).toBe('not_found');
});

test.each([
  ['Windows-1252', Buffer.from('aéüaéü', 'latin1'), 'aéüaéü'],
  ['UTF-16', Buffer.from('\uFEFFaéü', 'utf16le'), '\uFEFFaéü'],
])('pages of text in %s are shown', (_name, bytes, shown) => {
  const { store } = open();
  store.put(bytes, { name: 't', mediaType: 'text/plain' });
  const pages: (string | null)[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page = store.readPage('t', { offset, length: 3 });
    pages.push(page.text);
    offset = page.nextOffset;
  }
  expect(pages.length).toBeGreaterThan(1);
  expect(pages.join('')).toBe(shown);
});

test('pages split text at whole characters and show other bytes as base64', () => {
  const { store } = open();
  store.put('aé€😀', { name: 't', mediaType: 'text/plain' });
  const pages: (string | null)[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const page = store.readPage('t', { offset, length: 4 });
    pages.push(page.text);
    offset = page.nextOffset;
  }
  expect(pages).toEqual(['aé', '€', '😀']);
  store.put(Uint8Array.of(0, 255, 1), { name: 'b', mediaType: 'application/octet-stream' });
  expect(store.readPage('b')).toMatchObject({ text: null, base64: 'AP8B', nextOffset: null });
  expect(store.readPage('t', { offset: 100 })).toMatchObject({ text: '', nextOffset: null });
});

test('keeps a stream like a whole; an aborted or too large stream leaves nothing', async () => {
  const { store, folder } = open({ sizeBytesMax: 10 });
  async function* pieces(...parts: string[]) {
    for (const part of parts) yield Buffer.from(part);
  }
  expect(await store.keepStream(pieces('ab', 'cd'))).toEqual({ sha256: sha256('abcd'), sizeBytes: 4 });
  expect(store.has(sha256('abcd'))).toBe(true);
  await expect(store.keepStream(pieces('abcdef', 'ghijkl'))).rejects.toMatchObject({ code: 'payload_too_large' });
  await expect(store.keepStream(pieces('x'), AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  expect(codeOf(() => store.put('01234567890', { name: 's', mediaType: 'text/plain' }))).toBe('payload_too_large');
  expect(readdirSync(join(folder, 'tmp'))).toEqual([]);
  expect(store.list()).toEqual([]);
});

test('collection respects age, references and limit, and removes old crash leftovers', () => {
  const { store, clock, folder, fileOf } = open();
  const ids = ['a', 'b', 'c'].map((content) => store.put(content, { name: content, mediaType: 'text/plain' }).sha256);
  const [kept = '', ...old] = ids;
  writeFileSync(join(folder, 'tmp', 'half-written'), 'x');
  const other = sha256('other');
  store.put('other', { name: 'o', mediaType: 'text/plain' });
  const query = { nowMs: Date.now() + 7_200_000, olderThanDays: 0, isReferenced: (id: string) => id === kept };
  expect(store.collectGarbage({ ...query, nowMs: clock.nowMs(), olderThanDays: 90 })).toMatchObject({ removed: [], more: false });
  const first = store.collectGarbage({ ...query, limit: 2 });
  const second = store.collectGarbage(query);
  expect([...first.removed, ...second.removed].sort()).toEqual([...old, other].sort());
  expect({ firstMore: first.more, temporary: first.temporary + second.temporary }).toEqual({ firstMore: true, temporary: 1 });
  expect(ids.map((id) => existsSync(fileOf(id)))).toEqual([true, false, false]);
  expect(text(store.read('a'))).toBe('a');
  expect(codeOf(() => store.read('b'))).toBe('not_found');
});

test('a fork uses what its original uses, and nothing of other sessions', () => {
  const { store, db } = open();
  const own = store.put('own', { name: 'own.txt', mediaType: 'text/plain', sessionId: 'from', callId: 'c' });
  store.put('other', { name: 'other.txt', mediaType: 'text/plain', sessionId: 'other' });
  const envelope = { seq: 1, sessionSeq: 1, turnId: null, step: 0, phase: null, v: 1, atMs: 1 } as const;
  const created = { title: '', agentId: 'a', channel: 'cli' };
  store.apply({ ...envelope, sessionId: 'new', type: 'session.created', body: { ...created, forkedFrom: null } });
  expect(store.list({ sessionId: 'new' })).toEqual([]);
  const fork = { ...created, forkedFrom: { sessionId: 'from', sessionSeq: 3 } };
  for (let round = 0; round < 2; round++) store.apply({ ...envelope, sessionId: 'fork', type: 'session.created', body: fork });
  expect(store.list({ sessionId: 'fork' }).map(({ sha256: id }) => id)).toEqual([own.sha256]);
  expect(text(store.read('own.txt', undefined, 'fork'))).toBe('own');
  expect(db.prepare(`SELECT COUNT(*) FROM artifact_uses WHERE session_id = 'fork'`).pluck().get()).toBe(1);
});
