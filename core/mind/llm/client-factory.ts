// Creates the client of a provider, or of the demo, with its key resolved. Keeps no state. The key remains in the client's headers.

import type { ProviderConfig } from '../../contracts/config.ts';
import { systemClock } from '../../base/clock.ts';
import { AppError } from '../../contracts/errors.ts';
import type { ModelClient } from '../../contracts/llm.ts';
import { ByFormatClient } from './by-format-client.ts';
import { AskedOnce, CortensorClient, portalConfig } from './cortensor-client.ts';
import { CortensorRouter, type CortensorConfig } from './cortensor-router.ts';
import { DemoClient } from './demo-client.ts';
import type { EngineAccess } from './embedded/engine-access.ts';
import { embeddedModelId } from './embedded/engine-place.ts';
import { HttpTransport } from './http-transport.ts';
import { answerTokensMax } from './model-catalog.ts';
import { serverProfile } from './server-profile.ts';
import { WireClient, type Dialect } from './wire-client.ts';
import {
  createAnthropicDialect,
  createOllamaDialect,
  createOpenAiDialect,
  createResponsesDialect,
  type DialectOptions,
} from './wire-dialects.ts';
import type { RefusedWordsStore } from './wire-words.ts';

export interface ClientFactoryDeps {
  /** A reference to the key; null if there is none. */
  readonly keyRef: string | null;
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly connectTimeoutMs: number;
  readonly nowMs: () => number;
  readonly nextCallId: () => string;
  /** The window to load an Ollama model with. Ollama's own default is small and silently truncates prompts. */
  readonly contextTokens: (provider: string, modelId: string) => number;
  readonly refusedWords: RefusedWordsStore;
  /** Runs GGUF files; null if the host program does not provide it. */
  readonly engine: EngineAccess | null;
  /** The data folder, whose AI SDK packages may be used; null if there is none. */
  readonly home: string | null;
}

const defaultBaseUrls: Readonly<Record<'openai' | 'anthropic' | 'ollama', string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
  ollama: 'http://127.0.0.1:11434',
};

/** Servers at other addresses may lack the Responses API. */
const ownOrigin = new URL(defaultBaseUrls.openai).origin;

/** Fails with the errors of the secrets port, e.g. `secret_missing`. Does not open a connection yet. */
export async function createClient(provider: string, config: ProviderConfig, deps: ClientFactoryDeps): Promise<ModelClient> {
  if (config.kind === 'demo') return new DemoClient(deps.nextCallId);
  if (config.kind === 'cortensor') return createCortensor(provider, config, deps);
  if (config.kind === 'embedded') return createEmbedded(provider, config, deps);
  if (config.kind === 'ai-sdk') return createSdk(provider, config, deps);
  const { keyRef } = deps;
  const key = keyRef === null ? null : (await deps.secrets.resolve(keyRef)).trim();
  const baseUrl = config.kind === 'openai-compatible' ? config.baseUrl : (config.baseUrl ?? defaultBaseUrls[config.kind]);
  const { nowMs, refusedWords } = deps;
  const seesImages = config.images ?? (config.kind === 'openai' || config.kind === 'anthropic');
  const options: DialectOptions = { provider, baseUrl, key, headers: config.headers ?? {}, nowMs, seesImages, refusedWords };
  const { origin } = new URL(baseUrl);
  const transport = new HttpTransport({ provider, origin, connectTimeoutMs: deps.connectTimeoutMs });
  const speaking = (dialect: Dialect): WireClient => new WireClient(dialect, transport, deps.nextCallId);
  if (config.kind === 'openai' && config.format === undefined && origin === ownOrigin) {
    const profile = serverProfile(baseUrl, 'openai');
    return new ByFormatClient({
      chat: speaking(createOpenAiDialect(options, profile)),
      responses: speaking(createResponsesDialect(options, profile)),
    });
  }
  return speaking(createDialect(config, options, deps));
}

async function createEmbedded(
  provider: string,
  config: Extract<ProviderConfig, { kind: 'embedded' }>,
  { engine, contextTokens, nextCallId }: ClientFactoryDeps,
): Promise<ModelClient> {
  if (engine === null) throw new AppError('model_unavailable', 'This program cannot run GGUF files.', { data: { provider } });
  const modelId = embeddedModelId(config.file);
  const { EmbeddedClient } = await import('./embedded/embedded-client.ts');
  return new EmbeddedClient(provider, config, { engine, nextCallId, contextTokens: () => contextTokens(provider, modelId) });
}

async function createSdk(
  provider: string,
  config: Extract<ProviderConfig, { kind: 'ai-sdk' }>,
  deps: ClientFactoryDeps,
): Promise<ModelClient> {
  const { home, keyRef, secrets, nowMs, nextCallId } = deps;
  if (home === null) throw new AppError('model_unavailable', 'This program cannot use AI SDK packages.', { data: { provider } });
  const { SdkClient } = await import('./ai-sdk/sdk-client.ts');
  return new SdkClient(provider, config, { home, keyRef, secrets, nowMs, nextCallId });
}

async function createCortensor(provider: string, config: CortensorConfig, deps: ClientFactoryDeps): Promise<ModelClient> {
  const portal = portalConfig(config);
  if (portal !== null) return new AskedOnce(await createClient(provider, portal, deps));
  const router = new CortensorRouter(provider, config, { secrets: deps.secrets, clock: systemClock });
  const transport = new HttpTransport({ provider, origin: router.url('').origin, connectTimeoutMs: deps.connectTimeoutMs });
  return new CortensorClient(provider, config, { router, transport });
}

function createDialect(
  config: Exclude<ProviderConfig, { kind: 'demo' | 'cortensor' | 'embedded' | 'ai-sdk' }>,
  options: DialectOptions,
  deps: ClientFactoryDeps,
): Dialect {
  switch (config.kind) {
    case 'anthropic':
      return createAnthropicDialect(options, answerTokensMax);
    case 'ollama':
      return createOllamaDialect(options, (modelId) => deps.contextTokens(options.provider, modelId));
    case 'openai':
      return openAiDialect(config.format)(options, serverProfile(options.baseUrl, 'openai'));
    case 'openai-compatible':
      return openAiDialect(config.format)(options, serverProfile(options.baseUrl, config.preset));
  }
}

function openAiDialect(format: 'chat' | 'responses' | undefined): typeof createOpenAiDialect {
  return format === 'responses' ? createResponsesDialect : createOpenAiDialect;
}
