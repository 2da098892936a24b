// The folders that an undo recreates, keeps and removes.

import { mkdirSync, renameSync, rmSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { UndoRig } from '../doubles/undo-rig.ts';

test('folders are left as the calls that were not undone made them', async () => {
  using rig = new UndoRig();
  const write = (turnId: string, name: string) =>
    rig.call(turnId, [name], () => {
      mkdirSync(dirname(rig.path(name)), { recursive: true });
      writeFileSync(rig.path(name), name);
    });
  const remove = (turnId: string, name: string) => rig.call(turnId, [name], () => rmSync(rig.path(name), { recursive: true }));
  // A folder that the first turn created, the second removed and its undo restored is removed by the undo of the first.
  await write('trn_1', 'made/in/a');
  await remove('trn_1', 'made/in/a');
  await remove('trn_2', 'made');
  for (const turnId of ['trn_2', 'trn_1']) await rig.undo({ turnId });
  expect(rig.snapshot()).toEqual({});
  // The same if another folder was in its place when it was restored.
  await write('trn_8', 'made/a');
  await remove('trn_9', 'made');
  await rig.call('trn_9', ['made'], () => mkdirSync(rig.path('made'), { mode: 0o750 }));
  for (const turnId of ['trn_9', 'trn_8']) await rig.undo({ turnId });
  expect(rig.snapshot()).toEqual({});
  // A folder that an earlier turn created stays, even if it is empty after the undo.
  await write('trn_3', 'kept/in/a');
  await remove('trn_3', 'kept/in');
  await write('trn_4', 'kept/in/a');
  await rig.undo({ turnId: 'trn_4' });
  expect(Object.keys(rig.snapshot())).toEqual(['kept/']);
  // A folder that no call created stays after it was restored.
  mkdirSync(rig.path('mine'), { mode: 0o750 });
  writeFileSync(rig.path('mine/a'), 'a');
  await rig.undo({ callId: (await remove('trn_5', 'mine')).callId });
  const { callId } = await write('trn_6', 'mine/b');
  await remove('trn_6', 'mine/a');
  await rig.undo({ callId });
  expect(rig.snapshot()).toEqual({ 'kept/': '755', 'mine/': '750' });
  // An empty folder stays after the undo of a turn that removed it and then wrote a file there.
  await remove('trn_7', 'kept');
  await write('trn_7', 'kept/a');
  await rig.undo({ turnId: 'trn_7' });
  expect(rig.snapshot()).toEqual({ 'kept/': '755', 'mine/': '750' });
});

test('undo of a file that later calls created and removed waits for their undo', async () => {
  using rig = new UndoRig();
  for (const name of ['a', 'b']) writeFileSync(rig.path(name), name);
  const move = (from: string, to: string) => rig.call('trn_1', [from, to], () => renameSync(rig.path(from), rig.path(to)));
  const calls = [await move('a', 'c'), await move('b', 'a'), await rig.call('trn_1', ['a'], () => rmSync(rig.path('a')))];
  const [first, , last] = calls;
  const refused = [{ path: rig.path('a'), reason: `It was changed again by ${last?.callId}; undo that first.` }];
  expect(await rig.undo({ callId: first?.callId ?? '' })).toMatchObject({ restored: [], refused });
  for (const { callId } of calls.toReversed()) expect((await rig.undo({ callId })).refused).toEqual([]);
  expect(rig.snapshot()).toEqual({ a: '644 YQ==', b: '644 Yg==' });
});

test('nothing is restored into a folder that a later call put in place of the old one', async () => {
  using rig = new UndoRig();
  mkdirSync(rig.path('in'), { mode: 0o755 });
  writeFileSync(rig.path('in/a'), 'a');
  const first = await rig.call('trn_1', ['in/a'], () => rmSync(rig.path('in/a')));
  const second = await rig.call('trn_1', ['in'], () => rmdirSync(rig.path('in')));
  const third = await rig.call('trn_2', ['in'], () => mkdirSync(rig.path('in'), { mode: 0o750 }));
  const why = `Its folder ${rig.path('in')} was removed or recreated by ${second.callId}; undo that first.`;
  expect((await rig.undo({ callId: first.callId })).refused.map(({ reason }) => reason)).toEqual([why]);
  for (const call of [third, second, first]) expect((await rig.undo({ callId: call.callId })).refused).toEqual([]);
  expect(Object.values(rig.snapshot())).toEqual(['755', '644 YQ==']);
});

test('a turn can be undone after a later one that left its file as found', async () => {
  using rig = new UndoRig();
  writeFileSync(rig.path('a'), 'a');
  const first = await rig.call('trn_1', ['a'], () => rmSync(rig.path('a')));
  await rig.call('trn_2', ['a'], () => writeFileSync(rig.path('a'), 'other'));
  const last = await rig.call('trn_2', ['a'], () => rmSync(rig.path('a')));
  expect(await rig.undo({ turnId: 'trn_2' })).toMatchObject({ restoreId: null, refused: [] });
  const reason = `It was changed again by ${last.callId}; undo that first.`;
  expect((await rig.undo({ callId: first.callId })).refused).toEqual([{ path: rig.path('a'), reason }]);
  expect(await rig.undo({ turnId: 'trn_1' })).toMatchObject({ restored: [rig.path('a')], refused: [] });
  expect(rig.snapshot()).toEqual({ a: '644 YQ==' });
});
