// The shell's view of the runtime, kept current from its events: approvals, work, the panic stop.

import { EventEmitter } from 'node:events';
import type { Notification } from 'electron';
import { expect, onTestFinished, test } from 'vitest';
import { FakeClaw } from '../../tests/doubles/fake-claw.ts';
import { AppError } from '../../core/contracts/errors.ts';
import { systemSessionId } from '../../core/contracts/events.ts';
import { ownSessions } from '../../core/contracts/system-session.ts';
import { ApprovalPrompter } from './approval-prompter.ts';
import { approvalOf, RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { activityOf, StatusWatch } from './desktop-status.ts';
import { trayMenu, type TrayActions } from './tray-menu.ts';

const calm = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };

async function rig(claw = new FakeClaw()) {
  const logger = new RecordingLogger();
  const watch = new StatusWatch(claw, logger);
  const seen: string[] = [];
  watch.onChange((status) => seen.push(activityOf(status)));
  await watch.start();
  onTestFinished(() => watch.dispose());
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  await settle();
  return { claw, logger, watch, seen, settle };
}

const started = {
  kind: 'chat' as const,
  agentId: 'main',
  model: null,
  limits: { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 },
  calls: [],
};
const finished = {
  status: 'done' as const,
  text: '',
  error: null,
  usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
  costUsd: 0,
  modelCalls: 1,
  toolCalls: 0,
};

test('follows an approval from its request to the end of its turn', async () => {
  const { claw, watch, seen, settle } = await rig();
  claw.scripts.push([{ ask: { tool: 'write', args: '{}' } }, { say: 'done' }]);
  await claw.op('message.send', { text: 'go' });
  await settle();
  await settle();
  expect(watch.status.approvals.map(({ summary }) => summary)).toEqual(['Wants to write']);
  expect(activityOf(watch.status)).toBe('waiting');
  await claw.op('approval.decide', { approvalId: watch.status.approvals[0]?.approvalId ?? '', decision: 'approve' });
  for (let i = 0; i < 4; i += 1) await settle();
  expect([watch.status, seen]).toEqual([
    { panic: calm, approvals: [], runningTurns: 0 },
    ['idle', 'working', 'waiting', 'working', 'idle'],
  ]);
});

test('starts with pending approvals, oldest first, and running turns', async () => {
  const before = new FakeClaw();
  before.scripts.push([{ ask: { tool: 'write', args: '{}' } }]);
  await before.op('message.send', { text: 'go' });
  await new Promise((resolve) => setImmediate(resolve));
  const [approval] = before.approvals;
  if (approval === undefined) throw new Error('the fake asked nothing');
  const older = { ...approval, approvalId: 'apr_older', createdAtMs: approval.createdAtMs - 1 };
  const claw = new FakeClaw({
    'approval.list': () => ({ approvals: [approval, older] }),
    'session.list': () => ({ sessions: [before.sessionInfo('ses_a', 'running'), before.sessionInfo('ses_b', 'done')], nextCursor: null }),
  });
  const { watch, settle } = await rig(claw);
  expect([watch.status.approvals.map((one) => one.approvalId), watch.status.runningTurns]).toEqual([['apr_older', approval.approvalId], 1]);
  // An approval that is announced again is not added twice; a turn that was running before is known by its session until it ends.
  claw.append(approval.sessionId, { type: 'approval.requested', turnId: 'trn_1', body: { approval } });
  claw.append('ses_a', { type: 'turn.finished', turnId: 'trn_a', body: finished });
  await settle();
  expect([watch.status.approvals.length, watch.status.runningTurns]).toEqual([2, 0]);
});

test('counts a direct call and a turn of the same session separately', async () => {
  const { claw, watch, settle } = await rig();
  claw.append('ses_a', { type: 'turn.started', turnId: 'trn_1', body: started });
  claw.append('ses_a', { type: 'turn.started', turnId: 'trn_2', body: { ...started, kind: 'tool' } });
  await settle();
  expect(watch.status.runningTurns).toBe(2);
  claw.append('ses_a', { type: 'turn.finished', turnId: 'trn_2', body: finished });
  await settle();
  expect([watch.status.runningTurns, activityOf(watch.status)]).toEqual([1, 'working']);
  claw.append('ses_a', { type: 'turn.waiting', turnId: 'trn_1', body: { approvalIds: [], callIds: [] } });
  claw.append('ses_a', { type: 'turn.resumed', turnId: 'trn_1', body: { reason: 'answered' } });
  await settle();
  expect(watch.status.runningTurns).toBe(1);
});

test('follows a panic stop from any door, and its release', async () => {
  const { claw, watch, seen, settle } = await rig();
  claw.append(systemSessionId, { type: 'panic.engaged', body: { reason: 'Pressed.', by: 'ada' } });
  claw.append(systemSessionId, { type: 'panic.measured', body: { killed: 3, tookMs: 12 } });
  await settle();
  expect(watch.status.panic).toEqual({ engaged: true, sinceMs: 1_750_000_000_000, reason: 'Pressed.', killed: 3, tookMs: 12 });
  claw.append(systemSessionId, { type: 'panic.released', body: { by: 'ada' } });
  await settle();
  expect([watch.status.panic, seen]).toEqual([calm, ['idle', 'stopped', 'stopped', 'idle']]);
});

