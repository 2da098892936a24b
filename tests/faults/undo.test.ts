// The refusals of an undo, its behaviour on a failing disk and after a crash, and the limits of the stored copies.

import * as nodeFs from 'node:fs';
import { chmodSync, linkSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isAppError } from '../../core/contracts/errors.ts';
import type { FileCalls } from '../../core/store/checkpoint/checkpoint.ts';
import { UndoRig, unsyncedFiles } from '../doubles/undo-rig.ts';

const reasonsOf = ({ refused }: { readonly refused: readonly { readonly reason: string }[] }): string[] =>
  refused.map(({ reason }) => reason);

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'done';
  } catch (cause) {
    return isAppError(cause) ? cause.code : String(cause);
  }
}

test('each later change of a file is refused with its reason and left alone', async () => {
  const cases: readonly (readonly [string, (path: string, rig: UndoRig) => void])[] = [
    ['It was changed since.', (path) => writeFileSync(path, 'mine')],
    ['It was removed since.', (path) => rmSync(path)],
    ['Its permissions were changed since.', (path) => chmodSync(path, 0o600)],
    [
      'It has further names elsewhere (hard links) now, which would keep what is in it or lose it.',
      (path, rig) => linkSync(path, rig.path('other')),
    ],
    [
      'It is a folder now.',
      (path) => {
        rmSync(path);
        mkdirSync(path);
      },
    ],
    [
      'It is a symbolic link now.',
      (path, rig) => {
        renameSync(path, rig.path('moved'));
        symlinkSync('moved', path);
      },
    ],
  ];
  for (const [reason, change] of cases) {
    using rig = new UndoRig();
    writeFileSync(rig.path('a'), 'before');
    const { callId } = await rig.call('trn_1', ['a', 'b'], () => {
      writeFileSync(rig.path('a'), 'after');
      writeFileSync(rig.path('b'), 'new');
    });
    change(rig.path('a'), rig);
    const tree = rig.snapshot();
    expect(reasonsOf(await rig.undo({ callId }))).toEqual([reason]);
    expect(rig.snapshot()).toEqual(tree);
    const { restored } = await rig.undo({ callId }, { keepGoing: true });
    expect(restored).toEqual([rig.path('b')]);
  }
});

test('a path whose folder was redirected, or that is protected, is always refused', async () => {
  using rig = new UndoRig({ forbids: (path) => (path.endsWith('own') ? 'It is its own data.' : null) });
  mkdirSync(rig.path('d'));
  writeFileSync(rig.path('d/a'), 'before');
  const { callId } = await rig.call('trn_1', ['d/a', 'own'], () => {
    writeFileSync(rig.path('d/a'), 'after');
    writeFileSync(rig.path('own'), 'x');
  });
  renameSync(rig.path('d'), rig.path('elsewhere'));
  symlinkSync('elsewhere', rig.path('d'));
  const tree = rig.snapshot();
  expect(reasonsOf(await rig.undo({ callId }, { force: true, keepGoing: true }))).toEqual([
    `Its folder leads elsewhere now, to ${rig.path('elsewhere/a')}.`,
    'It is its own data.',
  ]);
  expect(rig.snapshot()).toEqual(tree);
});

test('a change between check and restore is a conflict, and no other file is restored', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), 'before a');
  writeFileSync(rig.path('b'), 'before b');
  const { callId } = await rig.call('trn_1', ['a', 'b'], () => {
    writeFileSync(rig.path('a'), 'after a');
    writeFileSync(rig.path('b'), 'after b');
  });
  let looks = 0;
  const changing: FileCalls = {
    ...unsyncedFiles,
    openSync: (...args) => {
      // The first read is for the check, the second for the copy of what will be replaced.
      if (args[0] === rig.path('b') && (looks += 1) === 2) writeFileSync(rig.path('b'), 'mine');
      return nodeFs.openSync(...args);
    },
  };
  expect(await codeOf(rig.undo({ callId }, { fs: changing }))).toBe('conflict');
  expect([readFileSync(rig.path('a'), 'utf8'), readFileSync(rig.path('b'), 'utf8')]).toEqual(['after a', 'mine']);
  expect(
    rig
      .checkpoints()
      .list({ limit: 10 })
      .map((kept) => kept.callId),
  ).toEqual([callId]);
});

