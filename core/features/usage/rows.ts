// Usage rows of model calls, turns and packs, kept in step with the log. Applying an event again changes nothing, and neither does the copy
// of an event in a fork: the original session paid for it.

import { localDay } from '../../base/local-day.ts';
import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import { noUsage, type Usage } from '../../contracts/llm.ts';
import type { SqlDatabase } from '../../store/storage/storage.ts';
import { addLatency, addUp, sumAgain } from './usage-schema.ts';

/** Events with a global sequence above `afterSeq`, ascending, at most `limit`. */
export type ReadEvents = (afterSeq: number, limit: number) => readonly AnyEvent[];

type CallEnd = EventOf<'model.finished'> | EventOf<'model.failed'>;

/** Of a call that one event tells from beginning to end. */
interface WholeCall {
  readonly requestId: string;
  readonly turnId: string | null;
  readonly model: string;
  readonly tookMs: number;
  readonly usage: Usage;
  readonly usageReported: boolean;
  readonly costUsd: number | null;
}

const CURSOR = 'usage';
const EVENTS_READ = 500;

function prepareAll(db: SqlDatabase) {
  return {
    putPack: db.prepare(
      `INSERT OR IGNORE INTO telemetry_packs
       VALUES (@packId, @seq, @sessionId, @turnId, @atMs, @tokens, @budgetTokens, @dropped, @truncated)`,
    ),
    putCall: db.prepare(
      `INSERT OR IGNORE INTO telemetry_model_calls
       VALUES (@requestId, @seq, @sessionId, @turnId, @packId, @model, 'requested', @atMs, @day, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL)`,
    ),
    countRetry: db.prepare('UPDATE telemetry_model_calls SET retries = max(retries, @attempt) WHERE request_id = @requestId'),
    known: db.prepare(
      `SELECT NOT EXISTS (SELECT 1 FROM telemetry_model_calls e WHERE e.turn_id = c.turn_id AND e.model = c.model AND e.status <> 'requested')
         AS isFirst, status <> 'requested' AS isCounted FROM telemetry_model_calls c WHERE request_id = ? AND session_id = ?`,
    ),
    endCall: db.prepare(
      `UPDATE telemetry_model_calls SET seq = @seq, status = @status, at_ms = @atMs, day = @day, input_tokens = @inputTokens,
         output_tokens = @outputTokens, cached_input_tokens = @cachedInputTokens, usage_reported = @usageReported, billed = @billed,
         cost_usd = @costUsd, took_ms = @tookMs, first_token_ms = @firstTokenMs
       WHERE request_id = @requestId AND session_id = @sessionId`,
    ),
    putTurn: db.prepare(
      `INSERT OR IGNORE INTO telemetry_turns VALUES (@turnId, @seq, @sessionId, 'running', @atMs, @day, NULL, 0, 0, 0, 0, 0, NULL)`,
    ),
    setStatus: db.prepare('UPDATE telemetry_turns SET status = @status WHERE turn_id = @turnId AND finished_at_ms IS NULL'),
    endTurn: db.prepare(
      `UPDATE telemetry_turns SET seq = @seq, status = @status, finished_at_ms = @atMs, model_calls = @modelCalls, tool_calls = @toolCalls,
         input_tokens = @inputTokens, output_tokens = @outputTokens, cached_input_tokens = @cachedInputTokens, cost_usd = @costUsd
       WHERE turn_id = @turnId AND session_id = @sessionId`,
    ),
    sumCall: db.prepare(addUp('usage_calls', 'request_id')),
    sumTurn: db.prepare(addUp('usage_turns', 'turn_id')),
    latencies: [db.prepare(addLatency('took')), db.prepare(addLatency('first_token'))],
    cursor: db.prepare('SELECT seq FROM projection_cursors WHERE name = ?').pluck(),
    putCursor: db.prepare('INSERT INTO projection_cursors (name, seq) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET seq = excluded.seq'),
    earlierCursor: db.prepare('SELECT projected_seq FROM telemetry_cursor').pluck(),
  };
}

