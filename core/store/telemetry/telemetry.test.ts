import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { localDay, localDayStartMs } from '../../base/local-day.ts';
import type { AnyEvent, EventBodies, EventType } from '../../contracts/events.ts';
import { Telemetry, telemetryMigrations, type TelemetryRow } from './telemetry.ts';

const NOON_MS = new Date(2026, 5, 15, 12).getTime();
const DAY_MS = 86_400_000;

function open() {
  const db = new Database(':memory:');
  for (const migration of telemetryMigrations) migration.up(db);
  const told: TelemetryRow[] = [];
  const telemetry = new Telemetry({ db, sinks: [{ write: (rows) => told.push(...rows) }] });
  const dump = () =>
    ['packs', 'model_calls', 'turns', 'deleted_sessions', 'usage'].map((table) =>
      db.prepare(`SELECT * FROM telemetry_${table} ORDER BY 1`).all(),
    );
  return { telemetry, told, dump };
}

class Log {
  readonly events: AnyEvent[] = [];
  atMs = NOON_MS;

  add<T extends EventType>(type: T, body: EventBodies[T], sessionId = 's1', turnId: string | null = 't1'): void {
    const seq = this.events.length * 2 + 1;
    const event = { seq, sessionId, sessionSeq: seq, turnId, step: 0, phase: null, type, v: 1, atMs: this.atMs, body };
    this.events.push(event as AnyEvent);
  }

  call(requestId: string, end: { costUsd: number | null; input?: number; model?: string }, sessionId = 's1', turnId = 't1'): void {
    this.add('model.requested', { requestId, packId: `pak_${requestId}`, model: end.model ?? 'lab/m' }, sessionId, turnId);
    const usage = { inputTokens: end.input ?? 10, outputTokens: 5, cachedInputTokens: 2 };
    const said = { text: 'x', reasoning: '', calls: [], usageReported: true, finishReason: 'stop' as const };
    this.add('model.finished', { requestId, ...said, usage, costUsd: end.costUsd, tookMs: 12.5, firstTokenMs: 3 }, sessionId, turnId);
  }

  turn(turnId: string, sessionId = 's1'): void {
    const limits = { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 };
    this.add('turn.started', { kind: 'chat', agentId: 'a', model: 'lab/m', limits, calls: [] }, sessionId, turnId);
  }

  finish(turnId: string, costUsd: number | null, sessionId = 's1'): void {
    const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 2 };
    const body = { status: 'done' as const, text: '', error: null, usage, costUsd, modelCalls: 1, toolCalls: 3 };
    this.add('turn.finished', body, sessionId, turnId);
  }

  read = (after: number, limit: number): readonly AnyEvent[] => this.events.filter((event) => event.seq > after).slice(0, limit);
}

