// The review of a turn or a session, and undo of parts of it: real tools behind the real gate. Later changes are kept, whatever part is
// undone, and every undo can be undone.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { TrayClaw } from '../../core/index.ts';
import { needs } from '../needs.ts';
import { TestHome } from './test-home.ts';

let home: TestHome;
let claw: TrayClaw;
let sessionId = '';

beforeEach(async () => {
  home = new TestHome();
  claw = await home.open({ config: { models: { default: 'demo/offline' }, policy: { mode: 'workspace-free' } } });
  sessionId = (await claw.op('session.create', {})).sessionId;
});
afterEach(async () => {
  await home.close(claw);
  await home.dispose();
});

const at = (name: string): string => join(home.workspace, name);
const read = (name: string): string => readFileSync(at(name), 'utf8');
const numbered = (changes: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: 40 }, (_, index) => `${changes[index + 1] ?? `line ${index + 1}`}\n`).join('');

/** Each call is one turn here. */
async function write(path: string, content: string): Promise<{ turnId: string; callId: string }> {
  const { turnId, callId } = await claw.op('tool.run', { tool: 'write_file', args: { path, content }, sessionId, wait: true });
  return { turnId, callId };
}

const reviewed = async (of: { turnId: string } | { sessionId: string; fromSeq?: number }) => (await claw.op('checkpoint.review', of)).files;

test('a session is reviewed by file, with several calls as one change, undone as none', async () => {
  writeFileSync(at('a.md'), 'one\n');
  const first = await write('a.md', 'two\n');
  await write('a.md', 'three\n');
  await write('b.md', 'b\n');
  expect((await reviewed({ sessionId })).map(({ path, change, diff, refused }) => ({ path, change, diff, refused }))).toEqual([
    { path: at('a.md'), change: 'changed', diff: '@@ -1,1 +1,1 @@\n-one\n+three\n', refused: null },
    { path: at('b.md'), change: 'created', diff: '@@ -0,0 +1,1 @@\n+b\n', refused: null },
  ]);
  expect(await reviewed({ turnId: first.turnId })).toMatchObject([
    { path: at('a.md'), refused: expect.stringContaining('undo that first') },
  ]);

  const undone = await claw.op('checkpoint.undo', { sessionId, path: at('b.md') });
  expect([undone.restored, existsSync(at('b.md'))]).toEqual([[{ path: at('b.md') }], false]);
  expect((await reviewed({ sessionId })).map(({ path }) => path)).toEqual([at('a.md')]);
  await claw.op('checkpoint.restore', { callId: undone.restoreId ?? '' });
  expect([read('b.md'), (await reviewed({ sessionId })).length]).toEqual(['b\n', 2]);
});

test('one part of a file is undone, a later edit elsewhere is kept', async () => {
  writeFileSync(at('a.md'), numbered());
  const { turnId } = await write('a.md', numbered({ 5: 'five', 30: 'thirty' }));
  const later = `first\n${numbered({ 5: 'five', 20: 'twenty', 30: 'thirty' })}`;
  await write('a.md', later);
  const [file] = await reviewed({ turnId });
  const undone = await claw.op('checkpoint.undo', { turnId, path: at('a.md'), hunks: [0], version: file?.version ?? '' });
  expect([undone.refused, read('a.md')]).toEqual([[], `first\n${numbered({ 20: 'twenty', 30: 'thirty' })}`]);
  await claw.op('checkpoint.restore', { callId: undone.restoreId ?? '' });
  expect(read('a.md')).toBe(later);
});

test('changed lines are refused, and a part that was not shown is a conflict', async () => {
  writeFileSync(at('a.md'), numbered());
  const { turnId } = await write('a.md', numbered({ 5: 'five', 30: 'thirty' }));
  const [file] = await reviewed({ turnId });
  const part = { turnId, path: at('a.md'), version: file?.version ?? '' };
  const mine = numbered({ 5: 'five, mine', 30: 'thirty' });
  writeFileSync(at('a.md'), mine);
  const refused = await claw.op('checkpoint.undo', { ...part, hunks: [0], force: true });
  expect([refused.refused, read('a.md')]).toEqual([
    [{ path: at('a.md'), reason: 'Its parts cannot be told apart; undo the whole file instead.' }],
    mine,
  ]);
  writeFileSync(at('a.md'), numbered({ 5: 'five', 30: 'thirty' }));
  await claw.op('checkpoint.undo', { ...part, hunks: [0] });
  // The difference now has other part numbers.
  await expect(claw.op('checkpoint.undo', { ...part, hunks: [1] })).rejects.toMatchObject({ code: 'conflict' });
  const [left] = await reviewed({ turnId });
  expect([left?.addedLines, left?.removedLines]).toEqual([1, 1]);
  await claw.op('checkpoint.undo', { ...part, hunks: [0], version: left?.version ?? '' });
  expect([read('a.md'), await reviewed({ turnId })]).toEqual([numbered(), []]);
});

