// Turns texts into vectors with the model the person configured: an OpenAI-compatible server, Ollama, a GGUF file served by llama-server,
// or the embedded engine. Owns batching, validation of the answers, and a cache of recent questions. Does not know the purpose of the
// texts.

import * as z from 'zod';
import type { Clock } from '../../../base/clock.ts';
import { NewestMap } from '../../../base/newest-map.ts';
import type { Config } from '../../../contracts/config.ts';
import { AppError, isAppError } from '../../../contracts/errors.ts';
import type { PanicState } from '../../../guard/panic/panic.ts';
import type { EmbeddingLedger, EmbeddingUse } from './embedding-ledger.ts';

export type EmbeddingsConfig = NonNullable<Config['embeddings']>;

/** Runs a GGUF file in the embedded engine. Fails with the same errors as a model call. */
export type EmbedHere = (
  file: string,
  texts: readonly string[],
  signal: AbortSignal,
) => Promise<{ readonly vectors: readonly (readonly number[])[]; readonly tokens: number | null }>;

export interface EmbedderDeps {
  readonly config: EmbeddingsConfig;
  readonly fetch: typeof fetch;
  /** Fails with secret_missing and related codes. */
  readonly resolveSecret: (ref: string) => Promise<string>;
  /** Redacts a text before it is sent. */
  readonly redact: (text: string) => string;
  /** While it is engaged nothing is sent, and what was sent is aborted. */
  readonly panic: PanicState;
  /** The approximate number of tokens of a text. Used for the budget check before sending, and if the server reports no count. */
  readonly estimate: (text: string) => number;
  readonly spending: Pick<EmbeddingLedger, 'admit' | 'record'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Called only for the kind `embedded`. */
  readonly embedHere: EmbedHere;
  /** Starts llama-server if necessary, and returns its address and key. Called only for the kind `gguf`. */
  readonly serve: (signal: AbortSignal) => Promise<{ readonly baseUrl: string; readonly key: string }>;
}

interface Asked {
  readonly url: string;
  readonly key: string | null;
  readonly body: unknown;
}

const BATCH = 64;
const TEXT_CHARS_MAX = 8_000;
/** In milliseconds. Short for questions, because a person or a turn waits for their vector. */
const timeouts = { texts: 60_000, questions: 1_500 } as const;
const QUERIES_KEPT = 200;
const ANSWER_BYTES_MAX = 64_000_000;

/** US dollars per million tokens: 0 for a local model, null if unknown. */
export function embeddingPrice(config: EmbeddingsConfig): number | null {
  if (config.kind === 'gguf' || config.kind === 'embedded') return 0;
  if (config.kind === 'openai-compatible') return config.usdPerMillionTokens ?? null;
  // Ollama forwards models with this suffix to its cloud.
  return /[:-]cloud$/.test(config.model) ? null : 0;
}

/** Names the kind, the model and the requested dimensions. A different name means different vectors. */
export function embeddingModelName(config: EmbeddingsConfig): string {
  const size = config.dimensions === undefined ? '' : `@${config.dimensions}`;
  return `${config.kind}:${'file' in config ? config.file : config.model}${size}`;
}

export class Embedder {
  readonly model: string;
  readonly #deps: EmbedderDeps;
  readonly #format: EmbeddingFormat;
  readonly #queries = new NewestMap<string, Float32Array>(QUERIES_KEPT);

  constructor(deps: EmbedderDeps) {
    this.#deps = deps;
    const { config } = deps;
    this.#format = config.kind === 'ollama' ? ollamaFormat : openAiFormat;
    this.model = embeddingModelName(config);
  }

