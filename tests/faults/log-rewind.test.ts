// A log that lost its end: the database, its write-ahead log and the head file are damaged in every combination after a process was killed.
// No loss may go unreported, and an engaged panic stop must still be engaged.

import { cpSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import Database from 'better-sqlite3';
import { systemClock } from '../../core/base/clock.ts';
import type { RuntimeOptions } from '../../core/compose.ts';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { readHead, restoreBackup } from '../../core/store/storage/storage.ts';

const config = { models: { default: 'demo/offline' } } as const;
const root = mkdtempSync(join(tmpdir(), 'log-rewind-'));
const files = ['trayclaw.db', 'trayclaw.db-wal', 'trayclaw.head'] as const;

afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Copies a killed process's files: the bytes it had written, whether or not they had reached the disk. */
function snapshot(from: string, name: string): string {
  const to = join(root, name);
  mkdirSync(to);
  for (const file of files) if (existsSync(join(from, file))) copyFileSync(join(from, file), join(to, file));
  return to;
}

const open = (home: string, more: Partial<RuntimeOptions> = {}): Promise<TrayClaw> => {
  const options: RuntimeOptions = { home, config, environment: {}, ...more };
  return createTrayClaw(options);
};

async function say(claw: TrayClaw, times: number): Promise<void> {
  for (let i = 0; i < times; i += 1) expect((await claw.ask(`message ${i}`)).status).toBe('done');
}

let backup = '';
let early = '';
let other = '';
let calm = '';
let stopped = '';

beforeAll(async () => {
  const home = join(root, 'home');
  const claw = await open(home);
  await say(claw, 2);
  claw.sync();
  early = snapshot(home, 'early');
  backup = join(root, 'backup.db');
  copyFileSync((await claw.op('backup.create', {})).file, backup);
  await say(claw, 8);
  calm = snapshot(home, 'calm');
  await claw.op('panic.engage', { reason: 'a person stopped it' });
  await claw.op('session.create', { title: 'after the stop' });
  stopped = snapshot(home, 'stopped');
  await claw.close();
  const second = await open(join(root, 'second'));
  await say(second, 1);
  other = snapshot(join(root, 'second'), 'other');
  await second.close();
}, 60_000);

type File = (typeof files)[number];
const remove =
  (...names: File[]) =>
  (home: string): void => {
    for (const name of names) rmSync(join(home, name), { force: true });
  };
/** The part of the write-ahead log in use; the rest dates from before its last restart (https://sqlite.org/walformat.html). */
function usedBytes(name: File, bytes: Buffer): number {
  if (name !== 'trayclaw.db-wal') return bytes.length;
  const frame = 24 + bytes.readUInt32BE(8);
  let at = 32;
  while (at + frame <= bytes.length && bytes.compare(bytes, 16, 24, at + 8, at + 16) === 0) at += frame;
  return at;
}
const flip =
  (name: File, share: number) =>
  (home: string): void => {
    const bytes = readFileSync(join(home, name));
    const at = Math.floor((usedBytes(name, bytes) - 60) * share);
    for (let i = at; i < at + 50; i += 1) bytes[i] = (bytes[i] ?? 0) ^ 0xff;
    writeFileSync(join(home, name), bytes);
  };
const cut =
  (name: File, share: number) =>
  (home: string): void =>
    truncateSync(join(home, name), Math.floor(usedBytes(name, readFileSync(join(home, name))) * share));
const put =
  (from: () => string, ...names: File[]) =>
  (home: string): void => {
    for (const name of names) {
      rmSync(join(home, name), { force: true });
      if (existsSync(join(from(), name))) copyFileSync(join(from(), name), join(home, name));
    }
  };
const all =
  (...steps: ((home: string) => void)[]) =>
  (home: string): void => {
    for (const step of steps) step(home);
  };

interface Story {
  readonly name: string;
  readonly spoil: (home: string) => void;
  /** The finding at start; `damaged` if the database itself is rejected, `whole` if nothing is lost. */
  readonly finds: 'rewound' | 'other-log' | 'head-missing' | 'head-damaged' | 'whole';
  /** The finding after a panic stop, whose events are already in the database file; only later ones can be lost. */
  readonly findsAfterStop?: Story['finds'];
}

const stories: readonly Story[] = [
  { name: 'nothing is touched', spoil: () => undefined, finds: 'whole' },
  { name: 'the write-ahead log is removed', spoil: remove('trayclaw.db-wal'), finds: 'rewound' },
  { name: 'the write-ahead log is emptied', spoil: cut('trayclaw.db-wal', 0), finds: 'rewound' },
  { name: 'the write-ahead log is cut in half', spoil: cut('trayclaw.db-wal', 0.5), finds: 'rewound' },
  { name: 'the first tenth of the write-ahead log is left', spoil: cut('trayclaw.db-wal', 0.1), finds: 'rewound' },
  { name: 'bytes at the start of the write-ahead log flip', spoil: flip('trayclaw.db-wal', 0), finds: 'rewound' },
  { name: 'bytes in the middle of the write-ahead log flip', spoil: flip('trayclaw.db-wal', 0.5), finds: 'rewound' },
  {
    name: 'the database and its log go back to an older copy',
    spoil: put(() => early, 'trayclaw.db', 'trayclaw.db-wal'),
    finds: 'rewound',
    findsAfterStop: 'rewound',
  },
  {
    name: 'the older database alone comes back',
    spoil: all(
      put(() => early, 'trayclaw.db'),
      remove('trayclaw.db-wal'),
    ),
    finds: 'rewound',
    findsAfterStop: 'rewound',
  },
  {
    name: 'database and write-ahead log are removed',
    spoil: remove('trayclaw.db', 'trayclaw.db-wal'),
    finds: 'rewound',
    findsAfterStop: 'rewound',
  },
  {
    name: 'the database is emptied',
    spoil: all(cut('trayclaw.db', 0), remove('trayclaw.db-wal')),
    finds: 'rewound',
    findsAfterStop: 'rewound',
  },
  {
    name: 'the database of another data folder is put in',
    spoil: put(() => other, 'trayclaw.db', 'trayclaw.db-wal'),
    finds: 'rewound',
    findsAfterStop: 'rewound',
  },
  {
    name: 'the head file of another data folder is put in',
    spoil: put(() => other, 'trayclaw.head'),
    finds: 'other-log',
    findsAfterStop: 'other-log',
  },
  { name: 'the head file is an older one', spoil: put(() => early, 'trayclaw.head'), finds: 'whole', findsAfterStop: 'whole' },
  { name: 'the head file is removed', spoil: remove('trayclaw.head'), finds: 'head-missing', findsAfterStop: 'head-missing' },
  {
    name: 'head file and write-ahead log are removed',
    spoil: remove('trayclaw.head', 'trayclaw.db-wal'),
    finds: 'head-missing',
    findsAfterStop: 'head-missing',
  },
  { name: 'the head file is emptied', spoil: cut('trayclaw.head', 0), finds: 'head-damaged', findsAfterStop: 'head-damaged' },
  {
    name: 'both slots of the head file flip',
    spoil: all(flip('trayclaw.head', 0), flip('trayclaw.head', 0.6)),
    finds: 'head-damaged',
    findsAfterStop: 'head-damaged',
  },
];

function stage(from: string, story: Story): string {
  const home = mkdtempSync(join(root, 'story-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  cpSync(from, home, { recursive: true });
  story.spoil(home);
  return home;
}

async function found(claw: TrayClaw) {
  const audit = await claw.op('audit.verify', {});
  const end = (await claw.op('health.check', {})).checks.find(({ id }) => id === 'log-end');
  const { engaged } = await claw.op('panic.status', {});
  return { ok: audit.ok, gaps: (audit.faults ?? []).length, isEndWell: end?.ok, says: claw.notices.length > 0, engaged };
}

const silent = { ok: true, gaps: 0, isEndWell: true, says: false };
const told = { ok: false, gaps: 1, isEndWell: false, says: true };

describe.each(stories)('$name', (story) => {
  test('without a panic stop', async () => {
    const home = stage(calm, story);
    const claw = await open(home);
    const isRewound = story.finds === 'rewound' || story.finds === 'other-log';
    expect(await found(claw)).toEqual({ ...(story.finds === 'whole' ? silent : told), engaged: isRewound });
    expect(await gapReasons(claw, home)).toEqual(story.finds === 'whole' ? [] : [story.finds]);
    await claw.close();

    // Each start reports it until a person accepts it; then the work continues.
    const again = await open(home);
    expect(await found(again)).toEqual({ ...(story.finds === 'whole' ? silent : told), engaged: isRewound });
    await (isRewound ? again.op('health.fix', { checkId: 'log-end', run: true }) : again.op('audit.accept', {}));
    await again.op('panic.release', {});
    expect((await again.op('audit.verify', {})).ok).toBe(true);
    await say(again, 1);
    await again.close();
    const third = await open(home);
    expect(await found(third)).toEqual({ ...silent, engaged: false });
    await third.close();
  });

  test('with the panic stop engaged', async () => {
    const claw = await open(stage(stopped, story));
    const { engaged, ...rest } = await found(claw);
    expect(engaged).toBe(true);
    if (story.findsAfterStop !== undefined) expect(rest).toEqual(story.findsAfterStop === 'whole' ? silent : told);
    await claw.close();
  });
});

/** The reasons of all gaps that the log reports so far. */
async function gapReasons(claw: TrayClaw, home: string): Promise<string[]> {
  const head = readHead(home);
  const last = head === null || head === 'damaged' ? 0 : head.newest.seq;
  const reasons: string[] = [];
  for await (const event of claw.events({ after: 0 })) {
    if (event.type === 'log.gap_found') reasons.push(event.body.reason);
    if (event.seq >= last) break;
  }
  return reasons;
}

describe('changes that are not alarm, and a panic stop that survives them', () => {
  const loseLastCommit = (home: string): void => {
    const bytes = readFileSync(join(home, 'trayclaw.db-wal'));
    truncateSync(join(home, 'trayclaw.db-wal'), usedBytes('trayclaw.db-wal', bytes) - 1);
  };
  const copy = (from: string): string => stage(from, { name: '', spoil: () => undefined, finds: 'whole' });

  test('a backup restored by the command is not a loss', async () => {
    const home = copy(calm);
    restoreBackup(home, backup, systemClock.nowMs());
    const claw = await open(home);
    expect(await found(claw)).toEqual({ ...silent, engaged: false });
    await say(claw, 1);
    await claw.close();
  });

  test('a backup restored by the command does not release the panic stop', async () => {
    const home = copy(stopped);
    restoreBackup(home, backup, systemClock.nowMs());
    const claw = await open(home);
    expect(await found(claw)).toEqual({ ...silent, engaged: true });
    await claw.op('panic.release', {});
    await claw.close();
    const again = await open(home);
    expect(await found(again)).toEqual({ ...silent, engaged: false });
    await again.close();
  });

  test('a data folder without a head file gets one, without a report', async () => {
    const home = copy(early);
    remove('trayclaw.head')(home);
    const db = new Database(join(home, 'trayclaw.db'));
    db.exec("DROP TABLE log_head; DELETE FROM migrations WHERE id = '0003-log-head'");
    db.close();
    const claw = await open(home);
    expect(await found(claw)).toEqual({ ...silent, engaged: false });
    await claw.close();
    expect(readHead(home)).toMatchObject({ stopped: false });
  });

  test('losses possible in a power cut are reported and need no person', async () => {
    const home = copy(calm);
    const head = readHead(home);
    if (head === null || head === 'damaged') throw new Error('no head');
    // The last commit had not waited for the disk: the head file had reached it, but the end of the write-ahead log had not.
    loseLastCommit(home);
    expect(head.durable.seq).toBeLessThan(head.newest.seq);
    const claw = await open(home, { faults: { bootedAtMs: head.bootedAtMs + 3_600_000 } });
    expect(await gapReasons(claw, home)).toEqual(['power-cut']);
    expect(await found(claw)).toEqual({ ...silent, engaged: false });
    await claw.close();
  });

  test('the same loss without a reboot is an alarm', async () => {
    const home = copy(calm);
    loseLastCommit(home);
    const claw = await open(home);
    expect(await found(claw)).toEqual({ ...told, engaged: true });
    await claw.close();
  });

  test('a stop that a full store could not record is engaged at the next start', async () => {
    const home = copy(calm);
    const claw = await open(home);
    const db = new Database(join(home, 'trayclaw.db'));
    db.exec("CREATE TRIGGER full BEFORE INSERT ON events WHEN NEW.type = 'panic.engaged' BEGIN SELECT RAISE(ABORT, 'full'); END");
    await expect(claw.op('panic.engage', { reason: 'stop' })).rejects.toMatchObject({ name: 'AppError' });
    db.exec('DROP TRIGGER full');
    db.close();
    await claw.close();
    const again = await open(home);
    expect(await found(again)).toEqual({ ...silent, engaged: true });
    await again.close();
  });

  test('a deleted -shm file is not a loss', async () => {
    const home = copy(calm);
    writeFileSync(join(home, 'trayclaw.db-shm'), Buffer.alloc(32_768));
    rmSync(join(home, 'trayclaw.db-shm'));
    const claw = await open(home);
    expect(await found(claw)).toEqual({ ...silent, engaged: false });
    await claw.close();
  });
});
