import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localDay, localDayStartMs } from '../../base/local-day.ts';
import { sessionMigrations } from '../../store/session/session.ts';
import { ownNow } from '../../../tests/own-clock.ts';
import { usageMigrations } from './usage.ts';
import { NOON_MS, openUsage, UsageLog } from '../../../tests/rigs/core/features/usage/usage-bench.ts';

const DAY_MS = 86_400_000;

test('an unknown cost is counted separately; the sum is null if no cost is known', () => {
  const { report, take } = openUsage();
  const log = new UsageLog();
  log.call('r1', { costUsd: null, model: 'lab/free' });
  log.call('r2', { costUsd: 0.5, model: 'lab/paid' }, 's1', 't2');
  log.call('r3', { costUsd: null, model: 'lab/paid', input: 20 }, 's2', 't3');
  log.add('model.requested', { requestId: 'r4', packId: 'p', model: 'lab/open' });
  take(log.events);
  const latency = { tookMs: { p50: 12.5, p95: 12.5 }, firstTokenMs: { p50: 3, p95: 3 } };
  const one = { turns: 1, modelCalls: 1, inputTokens: 10, outputTokens: 5, cachedInputTokens: 2, ...latency };
  const two = { turns: 2, modelCalls: 2, inputTokens: 30, outputTokens: 10, cachedInputTokens: 4, ...latency };
  expect(report.usage({ by: 'model' }, NOON_MS).rows).toEqual([
    { ...two, key: 'lab/paid', costUsd: 0.5, unknownCostCalls: 1 },
    { ...one, key: 'lab/free', costUsd: null, unknownCostCalls: 1 },
  ]);
  expect(report.spentInSession('s1')).toEqual({ usd: 0.5, tokens: 30, unknownCostCalls: 1 });
  expect(report.spentInSession('nobody')).toEqual({ usd: 0, tokens: 0, unknownCostCalls: 0 });
});

test('days are local, a turn counts where it began, and older days are left out', () => {
  const { report, take } = openUsage();
  const log = new UsageLog();
  log.atMs = localDayStartMs(NOON_MS) - 1;
  log.turn('t1');
  log.call('r1', { costUsd: 1 });
  log.atMs += 1;
  log.call('r2', { costUsd: 2 });
  log.finish('t1', 3);
  log.turn('t2', 's2');
  take(log.events);
  const latency = { tookMs: { p50: 12.5, p95: 12.5 }, firstTokenMs: { p50: 3, p95: 3 } };
  const tokens = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 2, unknownCostCalls: 0, ...latency };
  const today = { key: localDay(NOON_MS), turns: 1, modelCalls: 1, costUsd: 2, ...tokens };
  const yesterday = { key: localDay(NOON_MS - DAY_MS), turns: 1, modelCalls: 1, costUsd: 1, ...tokens };
  expect(report.usage({}, NOON_MS)).toEqual({ rows: [today, yesterday], today });
  expect(report.usage({ days: 1 }, NOON_MS).rows).toEqual([today]);
  expect(report.usage({ by: 'session' }, NOON_MS + 2 * DAY_MS).rows.map((entry) => [entry.key, entry.turns])).toEqual([
    ['s1', 1],
    ['s2', 1],
  ]);
  expect(report.usage({}, NOON_MS + DAY_MS).today).toMatchObject({ turns: 0, modelCalls: 0, costUsd: 0, tookMs: null });
  // The clock was set back, so later days count as today.
  expect(report.usage({}, NOON_MS - DAY_MS).today).toMatchObject({ turns: 2, modelCalls: 2, costUsd: 3 });
  expect(report.spentSince({ sinceMs: localDayStartMs(NOON_MS) })).toEqual({ usd: 2, tokens: 15, unknownCostCalls: 0 });
  expect([report.newestCall('lab/m'), report.newestCall('lab/other')]).toEqual([{ ok: true, atMs: localDayStartMs(NOON_MS) }, null]);
});

test('percentiles are within five percent of the exact ones', () => {
  const { report, take } = openUsage();
  const log = new UsageLog();
  for (let index = 0; index < 1000; index++) log.call(`r${index}`, { costUsd: 1, tookMs: 1 + index * 7 }, 's1', `t${index}`);
  take(log.events);
  const { tookMs } = report.usage({}, NOON_MS).today;
  expect(Math.abs((tookMs?.p50 ?? 0) / 3497 - 1)).toBeLessThanOrEqual(0.05);
  expect(Math.abs((tookMs?.p95 ?? 0) / 6644 - 1)).toBeLessThanOrEqual(0.05);
});

