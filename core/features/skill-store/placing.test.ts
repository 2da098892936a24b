// An installation that is interrupted at each of its file system calls, and one that is interrupted while it is undone. The result is the
// old state or the new one, never a mixture, and no leftover files.

import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { SkillMove } from '../../contracts/features/skill-store.ts';
import { soak } from '../../../tests/soak.ts';
import { place, sweep, takeBack, type Arrival, type StoreFs } from './placing.ts';

let root: string;
beforeEach(() => {
  root = fs.mkdtempSync(join(tmpdir(), 'trayclaw-placing-'));
});
afterEach(() => fs.rmSync(root, { recursive: true, force: true }));

/** A hash of every file below a folder with its content; null if the folder does not exist. */
function contentOf(folder: string): string | null {
  if (!fs.existsSync(folder)) return null;
  const files = fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const lines = files.map(
    (entry) => `${join(entry.parentPath, entry.name).slice(folder.length)}:${fs.readFileSync(join(entry.parentPath, entry.name), 'utf8')}`,
  );
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

const filesOf = (text: string) => new Map([['SKILL.md', Buffer.from(text)], ['scripts/run.sh', Buffer.from(`echo ${text}`)]] as const); // prettier-ignore

function hashOf(files: ReadonlyMap<string, Uint8Array>): string {
  const lines = [...files].map(([path, content]) => `/${path}:${Buffer.from(content).toString('utf8')}`);
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}

const killed = new Error('killed');

/** Performs this many calls and then fails, like a killed process. */
function dyingFs(calls: number): { fs: StoreFs; used: () => number } {
  let left = calls;
  const guard =
    <A extends readonly unknown[], R>(call: (...args: A) => R) =>
    (...args: A): R => {
      if (left <= 0) throw killed;
      left -= 1;
      return call(...args);
    };
  return {
    used: () => calls - left,
    fs: {
      existsSync: guard(fs.existsSync),
      mkdirSync: guard((path: string, options: { mode: number }) => fs.mkdirSync(path, options)),
      statSync: guard((path: string, options: { throwIfNoEntry: false }) => fs.statSync(path, options)),
      openSync: guard(fs.openSync),
      // A write may end in the middle.
      writeSync: guard((handle: number, content: Uint8Array, at: number) =>
        fs.writeSync(handle, content, at, Math.ceil((content.length - at) / 2)),
      ),
      // Counted, but performs no sync.
      fsyncSync: guard(() => undefined),
      closeSync: (handle) => fs.closeSync(handle),
      readdirSync: guard((path: string) => fs.readdirSync(path)),
      renameSync: guard(fs.renameSync),
      rmSync: guard((path: string, options: fs.RmOptions) => fs.rmSync(path, options)),
    },
  };
}

/** Replaces the data folder: the recorded moves, and whether they were committed. */
interface Journal {
  open: readonly SkillMove[] | null;
  isDone: boolean;
}

function install(calls: number, folder: string): { journal: Journal; used: number; isDead: boolean } {
  const journal: Journal = { open: null, isDone: false };
  const dying = dyingFs(calls);
  const dead = (): boolean => dying.used() >= calls;
  const unlessDead = (work: () => void): void => {
    if (dead()) throw killed;
    work();
  };
  const arrivals: Arrival[] = [
    { name: 'new-one', files: filesOf('one'), sha256: hashOf(filesOf('one')), before: null },
    { name: 'old-one', files: filesOf('two'), sha256: hashOf(filesOf('two')), before: hashOf(filesOf('old')) },
  ];
  try {
    place(arrivals, folder, 'tag', {
      fs: dying.fs,
      contentOf,
      begin: (moves) => unlessDead(() => (journal.open = moves)),
      commit: () =>
        unlessDead(() => {
          journal.open = null;
          journal.isDone = true;
        }),
      undone: () => unlessDead(() => (journal.open = null)),
    });
    sweep(folder, dying.fs);
  } catch (cause) {
    if (cause !== killed) throw cause;
  }
  return { journal, used: dying.used(), isDead: dead() };
}

function prepare(name: string): string {
  const folder = join(root, name);
  fs.mkdirSync(join(folder, 'old-one', 'scripts'), { recursive: true });
  for (const [path, content] of filesOf('old')) fs.writeFileSync(join(folder, 'old-one', path), content);
  return folder;
}

const stateOf = (folder: string) => ({
  names: fs.readdirSync(folder).sort(),
  old: contentOf(join(folder, 'old-one')),
  fresh: contentOf(join(folder, 'new-one')),
});
const before = { names: ['old-one'], old: hashOf(filesOf('old')), fresh: null };
const after = { names: ['new-one', 'old-one'], old: hashOf(filesOf('two')), fresh: hashOf(filesOf('one')) };

function recover(journal: Journal, folder: string, with_: StoreFs = fs): void {
  if (journal.open !== null) takeBack(journal.open, { fs: with_, contentOf });
  journal.open = null;
  sweep(folder, with_);
}

test('an installation interrupted at any call leaves the old state or the new one', () => {
  const whole = install(Number.POSITIVE_INFINITY, prepare('whole'));
  expect(stateOf(join(root, 'whole'))).toEqual(after);
  expect(whole.journal.isDone).toBe(true);
  const total = countCalls();
  expect(total).toBeGreaterThan(40);
  const seen = new Set<string>();
  for (let calls = 0; calls <= total; calls += 1) {
    const folder = prepare(`cut-${calls}`);
    const { journal } = install(calls, folder);
    recover(journal, folder);
    expect([calls, stateOf(folder)]).toEqual([calls, journal.isDone ? after : before]);
    seen.add(String(journal.isDone));
  }
  expect([...seen].sort()).toEqual(['false', 'true']);
});

function countCalls(): number {
  let calls = 1;
  for (let low = 1; ; low *= 2) {
    const { isDead, used } = install(low, prepare(`count-${low}`));
    if (!isDead) return used;
    calls = low;
    if (calls > 100_000) throw new Error('no end');
  }
}

test('a recovery interrupted at any call is completed by the next one', () => {
  const total = countCalls();
  for (let calls = Math.floor(total / 2); calls < total; calls += soak(5, 1)) {
    for (let again = 0; again < 12; again += 1) {
      const folder = prepare(`again-${calls}-${again}`);
      const { journal } = install(calls, folder);
      const open = journal.open;
      try {
        recover(journal, folder, dyingFs(again).fs);
      } catch (cause) {
        if (cause !== killed) throw cause;
        journal.open = open;
      }
      recover(journal, folder);
      expect([calls, again, stateOf(folder)]).toEqual([calls, again, journal.isDone ? after : before]);
    }
  }
});

test('a failure that the process survives is undone at once', () => {
  const folder = prepare('full');
  let renames = 0;
  const failing: StoreFs = {
    ...fs,
    renameSync: (from, to) => {
      renames += 1;
      if (renames === 3) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' });
      fs.renameSync(from, to);
    },
  };
  const told: string[] = [];
  const arrivals: Arrival[] = [
    { name: 'new-one', files: filesOf('one'), sha256: hashOf(filesOf('one')), before: null },
    { name: 'old-one', files: filesOf('two'), sha256: hashOf(filesOf('two')), before: hashOf(filesOf('old')) },
  ];
  const deps = {
    fs: failing,
    contentOf,
    begin: () => undefined,
    commit: () => told.push('commit'),
    undone: (why: string) => told.push(why),
  };
  expect(() => place(arrivals, folder, 'tag', deps as never)).toThrow('ENOSPC');
  expect([told, stateOf(folder)]).toEqual([['ENOSPC'], before]);
});

test('files that changed since the plan was shown are left alone', () => {
  const folder = prepare('changed');
  fs.writeFileSync(join(folder, 'old-one', 'SKILL.md'), 'mine');
  const arrivals: Arrival[] = [{ name: 'old-one', files: filesOf('two'), sha256: hashOf(filesOf('two')), before: hashOf(filesOf('old')) }];
  const none = (): void => expect.unreachable();
  expect(() => place(arrivals, folder, 'tag', { fs, contentOf, begin: none, commit: none, undone: none })).toThrow(
    'changed since the plan',
  );
  expect(fs.readFileSync(join(folder, 'old-one', 'SKILL.md'), 'utf8')).toBe('mine');
  expect(fs.readdirSync(folder)).toEqual(['old-one']);
});
