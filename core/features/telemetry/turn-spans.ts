// The spans of one turn, derived from its events: the turn, the model's context, model calls, tool calls, waits for approval, checks. Pure.

import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import { langfuse, names, own } from './conventions.ts';

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue | null | undefined>>;

export interface Span {
  /** Unique in the log. The span id is derived from it. */
  readonly key: string;
  /** The key of the parent span; null for a turn that no other turn called. */
  readonly parent: string | null;
  readonly name: string;
  /** `client` means a request to another machine or program. */
  readonly kind: 'internal' | 'client';
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: Attributes;
  /** Events at moments within the span. */
  readonly events?: readonly { readonly name: string; readonly atMs: number; readonly attributes: Attributes }[];
  /** Why the span failed; null if it did not. */
  readonly error: string | null;
}

export interface TurnTrace {
  /** The turn that owns the trace: the turn itself, or the turn at the start of the chain of calls that led to it. */
  readonly rootTurnId: string;
  readonly turnId: string;
  readonly sessionId: string;
  /** The span of the turn comes first. */
  readonly spans: readonly Span[];
}

export interface TraceOptions {
  /** Whether messages, arguments and results are included. */
  readonly content: boolean;
  /** Redacts secrets in the content. */
  readonly redact: (text: string) => string;
}

const CONTENT_CHARS_MAX = 16_000;

interface OpenSpan {
  readonly span: Omit<Span, 'endMs' | 'error' | 'attributes'>;
  readonly attributes: Attributes;
}

/** Null if the events do not belong to a started turn. */
export function traceOfTurn(events: readonly AnyEvent[], options: TraceOptions): TurnTrace | null {
  const started = events.find((event): event is EventOf<'turn.started'> => event.type === 'turn.started');
  const { turnId, sessionId } = started ?? {};
  if (started === undefined || turnId === undefined || turnId === null || sessionId === undefined) return null;
  const reader = new SpanReader(turnId, options);
  for (const event of events) reader.read(event);
  const { helper } = started.body;
  const root = turnSpan(started, events, options);
  return {
    rootTurnId: helper?.payers.at(-1)?.turnId ?? helper?.from.turnId ?? turnId,
    turnId,
    sessionId,
    spans: [root, ...reader.end(root.endMs)],
  };
}

type Ending = EventOf<'turn.finished'>;

function turnSpan(started: EventOf<'turn.started'>, events: readonly AnyEvent[], options: TraceOptions): Span {
  const { agentId, helper } = started.body;
  const message = events.find((event): event is EventOf<'user.message'> => event.type === 'user.message');
  const finished = events.findLast((event): event is Ending => event.type === 'turn.finished');
  return {
    key: started.turnId ?? '',
    parent: helper?.from.callId ?? null,
    name: `invoke_agent ${agentId}`,
    kind: 'internal',
    startMs: message?.atMs ?? started.atMs,
    endMs: (finished ?? events.at(-1) ?? started).atMs,
    attributes: {
      ...beginning(started, message),
      ...ending(finished),
      ...texts({ input: message?.body.text, output: finished?.body.text }, options),
    },
    error:
      finished?.body.status === 'failed'
        ? said(finished.body.error?.message ?? 'The turn failed.', finished.body.error?.code, options)
        : null,
  };
}

function beginning({ turnId, sessionId, body }: EventOf<'turn.started'>, message: EventOf<'user.message'> | undefined): Attributes {
  return {
    [names.operation]: 'invoke_agent',
    [names.agent]: body.agentId,
    [names.conversation]: sessionId,
    [names.requestModel]: body.model,
    [own.turn]: turnId,
    [own.channel]: body.channel ?? message?.body.channel,
    [langfuse.kind]: 'agent',
    [langfuse.session]: sessionId,
    [langfuse.trace]: `turn of ${body.agentId}`,
  };
}

function ending(finished: Ending | undefined): Attributes {
  if (finished === undefined) return { [own.status]: 'running' };
  const { status, usage, error, costUsd } = finished.body;
  return {
    [own.status]: status,
    [names.inputTokens]: usage.inputTokens,
    [names.outputTokens]: usage.outputTokens,
    [names.errorType]: error?.code,
    [own.costUsd]: costUsd,
  };
}