test('with force a changed file is restored, and undoing that brings the change back', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), 'before');
  const { callId } = await rig.call('trn_1', ['a'], () => writeFileSync(rig.path('a'), 'after'));
  writeFileSync(rig.path('a'), 'mine');
  const { restoreId } = await rig.undo({ callId }, { force: true });
  expect(readFileSync(rig.path('a'), 'utf8')).toBe('before');
  await rig.undo({ callId: restoreId ?? '' });
  expect(readFileSync(rig.path('a'), 'utf8')).toBe('mine');
});

test('names the later call to undo first, and keeps foreign changes between two calls', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), '1');
  const first = await rig.call('trn_1', ['a'], () => writeFileSync(rig.path('a'), '2'));
  const second = await rig.call('trn_2', ['a'], () => writeFileSync(rig.path('a'), '3'));
  expect(reasonsOf(await rig.undo({ callId: first.callId }))).toEqual([`It was changed again by ${second.callId}; undo that first.`]);
  writeFileSync(rig.path('a'), 'mine');
  await rig.call('trn_1', ['a'], () => writeFileSync(rig.path('a'), '4'));
  expect(reasonsOf(await rig.undo({ turnId: 'trn_1' }))).toEqual([
    'Something else changed it between these calls, and undoing them all would lose that.',
  ]);
  expect(readFileSync(rig.path('a'), 'utf8')).toBe('4');
});

test('a call repeated after a crash is undone to the state before its first try', async () => {
  for (const [between, expected] of [
    ['after', 'before'],
    ['before', 'before'],
    ['mine', 'mine'],
  ] as const) {
    using rig = new UndoRig();
    writeFileSync(rig.path('a'), 'before');
    const call = { callId: 'call_r', turnId: 'trn_1' };
    await rig.begin(call, ['a']);
    writeFileSync(rig.path('a'), between);
    const taken = await rig.begin(call, ['a']);
    writeFileSync(rig.path('a'), 'after');
    await rig.close(call, taken);
    await rig.undo(call);
    expect(readFileSync(rig.path('a'), 'utf8')).toBe(expected);
  }
});

test('after a crash during a call touched files are known, and force restores them', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), 'before');
  const call = { callId: 'call_c', turnId: 'trn_1' };
  await rig.begin(call, ['a', 'new/b']);
  expect(await rig.undo(call)).toEqual({ restoreId: null, restored: [], refused: [], unchanged: [rig.path('a'), rig.path('new/b')] });
  writeFileSync(rig.path('a'), 'half');
  expect(reasonsOf(await rig.undo(call))).toEqual([
    'The program ended while it was being changed, so what was left there is not known; it is not what was there before.',
  ]);
  expect((await rig.undo(call, { force: true })).restored).toEqual([rig.path('a')]);
  expect(readFileSync(rig.path('a'), 'utf8')).toBe('before');
});

/** File operations that work until the nth change of the disk, after which the process counts as dead. */
function endingAt(nth: number): FileCalls {
  let left = nth;
  const stopsAt = new Set([
    'openSync',
    'writeSync',
    'renameSync',
    'unlinkSync',
    'mkdirSync',
    'rmdirSync',
    'chmodSync',
    'fchmodSync',
    'fsyncSync',
  ]);
  return new Proxy(unsyncedFiles, {
    get: (files, name: keyof typeof nodeFs) => {
      const call = files[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]): unknown => {
        if (left <= 0 || (stopsAt.has(name) && --left <= 0)) throw Object.assign(new Error('the process has ended'), { code: 'EIO' });
        return call(...args);
      };
    },
  });
}

