// Sums of model calls and turns by day, by model and day, and by session and day, so that a question reads a few rows and not every call.
// Kept with each projected event. Whether they go with the calls is said by their own cursor; where they do not, they are made again.

import type Database from 'better-sqlite3';
import { countLatency, type LatencyHistogram } from './latency-histogram.ts';

/** A model call that has ended, as its table keeps it. */
export interface CountedCall {
  readonly requestId: string;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly model: string;
  readonly status: string;
  readonly day: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedInputTokens: number;
  readonly billed: number;
  readonly costUsd: number | null;
  readonly tookMs: number | null;
  readonly firstTokenMs: number | null;
}

export const callColumns = `
  request_id AS requestId, session_id AS sessionId, turn_id AS turnId, model, status, day, input_tokens AS inputTokens,
  output_tokens AS outputTokens, cached_input_tokens AS cachedInputTokens, billed, cost_usd AS costUsd, took_ms AS tookMs,
  first_token_ms AS firstTokenMs`;

interface Place {
  readonly by: 'day' | 'model' | 'session';
  readonly day: string;
  readonly key: string;
}

interface Sums {
  turns: number;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  cachedInputTokens: number;
  costUsd: number;
  pricedCalls: number;
  unknownCostCalls: number;
  tookMs: LatencyHistogram;
  firstTokenMs: LatencyHistogram;
}

type StoredSums = Omit<Sums, 'tookMs' | 'firstTokenMs'> & { readonly tookMs: string; readonly firstTokenMs: string };

export class UsageRollups {
  readonly #db: Database.Database;
  readonly #read;
  readonly #write;
  readonly #remove;
  readonly #rolledSeq;
  readonly #setRolledSeq;
  readonly #otherCall;

