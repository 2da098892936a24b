// Questions to the telemetry tables: usage by day, model or session, and what was spent. Reads only.
// A cost nobody knows is never summed as zero: it is counted beside the sum.

import type Database from 'better-sqlite3';
import { localDay, localDayStartMs } from '../../base/local-day.ts';
import type { PackRow, Spent, UsageRow } from './telemetry-rows.ts';

export type UsageKey = 'day' | 'model' | 'session';

export interface UsageQuery {
  readonly by?: UsageKey | undefined;
  /** How many local days back, today included; 30 unless told. */
  readonly days?: number | undefined;
  readonly nowMs: number;
}

const COUNTED = `status <> 'requested'`;
const FIGURES = `
  COUNT(*) AS modelCalls, SUM(input_tokens) AS inputTokens, SUM(output_tokens) AS outputTokens,
  SUM(cached_input_tokens) AS cachedInputTokens, SUM(cost_usd) AS costUsd,
  SUM(billed AND cost_usd IS NULL) AS unknownCostCalls`;
const SPENT = `
  SELECT COALESCE(SUM(cost_usd), 0) AS usd, COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens,
         COALESCE(SUM(billed AND cost_usd IS NULL), 0) AS unknownCostCalls
  FROM telemetry_model_calls`;
const columns = { day: 'day', model: 'model', session: 'session_id' } as const;

export class UsageReport {
  readonly #db: Database.Database;
  readonly #spentSince;
  readonly #spentInSession;
  readonly #spentInTurn;
  readonly #pack;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#spentSince = db.prepare<[number], Spent>(`${SPENT} WHERE at_ms >= ?`);
    this.#spentInSession = db.prepare<[string], Spent>(`${SPENT} WHERE session_id = ?`);
    this.#spentInTurn = db.prepare<[string], Spent>(`${SPENT} WHERE turn_id = ?`);
    this.#pack = db.prepare<[string], Omit<PackRow, 'kind'>>(
      `SELECT pack_id AS packId, seq, session_id AS sessionId, turn_id AS turnId, at_ms AS atMs, tokens,
              budget_tokens AS budgetTokens, dropped, truncated
       FROM telemetry_packs WHERE pack_id = ?`,
    );
  }

  usage(query: UsageQuery): { rows: UsageRow[]; today: UsageRow } {
    const by = query.by ?? 'day';
    const sinceMs = localDayStartMs(query.nowMs, (query.days ?? 30) - 1);
    return { rows: this.#rows(by, sinceMs), today: this.#today(query.nowMs) };
  }

  spentSince(query: { readonly sinceMs: number }): Spent {
    return this.#spentSince.get(query.sinceMs) ?? nothingSpent;
  }

  spentInSession(sessionId: string): Spent {
    return this.#spentInSession.get(sessionId) ?? nothingSpent;
  }

  spentInTurn(turnId: string): Spent {
    return this.#spentInTurn.get(turnId) ?? nothingSpent;
  }

  packRow(packId: string): PackRow | null {
    const row = this.#pack.get(packId);
    return row === undefined ? null : { kind: 'context.pack', ...row };
  }

  /** Days newest first, models and sessions by tokens. Days and sessions with turns but no model call are there too. */
  #rows(by: UsageKey, sinceMs: number): UsageRow[] {
    const column = columns[by];
    const calls = this.#db
      .prepare<[number], Omit<UsageRow, 'turns'> & { turns: number }>(
        `SELECT ${column} AS key, COUNT(DISTINCT turn_id) AS turns, ${FIGURES}
         FROM telemetry_model_calls WHERE at_ms >= ? AND ${COUNTED} GROUP BY 1`,
      )
      .all(sinceMs);
    const rows = new Map(calls.map((row) => [row.key, { ...row, costUsd: knownCost(row) }]));
    if (by !== 'model') {
      const turns = this.#db
        .prepare<[number], { key: string; turns: number }>(
          `SELECT ${column} AS key, COUNT(*) AS turns FROM telemetry_turns WHERE started_at_ms >= ? GROUP BY 1`,
        )
        .all(sinceMs);
      // A turn counts where it began, even when its calls ran past midnight.
      for (const row of rows.values()) row.turns = 0;
      for (const { key, turns: count } of turns) rows.set(key, { ...(rows.get(key) ?? emptyRow(key)), turns: count });
    }
    const order = by === 'day' ? byKeyDescending : byTokensDescending;
    return [...rows.values()].sort(order);
  }

  #today(nowMs: number): UsageRow {
    const sinceMs = localDayStartMs(nowMs);
    const [first = emptyRow(''), ...rest] = this.#rows('day', sinceMs);
    // One row, unless the clock was set back or the time zone changed: then what lies after midnight is today's all the same.
    const today = rest.reduce(addRows, first);
    return { ...today, key: localDay(nowMs) };
  }
}

const nothingSpent: Spent = { usd: 0, tokens: 0, unknownCostCalls: 0 };

function emptyRow(key: string): UsageRow {
  return { key, turns: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0, unknownCostCalls: 0 };
}

/** SQL's SUM is null where every cost is; that is zero only if there was nothing to pay for. */
function knownCost(row: { costUsd: number | null; unknownCostCalls: number }): number | null {
  return row.costUsd ?? (row.unknownCostCalls > 0 ? null : 0);
}

function addRows(a: UsageRow, b: UsageRow): UsageRow {
  return {
    key: a.key,
    turns: a.turns + b.turns,
    modelCalls: a.modelCalls + b.modelCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    costUsd: a.costUsd === null ? b.costUsd : a.costUsd + (b.costUsd ?? 0),
    unknownCostCalls: a.unknownCostCalls + b.unknownCostCalls,
  };
}

const byKeyDescending = (a: UsageRow, b: UsageRow): number => (a.key < b.key ? 1 : -1);
const byTokensDescending = (a: UsageRow, b: UsageRow): number =>
  b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens) || (a.key < b.key ? -1 : 1);