test('a rebuild gives the same rows, and keeps the spending of deleted sessions', () => {
  const { rows, report, take, keep, dump } = openUsage();
  const log = new UsageLog();
  log.call('r1', { costUsd: 1 }, 'gone', 't1');
  log.call('r2', { costUsd: 2 }, 's2', 't2');
  take(log.events);
  keep('s2');
  const before = dump();
  rows.rebuild((after, limit) => log.read(after, limit).filter((event) => event.sessionId !== 'gone'));
  expect(dump()).toEqual(before);
  expect(report.spentSince({ sinceMs: 0 }).usd).toBe(3);
});

test('a wait is kept if the start of its turn is counted again with it', () => {
  const { take, dump } = openUsage();
  const log = new UsageLog();
  log.turn('t1');
  take(log.events);
  log.add('turn.waiting', { approvalIds: [], callIds: [] }, 's1', 't1');
  take(log.events);
  expect(JSON.stringify(dump())).toContain('waiting');
});

test('the copy of a call in a fork costs nothing', () => {
  const { report, take, dump } = openUsage();
  const log = new UsageLog();
  log.turn('t1');
  log.call('r1', { costUsd: 1 });
  take(log.events);
  const before = dump();
  const copied = log.events.map((event) => ({ ...event, seq: event.seq + 100, sessionId: 'fork' }));
  take(copied);
  expect([report.spentSince({ sinceMs: 0 }).usd, dump()]).toEqual([1, before]);
});

const small = fc.nat({ max: 3 });
const history = fc.array(
  fc.record({
    kind: fc.constantFrom('turn', 'finish', 'call', 'wait', 'other'),
    session: small,
    turn: small,
    costUsd: fc.option(fc.nat({ max: 100 })),
  }),
  { maxLength: 40 },
);

test('applying events once, twice, or again from the start gives the same rows', () => {
  fc.assert(
    fc.property(history, (steps) => {
      const log = new UsageLog();
      for (const [index, { kind, session, turn, costUsd }] of steps.entries()) {
        const [sessionId, turnId] = [`s${session}`, `t${session}-${turn}`];
        log.atMs += index * 1000;
        if (kind === 'turn') log.turn(turnId, sessionId);
        else if (kind === 'finish') log.finish(turnId, costUsd, sessionId);
        else if (kind === 'call') log.call(`r${index % 7}`, { costUsd }, sessionId, turnId);
        else if (kind === 'wait') log.add('turn.waiting', { approvalIds: [], callIds: [] }, sessionId, turnId);
        else log.add('assistant.message', { text: 'hi' }, sessionId, turnId);
      }
      const once = openUsage();
      once.take(log.events);
      const before = once.dump();
      // One by one.
      const each = openUsage();
      for (const event of log.events) each.take([event]);
      expect(each.dump()).toEqual(before);
      // Ended while some events were pending.
      const ended = openUsage();
      ended.take(log.events.slice(0, log.events.length / 2));
      ended.rows.take(log.events.slice(log.events.length / 2));
      openUsage(ended.db).rows.takeOver(log.read);
      expect(ended.dump()).toEqual(before);
      once.keep('s0', 's1', 's2', 's3');
      once.rows.rebuild(log.read);
      expect(once.dump()).toEqual(before);
    }),
    { numRuns: 60 },
  );
});

const insertCall = `INSERT INTO telemetry_model_calls VALUES
  (@id, @seq, @session, @turn, 'p', @model, 'finished', @atMs, @day, 0, 10, 5, 2, 1, 1, @cost, @took, @first)`;
const insertTurn = `INSERT INTO telemetry_turns VALUES (@turn, @seq, @session, 'done', @atMs, @day, NULL, 0, 0, 0, 0, 0, NULL)`;

interface Sample {
  readonly calls: number;
  readonly sessions: number;
}

/** Data of an earlier version: thirty days of turns with four calls each, and its sums. */
function fill(db: Database.Database, { calls, sessions }: Sample): void {
  const [call, turn] = [db.prepare(insertCall), db.prepare(insertTurn)];
  db.transaction(() => {
    for (let index = 0; index < calls; index++) {
      const atMs = NOON_MS - (index % 30) * DAY_MS;
      const names = { session: `s${index % sessions}`, turn: `t${Math.floor(index / 4)}`, model: `lab/m${index % 3}`, day: localDay(atMs) };
      if (index % 4 === 0) turn.run({ ...names, seq: index * 2 + 1, atMs });
      const latency = { took: 40 + (index % 1000), first: 5 + (index % 90) };
      call.run({ ...names, ...latency, id: `r${index}`, seq: index * 2 + 2, atMs, cost: index % 5 === 0 ? null : 0.25 });
    }
    db.exec("INSERT INTO telemetry_usage VALUES ('day', '2026-06-15', '2026-06-15', 1, 1, 1, 1, 1, 1.0, 1, 0, '{}', '{}')");
  })();
}