test('an interrupted undo is finished by the same undo, and leaves no other files', async () => {
  let wasWhole = false;
  for (let nth = 1; !wasWhole; nth++) {
    expect(nth).toBeLessThan(100);
    using rig = new UndoRig();
    writeFileSync(rig.path('a'), 'before a');
    mkdirSync(rig.path('d'), { mode: 0o750 });
    writeFileSync(rig.path('d/b'), 'before b');
    const before = rig.snapshot();
    const { callId } = await rig.call('trn_1', ['a', 'd', 'new/c'], () => {
      writeFileSync(rig.path('a'), 'after a');
      rmSync(rig.path('d'), { recursive: true });
      mkdirSync(rig.path('new'));
      writeFileSync(rig.path('new/c'), 'c');
    });
    const cutOff = await rig.undo({ callId }, { fs: endingAt(nth) }).catch(() => null);
    wasWhole = cutOff !== null && cutOff.refused.length === 0 && JSON.stringify(rig.snapshot()) === JSON.stringify(before);
    // Every file is as before or as the call left it, never anything else.
    for (const [path, content] of Object.entries(rig.snapshot())) {
      if (path.includes('.trayclaw-undo-') || path.endsWith('/')) continue;
      const text = Buffer.from(content.split(' ')[1] ?? '', 'base64').toString();
      expect(['before a', 'after a', 'before b', 'c']).toContain(text);
    }
    const again = await rig.undo({ callId }, { force: true });
    expect(again.refused).toEqual([]);
    expect(rig.snapshot()).toEqual(before);
  }
});

test('a full disk or an unreadable file prevents the call, with a message', async () => {
  const full: typeof nodeFs = {
    ...unsyncedFiles,
    writeSync: () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    },
  };
  using rig = new UndoRig({ artifactFs: full });
  writeFileSync(rig.path('a'), Buffer.alloc(200_000, 'large'));
  expect(await codeOf(rig.begin({ callId: 'call_f', turnId: 'trn_1' }, ['a']))).toBe('store_full');
  const closed: FileCalls = {
    ...unsyncedFiles,
    openSync: () => {
      throw Object.assign(new Error('closed'), { code: 'EACCES' });
    },
  };
  expect(() => rig.checkpoints(closed).take([rig.path('a')])).toThrow(
    `Could not keep a copy of ${rig.path('a')} before it is changed: this user may not do that there.`,
  );
});

test('a full disk during an undo changes nothing, is recorded, and can be retried', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), 'before');
  const { callId } = await rig.call('trn_1', ['a'], () => writeFileSync(rig.path('a'), 'after'));
  const full: FileCalls = {
    ...unsyncedFiles,
    writeSync: () => {
      throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    },
  };
  const tree = rig.snapshot();
  expect(await codeOf(rig.undo({ callId }, { fs: full }))).toBe('store_full');
  expect(rig.snapshot()).toEqual(tree);
  expect((await rig.undo({ callId })).restored).toEqual([rig.path('a')]);
});

test('files over a limit are not kept, with a message; large files are kept in pieces', async () => {
  using rig = new UndoRig({ limits: { fileBytesMax: 3_000_000, callBytesMax: 4_000_000, folderEntriesMax: 3 } });
  const large = Buffer.alloc(2_500_000, 'ab');
  writeFileSync(rig.path('large'), large);
  writeFileSync(rig.path('over'), Buffer.alloc(3_000_001));
  mkdirSync(rig.path('many'));
  for (const name of 'abcd') writeFileSync(rig.path(`many/${name}`), name);
  const { callId } = await rig.call('trn_1', ['large', 'over', 'many'], () => {
    writeFileSync(rig.path('large'), 'small');
    writeFileSync(rig.path('over'), 'small');
    rmSync(rig.path('many/a'));
  });
  const report = await rig.undo({ callId }, { keepGoing: true });
  expect(report.refused).toEqual([
    { path: rig.path('many'), reason: 'No copy of it was kept: it is a folder of more than 3 files.' },
    { path: rig.path('over'), reason: 'No copy of it was kept: it has 3 MB, and copies are kept of up to 3 MB.' },
  ]);
  expect(readFileSync(rig.path('large')).equals(large)).toBe(true);
});

