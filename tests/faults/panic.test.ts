// The panic stop of a served runtime: everything is killed, nothing starts again, and only a person releases it, whatever happens to the
// process.

import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { AppError } from '../../core/contracts/errors.ts';
import { isRunning, readInstanceFile } from '../../core/store/home/home.ts';
import { endOwner } from '../../core/store/storage/storage.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { countProcesses, PanicRig } from './panic-rig.ts';
import { TestHome } from './test-home.ts';
import { needs } from '../needs.ts';

const onLinux = needs('Linux');

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
    return 'done';
  } catch (cause) {
    return cause instanceof AppError ? cause.code : String(cause);
  }
}

test('trees, an endless turn, queued messages and approvals stop and stay stopped', { ...onLinux, timeout: 90_000 }, async () => {
  await using rig = await PanicRig.start();
  const mark = await rig.startTrees();
  const turns = await rig.startTurns();
  const round = await rig.engage(mark);

  expect({ survivors: round.survivors, engaged: round.status.engaged }).toEqual({ survivors: 0, engaged: true });
  expect(round.runningBefore).toBeGreaterThanOrEqual(60);
  expect(round.status.killed).toBeGreaterThanOrEqual(round.runningBefore);
  expect(round.status.tookMs ?? Infinity).toBeLessThan(2_000);

  const statusOf = async (turnId: string): Promise<string> => (await rig.op('turn.wait', { turnId })).status;
  expect(await Promise.all([turns.endless, ...turns.queued, turns.waiting].map(statusOf))).toEqual([
    'stopped',
    'stopped',
    'stopped',
    'waiting',
  ]);

  // Neither running work nor a new request starts anything.
  const { approvalId } = turns;
  expect([
    await codeOf(rig.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'once' } })),
    await codeOf(rig.op('message.send', { text: 'hello' })),
    await codeOf(rig.op('tool.run', { tool: 'calc', args: { expression: '1' } })),
  ]).toEqual(['panic_engaged', 'panic_engaged', 'panic_engaged']);
  expect((await rig.home.cli(['ask', 'hello'])).code).toBe(5);

  // Across crashes of the process, at once after the stop and long after it.
  await rig.restart('SIGKILL');
  await rig.restart('SIGTERM');
  expect([(await rig.op('panic.status', {})).engaged, await codeOf(rig.op('message.send', { text: 'hello' }))]).toEqual([
    true,
    'panic_engaged',
  ]);
  expect({ requests: rig.model.requests.length, alive: countProcesses(mark) }).toEqual({ requests: round.modelRequests, alive: 0 });
  expect(existsSync(join(rig.home.workspace, 'asked.md'))).toBe(false);

  expect((await rig.home.cli(['panic', '--release'])).code).toBe(0);
  expect((await rig.op('panic.status', {})).engaged).toBe(false);
  await rig.op('approval.decide', { approvalId, decision: 'deny' });
  const asked = await rig.home.cli(['ask', 'hello']);
  expect([asked.code, (asked.json as { text: string }).text]).toEqual([0, 'Hello.']);
  expect((await rig.op('audit.verify', {})).ok).toBe(true);
});

test('a process that does not answer is ended, with all it started, and stays stopped', { ...onLinux, timeout: 90_000 }, async () => {
  await using rig = await PanicRig.start();
  const mark = await rig.startTrees();
  const turns = await rig.startTurns();
  const pid = readInstanceFile(rig.home.path)?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  const { code, json, stderr } = await rig.home.cli(['panic', '--reason', 'it hangs']);
  expect([code, json]).toEqual([0, expect.objectContaining({ engaged: true, reason: 'it hangs' })]);
  expect(stderr).toContain(`TrayClaw (process ${pid}) did not answer and was ended.`);
  expect({ alive: countProcesses(mark), isRunning: isRunning(pid) }).toEqual({ alive: 0, isRunning: false });
  await rig.restart('SIGKILL');
  expect((await rig.op('panic.status', {})).engaged).toBe(true);
  const statusOf = async (turnId: string): Promise<string> => (await rig.op('turn.wait', { turnId, timeoutMs: 5_000 })).status;
  expect(await Promise.all([turns.endless, ...turns.queued].map(statusOf))).toEqual(['stopped', 'stopped', 'stopped']);
  expect((await rig.op('audit.verify', {})).ok).toBe(true);
});