/** The data folder of an earlier version: its migrations alone, then its data, then the migrations of this version. */
function openEarlier(sample: Sample) {
  const db = new Database(':memory:');
  const isEarlier = ({ id }: { readonly id: string }): boolean => id.startsWith('telemetry');
  for (const migration of [...sessionMigrations, ...usageMigrations.filter(isEarlier)]) migration.up(db);
  fill(db, sample);
  for (const migration of usageMigrations.filter((one) => !isEarlier(one))) migration.up(db);
  return openUsage(db);
}

test('rows of an earlier version are summed when its data folder is opened', () => {
  const { report } = openEarlier({ calls: 120, sessions: 2 });
  const byModel = report.usage({ by: 'model' }, NOON_MS).rows;
  expect(byModel.map(({ key, modelCalls, costUsd, unknownCostCalls }) => ({ key, modelCalls, costUsd, unknownCostCalls }))).toEqual(
    ['lab/m0', 'lab/m1', 'lab/m2'].map((key) => ({ key, modelCalls: 40, costUsd: 8, unknownCostCalls: 8 })),
  );
  expect(report.usage({ by: 'session' }, NOON_MS).rows.map(({ key, turns }) => [key, turns])).toEqual([
    ['s0', 30],
    ['s1', 0],
  ]);
  expect(report.usage({}, NOON_MS).rows).toHaveLength(30);
  expect(report.usage({ by: 'session', limit: 1 }, NOON_MS).rows.map(({ key }) => key)).toEqual(['s0']);
});

test('events that an earlier version had not counted are counted once', () => {
  const log = new UsageLog();
  log.call('old', { costUsd: 1 });
  const counted = log.events.length;
  log.call('new', { costUsd: 2 });
  const { db, rows, report, take } = openUsage();
  take(log.events.slice(0, counted));
  db.exec('DELETE FROM projection_cursors');
  db.prepare('UPDATE telemetry_cursor SET projected_seq = ?').run(log.events[counted - 1]?.seq ?? 0);
  rows.takeOver(log.read);
  expect(report.spentSince({ sinceMs: 0 }).usd).toBe(3);
  const before = db.prepare('SELECT * FROM usage_sums ORDER BY 1, 2, 3').all();
  rows.takeOver((after) => {
    expect(after).toBe(log.events.at(-1)?.seq);
    return [];
  });
  expect(db.prepare('SELECT * FROM usage_sums ORDER BY 1, 2, 3').all()).toEqual(before);
});

test('pending events are counted before their session is deleted, also after rollback', () => {
  const { db, rows, report, dump } = openUsage();
  const log = new UsageLog();
  log.turn('t1');
  log.call('r1', { costUsd: 1 });
  rows.take(log.events);
  log.add('session.deleted', { sessionId: 's1', headSeq: 3, headHash: '' }, 'system', null);
  const deleted = log.events.at(-1);
  const remove = db.transaction((isKept: boolean) => {
    if (deleted !== undefined) rows.apply(deleted);
    if (!isKept) throw new Error('rolled back');
  });
  expect(() => remove(false)).toThrow('rolled back');
  remove(true);
  const before = dump();
  // Its events are deleted, so a restart at this point finds nothing to count.
  const next = openUsage(db);
  next.rows.takeOver(() => []);
  expect(next.report.spentSince({ sinceMs: 0 }).usd).toBe(1);
  expect([report.spentSince({ sinceMs: 0 }).usd, dump()]).toEqual([1, before]);
});

test('a report over a hundred thousand calls is faster than one scan of them', { timeout: 120_000 }, () => {
  const { db, report } = openEarlier({ calls: 100_000, sessions: 1000 });
  const msOf = (work: () => void): number => {
    const beganMs = ownNow();
    work();
    return ownNow() - beganMs;
  };
  const scan = db.prepare('SELECT count(*), sum(cost_usd), sum(took_ms) FROM telemetry_model_calls NOT INDEXED');
  for (const by of ['day', 'model', 'session'] as const) {
    // The best of each, because a busy machine can slow down either.
    const best = { scanMs: Infinity, answerMs: Infinity };
    for (let tries = 0; tries < 8 || (tries < 80 && best.answerMs >= best.scanMs); tries += 1) {
      best.scanMs = Math.min(
        best.scanMs,
        msOf(() => scan.all()),
      );
      const answerMs = msOf(() => {
        const { rows } = report.usage({ by, limit: 200 }, NOON_MS);
        expect(rows.reduce((sum, row) => sum + row.modelCalls, 0)).toBe(by === 'session' ? 20_000 : 100_000);
      });
      best.answerMs = Math.min(best.answerMs, answerMs);
    }
    expect(best.answerMs, `by ${by}`).toBeLessThan(best.scanMs);
  }
});