/** Returns no texts if content is not sent. */
function texts(
  { input, output }: { readonly input: string | undefined; readonly output: string | undefined },
  options: TraceOptions,
): Attributes {
  const [asked, answered] = [input, output].map((text) => (text === undefined ? undefined : shown(text, options)));
  return {
    [names.inputMessages]: asked === undefined ? undefined : messageJson('user', asked),
    [names.outputMessages]: answered === undefined ? undefined : messageJson('assistant', answered),
    [langfuse.input]: asked,
    [langfuse.output]: answered,
  };
}

/** Why something failed. Sentences name files, hosts and what was denied, so they are content. */
function said(text: string, code: string | undefined, options: TraceOptions): string {
  return shown(text, options) ?? code ?? 'failed';
}

function shown(text: string, { content, redact }: TraceOptions): string | undefined {
  return content ? cut(redact(text)) : undefined;
}

/** Pairs the events that begin and end a span. */
class SpanReader {
  readonly #turnId: string;
  readonly #options: TraceOptions;
  readonly #open = new Map<string, OpenSpan>();
  readonly #done: Span[] = [];
  readonly #decisions = new Map<string, Attributes>();
  readonly #retries = new Map<string, number>();

  constructor(turnId: string, options: TraceOptions) {
    this.#turnId = turnId;
    this.#options = options;
  }

