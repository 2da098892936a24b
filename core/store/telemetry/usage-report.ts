// Questions to the telemetry tables: usage by day, model or session, and what was spent. Reads only.
// A cost nobody knows is never summed as zero: it is counted beside the sum.

import type Database from 'better-sqlite3';
import { localDayStartMs } from '../../base/local-day.ts';
import { mergeLatencies, percentilesOf, type LatencyHistogram } from './latency-histogram.ts';
import type { ListedPack, PackRow, Spent, UsageRow } from './telemetry-rows.ts';

export type UsageKey = 'day' | 'model' | 'session';

export interface UsageQuery {
  readonly by?: UsageKey | undefined;
  /** How many local days back, today included; 30 unless told. */
  readonly days?: number | undefined;
  /** The first rows of the order; all unless told. */
  readonly limit?: number | undefined;
  readonly nowMs: number;
}

const SPENT = `
  SELECT COALESCE(SUM(cost_usd), 0) AS usd, COALESCE(SUM(input_tokens + output_tokens), 0) AS tokens,
         COALESCE(SUM(billed AND cost_usd IS NULL), 0) AS unknownCostCalls
  FROM telemetry_model_calls`;
const FIGURES = `
  SUM(turns) AS turns, SUM(calls) AS modelCalls, SUM(input_tokens) AS inputTokens, SUM(output_tokens) AS outputTokens,
  SUM(cached_input_tokens) AS cachedInputTokens, SUM(cost_usd) AS sumUsd, SUM(priced_calls) AS pricedCalls,
  SUM(unknown_cost_calls) AS unknownCostCalls`;

type Summed = Omit<UsageRow, 'costUsd' | 'tookMs' | 'firstTokenMs'> & { readonly sumUsd: number; readonly pricedCalls: number };

interface Latencies {
  readonly tookMs: LatencyHistogram[];
  readonly firstTokenMs: LatencyHistogram[];
}

export class UsageReport {
  readonly #dayOf: (atMs: number) => string;
  readonly #spentSince;
  readonly #spentInSession;
  readonly #spentInTurn;
  readonly #newestCall;
  readonly #pack;
  readonly #packs;
  readonly #sums;
  readonly #latencies;

