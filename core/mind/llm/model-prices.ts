// List prices of well-known vendors' models as of 2026-07-02, from a public model catalogue and, where newer, the vendors' own pages; and
// the vendor of each address. config.yaml overrides them. An unlisted model has no price here, because a guessed price is worse than none.

/** The same names as in the public catalogue. */
export const vendors = ['openai', 'anthropic', 'google', 'mistral', 'groq', 'deepseek', 'xai'] as const;
export type Vendor = (typeof vendors)[number];

/** The date of these prices. */
export const builtInOn = '2026-07-02';

/** US dollars per million tokens. */
export interface Price {
  readonly input: number;
  readonly cachedInput: number | null;
  readonly output: number;
  /** A request with more input than this is charged entirely at these rates. */
  readonly long: {
    readonly overTokens: number;
    readonly input: number;
    readonly cachedInput: number | null;
    readonly output: number;
  } | null;
}

/** Model, input, cached input, output. */
type Row = readonly [model: string, input: number, cachedInput: number | null, output: number, long?: LongRates];
/** The threshold in thousands of tokens, and the factors for input and output above it. */
type LongRates = readonly [overThousand: number, inputTimes: number, outputTimes: number];

const openAiLong: LongRates = [272, 2, 1.5];
const googleLong: LongRates = [200, 2, 1.5];
const xaiLong: LongRates = [200, 2, 2];

const rows: Readonly<Record<Vendor, readonly Row[]>> = {
  openai: [
    ['gpt-6.2-sol', 2, 0.1, 10, openAiLong],
    ['gpt-6.1-sol', 2, 0.1, 10, openAiLong],
    ['gpt-6.1-terra', 1, 0.05, 5, openAiLong],
    ['gpt-6-astra', 10, 1, 50, openAiLong],
    ['gpt-6-sol', 2, 0.2, 10, openAiLong],
    ['gpt-6-luna', 0.1, 0.01, 0.5, openAiLong],
    ['gpt-5.6-sol', 5, 0.5, 30, openAiLong],
    ['gpt-5.6-terra', 2, 0.2, 12, openAiLong],
    ['gpt-5.6-luna', 0.2, 0.02, 1.2, openAiLong],
    ['gpt-5.5-pro', 30, null, 180, openAiLong],
    ['gpt-5.5', 5, 0.5, 30, openAiLong],
    ['gpt-5.4-pro', 30, null, 180, openAiLong],
    ['gpt-5.4', 2.5, 0.25, 15, openAiLong],
    ['gpt-5.4-mini', 0.75, 0.075, 4.5],
    ['gpt-5.4-nano', 0.2, 0.02, 1.25],
    ['gpt-5.3-codex', 1.75, 0.175, 14],
    ['gpt-5.3-chat', 1.75, 0.175, 14],
    ['gpt-5.2-pro', 21, null, 168],
    ['gpt-5.2-codex', 1.75, 0.175, 14],
    ['gpt-5.2-chat', 1.75, 0.175, 14],
    ['gpt-5.2', 1.75, 0.175, 14],
    ['gpt-5.1-codex-mini', 0.25, 0.025, 2],
    ['gpt-5.1-codex-max', 1.25, 0.125, 10],
    ['gpt-5.1-codex', 1.25, 0.125, 10],
    ['gpt-5.1-chat', 1.25, 0.125, 10],
    ['gpt-5.1', 1.25, 0.125, 10],
    ['gpt-5-pro', 15, null, 120],
    ['gpt-5-codex', 1.25, 0.125, 10],
    ['gpt-5-chat', 1.25, 0.125, 10],
    ['gpt-5-mini', 0.25, 0.025, 2],
    ['gpt-5-nano', 0.05, 0.005, 0.4],
    ['gpt-5', 1.25, 0.125, 10],
    ['gpt-4.1', 2, 0.5, 8],
    ['gpt-4.1-mini', 0.4, 0.1, 1.6],
    ['gpt-4.1-nano', 0.1, 0.025, 0.4],
    ['gpt-4o-2024-05-13', 5, null, 15],
    ['gpt-4o', 2.5, 1.25, 10],
    ['gpt-4o-mini', 0.15, 0.075, 0.6],
    ['gpt-4-turbo', 10, null, 30],
    ['gpt-4', 30, null, 60],
    ['gpt-3.5-turbo', 0.5, null, 1.5],
    ['o4-mini', 1.1, 0.275, 4.4],
    ['o3', 2, 0.5, 8],
    ['o3-pro', 20, null, 80],
    ['o3-mini', 1.1, 0.55, 4.4],
    ['o1', 15, 7.5, 60],
    ['o1-pro', 150, null, 600],
  ],
  anthropic: [
    ['claude-fable-5-1', 10, 1, 50],
    ['claude-fable-5', 10, 1, 50],
    ['claude-opus-5-5', 4, 0.2, 20],
    ['claude-opus-5', 5, 0.5, 25],
    ['claude-opus-4-8', 5, 0.5, 25],
    ['claude-opus-4-7', 5, 0.5, 25],
    ['claude-opus-4-6', 5, 0.5, 25],
    ['claude-opus-4-5', 5, 0.5, 25],
    ['claude-opus-4-1', 15, 1.5, 75],
    ['claude-opus-4-0', 15, 1.5, 75],
    ['claude-opus-4', 15, 1.5, 75],
    ['claude-sonnet-5-5', 2, 0.2, 10],
    ['claude-sonnet-5', 2, 0.2, 10],
    ['claude-sonnet-4-6', 3, 0.3, 15],
    ['claude-sonnet-4-5', 3, 0.3, 15],
    ['claude-sonnet-4-0', 3, 0.3, 15],
    ['claude-sonnet-4', 3, 0.3, 15],
    ['claude-haiku-5-5', 0.1, 0.01, 0.5, [100, 5, 5]],
    ['claude-haiku-4-5', 1, 0.1, 5],
    ['claude-3-7-sonnet', 3, 0.3, 15],
    ['claude-3-5-sonnet', 3, 0.3, 15],
    ['claude-3-opus', 15, 1.5, 75],
    ['claude-3-haiku', 0.25, 0.03, 1.25],
  ],
  google: [
    ['gemini-3.5-flash', 1.5, 0.15, 9],
    ['gemini-3.1-pro-preview', 2, 0.2, 12, googleLong],
    ['gemini-3.1-flash-lite', 0.25, 0.025, 1.5],
    ['gemini-3-pro-preview', 2, 0.2, 12, googleLong],
    ['gemini-3-flash-preview', 0.5, 0.05, 3],
    ['gemini-2.5-pro', 1.25, 0.125, 10, googleLong],
    ['gemini-2.5-flash', 0.3, 0.03, 2.5],
    ['gemini-2.5-flash-lite', 0.1, 0.01, 0.4],
    ['gemini-2.0-flash', 0.1, 0.025, 0.4],
    ['gemini-2.0-flash-lite', 0.075, null, 0.3],
  ],
  mistral: [
    ['mistral-large-2512', 0.5, null, 1.5],
    ['mistral-large-2411', 2, null, 6],
    ['mistral-medium-2604', 1.5, null, 7.5],
    ['mistral-medium-2508', 0.4, null, 2],
    ['mistral-medium-2505', 0.4, null, 2],
    ['mistral-small-2603', 0.15, null, 0.6],
    ['mistral-small-2506', 0.1, null, 0.3],
    ['magistral-medium-latest', 2, null, 5],
    ['codestral-latest', 0.3, null, 0.9],
    ['ministral-8b-latest', 0.1, null, 0.1],
    ['ministral-3b-latest', 0.04, null, 0.04],
    ['open-mistral-nemo', 0.15, null, 0.15],
  ],
  groq: [
    ['llama-3.1-8b-instant', 0.05, null, 0.08],
    ['llama-3.3-70b-versatile', 0.59, null, 0.79],
    ['meta-llama/llama-4-scout-17b-16e-instruct', 0.11, null, 0.34],
    ['openai/gpt-oss-120b', 0.15, 0.075, 0.6],
    ['openai/gpt-oss-20b', 0.075, 0.0375, 0.3],
    ['qwen/qwen3-32b', 0.29, null, 0.59],
  ],
  deepseek: [
    ['deepseek-chat', 0.14, 0.0028, 0.28],
    ['deepseek-reasoner', 0.14, 0.0028, 0.28],
    ['deepseek-v4-flash', 0.14, 0.0028, 0.28],
    ['deepseek-v4-pro', 0.435, 0.003625, 0.87],
  ],
  xai: [
    ['grok-4.5', 2, 0.5, 6, xaiLong],
    ['grok-4.3', 1.25, 0.2, 2.5, xaiLong],
    ['grok-4.20-0309-reasoning', 1.25, 0.2, 2.5, xaiLong],
    ['grok-4.20-0309-non-reasoning', 1.25, 0.2, 2.5, xaiLong],
    ['grok-build-0.1', 1, 0.2, 2, xaiLong],
  ],
};

