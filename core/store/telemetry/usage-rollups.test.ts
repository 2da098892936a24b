import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { localDay } from '../../base/local-day.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { countLatency, percentilesOf, type LatencyHistogram } from './latency-histogram.ts';
import { Telemetry, telemetryMigrations } from './telemetry.ts';

const NOON_MS = new Date(2026, 5, 15, 12).getTime();
const DAY_MS = 86_400_000;

function open() {
  const db = new Database(':memory:');
  for (const migration of telemetryMigrations) migration.up(db);
  return { db, telemetry: new Telemetry({ db }) };
}

const empty = (): readonly AnyEvent[] => [];
const insertCall = `INSERT INTO telemetry_model_calls VALUES
  (@id, @seq, @session, @turn, 'p', @model, @status, @atMs, @day, 0, @input, 5, 2, 1, 1, @cost, @took, @first)`;
const insertTurn = `INSERT INTO telemetry_turns VALUES (@turn, @seq, @session, 'done', @atMs, @day, NULL, 0, 0, 0, 0, 0, NULL)`;

interface Sample {
  readonly calls: number;
  readonly sessions: number;
}

/** As a program that knows no sums left it: calls and turns, four calls a turn, over thirty days. */
function fill(db: Database.Database, { calls, sessions }: Sample): void {
  const [call, turn] = [db.prepare(insertCall), db.prepare(insertTurn)];
  db.transaction(() => {
    for (let index = 0; index < calls; index++) {
      const atMs = NOON_MS - (index % 30) * DAY_MS;
      const names = { session: `s${index % sessions}`, turn: `t${Math.floor(index / 4)}`, model: `lab/m${index % 3}`, day: localDay(atMs) };
      if (index % 4 === 0) turn.run({ ...names, seq: index * 2 + 1, atMs });
      const cost = index % 5 === 0 ? null : 0.25;
      const latency = { took: 40 + (index % 1000), first: 5 + (index % 90) };
      call.run({ ...names, ...latency, id: `r${index}`, seq: index * 2 + 2, atMs, input: 10, cost, status: 'finished' });
    }
  })();
}

test('percentiles are within five percent of the exact ones', () => {
  const samples = Array.from({ length: 1000 }, (_, index) => 1 + index * 7);
  const histogram = samples.reduce<LatencyHistogram>((counts, ms) => countLatency(counts, ms, 1), {});
  const found = percentilesOf(histogram);
  expect(found).not.toBeNull();
  expect(Math.abs((found?.p50 ?? 0) / 3497 - 1)).toBeLessThanOrEqual(0.05);
  expect(Math.abs((found?.p95 ?? 0) / 6644 - 1)).toBeLessThanOrEqual(0.05);
  expect(percentilesOf(samples.reduce((counts, ms) => countLatency(counts, ms, -1), histogram))).toBeNull();
  expect(percentilesOf(countLatency({}, 0.2, 1))).toEqual({ p50: 0.5, p95: 0.5 });
});

test('calls that were kept before there were sums are summed at the first look', () => {
  const { db, telemetry } = open();
  fill(db, { calls: 120, sessions: 2 });
  telemetry.catchUp(empty);
  const total = db.prepare(`SELECT SUM(cost_usd) AS usd FROM telemetry_model_calls`).get();
  const byModel = telemetry.usage({ by: 'model', nowMs: NOON_MS }).rows;
  expect(byModel.map(({ key, modelCalls, costUsd, unknownCostCalls }) => ({ key, modelCalls, costUsd, unknownCostCalls }))).toEqual(
    ['lab/m0', 'lab/m1', 'lab/m2'].map((key) => ({ key, modelCalls: 40, costUsd: 8, unknownCostCalls: 8 })),
  );
  expect(total).toEqual({ usd: 24 });
  expect(telemetry.usage({ by: 'session', nowMs: NOON_MS }).rows.map(({ key, turns }) => [key, turns])).toEqual([
    ['s0', 30],
    ['s1', 0],
  ]);
  expect(telemetry.usage({ nowMs: NOON_MS }).rows).toHaveLength(30);
  expect(telemetry.usage({ by: 'session', limit: 1, nowMs: NOON_MS }).rows.map(({ key }) => key)).toEqual(['s0']);
});

test('what an older program added without the sums is found, and summed anew', () => {
  const { db, telemetry } = open();
  fill(db, { calls: 40, sessions: 1 });
  telemetry.catchUp(empty);
  db.prepare(`UPDATE telemetry_model_calls SET cost_usd = 1`).run();
  db.exec(`UPDATE telemetry_cursor SET projected_seq = 500`);
  telemetry.catchUp(empty);
  expect(telemetry.usage({ by: 'session', nowMs: NOON_MS }).rows[0]).toMatchObject({ costUsd: 40, unknownCostCalls: 0 });
});

test('a hundred thousand calls are answered for in less than one pass over them', { timeout: 120_000 }, () => {
  const { db, telemetry } = open();
  fill(db, { calls: 100_000, sessions: 1000 });
  telemetry.catchUp(empty);
  const msOf = (work: () => void): number => {
    const beganMs = performance.now();
    work();
    return performance.now() - beganMs;
  };
  const scan = db.prepare('SELECT count(*), sum(cost_usd), sum(took_ms) FROM telemetry_model_calls NOT INDEXED');
  const shares = (['day', 'model', 'session'] as const).map((by) => {
    const tries = Array.from({ length: 5 }, () => {
      const scanMs = msOf(() => scan.all());
      const answerMs = msOf(() => {
        const { rows } = telemetry.usage({ by, limit: 200, nowMs: NOON_MS });
        expect(rows.reduce((sum, row) => sum + row.modelCalls, 0)).toBe(by === 'session' ? 20_000 : 100_000);
      });
      return answerMs / scanMs;
    });
    return { by, share: Math.min(...tries) };
  });
  // Both run side by side on the same machine, so that a busy one slows both.
  expect(shares.filter(({ share }) => share >= 1)).toEqual([]);
});
