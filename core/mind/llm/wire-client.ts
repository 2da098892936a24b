// A model client over our own wire formats: builds the body from cached fragments, posts it, feeds events to the vendor's reader, and
// returns one reply. Vendor knowledge is in its dialect, not here.

import type { IncomingHttpHeaders } from 'node:http';
import { parseJson } from '../../base/json.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { ModelClient, ModelReply, ModelRequest, ReplyCall } from '../../contracts/llm.ts';
import type { HttpTransport, ResponseReader } from './http-transport.ts';
import {
  badReply,
  completeCalls,
  CUT_MARK,
  cutOff,
  type CallIds,
  type ProgressSink,
  type RawReply,
  type ReplyReader,
} from './reply-reader.ts';
import type { RequestBodies } from './request-body.ts';
import { LiveWords } from './live-words.ts';
import { LineParser, SseParser, type StreamParser } from './sse-parser.ts';
import { withTextCalls } from './text-calls.ts';
import { estimateTokens, estimateTokensOfBytes } from './token-estimate.ts';

const ERROR_BODY_BYTES_MAX = 64 * 1024;
const WHOLE_BODY_BYTES_MAX = 32 * 1024 * 1024;
const OPEN_BRACE = 123;
const OPEN_BRACKET = 91;

export interface FailedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

export interface Dialect {
  readonly provider: string;
  /** Server-sent events, or one JSON document per line. */
  readonly framing: 'events' | 'lines';
  readonly path: string;
  readonly headers: readonly string[];
  bodiesOf(modelId: string): RequestBodies;
  /** Returns whether tools are sent as text, because the model accepts no others. */
  toolsInWords(modelId: string): boolean;
  /** Leaves these words out of later requests where possible; returns those that were in this request. */
  leaveOut(words: readonly string[], modelId: string, sent: Buffer): readonly string[];
  readonly createReader: (request: ModelRequest, sink: ProgressSink) => ReplyReader;
  readonly mapFailure: (answer: FailedAnswer, modelId: string) => AppError;
  /** Called with the finished reader, the reply and the request. */
  readonly onReply?: (reader: ReplyReader, reply: ModelReply, request: ModelRequest) => void;
}

export class WireClient implements ModelClient {
  readonly #dialect: Dialect;
  readonly #transport: HttpTransport;
  readonly #nextCallId: () => string;

  constructor(dialect: Dialect, transport: HttpTransport, nextCallId: () => string) {
    this.#dialect = dialect;
    this.#transport = transport;
    this.#nextCallId = nextCallId;
  }

