// Undo in the whole program: real tools behind the real gate, a person's operations, and negative controls of its two promises. Without the
// copy an undo reports that it cannot restore; without the check for later changes a person's later edit would be lost.

import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { FaultHooks } from '../../core/compose.ts';
import { AppError, isAppError } from '../../core/contracts/errors.ts';
import type { TrayClaw } from '../../core/index.ts';
import { eventsOf } from './replay-check.ts';
import { TestHome } from './test-home.ts';

let home: TestHome;

beforeEach(() => {
  home = new TestHome();
});
afterEach(() => home.dispose());

const open = (faults: FaultHooks = {}): Promise<TrayClaw> => home.open({ config: { models: { default: 'demo/offline' } }, faults });

/** Runs one approved call; resolves to its id when it is over. */
async function run(claw: TrayClaw, tool: string, args: Record<string, unknown>, meanwhile?: () => void): Promise<string> {
  const { callId, turnId, pending } = await claw.op('tool.run', { tool, args, wait: false });
  const [question] = pending ?? (await claw.op('turn.wait', { turnId })).pending ?? [];
  meanwhile?.();
  await claw.op('approval.decide', { approvalId: question?.approvalId ?? '', decision: 'approve' });
  await claw.op('turn.wait', { turnId });
  return callId;
}

const read = (name: string): string => readFileSync(join(home.workspace, name), 'utf8');
const write = (name: string, text: string): void => writeFileSync(join(home.workspace, name), text);

test('every file tool is undone and shown before and after, also on the command line', async () => {
  const claw = await open();
  write('a.md', 'one\ntwo\n');
  const edited = await run(claw, 'edit_file', { path: 'a.md', old: 'two', new: '2' });
  const appended = await run(claw, 'append_file', { path: 'a.md', content: 'three\n' });
  const written = await run(claw, 'write_file', { path: 'deep/er/b.md', content: 'b\n' });
  expect((await claw.op('checkpoint.diff', { callId: appended })).files).toEqual([
    {
      path: join(home.workspace, 'a.md'),
      change: 'changed',
      diff: '@@ -1,2 +1,3 @@\n one\n 2\n+three\n',
      addedLines: 1,
      removedLines: 0,
      note: null,
    },
  ]);
  const preview = await claw.op('checkpoint.preview', { callId: edited });
  expect(preview.files[0]?.refused).toBe('It was changed again by ' + appended + '; undo that first.');
  const { checkpoints } = await claw.op('checkpoint.list', {});
  expect(checkpoints.map(({ callId, closed, files }) => [callId, closed, files[0]?.change])).toEqual([
    [written, true, 'created'],
    [appended, true, 'changed'],
    [edited, true, 'changed'],
  ]);
  expect((await claw.op('audit.verify', {})).ok).toBe(true);
  await home.close(claw);

  const undo = await home.cli(['undo', written]);
  expect([undo.code, undo.json]).toEqual([
    0,
    expect.objectContaining({ callIds: [written], restored: [{ path: join(home.workspace, 'deep/er/b.md') }], refused: [] }),
  ]);
  expect(existsSync(join(home.workspace, 'deep'))).toBe(false);
  const refused = await home.command(['undo', edited]);
  expect([refused.code, refused.json]).toEqual([
    1,
    expect.objectContaining({ restored: [], refused: [expect.objectContaining({ path: join(home.workspace, 'a.md') })] }),
  ]);
  for (const callId of [appended, edited]) expect((await home.command(['undo', callId])).code).toBe(0);
  expect(read('a.md')).toBe('one\ntwo\n');
  expect((await home.command(['undo', 'call_none'])).code).toBe(1);
  expect((await home.command(['undo', '--force'])).code).toBe(2);
  await home.command(['panic']);
  expect((await home.command(['undo', edited])).code).toBe(5);
});

test('an approval shows what its file would contain, and reads nothing else', async () => {
  const claw = await open();
  write('a.md', 'one\n');
  const asked = async (tool: string, args: Record<string, unknown>) => {
    const { turnId } = await claw.op('tool.run', { tool, args, wait: false });
    const { pending } = await claw.op('turn.wait', { turnId });
    return (await claw.op('approval.diff', { approvalId: pending?.[0]?.approvalId ?? '' })).files.map(({ change, diff }) => [change, diff]);
  };
  expect(await asked('write_file', { path: 'new.md', content: 'x\n' })).toEqual([['created', '@@ -0,0 +1,1 @@\n+x\n']]);
  expect(await asked('edit_file', { path: 'a.md', old: 'one', new: 'two' })).toEqual([['changed', '@@ -1,1 +1,1 @@\n-one\n+two\n']]);
  expect(await asked('edit_file', { path: 'a.md', old: 'not there', new: 'two' })).toEqual([]);
  expect(await asked('append_file', { path: 'a.md', content: 'two\n' })).toEqual([['changed', '@@ -1,1 +1,2 @@\n one\n+two\n']]);
  expect(await asked('exec', { command: 'sleep 0' })).toEqual([]);
  await home.close(claw);
});