test('a session is restored to an earlier moment in one step, and back again', async () => {
  writeFileSync(at('a.md'), 'one\n');
  await write('a.md', 'two\n');
  const later = await write('a.md', 'three\n');
  const last = await write('b.md', 'b\n');
  const { events } = await claw.op('session.get', { sessionId });
  const fromSeq = events.find(({ turnId }) => turnId === later.turnId)?.seq ?? 0;
  expect((await reviewed({ sessionId, fromSeq })).map(({ diff }) => diff)).toEqual([
    '@@ -1,1 +1,1 @@\n-two\n+three\n',
    '@@ -0,0 +1,1 @@\n+b\n',
  ]);
  const undone = await claw.op('checkpoint.undo', { sessionId, fromSeq });
  expect([undone.callIds, read('a.md'), existsSync(at('b.md'))]).toEqual([[later.callId, last.callId], 'two\n', false]);
  const restored = (await claw.op('session.get', { sessionId })).events.filter(({ type }) => type === 'checkpoint.restored');
  expect(restored.map(({ turnId }) => turnId)).toEqual([later.turnId, last.turnId]);
  // Undoing one turn does not undo the other's files.
  expect((await claw.op('checkpoint.undo', { turnId: last.turnId })).unchanged).toEqual([{ path: at('b.md') }]);
  await claw.op('checkpoint.restore', { callId: undone.restoreId ?? '' });
  expect([read('a.md'), read('b.md')]).toEqual(['three\n', 'b\n']);
  expect((await claw.op('audit.verify', {})).ok).toBe(true);
});

test('invalid targets and versions are refused with an explanation', async () => {
  await write('a.md', 'a\n');
  await expect(claw.op('checkpoint.undo', {})).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('checkpoint.undo', { sessionId, path: at('a.md'), hunks: [0] })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('checkpoint.undo', { sessionId, path: at('z.md') })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('checkpoint.undo', { turnId: 'trn_none' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(reviewed({ turnId: 'trn_none' })).rejects.toMatchObject({ code: 'not_found' });
  await claw.op('panic.engage', {});
  await expect(claw.op('checkpoint.undo', { sessionId })).rejects.toMatchObject({ code: 'panic_engaged' });
});

test('commands that make, copy and move files need no question in this mode, and are undone', needs('a Unix system'), async () => {
  const run = async (command: string): Promise<{ command: string; callId: string; outcome: string }> => {
    const { callId, outcome } = await claw.op('tool.run', { tool: 'exec', args: { command }, sessionId });
    return { command, callId, outcome };
  };
  writeFileSync(at('a.md'), 'a\n');
  writeFileSync(at('.env'), 'KEY=1\n');
  const done: string[] = [];
  for (const command of ['mkdir -p new/er', 'cp a.md new/er/', 'mv a.md b.md', 'mkdir made && cat b.md | tee made/c.md > d.md']) {
    const { callId, outcome } = await run(command);
    expect({ command, outcome }).toEqual({ command, outcome: 'ok' });
    done.unshift(callId);
  }
  expect([existsSync(at('a.md')), read('b.md'), read('new/er/a.md')]).toEqual([false, 'a\n', 'a\n']);
  expect([read('made/c.md'), read('d.md')]).toEqual(['a\n', 'a\n']);
  for (const callId of done) await claw.op('checkpoint.restore', { callId });
  expect([read('a.md'), ...['b.md', 'new', 'made', 'd.md'].map((name) => existsSync(at(name)))]).toEqual([
    'a\n',
    false,
    false,
    false,
    false,
  ]);
  for (const command of ['cp .env c.md', 'cp a.md ../c.md', 'rm a.md', 'echo x > .env', 'cat .env > c.md']) {
    const { decision } = await claw.op('policy.explain', { tool: 'exec', args: { command } });
    expect({ command, isFree: decision === 'allow' }).toEqual({ command, isFree: false });
  }
});