/** Models that were asked outside the conversation of a turn. */
const besideTypes = [
  'call.verified',
  'opinion.given',
  'opinion.judged',
  'value.given',
  'door.answered',
  'work.checked',
  'pipeline.node_finished',
  'eval.case_finished',
] as const;
type Beside = Extract<AnyEvent, { type: (typeof besideTypes)[number] }>;

function isBeside(event: AnyEvent): event is Beside {
  return (besideTypes as readonly string[]).includes(event.type);
}

export class UsageRows {
  readonly #db: SqlDatabase;
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #dayOf: (atMs: number) => string;

  /** `dayOf`: the day an instant is counted under; the local calendar day unless told. */
  constructor(db: SqlDatabase, dayOf: (atMs: number) => string = localDay) {
    this.#db = db;
    this.#sql = prepareAll(db);
    this.#dayOf = dayOf;
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'pack.built': {
        const { dropped, truncated, ...pack } = event.body;
        this.#sql.putPack.run({ ...pack, ...placeOf(event), dropped: dropped.length, truncated: truncated.length });
        return;
      }
      case 'model.requested':
        this.#sql.putCall.run({ ...event.body, ...placeOf(event), day: this.#dayOf(event.atMs) });
        return;
      case 'model.retried':
        this.#sql.countRetry.run({ requestId: event.body.requestId, attempt: event.body.attempt });
        return;
      case 'model.finished':
      case 'model.failed':
        this.#callEnded(event, { requestId: event.body.requestId, tookMs: event.body.tookMs, ...figuresOf(event) });
        return;
      case 'summary.written':
      case 'summary.failed':
        this.#summaryEnded(event);
        return;
      case 'embedding.used':
        this.#embedded(event);
        return;
      default:
        if (isBeside(event)) this.#askedBeside(event);
        else this.#applyTurn(event);
    }
  }

  /**
   * Counts the events that an earlier version of the program left uncounted; runs once per data folder. Later events are counted as they
   * are written.
   */
  takeOver(read: ReadEvents): void {
    if (this.#sql.cursor.get(CURSOR) === undefined) this.#applyAfter(this.#sql.earlierCursor.get() as number, read);
  }

  /** Again from the log. What deleted sessions spent stays: their events are gone, and what was spent is spent. */
  rebuild(read: ReadEvents): void {
    for (const table of ['telemetry_packs', 'telemetry_model_calls', 'telemetry_turns']) {
      this.#db.exec(`DELETE FROM ${table} WHERE session_id IN (SELECT session_id FROM sessions)`);
    }
    sumAgain(this.#db);
    this.#applyAfter(0, read);
  }

  #applyAfter(afterSeq: number, read: ReadEvents): void {
    let seq = afterSeq;
    for (;;) {
      const events = read(seq, EVENTS_READ);
      seq = events.at(-1)?.seq ?? seq;
      this.#db.transaction(() => {
        for (const event of events) this.apply(event);
      })();
      if (events.length < EVENTS_READ) break;
    }
    this.#sql.putCursor.run(CURSOR, seq);
  }

  #applyTurn(event: AnyEvent): void {
    const { turnId } = event;
    if (turnId === null) return;
    switch (event.type) {
      case 'turn.started':
        if (this.#sql.putTurn.run({ ...placeOf(event), day: this.#dayOf(event.atMs) }).changes > 0)
          this.#sql.sumTurn.run({ id: turnId, sign: 1, turns: 1 });
        return;
      case 'turn.waiting':
      case 'turn.resumed':
        this.#sql.setStatus.run({ turnId, status: event.type === 'turn.waiting' ? 'waiting' : 'running' });
        return;
      case 'turn.finished': {
        const { status, usage, costUsd, modelCalls, toolCalls } = event.body;
        this.#sql.endTurn.run({ ...placeOf(event), status, ...usage, costUsd, modelCalls, toolCalls });
        return;
      }
      default:
        return;
    }
  }

  /** All that one summary asked of a model counts as one call, under the summary's own id. */
  #summaryEnded(event: EventOf<'summary.written'> | EventOf<'summary.failed'>): void {
    const { summaryId, modelCalls, model, usage, costUsd } = event.body;
    if (modelCalls === 0 || model === null) return;
    const tookMs = event.type === 'summary.written' ? event.body.tookMs : 0;
    this.#callAtOnce(event, { requestId: summaryId, turnId: summaryId, model, tookMs, usage, usageReported: true, costUsd });
  }

  /** A model that was asked about a turn, outside its conversation. Nothing is counted if it did not answer. */
  #askedBeside(event: Beside): void {
    const { usage } = event.body;
    if (usage === undefined || usage.inputTokens + usage.outputTokens === 0) return;
    const costUsd = ('paidUsd' in event.body ? event.body.paidUsd : event.body.costUsd) ?? null;
    const tookMs = 'tookMs' in event.body ? (event.body.tookMs ?? 0) : 0;
    const model = ('model' in event.body ? event.body.model : 'by' in event.body ? event.body.by : '') ?? '';
    this.#callAtOnce(event, { requestId: `beside-${event.seq}`, turnId: event.turnId, model, tookMs, usage, usageReported: true, costUsd });
  }

  /** An embedding counts as a separate model and belongs to no turn. */
  #embedded(event: EventOf<'embedding.used'>): void {
    const { model, tokens, tokensReported, costUsd, tookMs } = event.body;
    const usage = { inputTokens: tokens, outputTokens: 0, cachedInputTokens: 0 };
    const about = { requestId: `embedding-${event.seq}`, turnId: null, model: `embeddings/${model}` };
    this.#callAtOnce(event, { ...about, tookMs, usage, usageReported: tokensReported, costUsd });
  }

  #callAtOnce(event: AnyEvent, { requestId, turnId, model, tookMs, usage, usageReported, costUsd }: WholeCall): void {
    this.#sql.putCall.run({ ...placeOf(event), turnId, requestId, packId: '', model, day: this.#dayOf(event.atMs) });
    const figures = { status: 'finished', ...usage, usageReported: Number(usageReported), billed: 1, costUsd, firstTokenMs: null };
    this.#callEnded(event, { requestId, tookMs, ...figures });
  }

  #callEnded(event: AnyEvent, end: { readonly requestId: string; readonly status: string; readonly [figure: string]: unknown }): void {
    const { seq, sessionId, atMs } = event;
    const id = end.requestId;
    const known = this.#sql.known.get(id, sessionId) as { readonly isFirst: number; readonly isCounted: number } | undefined;
    // A copy of what another session asked.
    if (known === undefined) return;
    if (known.isCounted === 1) this.#count(id, -1, 0);
    this.#sql.endCall.run({ ...end, seq, sessionId, atMs, day: this.#dayOf(atMs) });
    this.#count(id, 1, known.isFirst);
  }

  /** `turns`: 1 with the first call of its turn to the model. */
  #count(id: string, sign: 1 | -1, turns: number): void {
    this.#sql.sumCall.run({ id, sign, turns });
    for (const statement of this.#sql.latencies) statement.run({ id, sign });
  }
}

function placeOf({ seq, sessionId, turnId, atMs }: AnyEvent) {
  return { seq, sessionId, turnId, atMs };
}

/** A failed call that had begun to answer was probably billed, at an estimated or unknown cost; one that never answered was not. */
function figuresOf(event: CallEnd) {
  if (event.type === 'model.finished') {
    const { usage, usageReported, costUsd, firstTokenMs } = event.body;
    return { status: 'finished', ...usage, usageReported: Number(usageReported), billed: 1, costUsd, firstTokenMs };
  }
  const { usage = noUsage, costUsd = null, partialText } = event.body;
  return { status: 'failed', ...usage, usageReported: 0, billed: partialText === '' ? 0 : 1, costUsd, firstTokenMs: null };
}
