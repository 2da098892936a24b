// For tests of usage only: its rows in an in-memory database, and a log that feeds them.

import Database from 'better-sqlite3';
import type { AnyEvent, EventBodies, EventType } from '../../../../../core/contracts/events.ts';
import { sessionMigrations } from '../../../../../core/store/session/session.ts';
import { UsageReport } from '../../../../../core/features/usage/report.ts';
import { UsageRows, usageMigrations } from '../../../../../core/features/usage/usage.ts';

export const NOON_MS = new Date(2026, 5, 15, 12).getTime();
const tables = ['telemetry_packs', 'telemetry_model_calls', 'telemetry_turns', 'usage_sums', 'usage_latencies'];

export function openUsage(db: Database.Database = newDatabase()) {
  const rows = new UsageRows(db);
  const insertSession = db.prepare(
    "INSERT INTO sessions (session_id, title, agent_id, channel, created_at_ms, updated_at_ms) VALUES (?, '', 'a', 'cli', 0, 0)",
  );
  return {
    db,
    rows,
    report: new UsageReport(db, rows),
    take: (events: readonly AnyEvent[]): void => {
      rows.take(events);
      rows.settle();
    },
    /** Adds sessions that are not deleted. */
    keep: (...sessionIds: string[]): void => {
      for (const sessionId of sessionIds) insertSession.run(sessionId);
    },
    dump: () => tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1, 2, 3, 4`).all()),
  };
}

function newDatabase(): Database.Database {
  const db = new Database(':memory:');
  for (const migration of [...sessionMigrations, ...usageMigrations]) migration.up(db);
  return db;
}

export class UsageLog {
  readonly events: AnyEvent[] = [];
  atMs = NOON_MS;

  add<T extends EventType>(type: T, body: EventBodies[T], sessionId = 's1', turnId: string | null = 't1'): void {
    const seq = this.events.length * 2 + 1;
    const event = { seq, sessionId, sessionSeq: seq, turnId, step: 0, phase: null, type, v: 1, atMs: this.atMs, body };
    this.events.push(event as AnyEvent);
  }

  call(
    requestId: string,
    { costUsd, input = 10, model = 'lab/m', tookMs = 12.5 }: { costUsd: number | null; input?: number; model?: string; tookMs?: number },
    sessionId = 's1',
    turnId = 't1',
  ): void {
    this.add('model.requested', { requestId, packId: `pak_${requestId}`, model }, sessionId, turnId);
    const usage = { inputTokens: input, outputTokens: 5, cachedInputTokens: 2 };
    const said = { text: 'x', reasoning: '', calls: [], usageReported: true, finishReason: 'stop' as const };
    this.add('model.finished', { requestId, ...said, usage, costUsd, tookMs, firstTokenMs: 3 }, sessionId, turnId);
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