test('the stop needs no valid settings, and ends what a crash left', { ...onLinux, timeout: 90_000 }, async () => {
  await using rig = await PanicRig.start();
  const mark = await rig.startTrees();
  const { home } = rig;
  const settings = readFileSync(join(home.path, 'config.yaml'), 'utf8');
  process.kill(readInstanceFile(home.path)?.pid ?? 0, 'SIGKILL');
  home.configure('models: [a');
  const { code, json, stderr } = await home.cli(['panic', '--reason', 'now']);
  expect([code, json, countProcesses(mark)]).toEqual([0, expect.objectContaining({ engaged: true, reason: 'now' }), 0]);
  expect(stderr).toContain('config.yaml cannot be used');
  expect(await home.cli(['panic', '--status'])).toMatchObject({ code: 0, json: { engaged: true } });
  expect((await home.cli(['sessions', 'list'])).code).toBe(1);
  home.configure(settings);
  await rig.restart('SIGKILL');
  expect(await rig.op('panic.status', {})).toMatchObject({ engaged: true, reason: 'now' });
});

test('only the process that has the data folder open is ended', onLinux, async () => {
  await using home = new TestHome();
  const claw = await home.open({ config: {} });
  const other = spawn('sleep', ['60']);
  try {
    expect(await endOwner(home.path, other.pid ?? 0)).toBe(false);
    expect(await endOwner(home.path, process.pid)).toBe(false);
    expect(other.exitCode).toBe(null);
  } finally {
    other.kill();
    await home.close(claw);
  }
});

test('a process killed during the stop restarts stopped, with its turns ended', { ...onLinux, timeout: 90_000 }, async () => {
  await using rig = await PanicRig.start();
  const mark = await rig.startTrees();
  const turns = await rig.startTurns();
  // The operation is in flight when the process is killed; the kill hits some point of it.
  const engaging = codeOf(rig.op('panic.engage', { reason: 'cut off' }));
  await until(async () => (await codeOf(rig.op('message.send', { text: 'hello', sessionId: 'other' }))) !== 'done', 'the stop has begun');
  await rig.restart('SIGKILL');
  await engaging;
  expect((await rig.op('panic.status', {})).engaged).toBe(true);
  expect(countProcesses(mark)).toBe(0);
  const statusOf = async (turnId: string): Promise<string> => (await rig.op('turn.wait', { turnId, timeoutMs: 5_000 })).status;
  expect(await Promise.all([turns.endless, ...turns.queued].map(statusOf))).toEqual(['stopped', 'stopped', 'stopped']);
  await rig.op('panic.release', {});
  expect((await rig.op('audit.verify', {})).ok).toBe(true);
});

test('a turn from before a crash ends as stopped if the stop came first', async () => {
  await using home = new TestHome();
  await using model = await ScriptedModel.start([{ answer: { silent: true } }]);
  const config = model.config('openai');
  const first = await home.open({ config });
  const { turnId } = await first.op('message.send', { text: 'never answered', sessionId: 'left' });
  const { turnId: queued } = await first.op('message.send', { text: 'behind it', sessionId: 'left' });
  await home.close(first);
  const look = await home.open({ config, resume: false });
  await look.op('panic.engage', {});
  await home.close(look);
  const last = await home.open({ config });
  const ends = await Promise.all([turnId, queued].map((id) => last.op('turn.wait', { turnId: id, timeoutMs: 2_000 })));
  expect(ends.map(({ status }) => status)).toEqual(['stopped', 'stopped']);
  expect((await home.close(last)).different).toEqual([]);
});
