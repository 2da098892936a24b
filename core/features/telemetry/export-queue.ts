// Follows the log for one receiver: sends finished turns and graded eval cases in order and in batches. The stored cursor moves only after
// the receiver has confirmed a batch. Never runs on the path of a turn. After a crash the last batch may be sent again, with the same ids.

import type { AnyEvent, EventType, EventOf } from '../../contracts/events.ts';
import type { TelemetryTarget } from '../../contracts/features/telemetry.ts';
import { LogCursor } from '../../store/storage/storage.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { Receiver, Delivery } from './receiver.ts';
import { traceOfTurn, type TraceOptions, type TurnTrace, type Attributes } from './turn-spans.ts';
import { evaluation, langfuse, names, own } from './conventions.ts';

export interface QueueDeps {
  readonly log: Pick<SessionLog, 'reads' | 'index' | 'storage' | 'lastSeq'>;
  readonly receiver: Receiver;
  readonly options: TraceOptions;
}

export interface QueueState {
  /** Turns sent since the start of the program. */
  readonly sent: number;
  /** Turns that the receiver refuses permanently. They are skipped. */
  readonly refused: number;
  /** Spans of other turns that the receiver refuses permanently. */
  readonly rejectedSpans: number;
  readonly problem: string | null;
}

export type Progress = { readonly kind: 'idle' | 'more' } | { readonly kind: 'failed'; readonly waitMs: number | null };

/** The number of events read at once, and of turns sent at once. */
const EVENTS_READ = 500;
const TURNS_SENT = 50;
const taken = { kind: 'taken', rejectedSpans: 0 } as const;
const sentTypes: EventType[] = ['turn.finished', 'eval.case_finished'];

export class ExportQueue {
  readonly #deps: QueueDeps;
  readonly #cursor: LogCursor;
  readonly #pending;
  #sent = 0;
  #refused = 0;
  #rejectedSpans = 0;
  #problem: string | null = null;

  constructor(deps: QueueDeps) {
    this.#deps = deps;
    const { db } = deps.log.storage;
    this.#cursor = new LogCursor(db, `telemetry-${deps.receiver.name}`);
    this.#pending = db.prepare("SELECT count(*) FROM events WHERE seq > ? AND type IN ('turn.finished', 'eval.case_finished')").pluck();
  }

  get name(): TelemetryTarget {
    return this.#deps.receiver.name;
  }

  get state(): QueueState {
    return { sent: this.#sent, refused: this.#refused, rejectedSpans: this.#rejectedSpans, problem: this.#problem };
  }

  /** Starts with the current end of the log, unless a cursor is stored. */
  begin(): void {
    if (this.#cursor.seq === undefined) this.#cursor.moveTo(this.#deps.log.lastSeq);
  }

  pending(): number {
    return this.#pending.get(this.#at) as number;
  }

  /** Sends at most one batch. Never fails. */
  async step(signal: AbortSignal): Promise<Progress> {
    const { log, receiver } = this.#deps;
    if (this.#at >= log.lastSeq) return { kind: 'idle' };
    const { events, scannedTo } = log.reads.afterOfTypes(this.#at, EVENTS_READ, sentTypes);
    const batch = events.slice(0, TURNS_SENT);
    const last = events.length > batch.length ? (batch.at(-1)?.seq ?? scannedTo) : scannedTo;
    const traces = batch.flatMap((event) => this.#trace(event) ?? []);
    const refusedBefore = this.#refused;
    const delivery = traces.length === 0 ? taken : await this.#deliver(traces, signal);
    if (signal.aborted) return { kind: 'idle' };
    if (delivery.kind === 'later') {
      this.#problem = `${receiver.address} ${delivery.why}`;
      return { kind: 'failed', waitMs: delivery.waitMs };
    }
    this.#cursor.moveTo(last);
    this.#sent += traces.length - (this.#refused - refusedBefore);
    this.#problem = null;
    return { kind: last < log.lastSeq ? 'more' : 'idle' };
  }

  /** A batch that is refused as a whole is sent turn by turn, so that one invalid turn does not block the others. */
  async #deliver(traces: readonly TurnTrace[], signal: AbortSignal): Promise<Exclude<Delivery, { kind: 'refused' }>> {
    const whole = await this.#deps.receiver.send(traces, signal);
    if (whole.kind === 'taken') this.#rejectedSpans += whole.rejectedSpans;
    if (whole.kind !== 'refused') return whole;
    if (traces.length === 1) {
      this.#refused += 1;
      return taken;
    }
    for (const trace of traces) {
      const one = await this.#deliver([trace], signal);
      if (one.kind === 'later') return one;
    }
    return taken;
  }

  #trace(event: AnyEvent): TurnTrace | null {
    const { log, options } = this.#deps;
    if (event.type === 'eval.case_finished') return traceOfCase(event, options);
    const { sessionId, turnId } = event;
    const row = turnId === null ? null : log.index.turn(turnId);
    if (row === null || row.sessionId !== sessionId) return null;
    return traceOfTurn(log.reads.turn(sessionId, row.turnId, row.firstSeq), options);
  }

  get #at(): number {
    return this.#cursor.seq ?? 0;
  }
}

/** The span of one graded eval case, with one evaluation result per check. Pure. */
function traceOfCase({ atMs, sessionId, body }: EventOf<'eval.case_finished'>, { content, redact }: TraceOptions): TurnTrace {
  const { runId, model, result } = body;
  const key = `${runId}/${result.caseId}/${result.repeat}`;
  const met = result.checks.filter(({ pass }) => pass).length;
  const said = (text: string): Attributes => (content ? { [evaluation.explanation]: redact(text) } : {});
  const whole: Attributes = {
    [evaluation.name]: redact(result.name),
    [evaluation.label]: result.verdict,
    // If the case ended in an error, nothing is known about the answer.
    [evaluation.score]: result.verdict === 'error' ? null : result.checks.length === 0 ? 1 : met / result.checks.length,
    ...said(result.error ?? ''),
  };
  const results = result.checks.map(({ type, pass, score, reason }): Attributes => ({
    [evaluation.name]: type,
    [evaluation.label]: pass ? 'pass' : 'fail',
    [evaluation.score]: score ?? (pass ? 1 : 0),
    ...said(reason),
  }));
  const span = {
    key,
    parent: null,
    name: 'evaluate case',
    kind: 'internal',
    startMs: atMs - result.tookMs,
    endMs: atMs,
    attributes: {
      [names.conversation]: sessionId,
      [names.requestModel]: model,
      [own.evalRun]: runId,
      [own.evalCase]: result.caseId,
      [own.costUsd]: result.costUsd,
      [langfuse.kind]: 'evaluator',
      [langfuse.session]: sessionId,
      [langfuse.trace]: `eval ${runId}`,
      ...whole,
    },
    events: [whole, ...results].map((attributes) => ({ name: evaluation.event, atMs, attributes })),
    error: result.error ?? null,
  } as const;
  return { rootTurnId: key, turnId: key, sessionId, spans: [span] };
}
