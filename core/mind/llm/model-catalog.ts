// Static knowledge about models: context windows, answer limits, prices, and which model to prefer. Published prices are in
// model-prices.ts; config.yaml overrides them.

import { isLoopbackHost } from '../../base/loopback.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import type { ModelInfo, Usage } from '../../contracts/llm.ts';
import { embeddedModelId } from './embedded/engine-place.ts';
import { vendorAt, type Vendor } from './model-prices.ts';
import type { ListedModel, PriceBook } from './price-book.ts';

const LOCAL_CONTEXT_TOKENS = 32_768;
const CLOUD_CONTEXT_TOKENS = 128_000;
const ANSWER_TOKENS_DEFAULT = 8_192;

/** The first match wins. Sources: the vendors' model pages. */
const contextWindows: readonly (readonly [RegExp, number])[] = [
  [/gpt-6/, 922_000],
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4o|gpt-4-turbo/, 128_000],
  [/gpt-4(-|$)/, 8_192],
  [/gpt-3\.5/, 16_385],
  [/gpt-5.*-chat/, 128_000],
  [/gpt-5/, 400_000],
  [/(^|\/)o[134](-|$)/, 200_000],
  [/claude-/, 200_000],
];

/** The largest `max_tokens` that the API accepts for a family; every request must contain it. */
const answerLimits: readonly (readonly [RegExp, number])[] = [
  [/claude-3-(opus|haiku|sonnet)/, 4_096],
  [/claude-3-/, 8_192],
  [/claude-/, 32_000],
];