  /** Returns one vector per text, in order. Fails like a model call, and with panic_engaged under the panic stop. */
  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += BATCH) {
      vectors.push(...(await this.#post(texts.slice(from, from + BATCH), 'texts', signal)));
    }
    return vectors;
  }

  /** Returns the vector of a question. Recent questions are cached. */
  async embedQuery(text: string, signal: AbortSignal): Promise<Float32Array> {
    const known = this.#queries.get(text);
    if (known !== undefined) return known;
    const [vector] = await this.#post([text], 'questions', signal);
    if (vector === undefined) throw badReply('it answered with no vector');
    this.#queries.set(text, vector);
    return vector;
  }

  async #post(texts: readonly string[], purpose: EmbeddingUse['purpose'], given: AbortSignal): Promise<Float32Array[]> {
    const { config, panic, redact, estimate, spending, clock } = this.#deps;
    if (panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped.');
    const estimated = texts.reduce((sum, text) => sum + estimate(text.slice(0, TEXT_CHARS_MAX)), 0);
    spending.admit(estimated);
    const startedMs = clock.monotonicMs();
    const signal = AbortSignal.any([given, panic.signal]);
    const limited = AbortSignal.any([signal, AbortSignal.timeout(timeouts[purpose])]);
    const input = texts.map((text) => {
      const sent = redact(text.slice(0, TEXT_CHARS_MAX));
      // Servers reject an empty text, so a dash is sent instead.
      return sent.trim() === '' ? '-' : sent;
    });
    const read =
      config.kind === 'embedded'
        ? await this.#inEngine(config.file, input, limited, signal)
        : await this.#onServer(config, input, limited, signal);
    const told = read?.tokens ?? null;
    const tookMs = clock.monotonicMs() - startedMs;
    spending.record({ purpose, count: texts.length, tokens: told ?? estimated, tokensReported: told !== null, tookMs });
    return this.#check(read?.vectors ?? null, texts.length);
  }

  async #inEngine(file: string, input: readonly string[], limited: AbortSignal, signal: AbortSignal): ReturnType<EmbedHere> {
    try {
      return await this.#deps.embedHere(file, input, limited);
    } catch (cause) {
      if (isAppError(cause)) throw cause;
      throw this.#stopped(cause, limited, signal);
    }
  }

  async #onServer(
    config: Exclude<EmbeddingsConfig, { kind: 'embedded' }>,
    input: readonly string[],
    limited: AbortSignal,
    signal: AbortSignal,
  ) {
    const { baseUrl, key } = config.kind === 'gguf' ? await this.#deps.serve(signal) : { baseUrl: config.baseUrl, key: await this.#key() };
    const model = config.kind === 'gguf' ? 'gguf' : config.model;
    const dimensions = config.kind === 'gguf' ? undefined : config.dimensions;
    const url = `${baseUrl.replace(/\/+$/, '')}${this.#format.path}`;
    const reply = await this.#ask({ url, key, body: this.#format.body({ model, input, dimensions }) }, limited, signal);
    return this.#format.read(reply);
  }

  #stopped(cause: unknown, limited: AbortSignal, signal: AbortSignal): AppError {
    if (signal.aborted) return new AppError('cancelled', 'Embedding was stopped.', { cause });
    if (limited.aborted)
      return new AppError('model_timeout', `The embedding model ${this.model} did not answer in time.`, { cause, isRetryable: true });
    if (cause instanceof SyntaxError) return badReply('its answer is not JSON');
    return new AppError('model_unavailable', `The embedding model ${this.model} could not be reached.`, { cause, isRetryable: true });
  }

  async #key(): Promise<string | null> {
    const { config, resolveSecret } = this.#deps;
    return config.kind === 'openai-compatible' && config.apiKey !== undefined ? resolveSecret(config.apiKey) : null;
  }

  /** Follows no redirect, because the texts are meant for this address only. */
  async #ask({ url, key, body }: Asked, limited: AbortSignal, signal: AbortSignal): Promise<unknown> {
    const headers = { 'content-type': 'application/json', ...(key === null ? {} : { authorization: `Bearer ${key}` }) };
    try {
      const response = await this.#deps.fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal: limited,
        redirect: 'error',
      });
      const text = await readBounded(response);
      if (!response.ok) throw refusalOf(response.status, this.model, text);
      return JSON.parse(text) as unknown;
    } catch (cause) {
      if (isAppError(cause)) throw cause;
      throw this.#stopped(cause, limited, signal);
    }
  }

  #check(vectors: readonly (readonly number[])[] | null, count: number): Float32Array[] {
    if (vectors === null || vectors.length !== count) throw badReply('it did not answer with a vector for each text');
    const wanted = this.#deps.config.dimensions ?? vectors[0]?.length ?? 0;
    for (const vector of vectors) {
      if (vector.length !== wanted || wanted < 8)
        throw badReply(`it answered with ${vector.length} dimensions where ${wanted} were expected`);
      if (!vector.every(Number.isFinite)) throw badReply('a vector holds something that is not a number');
    }
    return vectors.map((vector) => Float32Array.from(vector));
  }
}

