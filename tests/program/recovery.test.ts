// Guided recovery in the whole program: a plan changes nothing and says what would be lost; only the planned steps run, once, and are
// recorded.

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ManualClock } from '../doubles/manual-clock.ts';
import type { OpParams } from '../../core/contracts/ops.ts';
import type { RuntimeOptions } from '../../core/compose.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;

beforeEach(() => {
  home = new TestHome();
});

afterEach(() => home.dispose());

function open(options: Partial<RuntimeOptions> = {}): Promise<TrayClaw> {
  return home.open({ config: { models: { default: 'demo/offline' }, sandbox: { mode: 'off' } }, ...options });
}

async function run(claw: TrayClaw, params: OpParams<'recovery.plan'>) {
  const plan = await claw.op('recovery.plan', params);
  expect([plan.runs, plan.will.length > 0, plan.keeps.length > 0]).toEqual([true, true, true]);
  return { plan, done: await claw.op('recovery.run', { planId: plan.planId }) };
}

test('every plan is listed, and a plan runs once, within ten minutes', async () => {
  const clock = new ManualClock();
  const claw = await open({ clock });
  await claw.ask('hello');
  const { kinds } = await claw.op('recovery.list', {});
  expect(kinds.map(({ kind }) => kind)).toEqual([
    'reset-agent',
    'clear-session-cache',
    'rebuild-index',
    'restore-backup',
    'quarantine-artifacts',
    'finish-undo',
  ]);
  const first = await run(claw, { kind: 'rebuild-index' });
  await expect(claw.op('recovery.run', { planId: first.plan.planId })).rejects.toMatchObject({ code: 'not_found' });
  const late = await claw.op('recovery.plan', { kind: 'rebuild-index' });
  clock.advance(600_001);
  await expect(claw.op('recovery.run', { planId: late.planId })).rejects.toMatchObject({ code: 'not_found' });
  const stopped = await claw.op('recovery.plan', { kind: 'rebuild-index' });
  await claw.op('panic.engage', {});
  await expect(claw.op('recovery.run', { planId: stopped.planId })).rejects.toMatchObject({ code: 'panic_engaged' });
});