/** The model to use at a vendor if none is named, best first: good with tools, and not the most expensive. */
const preferences: Readonly<Record<Vendor, readonly string[]>> = {
  openai: ['gpt-5.5', 'gpt-5.2', 'gpt-5.1', 'gpt-5', 'gpt-4.1', 'gpt-4o'],
  anthropic: ['claude-sonnet-5-5', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-sonnet-4-5', 'claude-haiku-4-5'],
  google: ['gemini-3.5-flash', 'gemini-2.5-flash', 'gemini-2.5-pro'],
  mistral: ['mistral-medium-latest', 'mistral-large-latest', 'mistral-small-latest'],
  groq: ['openai/gpt-oss-120b', 'llama-3.3-70b-versatile', 'openai/gpt-oss-20b'],
  deepseek: ['deepseek-chat', 'deepseek-v4-flash'],
  xai: ['grok-4.5', 'grok-4.3'],
};

/** Names of models that do not chat, for vendors that list everything they offer. */
const notForChat =
  /embed|rerank|whisper|bge-|minilm|tts|dall-e|moderation|realtime|audio|transcri|image|imagine|sora|video|speech|orpheus|guard|davinci|babbage|turbo-instruct|search-preview|ocr/i;

export function isChatModel(modelId: string): boolean {
  return !notForChat.test(modelId);
}

/**
 * Returns the preferred model among those a server offers, a snapshot of it, or the first. Without a list: the vendor's preferred model, or
 * null for an unknown vendor.
 */
export function preferredModel(config: ProviderConfig, offered: readonly string[] | null): string | null {
  if (config.kind === 'demo') return null;
  if (config.kind === 'embedded') return embeddedModelId(config.file);
  const vendor = vendorAt(config.kind, config.baseUrl);
  const wanted = vendor === null ? [] : preferences[vendor];
  if (offered === null) return wanted[0] ?? null;
  const found = wanted.map((name) => offered.find((id) => id === name) ?? offered.find((id) => isSnapshotOf(id, name)));
  return found.find((id) => id !== undefined) ?? offered[0] ?? null;
}

function isSnapshotOf(modelId: string, name: string): boolean {
  return modelId.startsWith(`${name}-`) && /^-(?:\d{4}-\d{2}-\d{2}|20\d{6})$/.test(modelId.slice(name.length));
}

/** The references of a provider's keys in order of use; a single null for a provider without a key. */
export function keysOf(config: ProviderConfig): readonly (string | null)[] {
  if (config.kind === 'demo' || config.kind === 'ollama' || config.kind === 'embedded') return noKey;
  const { apiKey } = config;
  const keys = 'keys' in config ? config.keys : undefined;
  if (keys === undefined) return apiKey === undefined ? noKey : [apiKey];
  return [...new Set([...(apiKey === undefined ? [] : [apiKey]), ...keys])];
}

const noKey: readonly null[] = [null];

export function answerTokensMax(modelId: string): number {
  return answerLimits.find(([pattern]) => pattern.test(modelId))?.[1] ?? ANSWER_TOKENS_DEFAULT;
}

export interface KnownProvider {
  readonly config: ProviderConfig;
  /** True if the provider was found on this machine, not configured. Its models then cost nothing. */
  readonly isDiscovered: boolean;
}

export interface ModelToDescribe {
  readonly ref: string;
  readonly modelId: string;
  readonly provider: KnownProvider | null;
  /** The window that the server itself stated. */
  readonly reported: number | null;
}

/** An unknown provider gets the cloud default and no prices. */
export function describeModel(model: ModelToDescribe, prices: Pick<PriceBook, 'find'>): ModelInfo {
  const { ref, modelId, provider } = model;
  const settings = provider === null ? undefined : settingsOf(provider);
  const vendor = settings === undefined ? null : vendorAt(settings.kind, settings.baseUrl);
  const listed = vendor === null ? null : prices.find(vendor, modelId);
  return { ref, contextTokens: windowOf(model, listed), ...pricesOf(modelId, provider, listed) };
}

function windowOf({ modelId, provider, reported }: ModelToDescribe, listed: ListedModel | null): number {
  const stated = provider === null || provider.config.kind === 'demo' ? undefined : provider.config.contextTokens;
  if (stated !== undefined) return stated;
  if (reported !== null)
    return provider !== null && isRunHere(provider.config, modelId) ? Math.min(reported, LOCAL_CONTEXT_TOKENS) : reported;
  if (provider !== null && isLocalProvider(provider.config)) return LOCAL_CONTEXT_TOKENS;
  const usual = contextWindows.find(([pattern]) => pattern.test(modelId))?.[1] ?? CLOUD_CONTEXT_TOKENS;
  return listed?.contextTokens ?? usual;
}

/**
 * Ollama and the engine load a model with the window they are given, and memory use grows with it, so the model's full window rarely fits.
 */
function isRunHere(config: ProviderConfig, modelId: string): boolean {
  return config.kind === 'embedded' || (config.kind === 'ollama' && !isCloudModel(modelId));
}

export function isCloudModel(modelId: string): boolean {
  return /[:-]cloud$/.test(modelId);
}

export interface ServerToAsk {
  readonly kind: 'ollama' | 'openai-compatible';
  readonly baseUrl: string;
  readonly modelId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The reference of its key, if it has one. */
  readonly keyRef: string | undefined;
}

/** The server to ask for a window that neither config nor the model's name reveals; null if none is needed or available. */
export function serverToAsk(config: ProviderConfig, modelId: string): ServerToAsk | null {
  if ((config.kind !== 'ollama' && config.kind !== 'openai-compatible') || config.contextTokens !== undefined) return null;
  const isKnown = contextWindows.some(([pattern]) => pattern.test(modelId));
  if (isKnown && !isLocalProvider(config)) return null;
  const baseUrl = config.baseUrl ?? 'http://127.0.0.1:11434';
  const keyRef = keysOf(config)[0] ?? undefined;
  return { kind: config.kind, baseUrl, modelId, headers: config.headers ?? {}, keyRef };
}

/** The prices from config, else zero for local models, else the vendor's list price, else unknown. */
function pricesOf(modelId: string, provider: KnownProvider | null, listed: ListedModel | null): Omit<ModelInfo, 'ref' | 'contextTokens'> {
  const settings = provider === null ? undefined : settingsOf(provider);
  const prices = settings?.prices?.[modelId];
  if (prices !== undefined) return { ...prices, cachedInputUsdPerMillion: prices.cachedInputUsdPerMillion ?? null };
  if (provider !== null && isFree(provider, modelId)) return { inputUsdPerMillion: 0, cachedInputUsdPerMillion: 0, outputUsdPerMillion: 0 };
  if (listed === null) return { inputUsdPerMillion: null, cachedInputUsdPerMillion: null, outputUsdPerMillion: null };
  const { input, cachedInput, output, long } = listed;
  return {
    inputUsdPerMillion: input,
    cachedInputUsdPerMillion: cachedInput,
    outputUsdPerMillion: output,
    ...(long === null ? {} : { long }),
  };
}

/** The settings of a provider with an address; undefined for the demo and for GGUF files. */
function settingsOf({ config }: KnownProvider): Exclude<ProviderConfig, { kind: 'demo' | 'embedded' }> | undefined {
  return config.kind === 'demo' || config.kind === 'embedded' ? undefined : config;
}

/**
 * US dollars for a usage, or null if a required price is unknown. Cached input without a separate price counts as ordinary input. So does a
 * vendor's fee for writing its cache, which is not part of `Usage`.
 */
export function costOf(info: ModelInfo, usage: Usage): number | null {
  const { inputUsdPerMillion, outputUsdPerMillion, long } = info;
  if (inputUsdPerMillion === null || outputUsdPerMillion === null) return null;
  const isLong = long !== undefined && usage.inputTokens > long.overTokens;
  const input = isLong ? long.input : inputUsdPerMillion;
  const output = isLong ? long.output : outputUsdPerMillion;
  const cached = (isLong ? long.cachedInput : info.cachedInputUsdPerMillion) ?? input;
  const plainTokens = Math.max(0, usage.inputTokens - usage.cachedInputTokens);
  return (plainTokens * input + usage.cachedInputTokens * cached + usage.outputTokens * output) / 1_000_000;
}

export function isLocalProvider(config: ProviderConfig): boolean {
  if (config.kind === 'demo' || config.kind === 'embedded') return true;
  if (config.kind === 'ollama') return config.baseUrl === undefined || isLoopback(config.baseUrl);
  return config.baseUrl !== undefined && isLoopback(config.baseUrl);
}

/** Returns whether requests stay on this computer. Ollama's cloud models are only accessed through it. */
export function isRunLocally(config: ProviderConfig, modelId: string): boolean {
  return isLocalProvider(config) && !isCloudModel(modelId);
}

export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return isLoopbackHost(hostname) || hostname.endsWith('.localhost');
}

/** Default ports of Ollama, LM Studio, llama-server and vLLM. */
const localServerPorts: ReadonlySet<string> = new Set(['11434', '1234', '9931', '8080', '8000']);

/**
 * The demo and models that run on this computer are free. Ollama's cloud models carry the tag `cloud` and are billed. A local address with
 * a key, on none of the usual ports, may be a gateway that bills: its prices are unknown unless config.yaml states them.
 */
function isFree({ config, isDiscovered }: KnownProvider, modelId: string): boolean {
  if (config.kind === 'demo' || config.kind === 'embedded') return true;
  if (isCloudModel(modelId)) return false;
  if (isDiscovered) return true;
  if (!isLocalProvider(config)) return false;
  if (config.kind === 'ollama') return true;
  const takesNoKey = !('apiKey' in config) || config.apiKey === undefined;
  return takesNoKey || localServerPorts.has(new URL(config.baseUrl ?? '').port);
}