test('shows a stop from the shell at once, then reads the actual state', async () => {
  const claw = new FakeClaw();
  const { watch, seen } = await rig(claw);
  watch.showStopping('Pressed: the tray.');
  expect([watch.status.panic, seen]).toEqual([{ ...calm, engaged: true, reason: 'Pressed: the tray.' }, ['idle', 'stopped']]);
  watch.showStopping('Pressed twice.');
  expect(watch.status.panic.reason).toBe('Pressed: the tray.');
  claw.answers = { 'panic.status': () => ({ ...calm, engaged: true, sinceMs: 5, reason: 'x', killed: 1, tookMs: 2 }) };
  await watch.readPanic();
  expect(watch.status.panic).toEqual({ engaged: true, sinceMs: 5, reason: 'x', killed: 1, tookMs: 2 });
  claw.answers = {
    'panic.status': () => {
      throw new AppError('internal', 'closing');
    },
  };
  await expect(watch.readPanic()).rejects.toThrow('closing');
  expect(watch.status.panic.engaged).toBe(true);
});

test('a failing listener does not keep the change from the others', async () => {
  const { watch, seen, logger } = await rig();
  watch.onChange(() => {
    throw new Error('the tray is gone');
  });
  const after: boolean[] = [];
  watch.onChange((status) => after.push(status.panic.engaged));
  watch.showStopping('x');
  expect([seen, after, logger.lines]).toEqual([['idle', 'stopped'], [true], ['error: a part of the shell failed to follow a change']]);
});

const telegramAs = (state: 'off' | 'running' | 'paused' | 'offline') =>
  new FakeClaw({
    'telegram.status': () => ({ state, sinceMs: 0, problem: null, bot: null, lastUpdateMs: null, people: 1, pairings: 0, strangers: 0 }),
  });

test('the Telegram bot: absent, paused from the start, paused and resumed at any door', async () => {
  expect((await rig(telegramAs('off'))).watch.pausables).toEqual([]);
  expect((await rig(telegramAs('paused'))).watch.pausables).toEqual([{ id: 'telegram', name: 'Telegram', isPaused: true }]);
  const { claw, watch, seen, settle } = await rig(telegramAs('offline'));
  const entries = (): (string | undefined)[] =>
    trayMenu({ status: watch.status, panicKeys: null, pausables: watch.pausables, startsAtLogin: null }, {} as TrayActions).map(
      ({ label }) => label,
    );
  expect(entries()).toContain('Pause Telegram');
  const told = seen.length;
  claw.append(systemSessionId, { type: 'channel.paused', body: { channel: 'telegram', by: 'ada' } });
  await settle();
  expect([entries().includes('Resume Telegram'), seen.length]).toEqual([true, told + 1]);
  claw.append(systemSessionId, { type: 'channel.resumed', body: { channel: 'discord', by: 'ada' } });
  await settle();
  expect([entries().includes('Resume Telegram'), seen.length]).toEqual([true, told + 1]);
  claw.append(systemSessionId, { type: 'channel.resumed', body: { channel: 'telegram', by: 'ada' } });
  await settle();
  expect([entries().includes('Pause Telegram'), seen.length]).toEqual([true, told + 2]);
});

test("shows a subagent's approval once, but not the subagent's work", async () => {
  const { claw, watch, settle } = await rig();
  const shown: string[] = [];
  const prompter = new ApprovalPrompter({
    claw,
    logger: new RecordingLogger(),
    platform: 'linux',
    notify: ({ body }) => {
      shown.push(String(body));
      return Object.assign(new EventEmitter(), { show: () => undefined, close: () => undefined }) as unknown as Notification;
    },
    ask: () => new Promise(() => undefined),
    attention: () => 'visible',
    openDetails: () => undefined,
  });
  watch.onChange((status) => prompter.follow(status));
  const sessionId = `${ownSessions.helper}1`;
  claw.append(sessionId, {
    type: 'session.created',
    body: { title: 'look', agentId: 'scout', channel: 'helper', forkedFrom: null },
  });
  claw.append(sessionId, { type: 'turn.started', turnId: 'trn_1', body: started });
  claw.append(sessionId, { type: 'turn.finished', turnId: 'trn_1', body: finished });
  claw.append(sessionId, { type: 'turn.started', turnId: 'trn_2', body: started });
  claw.append(sessionId, { type: 'turn.finished', turnId: 'trn_2', body: { ...finished, status: 'failed' as const } });
  await settle();
  expect(shown).toEqual([]);
  const approval = approvalOf({ sessionId });
  claw.append(sessionId, { type: 'approval.requested', turnId: 'trn_3', body: { approval } });
  claw.append(sessionId, { type: 'approval.requested', turnId: 'trn_3', body: { approval } });
  await settle();
  expect(shown).toHaveLength(1);
  expect(shown[0]).toContain(approval.summary);
});
