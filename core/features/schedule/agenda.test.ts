import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { CountingIds } from '../../../tests/doubles/counting-ids.ts';
import { silentLogger } from '../../base/logger.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';
import { SessionLog, sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { createAgendaTools } from './tools.ts';
import { Agenda, DueTimes, ScheduleBook, scheduleMigrations, Schedules } from './schedule.ts';

function open(sources: readonly TaintSource[] = []) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-agenda-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...scheduleMigrations] });
  onTestFinished(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const clock = new ManualClock();
  const book = new ScheduleBook(storage.db);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [book] });
  const dueTimes = new DueTimes(() => 'UTC');
  const schedules = new Schedules({
    log,
    clock,
    book,
    dueTimes,
    ids: new CountingIds(),
    defaultAgentId: 'main',
    approvalMs: 1000,
    statusOf: () => null,
    assertSession: () => undefined,
    assertAgent: () => undefined,
  });
  const agenda = new Agenda({ log, clock, book, schedules, sourcesOf: () => sources });
  /** Starts a turn in the session; with `scheduleId`, that schedule started it. */
  const turn = (turnId: string, more: { readonly scheduleId?: string; readonly bounds?: TurnBounds } = {}) => {
    const limits = { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 };
    const { scheduleId, bounds } = more;
    const body = { kind: 'chat' as const, agentId: 'scout', model: null, limits, calls: [], ...(bounds === undefined ? {} : { bounds }) };
    log.append('ses_1', [{ type: 'turn.started', turnId, body }]);
    if (scheduleId !== undefined) schedules.record([{ scheduleId, dueMs: clock.nowMs(), disposition: 'run', turnId, sessionId: 'ses_1' }]);
    return { sessionId: 'ses_1', turnId, idempotencyKey: `key_${turnId}` };
  };
  const plan = (place: ReturnType<typeof turn>, inMinutes = 5) => agenda.followUp({ prompt: 'Look again.', when: { inMinutes } }, place);
  return { agenda, book, clock, log, schedules, turn, plan };
}

test('follow-ups can be chained three deep and no deeper', () => {
  const { book, plan, turn } = open();
  const first = plan(turn('trn_1'));
  const second = plan(turn('trn_2', { scheduleId: first.scheduleId }));
  const third = plan(turn('trn_3', { scheduleId: second.scheduleId }));
  expect([first, second, third].map(({ scheduleId }) => book.find(scheduleId)?.schedule.depth)).toEqual([1, 2, 3]);
  expect(() => plan(turn('trn_4', { scheduleId: third.scheduleId }))).toThrow('one more');
});

test('allows twenty follow-ups a day; cancelling one makes no room for another', () => {
  const { agenda, clock, plan, turn } = open();
  for (let n = 0; n < 20; n++) {
    const place = turn(`trn_${n}`);
    agenda.cancelFollowUp(plan(place).scheduleId, place);
  }
  expect(() => plan(turn('trn_more'))).toThrow('within a day');
  clock.advance(86_400_001);
  expect(plan(turn('trn_next')).dueMs).toBe(clock.nowMs() + 300_000);
});

test('follow-ups of a clock that was ahead do not count against a day', () => {
  const { clock, plan, turn } = open();
  clock.set(30 * 86_400_000);
  for (let n = 0; n < 20; n++) plan(turn(`trn_${n}`));
  clock.set(-30 * 86_400_000);
  expect(plan(turn('trn_next')).dueMs).toBe(clock.nowMs() + 300_000);
});

test('refuses times within a minute; a repeated call returns the same follow-up', () => {
  const { agenda, book, clock, plan, turn } = open();
  const place = turn('trn_1');
  const soon = new Date(clock.nowMs() + 59_000).toISOString().slice(0, 16);
  expect(() => agenda.followUp({ prompt: 'Now.', when: { local: soon, zone: 'UTC' } }, place)).toThrow('less than a minute');
  expect(plan(place)).toEqual(plan(place));
  expect(book.all()).toHaveLength(1);
});

test('a planned turn has no more rights than its planner, and keeps its taint', () => {
  const source = { kind: 'web', where: 'example.org' } as const;
  const { book, plan, turn } = open([source]);
  const bounds = { ...wholeBounds, tools: ['read_file'], usd: 0.1, grants: true, unattended: { approvalMs: 1000 } };
  const bounded = plan(turn('trn_1', { bounds }));
  expect(book.find(bounded.scheduleId)?.schedule).toMatchObject({
    bounds: { tools: ['read_file'], usd: 0.1, grants: true },
    untrusted: [source],
    createdBy: 'agent scout',
    agentId: 'scout',
    session: 'ses_1',
  });
  // An attended turn: its grants are valid only while it runs.
  const free = plan(turn('trn_2', { bounds: { ...wholeBounds, grants: true } }));
  expect(book.find(free.scheduleId)?.schedule.bounds.grants).toBe(false);
});

test('an agent cancels what agents planned here, but nothing that a person planned', () => {
  const { agenda, clock, schedules, turn } = open();
  const spec = { kind: 'at', atMs: clock.nowMs() + 3_600_000 } as const;
  const wish = { name: 'Mine', prompt: 'x', spec, session: 'ses_1' };
  const { scheduleId } = schedules.create(wish, { by: 'window' });
  expect(() => agenda.cancelFollowUp(scheduleId, turn('trn_1'))).toThrow('Nothing with the id');
});

test('a repeated call returns the same task; tasks are limited and keep their taint', () => {
  const source = { kind: 'message', where: 'webhook build' } as const;
  const { agenda, log, turn } = open([source]);
  const place = turn('trn_1');
  const task = agenda.addTask('Ask for the invoice', place);
  expect(agenda.addTask('Ask for the invoice', place)).toEqual(task);
  expect(agenda.tasks(10)).toMatchObject([{ state: 'open', untrusted: [source] }]);
  expect(agenda.closeTask(task.taskId, 'done', place)).toMatchObject({ state: 'done' });
  expect(agenda.closeTask(task.taskId, 'dropped', place)).toMatchObject({ state: 'done' });
  expect(log.reads.slice(systemSessionId, { types: ['task.added', 'task.closed'], limit: 10 })).toHaveLength(2);
  for (let n = 0; n < 200; n++) agenda.addTask(`task ${n}`, { ...place, idempotencyKey: `many_${n}` });
  expect(() => agenda.addTask('one more', { ...place, idempotencyKey: 'more' })).toThrow('200 open tasks');
});

test('a wrong time is a failure of the call, and a limit of the agent a refusal', () => {
  const { agenda, clock, turn } = open();
  const tool = createAgendaTools(agenda).find(({ name }) => name === 'schedule');
  const factsOf = (more: object) => tool?.facts({ action: 'repeat', prompt: 'x', ...more }, turn('trn_1') as never);
  expect(() => factsOf({ cron: '99 * * * *' })).toThrow('is not a time');
  expect(() => factsOf({})).toThrow('either cron or everyMinutes');
  expect(factsOf({ cron: '* * * * *' })?.refused).toContain('every five minutes');
  const once = (at: string) => factsOf({ action: 'follow_up', at, zone: 'UTC' });
  expect(() => once('2020-01-01T00:00')).toThrow('never reached');
  expect(() => once('2030-02-30T00:00')).toThrow('There is no day');
  const minute = new Date(Math.ceil(clock.nowMs() / 60_000) * 60_000).toISOString().slice(0, 16);
  expect(once(minute)?.refused).toContain('less than a minute');
  expect(once('2030-01-01T00:00')?.refused).toBeUndefined();
});