test('a turn becomes one row each of packs, calls and outcomes, told to the sinks as well', () => {
  const { telemetry, told } = open();
  const log = new Log();
  log.turn('t1');
  const cuts = { dropped: [{ what: 'old', count: 3, tokens: 9, reason: 'cap' }], truncated: [], fromSessionSeq: 1 };
  log.add('pack.built', { packId: 'pak_r1', tokens: 100, budgetTokens: 1000, sections: [], ...cuts });
  log.add('model.requested', { requestId: 'r0', packId: 'pak_r1', model: 'lab/m' });
  const error = { code: 'model_unavailable' as const, message: 'no' };
  log.add('model.retried', { requestId: 'r0', attempt: 2, waitMs: 1, error });
  log.add('model.failed', { requestId: 'r0', error, partialText: 'half an ans', tookMs: 7 });
  log.atMs += 1000;
  log.call('r1', { costUsd: 0.25 });
  log.finish('t1', null);
  expect(telemetry.catchUp(log.read)).toEqual({ projected: log.events.length, caughtUp: true });

  const place = { sessionId: 's1', turnId: 't1' };
  const tokens = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 2 };
  const none = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  const pack = {
    kind: 'context.pack',
    packId: 'pak_r1',
    seq: 3,
    ...place,
    atMs: NOON_MS,
    tokens: 100,
    budgetTokens: 1000,
    dropped: 1,
    truncated: 0,
  };
  const call = { kind: 'llm.usage', ...place, packId: 'pak_r1', model: 'lab/m' };
  const failed = { requestId: 'r0', seq: 9, status: 'failed', atMs: NOON_MS, retries: 2, ...none, tookMs: 7, firstTokenMs: null };
  const finished = {
    requestId: 'r1',
    seq: 13,
    status: 'finished',
    atMs: NOON_MS + 1000,
    retries: 0,
    ...tokens,
    tookMs: 12.5,
    firstTokenMs: 3,
  };
  const outcome = { kind: 'turn.outcome', ...place, seq: 15, status: 'done', startedAtMs: NOON_MS, finishedAtMs: NOON_MS + 1000 };
  expect(told).toEqual([
    expect.objectContaining(pack),
    { ...call, ...failed, usageReported: false, costUsd: null },
    { ...call, ...finished, usageReported: true, costUsd: 0.25 },
    { ...outcome, ...tokens, modelCalls: 1, toolCalls: 3, costUsd: null },
  ]);
  expect(telemetry.packRow('pak_r1')).toEqual(pack);
  expect(telemetry.packRow('pak_r9')).toBeNull();
  expect(telemetry.spentInTurn('t1')).toEqual({ usd: 0.25, tokens: 15, unknownCostCalls: 1 });
});

test('an unknown cost is counted beside the sum, and null only where nothing is known', () => {
  const { telemetry } = open();
  const log = new Log();
  log.call('r1', { costUsd: null, model: 'lab/free' });
  log.call('r2', { costUsd: 0.5, model: 'lab/paid' }, 's1', 't2');
  log.call('r3', { costUsd: null, model: 'lab/paid', input: 20 }, 's2', 't3');
  log.add('model.requested', { requestId: 'r4', packId: 'p', model: 'lab/open' });
  telemetry.catchUp(log.read);
  const latency = { tookMs: { p50: 12.5, p95: 12.5 }, firstTokenMs: { p50: 3, p95: 3 } };
  const row = { turns: 1, modelCalls: 1, inputTokens: 10, outputTokens: 5, cachedInputTokens: 2, ...latency };
  expect(telemetry.usage({ by: 'model', nowMs: NOON_MS }).rows).toEqual([
    {
      key: 'lab/paid',
      turns: 2,
      modelCalls: 2,
      inputTokens: 30,
      outputTokens: 10,
      cachedInputTokens: 4,
      costUsd: 0.5,
      unknownCostCalls: 1,
      ...latency,
    },
    { ...row, key: 'lab/free', costUsd: null, unknownCostCalls: 1 },
  ]);
  expect(telemetry.spentInSession('s1')).toEqual({ usd: 0.5, tokens: 30, unknownCostCalls: 1 });
  expect(telemetry.spentInSession('nobody')).toEqual({ usd: 0, tokens: 0, unknownCostCalls: 0 });
});

test('days are local, a turn counts where it began, and older days stay out', () => {
  const { telemetry } = open();
  const log = new Log();
  log.atMs = localDayStartMs(NOON_MS) - 1;
  log.turn('t1');
  log.call('r1', { costUsd: 1 });
  log.atMs += 1;
  log.call('r2', { costUsd: 2 });
  log.finish('t1', 3);
  log.turn('t2', 's2');
  telemetry.catchUp(log.read);
  const latency = { tookMs: { p50: 12.5, p95: 12.5 }, firstTokenMs: { p50: 3, p95: 3 } };
  const tokens = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 2, unknownCostCalls: 0, ...latency };
  const today = { key: localDay(NOON_MS), turns: 1, modelCalls: 1, costUsd: 2, ...tokens };
  const yesterday = { key: localDay(NOON_MS - DAY_MS), turns: 1, modelCalls: 1, costUsd: 1, ...tokens };
  expect(telemetry.usage({ nowMs: NOON_MS })).toEqual({ rows: [today, yesterday], today });
  expect(telemetry.usage({ nowMs: NOON_MS, days: 1 }).rows).toEqual([today]);
  expect(telemetry.usage({ nowMs: NOON_MS + 2 * DAY_MS, by: 'session' }).rows.map((entry) => [entry.key, entry.turns])).toEqual([
    ['s1', 1],
    ['s2', 1],
  ]);
  expect(telemetry.usage({ nowMs: NOON_MS + DAY_MS }).today).toMatchObject({ turns: 0, modelCalls: 0, costUsd: 0 });
  expect(telemetry.spentSince({ sinceMs: localDayStartMs(NOON_MS) })).toEqual({ usd: 2, tokens: 15, unknownCostCalls: 0 });
});

