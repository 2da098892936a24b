// Faults and random histories: every file call and statement fails once, and no referenced content is ever lost.

import Database from 'better-sqlite3';
import fc from 'fast-check';
import * as nodeFs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { isAppError } from '../../contracts/errors.ts';
import { ArtifactStore, artifactMigrations, type FileCalls } from './artifact.ts';

const root = nodeFs.mkdtempSync(join(tmpdir(), 'artifact-faults-'));
afterAll(() => nodeFs.rmSync(root, { recursive: true, force: true }));
let folders = 0;
const newFolder = (): string => join(root, String(++folders));

const callNames = ['closeSync', 'fstatSync', 'fsyncSync', 'mkdirSync', 'openSync', 'readSync', 'readdirSync', 'renameSync'] as const;
const moreNames = ['statSync', 'unlinkSync', 'writeSync'] as const;

/** Wraps the real calls. The nth call fails with `code`; if `dies`, every later call fails too. */
function failing(nth: number, code: string, dies: boolean): { fs: FileCalls; fired: () => boolean } {
  let count = 0;
  const wrap = (name: (typeof callNames)[number] | (typeof moreNames)[number]) => {
    const real: unknown = nodeFs[name];
    return (...args: unknown[]) => {
      count += 1;
      if (count === nth || (dies && count > nth)) throw Object.assign(new Error(`${code}: injected in ${name}`), { code });
      return Reflect.apply(real as (...all: unknown[]) => unknown, nodeFs, args);
    };
  };
  const entries = [...callNames, ...moreNames].map((name) => [name, wrap(name)]);
  return { fs: Object.fromEntries(entries) as FileCalls, fired: () => count >= nth };
}

function database(): Database.Database {
  const db = new Database(':memory:');
  for (const migration of artifactMigrations) migration.up(db);
  return db;
}

const about = { name: 'n', mediaType: 'text/plain', sessionId: 's' };
const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test.each([
  ['ENOSPC', 'store_full'],
  ['EROFS', 'store_readonly'],
  ['EACCES', 'store_readonly'],
  ['EIO', 'store_failed'],
])('%s at any file call of a put is %s, and the store stays consistent', (code, expected) => {
  let nth = 1;
  for (; ; nth++) {
    const folder = newFolder();
    const db = database();
    const clock = new ManualClock();
    const sound = new ArtifactStore({ db, folder, clock });
    sound.put('earlier', { ...about, name: 'earlier' });
    const fault = failing(nth, code, false);
    const store = new ArtifactStore({ db, folder, clock, fs: fault.fs });
    let failure: unknown;
    try {
      store.put('later', about);
    } catch (cause) {
      failure = cause;
    }
    if (!fault.fired()) break;
    expect(isAppError(failure) ? failure.code : failure).toBe(expected);
    expect(sound.list().map((entry) => entry.name)).toEqual(['earlier']);
    expect(text(sound.read('earlier'))).toBe('earlier');
    expect(text(sound.read(sound.put('later', about).sha256))).toBe('later');
  }
  expect(nth).toBeGreaterThan(6);
});

test('a crash at any file call of put or collection keeps all recorded content', () => {
  let nth = 1;
  for (; ; nth++) {
    const folder = newFolder();
    const db = database();
    const clock = new ManualClock(Date.now());
    const sound = new ArtifactStore({ db, folder, clock });
    sound.put('kept', { ...about, name: 'kept' });
    // Two artifacts to remove, so that a crash can happen between them.
    const old = ['old', 'older'].map((name) => sound.put(name, { ...about, name }).sha256);
    clock.advance(7_200_000);
    const fault = failing(nth, 'EIO', true);
    const dying = new ArtifactStore({ db, folder, clock, fs: fault.fs });
    let failure: unknown = null;
    try {
      dying.put('new', { ...about, name: 'new' });
      dying.collectGarbage({ nowMs: clock.nowMs(), olderThanDays: 0, isReferenced: (id) => !old.includes(id) });
    } catch (cause) {
      failure = cause;
    }
    expect(failure === null || isAppError(failure)).toBe(true);
    const reopened = new ArtifactStore({ db, folder, clock });
    for (const entry of reopened.list()) expect(text(reopened.read(entry.sha256))).toBe(entry.name);
    expect(reopened.get('kept')).not.toBeNull();
    clock.advance(7_200_000);
    reopened.collectGarbage({ nowMs: clock.nowMs(), olderThanDays: 90, isReferenced: () => false });
    expect(countFiles(folder)).toBe(reopened.list().length);
    if (!fault.fired()) break;
  }
  expect(nth).toBeGreaterThan(12);
});