test('a change of a file in Windows-1252 is shown as text, and a changed encoding is named', async () => {
  const claw = await open();
  writeFileSync(join(home.workspace, 'export.csv'), Buffer.from('Käufer\nMüller\n', 'latin1'));
  const shown = async (tool: string, args: Record<string, unknown>) => {
    const { turnId } = await claw.op('tool.run', { tool, args, wait: false });
    const { pending } = await claw.op('turn.wait', { turnId });
    return (await claw.op('approval.diff', { approvalId: pending?.[0]?.approvalId ?? '' })).files.map(({ diff, note }) => [diff, note]);
  };
  expect(await shown('edit_file', { path: 'export.csv', old: 'Müller', new: 'Möller' })).toEqual([
    ['@@ -1,2 +1,2 @@\n Käufer\n-Müller\n+Möller\n', null],
  ]);
  expect(await shown('write_file', { path: 'export.csv', content: 'Käufer\n' })).toEqual([
    ['@@ -1,2 +1,1 @@\n Käufer\n-Müller\n', 'Its encoding changes from Windows-1252 to UTF-8.'],
  ]);
  await home.close(claw);
});

test('a path redirected after the approval needs another one; nothing is written', async () => {
  const claw = await open();
  mkdirSync(join(home.workspace, 'd'));
  write('d/a.md', 'one\n');
  const { turnId } = await claw.op('tool.run', { tool: 'write_file', args: { path: 'd/a.md', content: 'two\n' }, wait: false });
  const { pending } = await claw.op('turn.wait', { turnId });
  renameSync(join(home.workspace, 'd'), join(home.workspace, 'moved'));
  symlinkSync('moved', join(home.workspace, 'd'));
  await claw.op('approval.decide', { approvalId: pending?.[0]?.approvalId ?? '', decision: 'approve' });
  expect((await claw.op('turn.wait', { turnId })).status).toBe('waiting');
  expect(read('moved/a.md')).toBe('one\n');
  expect((await claw.op('checkpoint.list', {})).checkpoints).toEqual([]);
  await home.close(claw);
});

test('control: without the copy an undo says that it cannot; with it the file is back', async () => {
  const check = async (faults: FaultHooks): Promise<string[]> => {
    const claw = await open(faults);
    write('a.md', 'before');
    const callId = await run(claw, 'write_file', { path: 'a.md', content: 'after' });
    const said = await claw.op('checkpoint.restore', { callId }).then(
      () => [],
      (cause: unknown) => [isAppError(cause) ? cause.message.replace(callId, 'ID') : String(cause)],
    );
    await home.close(claw);
    return read('a.md') === 'before' ? said : [...said, 'the file is not back'];
  };
  expect(await check({})).toEqual([]);
  const keepsNothing = { take: () => [], after: () => [] };
  expect(await check({ replaceParts: (real) => ({ ...real, checkpoints: keepsNothing }) })).toEqual([
    'There is nothing to undo: no file was kept for call ID.',
    'the file is not back',
  ]);
});

test.each(['at once', 'after a while'])('a file that cannot be copied is not overwritten, with a message %s', async (when) => {
  const full = new AppError('store_full', 'The disk is full.');
  const take = (): Promise<never> => {
    if (when === 'at once') throw full;
    return Promise.reject(full);
  };
  const claw = await open({ replaceParts: (real) => ({ ...real, checkpoints: { take, after: () => [] } }) });
  write('a.md', 'before');
  const callId = await run(claw, 'write_file', { path: 'a.md', content: 'after' });
  const { sessions } = await claw.op('session.list', {});
  const said: unknown[] = [];
  for await (const { type, body } of eventsOf(claw, sessions[0]?.sessionId ?? '')) {
    if (type === 'tool.requested' || type === 'tool.rejected') said.push([type, body]);
  }
  expect([read('a.md'), said]).toEqual(['before', [['tool.rejected', { callId, tool: 'write_file', error: full.toBody() }]]]);
  await home.close(claw);
});

test("control: without the check for later changes a person's edit is lost", async () => {
  const check = async (force: boolean): Promise<string[]> => {
    const claw = await open();
    write('a.md', 'before');
    const callId = await run(claw, 'write_file', { path: 'a.md', content: 'after' });
    write('a.md', 'after, and mine');
    const result = await claw.op('checkpoint.restore', { callId, force });
    await home.close(claw);
    if (!force) expect(result.refused.map(({ reason }) => reason)).toEqual(['It was changed since.']);
    return read('a.md') === 'after, and mine' ? [] : ['the edit of a person is gone'];
  };
  expect(await check(false)).toEqual([]);
  expect(await check(true)).toEqual(['the edit of a person is gone']);
});
