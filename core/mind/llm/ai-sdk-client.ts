// A model client over any AI SDK provider package (specification V4). The package is loaded at the first call.
// Owns no vendor knowledge: errors go through the vendor's mapping file.

import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { IncomingHttpHeaders } from 'node:http';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../contracts/llm.ts';
import { createCallOptions } from './ai-sdk-prompt.ts';
import { AiSdkReader } from './ai-sdk-reader.ts';
import { abortReason } from './http-transport.ts';
import { mapNetworkError } from './network-errors.ts';
import { InStreamFailure } from './ollama-stream.ts';
import { badReply, type ProgressSink } from './reply-reader.ts';
import type { Dialect } from './wire-client.ts';
import { completeReply } from './wire-client.ts';

/** Error names of the packages that mean: the server's answer could not be read. */
const unreadable = new Set([
  'UnreadableLine',
  'AI_JSONParseError',
  'AI_TypeValidationError',
  'AI_InvalidResponseDataError',
  'AI_EmptyResponseBodyError',
]);

export interface AiSdkProvider {
  readonly model: (modelId: string) => LanguageModelV4;
  readonly close: () => Promise<void>;
}

export interface AiSdkClientOptions {
  readonly provider: string;
  readonly origin: string;
  readonly seesImages: boolean;
  readonly load: () => Promise<AiSdkProvider>;
  readonly mapFailure: Dialect['mapFailure'];
  readonly nextCallId: () => string;
  /** What this vendor needs besides the common options. */
  readonly extraOptions: (request: ModelRequest) => Partial<LanguageModelV4CallOptions>;
}

export class AiSdkClient implements ModelClient {
  readonly #options: AiSdkClientOptions;
  #loaded: Promise<AiSdkProvider> | null = null;

  constructor(options: AiSdkClientOptions) {
    this.#options = options;
  }

  async stream(request: ModelRequest, sink: ProgressSink, signal: AbortSignal): Promise<ModelReply> {
    const progress = { hasAnswered: false };
    try {
      const { model } = await (this.#loaded ??= this.#options.load());
      const options = {
        ...createCallOptions(request, this.#options.seesImages),
        ...this.#options.extraOptions(request),
        abortSignal: signal,
      };
      const { stream } = await model(request.modelId).doStream(options);
      progress.hasAnswered = true;
      const reader = new AiSdkReader(this.#options.provider, sink);
      for await (const part of readParts(stream, signal)) {
        sink.alive?.();
        if (part.type === 'error') throw this.#map(part.error, request.modelId, true);
        reader.part(part);
      }
      if (signal.aborted) throw abortReason(signal);
      return this.#complete(reader, request);
    } catch (cause) {
      if (signal.aborted) throw abortReason(signal);
      throw this.#map(cause, request.modelId, progress.hasAnswered);
    }
  }

  async close(): Promise<void> {
    const loaded = this.#loaded;
    this.#loaded = null;
    await (await loaded)?.close();
  }

  #complete(reader: AiSdkReader, request: ModelRequest): ModelReply {
    const taken = new Set<string>();
    for (const message of request.messages) if (message.role === 'assistant') for (const call of message.calls) taken.add(call.id);
    const ids = { next: this.#options.nextCallId, isTaken: (id: string) => taken.has(id) };
    const requestChars = request.messages.reduce((sum, message) => sum + message.text.length, request.system.length);
    return completeReply(reader.finish(), ids, requestChars);
  }

  #map(cause: unknown, modelId: string, hasAnswered: boolean): AppError {
    const { provider, origin, mapFailure } = this.#options;
    if (cause instanceof AppError) return cause;
    if (cause instanceof InStreamFailure) return mapFailure({ status: 200, headers: {}, body: cause.body }, modelId);
    if (typeof cause === 'string') return mapFailure({ status: 200, headers: {}, body: { error: cause } }, modelId);
    const status = readStatus(cause);
    if (status !== null) {
      const body = readField(cause, 'responseBody');
      const parsed = typeof body === 'string' ? parseJson(body) : null;
      const headers = readField(cause, 'responseHeaders');
      return mapFailure(
        { status, headers: isPlainObject(headers) ? (headers as IncomingHttpHeaders) : {}, body: parsed?.ok ? parsed.value : body },
        modelId,
      );
    }
    if (cause instanceof Error) {
      return unreadable.has(cause.name) ? badReply(provider, cause) : mapNetworkError(cause, { provider, origin, hasAnswered });
    }
    return mapFailure({ status: 200, headers: {}, body: { error: cause } }, modelId);
  }
}

/** Parts until the end or the abort; a package that ignores the signal is left behind. */
async function* readParts<T>(stream: ReadableStream<T>, signal: AbortSignal): AsyncGenerator<T> {
  const reader = stream.getReader();
  const onAbort = (): void => void reader.cancel(signal.reason).catch(() => undefined);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    while (!signal.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Ends the request of a consumer that left early; after a normal end this does nothing.
    void reader.cancel().catch(() => undefined);
  }
}

/** The HTTP status of an AI SDK call error; null for anything else. A success status means the body was unreadable. */
function readStatus(cause: unknown): number | null {
  const status = readField(cause, 'statusCode');
  return typeof status === 'number' && status >= 400 ? status : null;
}

function readField(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null && field in value ? (value as Record<string, unknown>)[field] : undefined;
}