const hosts: Readonly<Record<string, Vendor>> = {
  'api.openai.com': 'openai',
  'api.anthropic.com': 'anthropic',
  'generativelanguage.googleapis.com': 'google',
  'api.mistral.ai': 'mistral',
  'api.groq.com': 'groq',
  'api.deepseek.com': 'deepseek',
  'api.x.ai': 'xai',
};

/** The vendor behind an address; null for any other. Without an address, the kinds openai and anthropic mean the vendor itself. */
export function vendorAt(kind: string, baseUrl: string | undefined): Vendor | null {
  if (baseUrl !== undefined) return hosts[new URL(baseUrl).hostname] ?? null;
  return kind === 'openai' || kind === 'anthropic' ? kind : null;
}

/** A snapshot costs the same as the listed model: its date, or `latest`, is removed from its name. */
const snapshot = /-(?:\d{4}-\d{2}-\d{2}|20\d{6}|latest)$/;

/** The name itself, and the name without its snapshot suffix. */
export function namesOf(modelId: string): readonly string[] {
  return [...new Set([modelId, modelId.replace(snapshot, '')])];
}

/** Null if the model is not listed under exactly this name. */
export function listPrice(vendor: Vendor, name: string): Price | null {
  const row = rows[vendor].find(([model]) => model === name);
  if (row === undefined) return null;
  const [, input, cachedInput, output, long] = row;
  return { input, cachedInput, output, long: long === undefined ? null : longRates(row, long) };
}

function longRates([, input, cachedInput, output]: Row, [overThousand, inputTimes, outputTimes]: LongRates): NonNullable<Price['long']> {
  return {
    overTokens: overThousand * 1000,
    input: input * inputTimes,
    cachedInput: cachedInput === null ? null : cachedInput * inputTimes,
    output: output * outputTimes,
  };
}
