// A Cortensor router node as a model. The conversation is sent as one prompt, and the answer is returned immediately, streamed, or polled
// for. It does not support tools. A request is sent once: a retry may be charged twice, so none of its errors is retryable.

import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject, parseJson } from '../../base/json.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import {
  type ChatMessage,
  type DeltaSink,
  type FinishReason,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  noUsage,
  type Usage,
} from '../../contracts/llm.ts';
import { explainPayment, readError, readText, usageOf } from './cortensor-answers.ts';
import type { CortensorConfig, CortensorRouter } from './cortensor-router.ts';
import type { HttpTransport, ResponseReader } from './http-transport.ts';
import type { ProgressSink } from './reply-reader.ts';
import { SseParser } from './sse-parser.ts';

/** The smallest answer limit that the vendor's own client requests. */
const ANSWER_TOKENS_MIN = 4096;
/** The router refuses a `timeout` that exceeds `precommit_timeout` by less than this. */
const PRECOMMIT_MARGIN_S = 60;
/** The transport waits this much longer than the router. */
const TRANSPORT_MARGIN_MS = 30_000;
/** How often the call reports that a miner may still be working. */
const ALIVE_MS = 5_000;
const portalUrl = 'https://api.cortensor.app';

/** The hosted portal uses the OpenAI chat format; null for a router node. */
export function portalConfig({
  sessionId,
  baseUrl,
  apiKey,
  headers,
  prices,
  contextTokens,
}: CortensorConfig): Extract<ProviderConfig, { kind: 'openai-compatible' }> | null {
  if (sessionId !== undefined) return null;
  const settings = { headers, prices, contextTokens, apiKey };
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  return { kind: 'openai-compatible', baseUrl: `${(baseUrl ?? portalUrl).replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`, ...given };
}

/** Wraps a client so that interrupted requests are not retried automatically. */
export class AskedOnce implements ModelClient {
  readonly #client: ModelClient;

  constructor(client: ModelClient) {
    this.#client = client;
  }

  async stream(request: ModelRequest, sink: DeltaSink, signal: AbortSignal): Promise<ModelReply> {
    try {
      return await this.#client.stream(request, sink, signal);
    } catch (cause) {
      throw once(toAppError(cause));
    }
  }

  async close(): Promise<void> {
    await this.#client.close?.();
  }
}

/**
 * Makes an error non-retryable if the request may have been paid for. A server that is unreachable, or that refused because of a rate
 * limit, accepted nothing.
 */
function once(error: AppError): AppError {
  const took = error.code === 'model_cut_off' || error.code === 'model_timeout' || error.code === 'model_unavailable';
  const isRefused = error.data['networkCode'] === 'ECONNREFUSED' || error.data['networkCode'] === 'ENOTFOUND';
  if (!took || isRefused) return error;
  const hint = 'It may have been paid for. Send the message again if you want to pay for another answer.';
  const code = error.code === 'model_cut_off' ? 'model_bad_reply' : error.code;
  return new AppError(code, error.message, { data: { ...error.data }, hint, cause: error });
}

export interface CortensorClientDeps {
  readonly router: CortensorRouter;
  readonly transport: HttpTransport;
}

export class CortensorClient implements ModelClient {
  readonly #provider: string;
  readonly #config: CortensorConfig;
  readonly #deps: CortensorClientDeps;

  constructor(provider: string, config: CortensorConfig, deps: CortensorClientDeps) {
    this.#provider = provider;
    this.#config = config;
    this.#deps = deps;
  }

  async stream(request: ModelRequest, sink: ProgressSink, signal: AbortSignal): Promise<ModelReply> {
    // Miners take minutes, so the router's timeout applies, not that of a chat server.
    sink.began?.();
    const alive = setInterval(() => sink.alive?.(), ALIVE_MS);
    try {
      return await this.#ask(request, sink, signal);
    } catch (cause) {
      throw once(toAppError(cause));
    } finally {
      clearInterval(alive);
    }
  }

  close(): Promise<void> {
    return this.#deps.transport.close();
  }