function countFiles(folder: string): number {
  return nodeFs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

test('a full or read-only database hides the file and reports the error', () => {
  const folder = newFolder();
  const file = join(root, 'full.db');
  const db = new Database(file);
  for (const migration of artifactMigrations) migration.up(db);
  const store = new ArtifactStore({ db, folder, clock: new ManualClock() });
  db.pragma(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`);
  const failures = new Set<string>();
  for (let i = 0; i < 200 && failures.size === 0; i++) {
    try {
      store.put(`content ${i}`, { ...about, name: 'x'.repeat(400) + i });
    } catch (cause) {
      failures.add(isAppError(cause) ? cause.code : String(cause));
    }
  }
  expect([...failures]).toEqual(['store_full']);
  for (const entry of store.list()) expect(store.read(entry.sha256).length).toBe(entry.sizeBytes);
  db.pragma('query_only = on');
  expect(() => store.put('more', about)).toThrow(expect.objectContaining({ code: 'store_readonly' }));
  db.close();
});

type Step =
  | { kind: 'put'; content: number; session: number }
  | { kind: 'alias'; content: number; alias: number; session: number }
  | { kind: 'reference'; content: number; on: boolean }
  | { kind: 'collect'; days: number; limit: number }
  | { kind: 'wait'; days: number };

const small = fc.nat({ max: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('put' as const), content: small, session: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('alias' as const), content: small, alias: small, session: fc.nat({ max: 2 }) }),
  fc.record({ kind: fc.constant('reference' as const), content: small, on: fc.boolean() }),
  fc.record({ kind: fc.constant('collect' as const), days: fc.nat({ max: 3 }), limit: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('wait' as const), days: fc.nat({ max: 3 }) }),
);

test('in any history, collection removes only old unreferenced content', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const clock = new ManualClock();
      const store = new ArtifactStore({ db: database(), folder: newFolder(), clock });
      const ids = new Map<number, string>();
      const lastUse = new Map<string, number>();
      const referenced = new Set<string>();
      for (const action of steps) {
        if (action.kind === 'wait') clock.advance(action.days * 86_400_000);
        if (action.kind === 'put') {
          const { sha256 } = store.put(`content ${action.content}`, { ...about, sessionId: `s${action.session}` });
          ids.set(action.content, sha256);
          lastUse.set(sha256, clock.nowMs());
        }
        const id = 'content' in action ? ids.get(action.content) : undefined;
        if (action.kind === 'alias' && id !== undefined && lastUse.has(id)) {
          store.alias(id, `alias ${action.alias}`, `s${action.session}`);
          lastUse.set(id, clock.nowMs());
        }
        if (action.kind === 'reference' && id !== undefined) {
          if (action.on && lastUse.has(id)) referenced.add(id);
          else referenced.delete(id);
        }
        if (action.kind === 'collect') {
          const beforeMs = clock.nowMs() - action.days * 86_400_000;
          const due = [...lastUse].filter(([sha, atMs]) => atMs < beforeMs && !referenced.has(sha)).map(([sha]) => sha);
          const { removed } = store.collectGarbage({
            nowMs: clock.nowMs(),
            olderThanDays: action.days,
            limit: action.limit,
            isReferenced: (sha) => referenced.has(sha),
          });
          expect(removed.length).toBe(Math.min(due.length, action.limit));
          expect(removed.filter((sha) => !due.includes(sha))).toEqual([]);
          for (const sha of removed) lastUse.delete(sha);
        }
        expect(new Set(store.list().map((entry) => entry.sha256))).toEqual(new Set(lastUse.keys()));
        for (const sha of lastUse.keys()) expect(text(store.read(sha))).toMatch(/^content \d$/);
      }
    }),
    { numRuns: 40 },
  );
});
