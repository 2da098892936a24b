// What is known about models without asking anyone: context windows, answer limits, prices from config.
// Holds no vendor prices of its own: they change, and a wrong price is worse than none.

import type { ProviderConfig } from '../../contracts/config.ts';
import type { ModelInfo, Usage } from '../../contracts/llm.ts';

const LOCAL_CONTEXT_TOKENS = 32_768;
const CLOUD_CONTEXT_TOKENS = 128_000;
const ANSWER_TOKENS_DEFAULT = 8_192;

/** First match wins. Sources: the vendors' model pages. */
const contextWindows: readonly (readonly [RegExp, number])[] = [
  [/gpt-4\.1/, 1_047_576],
  [/gpt-4o|gpt-4-turbo/, 128_000],
  [/gpt-4(-|$)/, 8_192],
  [/gpt-3\.5/, 16_385],
  [/gpt-5.*-chat/, 128_000],
  [/gpt-5/, 400_000],
  [/(^|\/)o[134](-|$)/, 200_000],
  [/claude-/, 200_000],
];

/** `max_tokens` the API accepts for a family; it must be named in every request. */
const answerLimits: readonly (readonly [RegExp, number])[] = [
  [/claude-3-(opus|haiku|sonnet)/, 4_096],
  [/claude-3-/, 8_192],
  [/claude-/, 32_000],
];

/** The model taken for a vendor that is configured without naming any. */
export const preferredModels: Readonly<Partial<Record<ProviderConfig['kind'], string>>> = {
  openai: 'gpt-5.5',
  anthropic: 'claude-sonnet-5-5',
};

export function answerTokensMax(modelId: string): number {
  return answerLimits.find(([pattern]) => pattern.test(modelId))?.[1] ?? ANSWER_TOKENS_DEFAULT;
}

export interface KnownProvider {
  readonly config: ProviderConfig;
  /** True when it was found on this machine, not configured: then it costs nothing. */
  readonly isDiscovered: boolean;
}

/** `reported` is the window the server itself named, or null. An unknown provider gives the cloud default and no prices. */
export function describeModel(ref: string, modelId: string, provider: KnownProvider | null, reported: number | null): ModelInfo {
  return { ref, contextTokens: windowOf(modelId, provider, reported), ...pricesOf(modelId, provider) };
}

function windowOf(modelId: string, provider: KnownProvider | null, reported: number | null): number {
  const stated = (provider === null ? undefined : settingsOf(provider)?.contextTokens) ?? reported;
  if (stated !== null) return stated;
  if (provider !== null && isLocalProvider(provider.config)) return LOCAL_CONTEXT_TOKENS;
  return contextWindows.find(([pattern]) => pattern.test(modelId))?.[1] ?? CLOUD_CONTEXT_TOKENS;
}

function pricesOf(modelId: string, provider: KnownProvider | null): Omit<ModelInfo, 'ref' | 'contextTokens'> {
  const prices = provider === null ? undefined : settingsOf(provider)?.prices?.[modelId];
  if (prices !== undefined) return { ...prices, cachedInputUsdPerMillion: prices.cachedInputUsdPerMillion ?? null };
  const price = provider !== null && isFree(provider, modelId) ? 0 : null;
  return { inputUsdPerMillion: price, cachedInputUsdPerMillion: price, outputUsdPerMillion: price };
}

function settingsOf(provider: KnownProvider): Exclude<ProviderConfig, { kind: 'demo' }> | undefined {
  return provider.config.kind === 'demo' ? undefined : provider.config;
}

/**
 * US dollars for a usage, or null when a price that is needed is unknown. Cached input without a price of its own counts as
 * ordinary input; what a vendor charges for writing its cache is not in `Usage` and counts as ordinary input too.
 */
export function costOf(info: ModelInfo, usage: Usage): number | null {
  const { inputUsdPerMillion, outputUsdPerMillion } = info;
  if (inputUsdPerMillion === null || outputUsdPerMillion === null) return null;
  const cachedPrice = info.cachedInputUsdPerMillion ?? inputUsdPerMillion;
  const plainTokens = Math.max(0, usage.inputTokens - usage.cachedInputTokens);
  return (plainTokens * inputUsdPerMillion + usage.cachedInputTokens * cachedPrice + usage.outputTokens * outputUsdPerMillion) / 1_000_000;
}

export function isLocalProvider(config: ProviderConfig): boolean {
  if (config.kind === 'demo') return true;
  if (config.kind === 'ollama') return config.baseUrl === undefined || isLoopback(config.baseUrl);
  return config.baseUrl !== undefined && isLoopback(config.baseUrl);
}

export function isLoopback(baseUrl: string): boolean {
  const { hostname } = new URL(baseUrl);
  return hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}

/** The demo, models Ollama runs here (its cloud models carry the tag `cloud`), and servers found on this machine. A configured local address may be a gateway that bills. */
function isFree(provider: KnownProvider, modelId: string): boolean {
  if (provider.config.kind === 'demo') return true;
  const isOllama = provider.config.kind === 'ollama' && isLocalProvider(provider.config);
  return (isOllama || provider.isDiscovered) && !/[:-]cloud$/.test(modelId);
}
