// Counts a batch of events: rows of packs, model calls and turns, and their sums. Writes each row and each sum once. Applying an event
// again changes nothing, and neither does a fork's copy of an event, because the original session paid for it.

import type { AnyEvent, EventBodies, EventOf } from '../../contracts/events.ts';
import { noUsage } from '../../contracts/llm.ts';
import { Statements, type SqlDatabase } from '../../store/storage/storage.ts';
import { addLatency, addUp } from './usage-schema.ts';

type CallEnd = EventOf<'model.finished'> | EventOf<'model.failed'>;

/** A call that a single event describes completely. */
interface WholeCall extends Pick<EventBodies['model.finished'], 'requestId' | 'tookMs' | 'usage' | 'usageReported' | 'costUsd'> {
  readonly turnId: string | null;
  readonly model: string;
}

/** A call that was requested and has not ended. */
interface OpenCall {
  readonly requestId: string;
  readonly seq: number;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly packId: string;
  readonly model: string;
  readonly atMs: number;
  readonly day: string;
  readonly retries: number;
}

interface OpenTurn {
  readonly turnId: string;
  readonly seq: number;
  readonly sessionId: string;
  readonly status: string;
  /** Whether an event after the start changed the status. */
  readonly isTold: boolean;
  readonly startedAtMs: number;
  readonly day: string;
}

const noTokens = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 };
const notEnded = { status: 'requested', ...noTokens, usageReported: 0, billed: 0, costUsd: null, tookMs: null, firstTokenMs: null };
const notFinished = { finishedAtMs: null, modelCalls: 0, toolCalls: 0, ...noTokens, costUsd: null };

const statements = {
  putPack: `INSERT OR IGNORE INTO telemetry_packs
     VALUES (@packId, @seq, @sessionId, @turnId, @atMs, @tokens, @budgetTokens, @dropped, @truncated)`,
  putCall: `INSERT OR IGNORE INTO telemetry_model_calls
     VALUES (@requestId, @seq, @sessionId, @turnId, @packId, @model, @status, @atMs, @day, @retries, @inputTokens, @outputTokens,
       @cachedInputTokens, @usageReported, @billed, @costUsd, @tookMs, @firstTokenMs)`,
  countRetry: 'UPDATE telemetry_model_calls SET retries = max(retries, @attempt) WHERE request_id = @requestId',
  isCounted: "SELECT status <> 'requested' FROM telemetry_model_calls WHERE request_id = ? AND session_id = ?",
  endCall: `UPDATE telemetry_model_calls SET seq = @seq, status = @status, at_ms = @atMs, day = @day, input_tokens = @inputTokens,
       output_tokens = @outputTokens, cached_input_tokens = @cachedInputTokens, usage_reported = @usageReported, billed = @billed,
       cost_usd = @costUsd, took_ms = @tookMs, first_token_ms = @firstTokenMs
     WHERE request_id = @requestId AND session_id = @sessionId`,
  putTurn: `INSERT OR IGNORE INTO telemetry_turns VALUES (@turnId, @seq, @sessionId, @status, @startedAtMs, @day, @finishedAtMs, @modelCalls,
       @toolCalls, @inputTokens, @outputTokens, @cachedInputTokens, @costUsd)`,
  setStatus: 'UPDATE telemetry_turns SET status = @status WHERE turn_id = @turnId AND finished_at_ms IS NULL',
  endTurn: `UPDATE telemetry_turns SET seq = @seq, status = @status, finished_at_ms = @finishedAtMs, model_calls = @modelCalls,
       tool_calls = @toolCalls, input_tokens = @inputTokens, output_tokens = @outputTokens, cached_input_tokens = @cachedInputTokens,
       cost_usd = @costUsd
     WHERE turn_id = @turnId AND session_id = @sessionId`,
};

/** Model calls that a turn caused outside its conversation. */
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

const countedTypes: ReadonlySet<string> = new Set([
  ...besideTypes,
  'pack.built',
  'model.requested',
  'model.retried',
  'model.finished',
  'model.failed',
  'summary.written',
  'summary.failed',
  'embedding.used',
  'turn.started',
  'turn.waiting',
  'turn.resumed',
  'turn.finished',
]);