  async #ask(request: ModelRequest, sink: DeltaSink, signal: AbortSignal): Promise<ModelReply> {
    const { api, sessionId = 0 } = this.#config;
    const body = this.#body(request);
    const path = `/api/${api}/completions`;
    try {
      return await this.#post(path, { ...body, session_id: sessionId }, { sink, signal });
    } catch (cause) {
      // Some routers expect the session in the path. They refused the first form, so nothing was run or paid for.
      if (toAppError(cause).data['status'] !== 404) throw cause;
      return this.#post(`${path}/${sessionId}`, body, { sink, signal });
    }
  }

  async #post(
    path: string,
    body: Record<string, unknown>,
    { sink, signal }: { sink: DeltaSink; signal: AbortSignal },
  ): Promise<ModelReply> {
    const { router, transport } = this.#deps;
    const timeoutMs = this.#config.timeoutMs + TRANSPORT_MARGIN_MS;
    if (!this.#config.stream) return this.#reply(await router.result({ method: 'POST', path, body, timeoutMs }, signal), sink);
    const url = router.url(path);
    const sent = Buffer.from(JSON.stringify(body));
    const headers = { ...(await router.headers()), 'content-type': 'application/json', 'content-length': String(sent.length) };
    const reader = new CortensorStream(this.#provider, (text) => sink.text(text));
    const late = AbortSignal.timeout(timeoutMs);
    const listed = Object.entries({ ...headers, accept: 'text/event-stream, application/json' }).flat();
    await transport.post({ path: url.pathname + url.search, headers: listed, body: sent }, reader, AbortSignal.any([signal, late]));
    const { status, whole, text, finishReason, usage } = reader.read();
    if (status === 402) throw explainPayment(this.#provider, path, whole);
    const problem = readError(this.#provider, status, whole);
    if (problem !== null) throw problem;
    if (whole !== null) return this.#reply(await router.finish(whole, { timeoutMs }, signal), sink);
    return { ...plain, text, finishReason, usage: usage ?? noUsage, usageReported: usage !== null };
  }

  #reply(body: unknown, sink: DeltaSink): ModelReply {
    const text = readText(body);
    if (text === null)
      throw new AppError('model_bad_reply', `${this.#provider} answered without text.`, { data: { provider: this.#provider } });
    sink.text(text);
    const usage = usageOf(body);
    return { ...plain, text, finishReason: 'stop', usage: usage ?? noUsage, usageReported: usage !== null };
  }

  /** Contains every key that the vendor's own client sends. */
  #body({ modelId, system, messages, tail, maxOutputTokens }: ModelRequest): Record<string, unknown> {
    const timeout = Math.ceil(this.#config.timeoutMs / 1000);
    return {
      model: modelId,
      prompt: promptOf(system, messages, tail),
      max_tokens: Math.max(maxOutputTokens ?? ANSWER_TOKENS_MIN, 1),
      temperature: 0.2,
      top_p: 1,
      top_k: 0,
      presence_penalty: 0,
      frequency_penalty: 0,
      node_type: 0,
      prompt_type: 1,
      stream: this.#config.stream,
      timeout,
      precommit_timeout: Math.max(1, timeout - PRECOMMIT_MARGIN_S),
      privacy_level: 'high',
      client_reference: '',
    };
  }
}

const plain = { reasoning: '', calls: [] } as const;

export function promptOf(system: string, messages: readonly ChatMessage[], tail?: string): string {
  const said = messages.map((message) => {
    if (message.role === 'tool') return `tool result: ${message.text}`;
    return `${message.role === 'note' ? 'note' : message.role}: ${message.text}`;
  });
  const after = tail === undefined ? [] : [`note: ${tail}`];
  return [`System instruction:\n${system}`, `Conversation history:\n${[...said, ...after].join('\n')}`, 'assistant:'].join('\n\n');
}

// Reads one streamed answer of a Cortensor router. Several miners may write into one stream: the first task seen provides the answer, and
// the output of other tasks is dropped. A router that does not stream answers with one JSON document, which is kept whole.

const WHOLE_BYTES_MAX = 8 * 1024 * 1024;

interface StreamedAnswer {
  readonly status: number;
  /** The document received instead of a stream; null for a stream. */
  readonly whole: unknown;
  readonly text: string;
  readonly finishReason: FinishReason;
  readonly usage: Usage | null;
}

class CortensorStream implements ResponseReader {
  readonly #provider: string;
  readonly #say: (text: string) => void;
  readonly #parser = new SseParser({ event: (data) => this.#event(data) });
  readonly #parts: Buffer[] = [];
  #sizeBytes = 0;
  #status = 0;
  #isStream = false;
  #task: string | null = null;
  #text = '';
  #finish: FinishReason | null = null;
  #isDone = false;
  #usage: Usage | null = null;

  constructor(provider: string, say: (text: string) => void) {
    this.#provider = provider;
    this.#say = say;
  }

  head(status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#isStream = status < 400 && (headers['content-type'] ?? '').includes('text/event-stream');
  }

  data(chunk: Buffer): boolean {
    if (this.#isStream) return this.#parser.push(chunk);
    this.#sizeBytes += chunk.length;
    if (this.#sizeBytes > WHOLE_BYTES_MAX) throw this.#bad('answered with more than fits');
    this.#parts.push(chunk);
    return false;
  }

  end(): void {
    if (this.#isStream) this.#parser.end();
  }

  /** Call it once the exchange is over. Fails with `model_bad_reply` for a stream without an end. */
  read(): StreamedAnswer {
    if (this.#isStream) {
      if (!this.#isDone && this.#finish === null) throw this.#bad('broke off in the middle of its answer');
      return { status: this.#status, whole: null, text: this.#text, finishReason: this.#finish ?? 'stop', usage: this.#usage };
    }
    const text = Buffer.concat(this.#parts).toString('utf8');
    const parsed = parseJson(text);
    if (!parsed.ok && this.#status < 400) throw this.#bad('answered with something that is not JSON');
    return {
      status: this.#status,
      whole: parsed.ok ? parsed.value : { message: text.slice(0, 500) },
      text: '',
      finishReason: 'stop',
      usage: null,
    };
  }

  #event(data: string): boolean {
    if (data === '[DONE]') {
      this.#isDone = true;
      return true;
    }
    const parsed = parseJson(data);
    if (!parsed.ok || !isPlainObject(parsed.value)) return false;
    const chunk = parsed.value;
    const task = taskIn(chunk);
    this.#task ??= task;
    if (task !== null && task !== this.#task) return false;
    const choices: unknown = chunk['choices'];
    const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
    const choice = isPlainObject(first) ? first : {};
    const piece = choice['text'] ?? chunk['content'];
    if (typeof piece === 'string' && piece !== '') {
      this.#text += piece;
      this.#say(piece);
    }
    if (typeof choice['finish_reason'] === 'string') this.#finish = choice['finish_reason'] === 'length' ? 'length' : 'stop';
    this.#usage ??= usageOf(chunk);
    return false;
  }

  #bad(what: string): AppError {
    return new AppError('model_bad_reply', `${this.#provider} ${what}.`, { data: { provider: this.#provider } });
  }
}

function taskIn({ task_id: taskId, id }: Record<string, unknown>): string | null {
  const named = taskId ?? id;
  return typeof named === 'string' || typeof named === 'number' ? String(named) : null;
}