test('a rebuild keeps what deleted sessions spent, and tells the sinks nothing twice', () => {
  const { telemetry, told, dump } = open();
  const log = new Log();
  log.call('r1', { costUsd: 1 }, 'gone', 't1');
  log.call('r2', { costUsd: 2 }, 's2', 't2');
  log.add('session.deleted', { sessionId: 'gone', headSeq: 1, headHash: 'h' }, 'system', null);
  telemetry.catchUp(log.read);
  const before = dump();
  const toldBefore = told.length;
  telemetry.reset();
  expect(telemetry.spentSince({ sinceMs: 0 }).usd).toBe(1);
  telemetry.catchUp((after, limit) => log.read(after, limit).filter((event) => event.sessionId !== 'gone'));
  expect(dump()).toEqual(before);
  expect(told.length).toBe(toldBefore);
});

test('a call can be cut short and gone on with', () => {
  const { telemetry } = open();
  const log = new Log();
  for (let i = 0; i < 5; i++) log.call(`r${i}`, { costUsd: 1 });
  expect(telemetry.catchUp(log.read, { batch: 2, eventsMax: 5 })).toEqual({ projected: 5, caughtUp: false });
  expect(telemetry.projectedSeq()).toBe(9);
  expect(telemetry.catchUp(log.read, { batch: 2, eventsMax: 50 })).toEqual({ projected: 5, caughtUp: true });
  expect(telemetry.catchUp(log.read)).toEqual({ projected: 0, caughtUp: true });
});

test('a batch that fails half-way leaves the cursor and the rows as they were', () => {
  const { telemetry, dump } = open();
  const log = new Log();
  log.call('r1', { costUsd: 1 });
  const before = dump();
  const backwards = (): readonly AnyEvent[] => [...log.events].reverse();
  expect(() => telemetry.catchUp(backwards)).toThrow('forwards');
  expect({ rows: dump(), seq: telemetry.projectedSeq() }).toEqual({ rows: before, seq: 0 });
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

test('any batches, with restarts and a rebuild in between, give the rows of one pass', () => {
  fc.assert(
    fc.property(history, fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 20 }), (steps, batches) => {
      const log = new Log();
      for (const [index, { kind, session, turn, costUsd }] of steps.entries()) {
        const [sessionId, turnId] = [`s${session}`, `t${session}-${turn}`];
        log.atMs += index * 1000;
        if (kind === 'turn') log.turn(turnId, sessionId);
        else if (kind === 'finish') log.finish(turnId, costUsd, sessionId);
        else if (kind === 'call') log.call(`r${index % 7}`, { costUsd }, sessionId, turnId);
        else if (kind === 'wait') log.add('turn.waiting', { approvalIds: [], callIds: [] }, sessionId, turnId);
        else log.add('assistant.message', { text: 'hi' }, sessionId, turnId);
      }
      const once = open();
      once.telemetry.catchUp(log.read, { batch: 1000 });
      const pieces = open();
      for (const batch of batches) pieces.telemetry.catchUp(log.read, { batch, eventsMax: batch });
      pieces.telemetry.catchUp(log.read, { batch: 3 });
      expect(pieces.dump()).toEqual(once.dump());
      expect(pieces.told).toEqual(once.told);
      pieces.telemetry.reset();
      pieces.telemetry.catchUp(log.read);
      expect(pieces.dump()).toEqual(once.dump());
    }),
    { numRuns: 60 },
  );
});
