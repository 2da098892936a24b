// Queries of the usage rows: by day, model or session, and the spending. Pending events are counted first. An unknown cost is never added
// as zero, but counted separately.

import { localDay, localDayStartMs } from '../../base/local-day.ts';
import type { OpParsed, OpResult } from '../../contracts/ops.ts';
import type { HistorySum as Spent } from '../../guard/budget/budget.ts';
import { Statements, type SqlDatabase } from '../../store/storage/storage.ts';

type UsageRow = OpResult<'usage.get'>['today'];
type Latencies = Pick<UsageRow, 'tookMs' | 'firstTokenMs'>;
type Summed = Omit<UsageRow, keyof Latencies>;

const spent = `
  SELECT coalesce(sum(cost_usd), 0) AS usd, coalesce(sum(input_tokens + output_tokens), 0) AS tokens,
         coalesce(sum(billed AND cost_usd IS NULL), 0) AS unknownCostCalls
  FROM telemetry_model_calls`;

/** The cost is null if no cost is known and some are unknown. Rounded, so that the order in which costs were added does not matter. */
const figures = `
  sum(turns) AS turns, sum(calls) AS modelCalls, sum(input_tokens) AS inputTokens, sum(output_tokens) AS outputTokens,
  sum(cached_input_tokens) AS cachedInputTokens, iif(sum(priced_calls) = 0 AND sum(unknown_cost_calls) > 0, NULL, round(sum(cost_usd), 9)) AS costUsd,
  sum(unknown_cost_calls) AS unknownCostCalls`;

/** Days newest first; models and sessions by tokens. */
const order = `iif(by = 'day', key, NULL) DESC, sum(input_tokens + output_tokens) DESC, key`;

const sums = (where: string, more = ''): string => `SELECT key, ${figures} FROM usage_sums WHERE by = @by AND day >= @day ${where} ${more}`;
/** Latencies of the given keys, or of all. */
const latencies = (where: string): string => `SELECT key, what, bucket, calls FROM usage_latencies WHERE by = @by AND day >= @day ${where}`;

const statements = {
  newestCall: `SELECT status = 'finished' AS ok, at_ms AS atMs FROM telemetry_model_calls
   WHERE model = ? AND turn_id IS NOT NULL AND status IN ('finished', 'failed') ORDER BY at_ms DESC, seq DESC LIMIT 1`,
  packs: `SELECT p.pack_id AS packId, p.session_id AS sessionId, p.turn_id AS turnId, p.at_ms AS atMs, p.tokens, p.budget_tokens AS budgetTokens,
          p.dropped, p.truncated, c.model, iif(c.usage_reported, c.input_tokens, NULL) AS inputTokens,
          iif(c.usage_reported, c.cached_input_tokens, NULL) AS cachedInputTokens
   FROM (SELECT * FROM telemetry_packs WHERE @session IS NULL OR session_id = @session ORDER BY seq DESC LIMIT @limit) p
   LEFT JOIN telemetry_model_calls c ON c.turn_id = p.turn_id AND c.pack_id = p.pack_id
   GROUP BY p.pack_id ORDER BY p.seq DESC`,
  rows: sums('', `GROUP BY key HAVING sum(turns) + sum(calls) > 0 ORDER BY ${order} LIMIT @limit`),
  total: sums(''),
  latenciesOf: latencies('AND key IN (SELECT value FROM json_each(@keys))'),
  latencies: latencies(''),
};

export class UsageReport {
  readonly #sql: Statements;
  readonly #rows: { settle(): void };

  constructor(db: SqlDatabase, rows: { settle(): void }) {
    this.#sql = new Statements(db);
    this.#rows = rows;
  }

  get #settled(): Statements {
    this.#rows.settle();
    return this.#sql;
  }

  /** `rows` cover the last `days` local days; `today` covers the current day. Days and sessions without a model call are included. */
  usage({ by = 'day', days = 30, limit = -1 }: OpParsed<'usage.get'>, nowMs: number): Pick<OpResult<'usage.get'>, 'rows' | 'today'> {
    const day = localDay(localDayStartMs(nowMs, days - 1));
    const rows = this.#settled.rows<Summed>(statements.rows, { by, day, limit });
    const keys = JSON.stringify(rows.map(({ key }) => key));
    const counted = Map.groupBy(this.#counted(statements.latenciesOf, { by, day, keys }), ([key]) => key);
    return {
      rows: rows.map((row) => ({ ...row, ...percentilesOf(counted.get(row.key) ?? []) })),
      today: this.#today(localDay(nowMs)),
    };
  }

  spentSince({ sinceMs }: { readonly sinceMs: number }): Spent {
    return this.#settled.row(`${spent} WHERE at_ms >= ?`, sinceMs) as Spent;
  }

  spentInSession(sessionId: string): Spent {
    return this.#settled.row(`${spent} WHERE session_id = ?`, sessionId) as Spent;
  }

  spentInTurn(turnId: string): Spent {
    return this.#settled.row(`${spent} WHERE turn_id = ?`, turnId) as Spent;
  }

  /** How the newest model request of a turn ended; null if there was none. */
  newestCall(model: string): { readonly ok: boolean; readonly atMs: number } | null {
    const row = this.#settled.row<{ ok: number; atMs: number }>(statements.newestCall, model);
    return row === undefined ? null : { ok: row.ok === 1, atMs: row.atMs };
  }

  /** Newest first. */
  packs(sessionId: string | undefined, limit: number): OpResult<'pack.list'>['packs'] {
    return this.#settled.rows<OpResult<'pack.list'>['packs'][number]>(statements.packs, { session: sessionId ?? null, limit });
  }

  /** Returns rows as arrays, because there are many. */
  #counted(sql: string, values: object): Counted[] {
    return this.#sql.prepare(sql).raw().all(values) as Counted[];
  }

  /** If the clock was set back or the time zone changed, later days count as today. */
  #today(day: string): UsageRow {
    const summed = this.#sql.row(statements.total, { by: 'day', day }) as Summed & { readonly turns: number | null };
    const known = summed.turns === null ? nothingSummed : summed;
    return { ...known, key: day, ...percentilesOf(this.#counted(statements.latencies, { by: 'day', day })) };
  }
}

const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
const nothingSummed: Summed = { key: '', turns: 0, modelCalls: 0, ...tokens, costUsd: 0, unknownCostCalls: 0 };

type Counted = readonly [key: string, what: 'took' | 'first_token', bucket: number, calls: number];

/** The percentiles of counts in buckets. Null if nothing was measured. */
function percentilesOf(counted: readonly Counted[]): Latencies {
  const of = (what: Counted[1]): Latencies['tookMs'] => {
    const buckets = counted.filter((one) => one[1] === what).sort((a, b) => a[2] - b[2]);
    const total = buckets.reduce((sum, [, , , calls]) => sum + calls, 0);
    if (total === 0) return null;
    const at = (share: number): number => {
      let passed = 0;
      return middleOf(buckets.find(([, , , calls]) => (passed += calls) >= share * total)?.[2] ?? 0);
    };
    return { p50: at(0.5), p95: at(0.95) };
  };
  return { tookMs: of('took'), firstTokenMs: of('first_token') };
}

/** The geometric middle of a bucket: bucket n reaches from 1.1 to the power of n - 1 to 1.1 to the power of n. */
function middleOf(bucket: number): number {
  return Math.round((bucket === 0 ? 0.5 : 1.1 ** (bucket - 0.5)) * 10) / 10;
}