export function isCounted({ type }: AnyEvent): boolean {
  return countedTypes.has(type);
}

function isBeside(event: AnyEvent): event is Beside {
  return (besideTypes as readonly string[]).includes(event.type);
}

export class UsageBatch {
  readonly #sql: Statements;
  readonly #dayOf: (atMs: number) => string;
  readonly #openCalls = new Map<string, OpenCall>();
  readonly #openTurns = new Map<string, OpenTurn>();
  /** Rows that are written, but not in the sums yet. */
  #ended: string[] = [];
  #begun: string[] = [];

  constructor(db: SqlDatabase, dayOf: (atMs: number) => string) {
    this.#sql = new Statements(db);
    this.#dayOf = dayOf;
  }

  /** Applies the events in order, in one transaction. Keeps no state between batches. */
  apply(events: readonly AnyEvent[]): void {
    try {
      for (const event of events) this.#apply(event);
      for (const call of this.#openCalls.values()) this.#sql.run(statements.putCall, { ...call, ...notEnded });
      for (const turn of this.#openTurns.values()) {
        // The start may have been counted before, but not the events after it.
        if (!this.#putTurn({ ...turn, ...notFinished }) && turn.isTold) this.#sql.run(statements.setStatus, turn);
      }
      this.#sum();
    } finally {
      this.#openCalls.clear();
      this.#openTurns.clear();
      this.#ended = [];
      this.#begun = [];
    }
  }

  #apply(event: AnyEvent): void {
    switch (event.type) {
      case 'pack.built': {
        const { packId, tokens, budgetTokens, dropped, truncated } = event.body;
        const counts = { dropped: dropped.length, truncated: truncated.length };
        this.#sql.run(statements.putPack, { packId, tokens, budgetTokens, ...placeOf(event), ...counts });
        return;
      }
      case 'model.requested': {
        const { requestId, packId, model } = event.body;
        this.#openCall({ requestId, packId, model, ...placeOf(event) });
        return;
      }
      case 'model.retried':
        this.#retried(event.body);
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

  #applyTurn(event: AnyEvent): void {
    const { turnId } = event;
    if (turnId === null) return;
    const open = this.#openTurns.get(turnId);
    switch (event.type) {
      case 'turn.started':
        if (open === undefined) this.#openTurns.set(turnId, this.#turnOf(event, turnId));
        return;
      case 'turn.waiting':
      case 'turn.resumed': {
        const status = event.type === 'turn.waiting' ? 'waiting' : 'running';
        if (open === undefined) this.#sql.run(statements.setStatus, { turnId, status });
        else this.#openTurns.set(turnId, { ...open, status, isTold: true });
        return;
      }
      case 'turn.finished':
        this.#turnEnded(event, { turnId, open });
        return;
      default:
        return;
    }
  }

  #turnOf({ seq, sessionId, atMs }: AnyEvent, turnId: string): OpenTurn {
    return { turnId, seq, sessionId, status: 'running', isTold: false, startedAtMs: atMs, day: this.#dayOf(atMs) };
  }

  #turnEnded(
    { seq, sessionId, atMs, body }: EventOf<'turn.finished'>,
    { turnId, open }: { readonly turnId: string; readonly open: OpenTurn | undefined },
  ): void {
    const { status, usage, costUsd, modelCalls, toolCalls } = body;
    const end = { turnId, seq, sessionId, status, finishedAtMs: atMs, ...usage, costUsd, modelCalls, toolCalls };
    if (open !== undefined && open.sessionId === sessionId) {
      this.#openTurns.delete(turnId);
      if (this.#putTurn({ ...open, ...end })) return;
    }
    this.#sql.run(statements.endTurn, end);
  }

  #putTurn(row: { readonly turnId: string }): boolean {
    const isNew = this.#sql.run(statements.putTurn, row).changes > 0;
    if (isNew) this.#begun.push(row.turnId);
    return isNew;
  }

  #retried({ requestId, attempt }: { readonly requestId: string; readonly attempt: number }): void {
    const open = this.#openCalls.get(requestId);
    if (open === undefined) this.#sql.run(statements.countRetry, { requestId, attempt });
    else this.#openCalls.set(requestId, { ...open, retries: Math.max(open.retries, attempt) });
  }

