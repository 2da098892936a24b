// Turns one event into table rows. Applying an event again changes nothing; order is that of the log.
// A copy of an event in a fork changes nothing either: what it cost was paid in the session it was copied from.
// Returns the finished row for the sinks, where the event finished one.

import type Database from 'better-sqlite3';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import { noUsage, type Usage } from '../../contracts/llm.ts';
import type { ModelCallRow, TelemetryRow, TurnOutcomeRow } from './telemetry-rows.ts';
import { callColumns, type CountedCall, type UsageRollups } from './usage-rollups.ts';

interface WholeCall {
  readonly requestId: string;
  readonly turnId: string | null;
  readonly model: string;
  readonly tookMs: number;
  readonly usage: Usage;
  readonly usageReported: boolean;
  readonly costUsd: number | null;
}

type CallEnd = EventOf<'model.finished'> | EventOf<'model.failed'>;

export class Projector {
  readonly #dayOf: (atMs: number) => string;
  readonly #rollups: UsageRollups;
  readonly #readCall;
  readonly #insertPack;
  readonly #insertCall;
  readonly #countRetry;
  readonly #finishCall;
  readonly #startTurn;
  readonly #setStatus;
  readonly #finishTurn;
  readonly #rememberDeleted;

  constructor(db: Database.Database, rollups: UsageRollups, dayOf: (atMs: number) => string) {
    this.#dayOf = dayOf;
    this.#rollups = rollups;
    this.#readCall = db.prepare<[string], CountedCall>(`SELECT ${callColumns} FROM telemetry_model_calls WHERE request_id = ?`);
    this.#insertPack = db.prepare(
      `INSERT OR IGNORE INTO telemetry_packs
       VALUES (@packId, @seq, @sessionId, @turnId, @atMs, @tokens, @budgetTokens, @dropped, @truncated)`,
    );
    this.#insertCall = db.prepare(
      `INSERT OR IGNORE INTO telemetry_model_calls VALUES
       (@requestId, @seq, @sessionId, @turnId, @packId, @model, 'requested', @atMs, @day, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL)`,
    );
    this.#countRetry = db.prepare(`UPDATE telemetry_model_calls SET retries = MAX(retries, @attempt) WHERE request_id = @requestId`);
    this.#finishCall = db.prepare<[Record<string, unknown>], { model: string; packId: string; retries: number }>(
      `UPDATE telemetry_model_calls SET seq = @seq, status = @status, at_ms = @atMs, day = @day, input_tokens = @inputTokens,
         output_tokens = @outputTokens, cached_input_tokens = @cachedInputTokens, usage_reported = @usageReported, billed = @billed,
         cost_usd = @costUsd, took_ms = @tookMs, first_token_ms = @firstTokenMs
       WHERE request_id = @requestId AND session_id = @sessionId RETURNING model, pack_id AS packId, retries`,
    );
    this.#startTurn = db.prepare(
      `INSERT OR IGNORE INTO telemetry_turns VALUES (@turnId, @seq, @sessionId, 'running', @atMs, @day, NULL, 0, 0, 0, 0, 0, NULL)`,
    );
    this.#setStatus = db.prepare(`UPDATE telemetry_turns SET status = @status WHERE turn_id = @turnId AND finished_at_ms IS NULL`);
    this.#finishTurn = db.prepare<[Record<string, unknown>], { startedAtMs: number }>(
      `UPDATE telemetry_turns SET seq = @seq, status = @status, finished_at_ms = @finishedAtMs, model_calls = @modelCalls,
         tool_calls = @toolCalls, input_tokens = @inputTokens, output_tokens = @outputTokens,
         cached_input_tokens = @cachedInputTokens, cost_usd = @costUsd
       WHERE turn_id = @turnId AND session_id = @sessionId RETURNING started_at_ms AS startedAtMs`,
    );
    this.#rememberDeleted = db.prepare(`INSERT OR IGNORE INTO telemetry_deleted_sessions VALUES (?)`);
  }

  apply(event: AnyEvent): TelemetryRow | null {
    switch (event.type) {
      case 'pack.built':
        return this.#packBuilt(event);
      case 'model.requested':
        this.#modelRequested(event);
        return null;
      case 'model.retried':
        this.#countRetry.run({ requestId: event.body.requestId, attempt: event.body.attempt });
        return null;
      case 'summary.written':
      case 'summary.failed':
        return this.#summaryEnded(event);
      case 'embedding.used':
        return this.#embedded(event);
      case 'model.finished':
      case 'model.failed':
        return this.#modelEnded(event);
      case 'turn.started':
        this.#turnStarted(event);
        return null;
      case 'turn.waiting':
      case 'turn.resumed':
        this.#setStatus.run({ turnId: event.turnId, status: event.type === 'turn.waiting' ? 'waiting' : 'running' });
        return null;
      case 'turn.finished':
        return this.#turnFinished(event);
      case 'session.deleted':
        this.#rememberDeleted.run(event.body.sessionId);
        return null;
      default:
        return this.#askedBeside(event);
    }
  }

  #packBuilt(event: EventOf<'pack.built'>): TelemetryRow {
    const { packId, tokens, budgetTokens, dropped, truncated } = event.body;
    const row = { packId, ...placeOf(event), tokens, budgetTokens, dropped: dropped.length, truncated: truncated.length };
    this.#insertPack.run(row);
    const { sections, dropped: leftOut, truncated: shortened, parts, summaryId } = event.body;
    const about = {
      sections,
      leftOut,
      shortened,
      ...(parts === undefined ? {} : { parts }),
      ...(summaryId === undefined ? {} : { summaryId }),
    };
    return { kind: 'context.pack', ...row, ...about };
  }

  #turnStarted(event: EventOf<'turn.started'>): void {
    const day = this.#dayOf(event.atMs);
    if (this.#startTurn.run({ ...placeOf(event), day }).changes > 0) this.#rollups.turn(event.sessionId, day);
  }

  #modelRequested(event: EventOf<'model.requested'>): void {
    const { requestId, packId, model } = event.body;
    this.#insertCall.run({ ...placeOf(event), requestId, packId, model, day: this.#dayOf(event.atMs) });
  }

  /** All that one summary asked of a model counts as one call, under the summary's own id. */
  #summaryEnded(event: EventOf<'summary.written'> | EventOf<'summary.failed'>): ModelCallRow | null {
    const { summaryId, modelCalls, model, usage, costUsd } = event.body;
    if (modelCalls === 0 || model === null) return null;
    const tookMs = event.type === 'summary.written' ? event.body.tookMs : 0;
    return this.#callAtOnce(event, { requestId: summaryId, turnId: summaryId, model, tookMs, usage, usageReported: true, costUsd });
  }

  /** A model that was asked about a turn, beside its conversation; null for every other event, and where it did not answer. */
  #askedBeside(event: AnyEvent): ModelCallRow | null {
    if (event.type !== 'call.verified' && event.type !== 'opinion.given' && event.type !== 'opinion.judged') return null;
    const { usage, costUsd = null, tookMs } = event.body;
    if (usage === undefined || usage.inputTokens + usage.outputTokens === 0) return null;
    const model = event.type === 'call.verified' ? event.body.by : event.body.model;
    const requestId = `beside-${event.seq}`;
    return this.#callAtOnce(event, { requestId, turnId: event.turnId, model, tookMs, usage, usageReported: true, costUsd });
  }

  /** A kind of its own among the models, and of no turn. */
  #embedded(event: EventOf<'embedding.used'>): ModelCallRow | null {
    const { model, tokens, tokensReported, costUsd, tookMs } = event.body;
    const usage = { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0 };
    const requestId = `embedding-${event.seq}`;
    return this.#callAtOnce(event, {
      requestId,
      turnId: null,
      model: `embeddings/${model}`,
      tookMs,
      usage,
      usageReported: tokensReported,
      costUsd,
    });
  }

  /** What one event tells from beginning to end. */
  #callAtOnce(event: AnyEvent, { requestId, turnId, model, tookMs, usage, usageReported, costUsd }: WholeCall): ModelCallRow | null {
    const day = this.#dayOf(event.atMs);
    const place = placeOf(event);
    this.#insertCall.run({ ...place, turnId, requestId, packId: '', model, day });
    const before = this.#readCall.get(requestId);
    const figures = { status: 'finished' as const, ...usageOf(usage), usageReported, costUsd, firstTokenMs: null };
    const { seq, sessionId, atMs } = place;
    const told = { seq, sessionId, atMs, requestId, tookMs, usageReported: Number(usageReported), day, billed: 1 };
    const begun = this.#finishCall.get({ ...figures, ...told });
    const now = this.#readCall.get(requestId);
    if (begun === undefined || now === undefined) return null;
    this.#rollups.call(now, before);
    return { kind: 'llm.usage', requestId, ...place, ...begun, ...figures, tookMs };
  }

  #modelEnded(event: CallEnd): ModelCallRow | null {
    const { requestId, tookMs } = event.body;
    const place = placeOf(event);
    const figures = callFigures(event);
    const before = this.#readCall.get(requestId);
    const begun = this.#finishCall.get({
      ...figures,
      seq: place.seq,
      sessionId: place.sessionId,
      atMs: place.atMs,
      requestId,
      tookMs,
      usageReported: Number(figures.usageReported),
      day: this.#dayOf(event.atMs),
    });
    if (begun === undefined) return null;
    const now = this.#readCall.get(requestId);
    if (now !== undefined) this.#rollups.call(now, before);
    const { billed: _, ...told } = figures;
    return { kind: 'llm.usage', requestId, ...place, ...begun, ...told, tookMs };
  }

  #turnFinished(event: EventOf<'turn.finished'>): TurnOutcomeRow | null {
    const { turnId } = event;
    if (turnId === null) return null;
    const { status, usage, costUsd, modelCalls, toolCalls } = event.body;
    const row = {
      turnId,
      sessionId: event.sessionId,
      seq: event.seq,
      status,
      finishedAtMs: event.atMs,
      modelCalls,
      toolCalls,
      ...usageOf(usage),
      costUsd,
    };
    const begun = this.#finishTurn.get(row);
    return begun === undefined ? null : { kind: 'turn.outcome', ...row, ...begun };
  }
}

function placeOf(event: AnyEvent) {
  return { seq: event.seq, sessionId: event.sessionId, turnId: event.turnId, atMs: event.atMs };
}

function usageOf(usage: { inputTokens: number; outputTokens: number; cachedInputTokens: number }) {
  return { inputTokens: usage.inputTokens, outputTokens: usage.outputTokens, cachedInputTokens: usage.cachedInputTokens };
}

/** A failed call that had begun to answer was most likely billed, for an estimate or nobody knows how much; one that never answered was not. */
function callFigures(event: CallEnd) {
  if (event.type === 'model.finished') {
    const { usage, usageReported, costUsd, firstTokenMs } = event.body;
    return { status: 'finished' as const, ...usageOf(usage), usageReported, billed: 1, costUsd, firstTokenMs };
  }
  const { usage = noUsage, costUsd = null, partialText } = event.body;
  const unsure = { usageReported: false, costUsd, firstTokenMs: null };
  return { status: 'failed' as const, ...usageOf(usage), ...unsure, billed: partialText === '' ? 0 : 1 };
}
