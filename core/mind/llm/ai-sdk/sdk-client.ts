// A model behind an AI SDK package that a person installed. The package calls the vendor with its own client; conversation, limits, retries
// and errors are those of every other model. Loaded with the first request.

import { secretRefSchema, type ProviderConfig } from '../../../contracts/config.ts';
import type { ModelClient, ModelReply, ModelRequest } from '../../../contracts/llm.ts';
import { abortReason } from '../http-transport.ts';
import { KeptOfCalls } from '../kept-of-call.ts';
import type { ProgressSink } from '../reply-reader.ts';
import { completeReply } from '../wire-client.ts';
import { mapSdkError } from './sdk-errors.ts';
import { openPackage, type SdkModel } from './sdk-package.ts';
import { optionsOf } from './sdk-prompt.ts';
import { SdkReader } from './sdk-reader.ts';

export type SdkConfig = Extract<ProviderConfig, { kind: 'ai-sdk' }>;

export interface SdkClientDeps {
  /** The data folder, which contains the packages. */
  readonly home: string;
  readonly keyRef: string | null;
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly nowMs: () => number;
  readonly nextCallId: () => string;
}

interface Opened {
  readonly modelOf: (modelId: string) => SdkModel;
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
}

export class SdkClient implements ModelClient {
  readonly #provider: string;
  readonly #config: SdkConfig;
  readonly #deps: SdkClientDeps;
  readonly #kept = new KeptOfCalls();
  #opened: Promise<Opened> | null = null;

  constructor(provider: string, config: SdkConfig, deps: SdkClientDeps) {
    this.#provider = provider;
    this.#config = config;
    this.#deps = deps;
  }

  async stream(request: ModelRequest, sink: ProgressSink, signal: AbortSignal): Promise<ModelReply> {
    this.#opened ??= this.#open();
    const { modelOf, secrets } = await this.#opened.catch((cause: unknown) => {
      // Retries at the next request, in case the package has been installed meanwhile.
      this.#opened = null;
      throw cause;
    });
    const reader = new SdkReader(this.#provider, sink, this.#kept);
    let hasAnswered = false;
    try {
      const model = modelOf(request.modelId);
      const { specificationVersion } = model;
      const options = optionsOf(request, { specificationVersion, seesImages: this.#config.images ?? false, kept: this.#kept });
      const { stream } = await model.doStream({ ...options, abortSignal: signal });
      hasAnswered = true;
      for await (const part of stream) reader.part(part);
    } catch (cause) {
      throw signal.aborted
        ? abortReason(signal)
        : mapSdkError(cause, {
            provider: this.#provider,
            modelId: request.modelId,
            package: this.#config.package,
            secrets,
            hasAnswered,
            nowMs: this.#deps.nowMs(),
          });
    }
    const isTaken = (id: string): boolean =>
      request.messages.some((message) => message.role === 'assistant' && message.calls.some((call) => call.id === id));
    const sentBytes = JSON.stringify(request.messages).length;
    return completeReply(reader.finish(), { next: this.#deps.nextCallId, isTaken }, sentBytes);
  }

  async #open(): Promise<Opened> {
    const { package: name, options = {}, baseUrl, headers } = this.#config;
    const secrets: string[] = [];
    const resolve = async (ref: string): Promise<string> => {
      const value = (await this.#deps.secrets.resolve(ref)).trim();
      secrets.push(value);
      return value;
    };
    const given: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(options))
      given[key] = secretRefSchema.safeParse(value).success ? await resolve(value) : value;
    if (this.#deps.keyRef !== null) given['apiKey'] = await resolve(this.#deps.keyRef);
    if (baseUrl !== undefined) given['baseURL'] = baseUrl;
    if (headers !== undefined) given['headers'] = headers;
    return { modelOf: await openPackage(this.#deps.home, name, given), secrets: [...secrets, ...Object.values(headers ?? {})] };
  }
}