  /** All model calls of one summary count as one call, with the summary's id. */
  #summaryEnded(event: EventOf<'summary.written'> | EventOf<'summary.failed'>): void {
    const { summaryId, modelCalls, model, usage, costUsd } = event.body;
    if (modelCalls === 0 || model === null) return;
    const tookMs = event.type === 'summary.written' ? event.body.tookMs : 0;
    this.#callAtOnce(event, { requestId: summaryId, turnId: summaryId, model, tookMs, usage, usageReported: true, costUsd });
  }

  /** A model call about a turn, outside its conversation. Not counted if the model did not answer. */
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
    this.#openCall({ requestId, packId: '', model, ...placeOf(event), turnId });
    const figures = { status: 'finished', ...usage, usageReported: Number(usageReported), billed: 1, costUsd, firstTokenMs: null };
    this.#callEnded(event, { requestId, tookMs, ...figures });
  }

  #openCall(call: Omit<OpenCall, 'day' | 'retries'>): void {
    if (!this.#openCalls.has(call.requestId)) this.#openCalls.set(call.requestId, { ...call, day: this.#dayOf(call.atMs), retries: 0 });
  }

  #callEnded(event: AnyEvent, end: { readonly requestId: string; readonly status: string; readonly [figure: string]: unknown }): void {
    const { seq, sessionId, atMs } = event;
    const id = end.requestId;
    const row = { ...end, seq, sessionId, atMs, day: this.#dayOf(atMs) };
    const open = this.#openCalls.get(id);
    if (open !== undefined && open.sessionId === sessionId) {
      this.#openCalls.delete(id);
      if (this.#sql.run(statements.putCall, { ...open, ...row }).changes > 0) {
        this.#ended.push(id);
        return;
      }
      if (open.retries > 0) this.#sql.run(statements.countRetry, { requestId: id, attempt: open.retries });
    }
    this.#endExistingCall(id, row);
  }

  /** For a call whose row exists: it was requested in an earlier batch, or has ended before. */
  #endExistingCall(id: string, row: { readonly sessionId: string }): void {
    const wasCounted = this.#sql.value<number>(statements.isCounted, id, row.sessionId);
    // A copy of a call of another session.
    if (wasCounted === undefined) return;
    if (wasCounted === 0) {
      this.#sql.run(statements.endCall, row);
      this.#ended.push(id);
      return;
    }
    this.#sum();
    this.#count([id], { sign: -1, turns: 0 });
    this.#sql.run(statements.endCall, row);
    this.#count([id], { sign: 1, turns: 0 });
  }

  #sum(): void {
    if (this.#ended.length > 0) this.#count(this.#ended, { sign: 1, turns: 1 });
    if (this.#begun.length > 0) this.#sql.run(addUp('usage_turns', 'turn_id'), { ids: JSON.stringify(this.#begun), sign: 1, turns: 1 });
    this.#ended = [];
    this.#begun = [];
  }

  /** `turns` is 0 for a call whose turn is already counted. */
  #count(ids: readonly string[], how: { readonly sign: 1 | -1; readonly turns: 0 | 1 }): void {
    const json = JSON.stringify(ids);
    this.#sql.run(addUp('usage_calls', 'request_id'), { ids: json, ...how });
    this.#sql.run(addLatency('took'), { ids: json, sign: how.sign });
    this.#sql.run(addLatency('first_token'), { ids: json, sign: how.sign });
  }
}

function placeOf({ seq, sessionId, turnId, atMs }: AnyEvent) {
  return { seq, sessionId, turnId, atMs };
}

/**
 * A failed call that had begun to answer was probably billed, at an estimated or unknown cost. A call that never answered was not billed.
 */
function figuresOf(event: CallEnd) {
  if (event.type === 'model.finished') {
    const { usage, usageReported, costUsd, firstTokenMs } = event.body;
    return { status: 'finished', ...usage, usageReported: Number(usageReported), billed: 1, costUsd, firstTokenMs };
  }
  const { usage = noUsage, costUsd = null, partialText } = event.body;
  return { status: 'failed', ...usage, usageReported: 0, billed: partialText === '' ? 0 : 1, costUsd, firstTokenMs: null };
}
