// Automatic protection of the log: the write-ahead log stays small, backups are made, damage is found and reported.

import { closeSync, copyFileSync, mkdirSync, openSync, readdirSync, statSync, utimesSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Clock } from '../../core/base/clock.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';

const demo = { models: { default: 'demo/offline' } } as const satisfies ConfigInput;

async function talk(claw: TrayClaw, turns: number): Promise<string> {
  const { sessionId } = await claw.ask('hello');
  for (let i = 1; i < turns; i += 1) await claw.ask(`message ${i}`, { sessionId });
  return sessionId;
}

/** Quickly writes this many events. */
async function fill(claw: TrayClaw, events: number): Promise<void> {
  for (let i = 0; i < events; i += 1) await claw.op('session.create', { title: `session ${i}` });
}

const backupsOf = (home: TestHome): string[] => {
  try {
    return readdirSync(join(home.path, 'backups')).sort();
  } catch {
    return [];
  }
};

test('after many turns without a pause most of the log is in the database file', async () => {
  await using home = new TestHome();
  home.configure(demo);
  const claw = await home.open();
  // A checkpoint follows after at most two hundred commits, however busy the turns are; a turn has two commits.
  await talk(claw, 150);
  const alone = join(home.path, 'copy');
  mkdirSync(alone);
  copyFileSync(join(home.path, 'trayclaw.db'), join(alone, 'trayclaw.db'));
  const whole = count(join(home.path, 'trayclaw.db'));
  expect(count(join(alone, 'trayclaw.db'))).toBeGreaterThan(whole / 2);
  claw.sync();
  expect(statSync(join(home.path, 'trayclaw.db-wal')).size).toBeLessThanOrEqual(4 * 1024 * 1024);
  await claw.close();
}, 120_000);

function count(file: string): number {
  const db = new Database(file, { readonly: true });
  try {
    return db.prepare('SELECT count(*) FROM events').pluck().get() as number;
  } finally {
    db.close();
  }
}

/** Closing waits two seconds for a backup; on a busy machine a due backup may be postponed to the next time. */
async function closeUntil(home: TestHome, claw: TrayClaw, isMade: () => boolean, clock?: Clock): Promise<void> {
  await claw.close();
  for (let i = 0; i < 5 && !isMade(); i += 1) await (await home.open(clock === undefined ? {} : { clock })).close();
}

test('closing makes a due backup, and keeps the newest few', async () => {
  await using home = new TestHome();
  home.configure({ ...demo, backup: { keep: 1 } });
  const small = await home.open();
  await fill(small, 10);
  await small.close();
  expect(backupsOf(home)).toEqual([]);

  const claw = await home.open();
  await fill(claw, 520);
  await closeUntil(home, claw, () => backupsOf(home).length > 0);
  const [first, ...more] = backupsOf(home);
  expect([first, more]).toEqual([expect.stringMatching(/^trayclaw-auto-.*\.db$/), []]);
  expect(count(join(home.path, 'backups', first ?? ''))).toBeGreaterThan(500);

  // A day later nothing was said, so no backup is due; then something was said.
  const dayMs = 86_400_000;
  const later = { nowMs: () => Date.now() + dayMs + 60_000, monotonicMs: () => performance.now() };
  const idle = await home.open({ clock: later });
  await idle.close();
  expect(backupsOf(home)).toEqual([first]);
  const busy = await home.open({ clock: later });
  await busy.op('backup.create', {});
  await busy.close();
  expect(backupsOf(home)).toHaveLength(2);
  const threeDaysOn = { ...later, nowMs: () => Date.now() + 3 * dayMs };
  const again = await home.open({ clock: threeDaysOn });
  await fill(again, 1);
  await closeUntil(home, again, () => !backupsOf(home).includes(first ?? ''), threeDaysOn);
  // The manual backup stays, and of the automatic ones the newest.
  expect(backupsOf(home).filter((name) => name.includes('auto'))).toEqual([expect.not.stringMatching(first ?? '')]);
  expect(backupsOf(home)).toHaveLength(2);

  // The clock was a year ahead when these were made, and was set back.
  const nextYear = Date.now() / 1000 + 31_536_000;
  const ahead = backupsOf(home);
  for (const name of ahead) utimesSync(join(home.path, 'backups', name), nextYear, nextYear);
  await closeUntil(home, await home.open(), () => backupsOf(home).some((name) => !ahead.includes(name)));
  expect(backupsOf(home).filter((name) => name.includes('auto') && !ahead.includes(name))).toHaveLength(1);
  expect(backupsOf(home)).toHaveLength(2);
}, 120_000);

test('no backup is made if the settings disable it', async () => {
  await using home = new TestHome();
  home.configure({ ...demo, backup: { automatic: false } });
  const claw = await home.open();
  await fill(claw, 520);
  await claw.close();
  expect(backupsOf(home)).toEqual([]);
});

test('emptied pages are detected, and a read that meets them says what to do', async () => {
  await using home = new TestHome();
  home.configure(demo);
  const claw = await home.open();
  await fill(claw, 600);
  await claw.close();
  const file = join(home.path, 'trayclaw.db');
  emptyPages(file, 'events', 8);
  const audit = await home.cli(['audit', 'verify']);
  expect([audit.code, audit.json]).toEqual([
    1,
    expect.objectContaining({ ok: false, faults: [expect.objectContaining({ kind: 'database' })] }),
  ]);
  const doctor = await home.command(['doctor']);
  expect(doctor.code).not.toBe(0);
  expect(doctor.stdout).toMatch(/backup restore|malformed|damaged/);
}, 120_000);

test('a start that meets a damaged page says what to do', async () => {
  await using home = new TestHome();
  home.configure(demo);
  const claw = await home.open();
  await fill(claw, 600);
  await claw.close();
  emptyPages(join(home.path, 'trayclaw.db'), 'events_by_session', 200);
  const asked = await home.command(['ask', 'what did I say?']);
  expect([asked.code, asked.json]).toEqual([
    1,
    { error: expect.objectContaining({ code: 'store_corrupt', hint: expect.stringContaining('trayclaw backup restore') }) },
  ]);
}, 120_000);

/** Empties leaf pages of a table or index, from the middle of it. */
function emptyPages(file: string, name: string, pages: number): void {
  const db = new Database(file, { readonly: true });
  const size = db.pragma('page_size', { simple: true }) as number;
  const rows = db.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY pageno").pluck().all(name) as number[];
  db.close();
  const handle = openSync(file, 'r+');
  const from = Math.max(0, Math.floor(rows.length / 2) - pages);
  for (const page of rows.slice(from, from + pages)) writeSync(handle, Buffer.alloc(size), 0, size, (page - 1) * size);
  closeSync(handle);
}