test('a reset agent keeps its conversations in the archive', async () => {
  const claw = await open();
  const { sessionId } = await claw.ask('hello');
  const planned = await claw.op('recovery.plan', { kind: 'reset-agent' });
  expect((await claw.op('session.list', {})).sessions.length).toBe(1);
  await claw.op('recovery.run', { planId: planned.planId });
  expect((await claw.op('session.list', {})).sessions).toEqual([]);
  expect((await claw.op('session.get', { sessionId })).session).toMatchObject({ archived: true, model: null });
  await expect(claw.op('recovery.plan', { kind: 'reset-agent' })).rejects.toMatchObject({ code: 'conflict' });
  await expect(claw.op('recovery.plan', { kind: 'reset-agent', target: 'nobody' })).rejects.toMatchObject({ code: 'conflict' });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test('rebuilt indexes find what they had lost, with the same counts', async () => {
  const first = await open();
  const { sessionId } = await first.ask('a marmalade sandwich');
  const before = await first.op('usage.get', { by: 'session' });
  const hits = (await first.op('session.search', { query: 'marmalade' })).hits.map(({ seq }) => seq);
  expect(hits.length).toBeGreaterThan(0);
  await first.close();
  const db = new Database(join(home.path, 'trayclaw.db'));
  db.exec('DELETE FROM session_text; DELETE FROM telemetry_turns');
  db.close();
  const claw = await open();
  expect((await claw.op('session.search', { query: 'marmalade' })).hits).toEqual([]);
  const { done } = await run(claw, { kind: 'rebuild-index' });
  expect(done.did).toEqual(['Rebuilt search and usage from the log.']);
  expect((await claw.op('session.search', { query: 'marmalade' })).hits.map(({ seq }) => seq)).toEqual(hits);
  expect(await claw.op('usage.get', { by: 'session' })).toEqual(before);
  await run(claw, { kind: 'clear-session-cache' });
  expect((await claw.ask('and now?', { sessionId })).status).toBe('done');
  await expect(claw.op('recovery.plan', { kind: 'clear-session-cache', target: 'nobody' })).rejects.toMatchObject({ code: 'not_found' });
});

test('damaged artifacts are removed only as planned', async () => {
  const claw = await open();
  const big = Buffer.from('kept '.repeat(1_000)).toString('base64');
  await claw.op('message.send', { text: 'see this', attachments: [{ name: 'a.txt', base64: big }] });
  await expect(claw.op('recovery.plan', { kind: 'quarantine-artifacts' })).rejects.toMatchObject({ code: 'conflict' });
  const folder = join(home.path, 'artifacts');
  const prefix = readdirSync(folder).find((name) => /^[0-9a-f]{2}$/.test(name)) ?? '';
  rmSync(join(folder, prefix, readdirSync(join(folder, prefix))[0] ?? ''));
  const { plan } = await run(claw, { kind: 'quarantine-artifacts' });
  expect(plan.lost[0]).toMatch(/^1 artifact can no longer be opened/);
  expect((await claw.op('artifact.list', {})).artifacts).toEqual([]);
});

test('a backup is restored by hand, and the instructions in the plan work', { timeout: 60_000 }, async () => {
  const claw = await open();
  await claw.ask('before');
  await expect(claw.op('recovery.plan', { kind: 'restore-backup' })).rejects.toMatchObject({ code: 'conflict' });
  await expect(claw.op('recovery.plan', { kind: 'restore-backup', target: '/nowhere.db' })).rejects.toMatchObject({ code: 'not_found' });
  const { file } = await claw.op('backup.create', {});
  await claw.ask('after');
  const plan = await claw.op('recovery.plan', { kind: 'restore-backup' });
  expect([plan.runs, plan.lost.length, plan.will.at(-1)]).toEqual([false, 1, `Put it in place: trayclaw backup restore ${file}`]);
  await expect(claw.op('recovery.run', { planId: plan.planId })).rejects.toMatchObject({ code: 'conflict' });
  await claw.close();
  expect(await home.command(['backup', 'restore', file])).toMatchObject({ code: 0 });
  const again = await open();
  expect((await again.op('session.list', {})).sessions.map(({ title }) => title)).toEqual(['before']);
});

test('an interrupted undo is finished', async () => {
  const claw = await open();
  await claw.op('tool.run', { tool: 'calc', args: { expression: '1+1' } });
  await expect(claw.op('recovery.plan', { kind: 'finish-undo' })).rejects.toMatchObject({ code: 'conflict' });
  const asked = await claw.op('tool.run', { tool: 'write_file', args: { path: 'a.txt', content: 'new' }, wait: false });
  await claw.op('approval.decide', { approvalId: asked.pending?.[0]?.approvalId ?? '', decision: 'approve' });
  await claw.op('turn.wait', { turnId: asked.turnId });
  expect(readFileSync(join(home.workspace, 'a.txt'), 'utf8')).toBe('new');
  const { sessionId } = asked;
  await claw.close();
  // As after a crash during an undo: its start is recorded, but nothing was restored.
  const db = new Database(join(home.path, 'trayclaw.db'));
  const { seq } = db.prepare('SELECT max(seq) AS seq FROM events').get() as { seq: number };
  db.prepare('INSERT INTO checkpoints (seq, call_id, session_id, turn_id, at_ms, closed, undoes) VALUES (?, ?, ?, ?, ?, 0, ?)').run(
    seq,
    'call_undo',
    sessionId,
    asked.turnId,
    Date.now(),
    JSON.stringify([asked.callId]),
  );
  db.close();
  const again = await open();
  const found = async () => (await again.op('health.check', {})).checks.find(({ id }) => id === 'undo');
  expect(await found()).toMatchObject({ ok: false, fix: 'trayclaw recover finish-undo' });
  const { done } = await run(again, { kind: 'finish-undo' });
  expect(await found()).toMatchObject({ ok: true });
  expect(done.did).toEqual([`${asked.callId}: 1 file put back.`]);
  expect(() => readFileSync(join(home.workspace, 'a.txt'), 'utf8')).toThrow('ENOENT');
  await expect(again.op('recovery.plan', { kind: 'finish-undo' })).rejects.toMatchObject({ code: 'conflict' });
});