test('a link that a call replaced is restored as a link', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('target'), 't');
  symlinkSync('target', rig.path('link'));
  const before = rig.snapshot();
  const { callId } = await rig.call('trn_1', ['link'], () => {
    rmSync(rig.path('link'));
    writeFileSync(rig.path('link'), 'no link');
  });
  expect((await rig.undo({ callId })).refused).toEqual([]);
  expect(rig.snapshot()).toEqual(before);
});

test('a created folder is removed with the folders created for it, and no others', async () => {
  using rig = new UndoRig();
  const write = () => {
    mkdirSync(rig.path('made/on/the'), { recursive: true });
    writeFileSync(rig.path('made/on/the/way.txt'), 'text');
  };
  await rig.call('trn_1', ['made'], () => mkdirSync(rig.path('made')));
  await rig.call('trn_1', ['made/on/the/way.txt'], write);
  writeFileSync(rig.path('made/on/other.txt'), 'of a person');
  expect((await rig.undo({ turnId: 'trn_1' })).refused).toEqual([
    { path: rig.path('made'), reason: 'It is a folder that holds on, which was not put there by this.' },
  ]);
  rmSync(rig.path('made/on/other.txt'));
  expect((await rig.undo({ turnId: 'trn_1' })).refused).toEqual([]);
  expect(rig.snapshot()).toEqual({});
});

test('the panic stop keeps an undo from starting and from continuing', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), 'before');
  const { callId } = await rig.call('trn_1', ['a'], () => writeFileSync(rig.path('a'), 'after'));
  rig.isStopped = true;
  expect(await codeOf(rig.undo({ callId }))).toBe('panic_engaged');
  // The undo did not begin: nothing was kept for it, and the log does not contain it.
  expect(
    rig
      .checkpoints()
      .list({ limit: 10 })
      .map((kept) => kept.callId),
  ).toEqual([callId]);
  rig.isStopped = false;
  const stopping: FileCalls = {
    ...unsyncedFiles,
    fchmodSync: (...args) => {
      rig.isStopped = true;
      nodeFs.fchmodSync(...args);
    },
  };
  expect(await codeOf(rig.undo({ callId }, { fs: stopping }))).toBe('panic_engaged');
  expect(readdirSync(rig.tree)).toEqual(['a']);
  expect(readFileSync(rig.path('a'), 'utf8')).toBe('after');
});

test('content is kept exactly as long as an undo may need it', async () => {
  for (const before of ['small', 'large '.repeat(50_000)]) {
    using rig = new UndoRig();
    writeFileSync(rig.path('a'), before);
    const { callId } = await rig.call('trn_1', ['a'], () => writeFileSync(rig.path('a'), 'after'));
    const collect = (): void => {
      const checkpoints = rig.checkpoints();
      const nowMs = rig.clock.nowMs();
      checkpoints.releaseOld(nowMs);
      rig.artifacts.collectGarbage({ nowMs, olderThanDays: 1, isReferenced: (hash) => checkpoints.needs(hash, nowMs) });
    };
    rig.clock.advance(29 * 86_400_000);
    collect();
    const { restoreId } = await rig.undo({ callId });
    expect(readFileSync(rig.path('a'), 'utf8')).toBe(before);
    await rig.undo({ callId: restoreId ?? '' });
    rig.clock.advance(31 * 86_400_000);
    collect();
    expect(reasonsOf(await rig.undo({ callId }))).toEqual(['The copy of it is no longer kept.']);
  }
});