  read(event: AnyEvent): void {
    switch (event.type) {
      case 'pack.built':
        return this.#point(event.atMs, [event.body.packId, 'pack'], {
          [own.packTokens]: event.body.tokens,
          [own.packDropped]: event.body.dropped.reduce((sum, { count }) => sum + count, 0),
        });
      case 'model.requested':
        return this.#begin(
          event,
          event.body.requestId,
          { name: `chat ${event.body.model}`, kind: 'client' },
          modelAttributes(event.body.model),
        );
      case 'model.retried':
        this.#retries.set(event.body.requestId, event.body.attempt);
        return;
      case 'model.finished':
        return this.#endModel(event);
      case 'model.failed':
        return this.#finish(
          event,
          event.body.requestId,
          { [names.errorType]: event.body.error.code, ...costOf(event.body.costUsd) },
          this.#said(event.body.error.message, event.body.error.code),
        );
      case 'policy.decided':
        return this.#decide(event);
      case 'approval.requested':
        return this.#begin(
          event,
          event.body.approval.approvalId,
          { name: `approval ${event.body.approval.tool}`, kind: 'internal' },
          {
            [names.toolName]: event.body.approval.tool,
            [names.toolCall]: event.body.approval.callId,
            [own.rule]: event.body.approval.ruleId,
          },
        );
      case 'approval.decided':
        return this.#finish(event, event.body.approvalId, { [own.answer]: event.body.decision, [own.answeredBy]: event.body.by }, null);
      case 'tool.requested':
        return this.#beginCall(event);
      case 'tool.finished':
        return this.#endCall(event);
      case 'tool.rejected':
        return this.#point(
          event.atMs,
          [event.body.callId, `execute_tool ${event.body.tool}`],
          { [names.errorType]: event.body.error.code },
          this.#said(event.body.error.message, event.body.error.code),
        );
      case 'tool.outcome_unknown':
        return this.#finish(
          event,
          event.body.callId,
          { [names.errorType]: 'unknown_outcome' },
          this.#said(event.body.reason, 'unknown_outcome'),
        );
      case 'verification.finished':
        return this.#point(
          event.atMs,
          [`verify-${event.seq}`, 'verify'],
          { [names.toolCall]: event.body.callId, [langfuse.kind]: 'evaluator' },
          event.body.ok ? null : this.#said(event.body.detail, 'failed'),
        );
      default:
    }
  }

  /** Closes open spans at the end of the turn. Returns all spans in order of their start. */
  end(endMs: number): readonly Span[] {
    for (const [key] of this.#open) this.#close(key, endMs, { [names.errorType]: 'interrupted' }, 'It did not end with the turn.');
    return this.#done.toSorted((a, b) => a.startMs - b.startMs);
  }

  #decide({ atMs, body }: EventOf<'policy.decided'>): void {
    const decided = { [own.decision]: body.decision, [own.rule]: body.ruleId };
    this.#decisions.set(body.callId, decided);
    if (body.decision !== 'deny') return;
    const attributes = { ...toolAttributes(body.tool, body.callId), ...decided, [names.errorType]: 'denied' };
    this.#done.push({
      ...this.#frame(body.callId, `execute_tool ${body.tool}`, atMs),
      endMs: atMs,
      attributes,
      error: this.#said(body.reason, body.ruleId),
    });
  }

  #beginCall(event: EventOf<'tool.requested'>): void {
    const { callId, tool, args } = event.body;
    const given = this.#content(args);
    this.#begin(
      event,
      callId,
      { name: `execute_tool ${tool}`, kind: 'internal' },
      {
        ...toolAttributes(tool, callId),
        ...this.#decisions.get(callId),
        [names.toolArguments]: given,
        [langfuse.input]: given,
      },
    );
  }

  #endCall(event: EventOf<'tool.finished'>): void {
    const { callId, outcome, forModel } = event.body;
    const result = this.#content(forModel);
    const isError = outcome !== 'ok';
    // A call that was denied or skipped has an end without a beginning.
    if (!this.#open.has(callId)) return;
    const attributes = { [names.toolResult]: result, [langfuse.output]: result, [names.errorType]: isError ? outcome : undefined };
    this.#finish(event, callId, attributes, isError ? `The call ended: ${outcome}.` : null);
  }

  #endModel(event: EventOf<'model.finished'>): void {
    const { requestId, usage, costUsd, finishReason, firstTokenMs, text } = event.body;
    const answer = this.#content(text);
    this.#finish(
      event,
      requestId,
      {
        [names.finishReasons]: [finishReason],
        [names.inputTokens]: usage.inputTokens,
        [names.outputTokens]: usage.outputTokens,
        [names.cachedTokens]: usage.cachedInputTokens,
        [names.firstChunkSeconds]: firstTokenMs === null ? undefined : firstTokenMs / 1000,
        [names.outputMessages]: answer === undefined ? undefined : messageJson('assistant', answer),
        [langfuse.output]: answer,
        [own.attempt]: this.#retries.get(requestId),
        ...costOf(costUsd),
      },
      null,
    );
  }

  #said(text: string, code: string): string {
    return said(text, code, this.#options);
  }

  #content(text: string): string | undefined {
    return shown(text, this.#options);
  }

  #frame(key: string, name: string, startMs: number): Omit<Span, 'endMs' | 'error' | 'attributes'> {
    return { key, parent: this.#turnId, name, kind: 'internal', startMs };
  }

  #begin(event: AnyEvent, key: string, { name, kind }: Pick<Span, 'name' | 'kind'>, attributes: Attributes): void {
    this.#open.set(key, { span: { ...this.#frame(key, name, event.atMs), kind }, attributes });
  }

  #point(atMs: number, [key, name]: readonly [string, string], attributes: Attributes, error: string | null = null): void {
    this.#done.push({ ...this.#frame(key, name, atMs), endMs: atMs, attributes, error });
  }

  #finish(event: AnyEvent, key: string, attributes: Attributes, error: string | null): void {
    this.#close(key, event.atMs, attributes, error);
  }

  #close(key: string, endMs: number, attributes: Attributes, error: string | null): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#open.delete(key);
    this.#done.push({ ...open.span, endMs, attributes: { ...open.attributes, ...attributes }, error });
  }
}

function modelAttributes(ref: string): Attributes {
  const at = ref.indexOf('/');
  const model = ref.slice(at + 1);
  return {
    [names.operation]: 'chat',
    [names.provider]: at < 0 ? undefined : ref.slice(0, at),
    [names.requestModel]: model,
    [names.responseModel]: model,
    [langfuse.kind]: 'generation',
  };
}

function toolAttributes(tool: string, callId: string): Attributes {
  return { [names.operation]: 'execute_tool', [names.toolName]: tool, [names.toolCall]: callId, [langfuse.kind]: 'tool' };
}

function costOf(costUsd: number | null | undefined): Attributes {
  if (costUsd === null || costUsd === undefined) return {};
  return { [own.costUsd]: costUsd, [langfuse.cost]: JSON.stringify({ total: costUsd }) };
}

function messageJson(role: 'user' | 'assistant', content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
}

function cut(text: string): string {
  return text.length <= CONTENT_CHARS_MAX ? text : `${text.slice(0, CONTENT_CHARS_MAX)}…`;
}