  async stream(request: ModelRequest, sink: ProgressSink, signal: AbortSignal): Promise<ModelReply> {
    const { path, headers } = this.#dialect;
    const lease = this.#dialect.bodiesOf(request.modelId).lease(request);
    let isClean = false;
    try {
      const live = request.tools.length === 0 ? null : new LiveWords(sink, request.tools, this.#dialect.toolsInWords(request.modelId));
      const reader = this.#dialect.createReader(request, live ?? sink);
      const answer = new AnswerReader(this.#dialect, request.modelId, reader, live ?? sink);
      const broken = await this.#transport.post({ path, headers, body: lease.bytes }, answer, signal).then(
        () => null,
        (cause: unknown) => toAppError(cause),
      );
      const given = broken === null ? reader.finish() : finishBroken(reader, broken);
      const raw = withTextCalls(given, request, this.#dialect.toolsInWords(request.modelId));
      live?.finish(raw !== given);
      isClean = true;
      const ids: CallIds = { next: this.#nextCallId, isTaken: (id) => lease.isCallIdTaken(id) };
      const reply = completeReply(raw, ids, lease.bytes.length);
      this.#dialect.onReply?.(reader, reply, request);
      return reply;
    } catch (cause) {
      throw this.#learn(cause, request.modelId, lease.bytes);
    } finally {
      lease.release(isClean);
    }
  }

  close(): Promise<void> {
    return this.#transport.close();
  }

  /** Lists in `leftOut` what the next request will omit, if the server named it. */
  #learn(cause: unknown, modelId: string, sent: Buffer): unknown {
    if (!(cause instanceof AppError) || cause.code !== 'model_rejected') return cause;
    const { refusedWords } = cause.data;
    if (!Array.isArray(refusedWords)) return cause;
    const leftOut = this.#dialect.leaveOut(refusedWords.map(String), modelId, sent);
    return leftOut.length === 0 ? cause : new AppError(cause.code, cause.message, { data: { ...cause.data, leftOut }, cause });
  }
}

/** A connection lost after the complete answer loses nothing: the answer is paid for and must not be requested again. */
function finishBroken(reader: ReplyReader, broken: AppError): RawReply {
  if (broken.code !== 'model_cut_off') throw broken;
  try {
    return reader.finish();
  } catch {
    // The answer was incomplete, so the error of the connection says more.
    throw broken;
  }
}

/**
 * Completes call ids and estimates a usage that the server did not report. Drops the calls of an answer that the vendor withdrew. A call
 * truncated before its arguments is marked as cut, because it would otherwise pass as a call without arguments.
 */
export function completeReply(raw: RawReply, ids: CallIds, requestBytes: number): ModelReply {
  const { text, reasoning, finishReason } = raw;
  const given = finishReason === 'content_filter' ? [] : finishReason === 'length' ? markCut(raw.calls) : raw.calls;
  const calls = completeCalls(given, ids);
  if (raw.usage !== null) return { ...raw, calls, usage: raw.usage, usageReported: true };
  const callTokens = calls.reduce((sum, call) => sum + estimateTokens(call.tool) + estimateTokens(call.args), 0);
  const outputTokens = estimateTokens(text) + estimateTokens(reasoning) + callTokens;
  const usage = { inputTokens: estimateTokensOfBytes(requestBytes), outputTokens, cachedInputTokens: 0 };
  return { ...raw, calls, usage, usageReported: false };
}

function markCut(calls: readonly ReplyCall[]): readonly ReplyCall[] {
  const last = calls.at(-1);
  return last === undefined || last.args.trim() !== '' ? calls : [...calls.slice(0, -1), { ...last, args: CUT_MARK }];
}

/** Reads one HTTP answer: events, one JSON document instead of events, or an error body. */
class AnswerReader implements ResponseReader {
  readonly #dialect: Dialect;
  readonly #modelId: string;
  readonly #reader: ReplyReader;
  readonly #sink: ProgressSink;
  readonly #parser: StreamParser;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #mode: 'unknown' | 'events' | 'document' | 'error' = 'unknown';
  #collected: Buffer[] = [];
  #collectedBytes = 0;
  #hasEvents = false;
  #isAtEnd = false;

  constructor(dialect: Dialect, modelId: string, reader: ReplyReader, sink: ProgressSink) {
    this.#dialect = dialect;
    this.#modelId = modelId;
    this.#reader = reader;
    this.#sink = sink;
    const handler = { event: (data: string, event: string) => this.#event(data, event) };
    this.#parser = dialect.framing === 'lines' ? new LineParser(handler) : new SseParser(handler);
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (status < 200 || status > 299) this.#mode = 'error';
  }

  data(chunk: Buffer): boolean {
    this.#sink.alive?.();
    if (this.#mode === 'unknown') this.#mode = this.#dialect.framing === 'lines' ? 'events' : detectMode(chunk);
    if (this.#mode === 'events') return this.#parser.push(chunk);
    if (this.#mode === 'unknown') return false;
    return this.#collect(chunk, this.#mode === 'error' ? ERROR_BODY_BYTES_MAX : WHOLE_BODY_BYTES_MAX);
  }

  end(): void {
    this.#isAtEnd = true;
    if (this.#mode === 'events') {
      this.#parser.end();
      if (!this.#hasEvents) throw badReply(this.#dialect.provider);
    } else if (this.#mode === 'document') {
      this.#document();
    } else if (this.#mode === 'error') {
      throw this.#failure();
    } else {
      throw cutOff(this.#dialect.provider);
    }
  }

  #event(data: string, event: string): boolean {
    if (data.trim() === '') return false;
    this.#hasEvents = true;
    try {
      return this.#reader.event(data, event);
    } catch (cause) {
      // Half a line at the very end is a cut-off, not invalid data.
      const isCut = this.#isAtEnd && /^\s*[{[]/.test(data);
      if (isCut && cause instanceof AppError && cause.code === 'model_bad_reply') throw cutOff(this.#dialect.provider);
      throw cause;
    }
  }

  #collect(chunk: Buffer, bytesMax: number): boolean {
    this.#collectedBytes += chunk.length;
    if (this.#collectedBytes > bytesMax) {
      if (this.#mode === 'error') throw this.#failure();
      throw badReply(this.#dialect.provider);
    }
    this.#collected.push(chunk);
    return false;
  }

  #document(): void {
    const text = this.#collectedText();
    const parsed = parseJson(text);
    if (parsed.ok) {
      if (Array.isArray(parsed.value))
        throw this.#dialect.mapFailure({ status: 200, headers: this.#headers, body: parsed.value }, this.#modelId);
      this.#reader.whole(parsed.value);
      return;
    }
    // One document per line, from servers that stream without SSE framing.
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    if (lines.length < 2) throw cutOff(this.#dialect.provider);
    for (const line of lines) if (this.#event(line, 'message')) return;
  }

  #failure(): AppError {
    const text = this.#collectedText();
    const parsed = parseJson(text);
    const answer = { status: this.#status, headers: this.#headers, body: parsed.ok ? parsed.value : text };
    return this.#dialect.mapFailure(answer, this.#modelId);
  }

  #collectedText(): string {
    return Buffer.concat(this.#collected).toString('utf8');
  }
}

/** An event stream never starts with a brace or a bracket; an answer that does is one JSON document, regardless of its content type. */
function detectMode(chunk: Buffer): 'unknown' | 'events' | 'document' {
  for (const byte of chunk) {
    if (byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d) continue;
    return byte === OPEN_BRACE || byte === OPEN_BRACKET ? 'document' : 'events';
  }
  return 'unknown';
}