  constructor(db: Database.Database, dayOf: (atMs: number) => string) {
    this.#dayOf = dayOf;
    this.#spentSince = db.prepare<[number], Spent>(`${SPENT} WHERE at_ms >= ?`);
    this.#spentInSession = db.prepare<[string], Spent>(`${SPENT} WHERE session_id = ?`);
    this.#spentInTurn = db.prepare<[string], Spent>(`${SPENT} WHERE turn_id = ?`);
    this.#newestCall = db.prepare<[string], { status: string; atMs: number }>(
      `SELECT status, at_ms AS atMs FROM telemetry_model_calls
       WHERE model = ? AND turn_id IS NOT NULL AND status IN ('finished', 'failed') ORDER BY at_ms DESC, seq DESC LIMIT 1`,
    );
    this.#pack = db.prepare<[string], Omit<PackRow, 'kind'>>(
      `SELECT pack_id AS packId, seq, session_id AS sessionId, turn_id AS turnId, at_ms AS atMs, tokens,
              budget_tokens AS budgetTokens, dropped, truncated
       FROM telemetry_packs WHERE pack_id = ?`,
    );
    this.#packs = db.prepare<[string | null, string | null, number], ListedPack>(
      `SELECT p.pack_id AS packId, p.session_id AS sessionId, p.turn_id AS turnId, p.at_ms AS atMs, p.tokens, p.budget_tokens AS budgetTokens,
              p.dropped, p.truncated, c.model, iif(c.usage_reported, c.input_tokens, NULL) AS inputTokens,
              iif(c.usage_reported, c.cached_input_tokens, NULL) AS cachedInputTokens
       FROM (SELECT * FROM telemetry_packs WHERE ? IS NULL OR session_id = ? ORDER BY seq DESC LIMIT ?) p
       LEFT JOIN telemetry_model_calls c ON c.turn_id = p.turn_id AND c.pack_id = p.pack_id
       GROUP BY p.pack_id ORDER BY p.seq DESC`,
    );
    this.#sums = db.prepare<[UsageKey, string], Summed>(
      `SELECT key, ${FIGURES} FROM telemetry_usage WHERE by = ? AND day >= ? GROUP BY key`,
    );
    this.#latencies = db.prepare<[UsageKey, string], { key: string; took: string; firstToken: string }>(
      `SELECT key, took, first_token AS firstToken FROM telemetry_usage WHERE by = ? AND day >= ?`,
    );
  }

  usage(query: UsageQuery): { rows: UsageRow[]; today: UsageRow } {
    const sinceDay = this.#dayOf(localDayStartMs(query.nowMs, (query.days ?? 30) - 1));
    return { rows: this.#rows(query.by ?? 'day', sinceDay, query.limit), today: this.#today(query.nowMs) };
  }

  spentSince(query: { readonly sinceMs: number }): Spent {
    return this.#spentSince.get(query.sinceMs) ?? nothingSpent;
  }

  spentInSession(sessionId: string): Spent {
    return this.#spentInSession.get(sessionId) ?? nothingSpent;
  }

  /** How the newest request of a turn to the model ended; null where there was none. */
  newestCall(model: string): { readonly ok: boolean; readonly atMs: number } | null {
    const row = this.#newestCall.get(model);
    return row === undefined ? null : { ok: row.status === 'finished', atMs: row.atMs };
  }

  spentInTurn(turnId: string): Spent {
    return this.#spentInTurn.get(turnId) ?? nothingSpent;
  }

  packRow(packId: string): PackRow | null {
    const row = this.#pack.get(packId);
    return row === undefined ? null : { kind: 'context.pack', ...row };
  }

  /** Newest first. */
  packs(query: { readonly sessionId: string | undefined; readonly limit: number }): ListedPack[] {
    const sessionId = query.sessionId ?? null;
    return this.#packs.all(sessionId, sessionId, query.limit);
  }

  /** Days newest first, models and sessions by tokens. Days and sessions with turns but no model call are there too. */
  #rows(by: UsageKey, sinceDay: string, limit = Number.POSITIVE_INFINITY): UsageRow[] {
    const summed = this.#sums
      .all(by, sinceDay)
      .sort(by === 'day' ? byKeyDescending : byTokensDescending)
      .slice(0, limit);
    const latencies = new Map<string, Latencies>(summed.map(({ key }) => [key, { tookMs: [], firstTokenMs: [] }]));
    for (const { key, took, firstToken } of this.#latencies.iterate(by, sinceDay)) {
      const kept = latencies.get(key);
      if (kept === undefined) continue;
      kept.tookMs.push(JSON.parse(took) as LatencyHistogram);
      kept.firstTokenMs.push(JSON.parse(firstToken) as LatencyHistogram);
    }
    return summed.map((row) => usageRow(row, latencies.get(row.key)));
  }

  /** Where the clock was set back or the time zone changed, what lies on a later day is today's all the same. */
  #today(nowMs: number): UsageRow {
    const key = this.#dayOf(nowMs);
    const days = this.#sums.all('day', key);
    const latencies: Latencies = { tookMs: [], firstTokenMs: [] };
    for (const { took, firstToken } of this.#latencies.iterate('day', key)) {
      latencies.tookMs.push(JSON.parse(took) as LatencyHistogram);
      latencies.firstTokenMs.push(JSON.parse(firstToken) as LatencyHistogram);
    }
    return usageRow({ ...days.reduce(addSums, nothingSummed), key }, latencies);
  }
}

const nothingSpent: Spent = { usd: 0, tokens: 0, unknownCostCalls: 0 };
const nothingSummed: Summed = {
  key: '',
  turns: 0,
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  sumUsd: 0,
  pricedCalls: 0,
  unknownCostCalls: 0,
};

/** Nothing known is zero only if there was nothing to pay for. */
function usageRow({ sumUsd, pricedCalls, ...row }: Summed, latencies: Latencies | undefined): UsageRow {
  return {
    ...row,
    costUsd: pricedCalls > 0 ? sumUsd : row.unknownCostCalls > 0 ? null : 0,
    tookMs: percentilesOf(mergeLatencies(latencies?.tookMs ?? [])),
    firstTokenMs: percentilesOf(mergeLatencies(latencies?.firstTokenMs ?? [])),
  };
}

function addSums(a: Summed, b: Summed): Summed {
  return {
    key: a.key,
    turns: a.turns + b.turns,
    modelCalls: a.modelCalls + b.modelCalls,
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cachedInputTokens: a.cachedInputTokens + b.cachedInputTokens,
    sumUsd: a.sumUsd + b.sumUsd,
    pricedCalls: a.pricedCalls + b.pricedCalls,
    unknownCostCalls: a.unknownCostCalls + b.unknownCostCalls,
  };
}

const byKeyDescending = (a: Summed, b: Summed): number => (a.key < b.key ? 1 : -1);
const byTokensDescending = (a: Summed, b: Summed): number =>
  b.inputTokens + b.outputTokens - (a.inputTokens + a.outputTokens) || (a.key < b.key ? -1 : 1);
