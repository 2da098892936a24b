// Makes the client for a provider: own adapter, AI SDK package or demo, with its key resolved. Keeps nothing.
// The key stays in the client's headers and nowhere else.

import type { ProviderConfig } from '../../contracts/config.ts';
import type { ModelClient, ModelRequest } from '../../contracts/llm.ts';
import { AiSdkClient } from './ai-sdk-client.ts';
import { packageLoaders, type PackageKind } from './ai-sdk-providers.ts';
import { DemoClient } from './demo-client.ts';
import { HttpTransport } from './http-transport.ts';
import { answerTokensMax } from './model-catalog.ts';
import { mapOllamaFailure } from './ollama-errors.ts';
import { WireClient } from './wire-client.ts';
import { createAnthropicDialect, createOpenAiDialect, type DialectOptions } from './wire-dialects.ts';

export interface ClientFactoryDeps {
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly connectTimeoutMs: number;
  readonly nowMs: () => number;
  readonly nextCallId: () => string;
  /** The window to give an Ollama model; its own default is small and cuts prompts silently. */
  readonly contextTokens: (provider: string, modelId: string) => number;
}

const defaultBaseUrls: Readonly<Record<'openai' | 'anthropic' | 'ollama', string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  ollama: 'http://127.0.0.1:11434',
};

/** Fails with what the secrets port throws, e.g. `secret_missing`. Opens no connection and imports no package yet. */
export async function createClient(provider: string, config: ProviderConfig, deps: ClientFactoryDeps): Promise<ModelClient> {
  if (config.kind === 'demo') return new DemoClient(deps.nextCallId);
  const keyRef = 'apiKey' in config ? config.apiKey : undefined;
  const key = keyRef === undefined ? null : (await deps.secrets.resolve(keyRef)).trim();
  const baseUrl = config.kind === 'openai-compatible' ? config.baseUrl : (config.baseUrl ?? defaultBaseUrls[config.kind]);
  const seesImages = config.images ?? (config.kind === 'openai' || config.kind === 'anthropic');
  const options: DialectOptions = { provider, baseUrl, key, headers: config.headers ?? {}, nowMs: deps.nowMs, seesImages };
  if (config.kind === 'ollama') return createPackageClient('ollama', options, deps);
  return config.via === 'ai-sdk' ? createPackageClient(config.kind, options, deps) : createWireClient(config.kind, options, deps);
}

function createDialect(kind: Exclude<PackageKind, 'ollama'>, options: DialectOptions) {
  return kind === 'anthropic' ? createAnthropicDialect(options, answerTokensMax) : createOpenAiDialect(options, kind);
}

function createWireClient(kind: Exclude<PackageKind, 'ollama'>, options: DialectOptions, deps: ClientFactoryDeps): ModelClient {
  const { origin } = new URL(options.baseUrl);
  const transport = new HttpTransport({ provider: options.provider, origin, connectTimeoutMs: deps.connectTimeoutMs });
  return new WireClient(createDialect(kind, options), transport, deps.nextCallId);
}

function createPackageClient(kind: PackageKind, options: DialectOptions, deps: ClientFactoryDeps): ModelClient {
  const { provider, baseUrl, key, headers } = options;
  return new AiSdkClient({
    provider,
    origin: new URL(baseUrl).origin,
    nextCallId: deps.nextCallId,
    seesImages: options.seesImages,
    load: () => packageLoaders[kind]({ baseUrl, key, headers, connectTimeoutMs: deps.connectTimeoutMs }),
    mapFailure: kind === 'ollama' ? ollamaMapper(options) : createDialect(kind, options).mapFailure,
    extraOptions: (request) => extraOptions(kind, request, deps.contextTokens(provider, request.modelId)),
  });
}

function extraOptions(kind: PackageKind, request: ModelRequest, contextTokens: number) {
  if (kind === 'anthropic') return { maxOutputTokens: request.maxOutputTokens ?? answerTokensMax(request.modelId) };
  if (kind !== 'ollama') return {};
  const limit = request.maxOutputTokens === undefined ? {} : { num_predict: request.maxOutputTokens };
  return { providerOptions: { ollama: { options: { num_ctx: contextTokens, ...limit } } } };
}

function ollamaMapper(options: DialectOptions): ReturnType<typeof createDialect>['mapFailure'] {
  const secrets = Object.values(options.headers);
  return (answer, modelId) => mapOllamaFailure({ ...answer, provider: options.provider, modelId, secrets, nowMs: options.nowMs() });
}