  constructor(db: Database.Database) {
    this.#db = db;
    this.#read = db.prepare<[Place], StoredSums>(
      `SELECT turns, calls, input_tokens AS inputTokens, output_tokens AS outputTokens, cached_input_tokens AS cachedInputTokens,
              cost_usd AS costUsd, priced_calls AS pricedCalls, unknown_cost_calls AS unknownCostCalls, took AS tookMs,
              first_token AS firstTokenMs
       FROM telemetry_usage WHERE by = @by AND day = @day AND key = @key`,
    );
    this.#write = db.prepare<[Place & StoredSums]>(
      `INSERT OR REPLACE INTO telemetry_usage VALUES
       (@by, @day, @key, @turns, @calls, @inputTokens, @outputTokens, @cachedInputTokens, @costUsd, @pricedCalls, @unknownCostCalls,
        @tookMs, @firstTokenMs)`,
    );
    this.#remove = db.prepare<[Place]>(`DELETE FROM telemetry_usage WHERE by = @by AND day = @day AND key = @key`);
    this.#rolledSeq = db.prepare<[], { seq: number }>(`SELECT rolled_seq AS seq FROM telemetry_usage_cursor`);
    this.#setRolledSeq = db.prepare<[number]>(`INSERT OR REPLACE INTO telemetry_usage_cursor VALUES (1, ?)`);
    this.#otherCall = db.prepare<[string, string, string], { found: number }>(
      `SELECT 1 AS found FROM telemetry_model_calls WHERE turn_id = ? AND model = ? AND request_id <> ? AND status <> 'requested' LIMIT 1`,
    );
  }

  /** The call as it is now, and as it was counted before, if it was. A turn counts for a model with its first call of it. */
  call(now: CountedCall, before: CountedCall | undefined): void {
    if (before !== undefined && before.status !== 'requested') this.#eachPlace(before, (sums) => addCall(sums, before, -1));
    this.#eachPlace(now, (sums) => addCall(sums, now, 1));
    const isFirst = before?.status === 'requested' && now.turnId !== null && !this.#otherCall.get(now.turnId, now.model, now.requestId);
    if (isFirst) this.#change({ by: 'model', day: now.day, key: now.model }, addTurn);
  }

  turn(sessionId: string, day: string): void {
    this.#change({ by: 'day', day, key: day }, addTurn);
    this.#change({ by: 'session', day, key: sessionId }, addTurn);
  }

  /** Said with every batch, in its transaction. */
  reached(seq: number): void {
    this.#setRolledSeq.run(seq);
  }

  /** Makes them again from the calls and the turns where they do not go with what was projected. */
  ensure(projectedSeq: number): void {
    if (this.#rolledSeq.get()?.seq === projectedSeq) return;
    this.#db.transaction(() => this.#rebuild(projectedSeq))();
  }

  #rebuild(projectedSeq: number): void {
    const all = new Map<string, { readonly place: Place; readonly sums: Sums }>();
    const at = (place: Place, change: (sums: Sums) => void): void => {
      const name = `${place.by}\n${place.day}\n${place.key}`;
      const known = all.get(name) ?? { place, sums: noSums() };
      all.set(name, known);
      change(known.sums);
    };
    const met = new Set<string>();
    const calls = this.#db.prepare<[], CountedCall>(
      `SELECT ${callColumns} FROM telemetry_model_calls WHERE status <> 'requested' ORDER BY seq`,
    );
    for (const call of calls.iterate()) {
      for (const place of placesOf(call)) at(place, (sums) => addCall(sums, call, 1));
      const pair = `${call.turnId}\n${call.model}`;
      if (call.turnId !== null && !met.has(pair)) at({ by: 'model', day: call.day, key: call.model }, addTurn);
      met.add(pair);
    }
    const turns = this.#db.prepare<[], { sessionId: string; day: string }>(`SELECT session_id AS sessionId, day FROM telemetry_turns`);
    for (const { sessionId, day } of turns.iterate()) {
      at({ by: 'day', day, key: day }, addTurn);
      at({ by: 'session', day, key: sessionId }, addTurn);
    }
    this.#db.exec('DELETE FROM telemetry_usage');
    for (const { place, sums } of all.values()) this.#write.run({ ...place, ...stored(sums) });
    this.reached(projectedSeq);
  }

  #eachPlace(call: CountedCall, change: (sums: Sums) => void): void {
    for (const place of placesOf(call)) this.#change(place, change);
  }

  #change(place: Place, change: (sums: Sums) => void): void {
    const row = this.#read.get(place);
    const sums = row === undefined ? noSums() : { ...row, tookMs: parse(row.tookMs), firstTokenMs: parse(row.firstTokenMs) };
    change(sums);
    if (sums.calls === 0 && sums.turns === 0) this.#remove.run(place);
    else this.#write.run({ ...place, ...stored(sums) });
  }
}

function placesOf({ day, model, sessionId }: CountedCall): Place[] {
  return [
    { by: 'day', day, key: day },
    { by: 'model', day, key: model },
    { by: 'session', day, key: sessionId },
  ];
}

function addTurn(sums: Sums): void {
  sums.turns += 1;
}

function addCall(sums: Sums, call: CountedCall, sign: 1 | -1): void {
  sums.calls += sign;
  sums.inputTokens += sign * call.inputTokens;
  sums.outputTokens += sign * call.outputTokens;
  sums.cachedInputTokens += sign * call.cachedInputTokens;
  sums.costUsd += sign * (call.costUsd ?? 0);
  sums.pricedCalls += call.costUsd === null ? 0 : sign;
  sums.unknownCostCalls += call.costUsd === null && call.billed === 1 ? sign : 0;
  // How long it took to fail says nothing of how quick a model is.
  if (call.status !== 'finished') return;
  sums.tookMs = countLatency(sums.tookMs, call.tookMs, sign);
  sums.firstTokenMs = countLatency(sums.firstTokenMs, call.firstTokenMs, sign);
}

function noSums(): Sums {
  const tokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
  return { turns: 0, calls: 0, ...tokens, costUsd: 0, pricedCalls: 0, unknownCostCalls: 0, tookMs: {}, firstTokenMs: {} };
}

function stored(sums: Sums): StoredSums {
  return { ...sums, tookMs: JSON.stringify(sums.tookMs), firstTokenMs: JSON.stringify(sums.firstTokenMs) };
}

/** Written by this file alone. */
function parse(text: string): LatencyHistogram {
  return JSON.parse(text) as LatencyHistogram;
}