async function readBounded(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const part of response.body ?? []) {
    sizeBytes += part.byteLength;
    if (sizeBytes > ANSWER_BYTES_MAX) throw badReply('its answer is too large');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function refusalOf(status: number, model: string, text: string): AppError {
  const said = text.slice(0, 200).replaceAll(/\s+/g, ' ');
  if (status === 401 || status === 403) return new AppError('model_auth', `The embedding model ${model} refused the key.`);
  if (status === 404) return new AppError('model_unknown', `The server does not have the embedding model ${model}: ${said}`);
  if (status === 429) return new AppError('model_rate_limited', `The embedding model ${model} is asked too often.`, { isRetryable: true });
  if (status >= 500)
    return new AppError('model_unavailable', `The embedding model ${model} failed (${status}): ${said}`, { isRetryable: true });
  return new AppError('model_rejected', `The embedding model ${model} refused the texts (${status}): ${said}`);
}

function badReply(why: string): AppError {
  return new AppError('model_bad_reply', `The embedding model cannot be used: ${why}.`);
}

// The two formats of embedding servers: POST /embeddings of OpenAI and compatible servers, and POST /api/embed of Ollama. Pure.

interface EmbeddingAsked {
  readonly model: string;
  readonly input: readonly string[];
  readonly dimensions: number | undefined;
}

interface EmbeddingFormat {
  readonly path: string;
  body(asked: EmbeddingAsked): unknown;
  /**
   * Returns the vectors in the order of the texts, or null if the reply has an unexpected form. `tokens` is null if the server reported no
   * count.
   */
  read(reply: unknown): { readonly vectors: readonly (readonly number[])[]; readonly tokens: number | null } | null;
}

const vectorSchema = z.array(z.number());
/** An invalid count is treated as missing, because the vectors are still good. */
const toldTokens = z.number().int().nonnegative().optional().catch(undefined);
const openAiReply = z.object({
  data: z.array(z.object({ index: z.number().int().optional(), embedding: vectorSchema })),
  usage: z.object({ prompt_tokens: toldTokens, total_tokens: toldTokens }).nullish().catch(undefined),
});
const ollamaReply = z.object({ embeddings: z.array(vectorSchema), prompt_eval_count: toldTokens });

const openAiFormat: EmbeddingFormat = {
  path: '/embeddings',
  body: ({ model, input, dimensions }) => ({ model, input, encoding_format: 'float', ...(dimensions === undefined ? {} : { dimensions }) }),
  read(reply) {
    const parsed = openAiReply.safeParse(reply);
    if (!parsed.success) return null;
    // The index gives the order. Some servers omit it and return the vectors in order.
    const placed = parsed.data.data.map(({ index, embedding }, place) => ({ at: index ?? place, embedding }));
    placed.sort((a, b) => a.at - b.at);
    if (!placed.every(({ at }, place) => at === place)) return null;
    const { usage } = parsed.data;
    return { vectors: placed.map(({ embedding }) => embedding), tokens: usage?.total_tokens ?? usage?.prompt_tokens ?? null };
  },
};

const ollamaFormat: EmbeddingFormat = {
  path: '/api/embed',
  body: ({ model, input, dimensions }) => ({ model, input, truncate: true, ...(dimensions === undefined ? {} : { dimensions }) }),
  read(reply) {
    const parsed = ollamaReply.safeParse(reply);
    return parsed.success ? { vectors: parsed.data.embeddings, tokens: parsed.data.prompt_eval_count ?? null } : null;
  },
};
