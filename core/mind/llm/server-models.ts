// Asks a provider's server which models it offers: one request, bounded in time and size, parsed in the form of each vendor. Must not keep
// connections or answers.

import { parseJson } from '../../base/json.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import { mapAnthropicFailure } from './anthropic-errors.ts';
import { listOf, readOllama, windowOf } from './local-servers.ts';
import { isChatModel } from './model-catalog.ts';
import { mapNetworkError } from './network-errors.ts';
import { mapOllamaFailure } from './ollama-errors.ts';
import { mapOpenAiFailure } from './openai-errors.ts';
import { requestOnce, type WholeAnswer } from './single-request.ts';
import { elsewhereHint, isWebPage, type VendorFailure } from './vendor-failure.ts';
import { withV1 } from './wire-dialects.ts';

const ANSWER_BYTES_MAX = 8 * 1024 * 1024;
const MODELS_MAX = 1_000;

export interface ServerModel {
  readonly modelId: string;
  /** The window that the server states; null if it does not. */
  readonly contextTokens: number | null;
  /** US dollars per million tokens, if the server states them. */
  readonly inputUsdPerMillion: number | null;
  readonly outputUsdPerMillion: number | null;
}

export type ListedProvider = Exclude<ProviderConfig, { kind: 'demo' | 'cortensor' | 'embedded' | 'ai-sdk' }>;

export interface ListRequest {
  readonly provider: string;
  readonly config: ListedProvider;
  /** The plain key, or null. */
  readonly key: string | null;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly nowMs: number;
}

/** Returns chat models in the order of the server. Fails with `model_*` as a model call does, and with `cancelled`. */
export async function listServerModels(request: ListRequest): Promise<ServerModel[]> {
  const { provider, config, nowMs, key } = request;
  const url = addressOf(config);
  const headers = headersOf(config, key);
  const answer = await get(url, headers, request);
  const parsed = parseJson(answer.text);
  if (answer.status !== 200 || !parsed.ok) {
    const secrets = [...(key === null ? [] : [key]), ...Object.values(config.headers ?? {})];
    const body = parsed.ok ? parsed.value : answer.text;
    if (answer.status === 404 || answer.status === 405 || answer.status === 200) throw noList(provider, url, answer.text);
    throw failureMappers[config.kind]({ provider, modelId: '', status: answer.status, headers: answer.headers, body, secrets, nowMs });
  }
  return readModels(config, parsed.value).slice(0, MODELS_MAX);
}

const failureMappers: Readonly<Record<ListedProvider['kind'], (failure: VendorFailure) => AppError>> = {
  openai: mapOpenAiFailure,
  'openai-compatible': mapOpenAiFailure,
  anthropic: mapAnthropicFailure,
  ollama: mapOllamaFailure,
};

function noList(provider: string, url: URL, body: string): AppError {
  const at = `${url.origin}${url.pathname}`;
  if (isWebPage(body))
    return new AppError('model_rejected', `A web page answers at ${at} in place of ${provider}.`, {
      data: { provider },
      hint: elsewhereHint,
    });
  return new AppError('model_rejected', `${provider} does not list its models at ${at}.`, {
    data: { provider },
    hint: 'Check baseUrl, which usually ends in /v1, or name the model yourself.',
  });
}

function addressOf(config: ListedProvider): URL {
  switch (config.kind) {
    case 'openai':
      return below(config.baseUrl ?? 'https://api.openai.com/v1', '/models');
    case 'openai-compatible':
      return below(config.baseUrl, '/models');
    case 'anthropic':
      return below(withV1(config.baseUrl ?? 'https://api.anthropic.com'), '/models', '?limit=1000');
    case 'ollama':
      return below((config.baseUrl ?? 'http://127.0.0.1:11434').replace(/\/(api)?\/*$/, ''), '/api/tags');
  }
}

function below(baseUrl: string, path: string, search?: string): URL {
  const url = new URL(baseUrl);
  url.pathname = url.pathname.replace(/\/+$/, '') + path;
  if (search !== undefined) url.search = search;
  return url;
}

function headersOf(config: ListedProvider, key: string | null): Record<string, string> {
  const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'trayclaw' };
  if (config.kind === 'anthropic') headers['anthropic-version'] = '2023-06-01';
  if (key !== null)
    headers[config.kind === 'anthropic' ? 'x-api-key' : 'authorization'] = config.kind === 'anthropic' ? key : `Bearer ${key}`;
  for (const [name, value] of Object.entries(config.headers ?? {})) headers[name.toLowerCase()] = value;
  return headers;
}

function readModels(config: ListedProvider, answer: unknown): ServerModel[] {
  if (config.kind === 'ollama')
    return readOllama(answer).map((model) => ({ ...model, inputUsdPerMillion: null, outputUsdPerMillion: null }));
  return listOf(answer, 'data').flatMap((entry) => {
    const { id } = entry as { id?: unknown };
    if (typeof id !== 'string' || id === '' || !isChatModel(id) || isMarkedOther(entry)) return [];
    return [{ modelId: id.replace(/^models\//, ''), contextTokens: statedWindow(entry), ...statedPrice(entry) }];
  });
}

/** Mistral states a model's capabilities. */
function isMarkedOther(entry: Record<string, unknown>): boolean {
  const can = entry['capabilities'] as { completion_chat?: unknown } | null | undefined;
  return typeof can === 'object' && can !== null && can.completion_chat === false;
}

/** Reads the field names of OpenRouter, Groq, Mistral, vLLM and Anthropic. */
function statedWindow(entry: Record<string, unknown>): number | null {
  const names = ['context_length', 'context_window', 'max_context_length', 'max_model_len', 'max_input_tokens'];
  return names.map((name) => windowOf(entry[name])).find((tokens) => tokens !== null) ?? null;
}

/** OpenRouter states US dollars per token, as text; -1 if the price varies. */
function statedPrice(entry: Record<string, unknown>): Pick<ServerModel, 'inputUsdPerMillion' | 'outputUsdPerMillion'> {
  const { pricing } = entry as { pricing?: { prompt?: unknown; completion?: unknown } | null };
  const input = perMillion(pricing?.prompt);
  const output = perMillion(pricing?.completion);
  return input === null || output === null
    ? { inputUsdPerMillion: null, outputUsdPerMillion: null }
    : { inputUsdPerMillion: input, outputUsdPerMillion: output };
}

function perMillion(given: unknown): number | null {
  if (typeof given !== 'string' || given.trim() === '') return null;
  const usd = Number(given) * 1_000_000;
  return Number.isFinite(usd) && usd >= 0 ? Math.round(usd * 1e6) / 1e6 : null;
}

async function get(url: URL, headers: Record<string, string>, { provider, signal, timeoutMs }: ListRequest): Promise<WholeAnswer> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    return await requestOnce(url, { headers, bytesMax: ANSWER_BYTES_MAX, signal: AbortSignal.any([signal, deadline]) });
  } catch (cause) {
    if (signal.aborted) throw new AppError('cancelled', 'The list of models is no longer wanted.');
    if (deadline.aborted) throw slow(provider, url, timeoutMs);
    throw mapNetworkError(cause, { provider, origin: url.origin, hasAnswered: false });
  }
}

function slow(provider: string, url: URL, timeoutMs: number): AppError {
  return new AppError('model_timeout', `${provider} at ${url.origin} did not list its models within ${timeoutMs / 1000} seconds.`, {
    isRetryable: true,
    data: { provider },
  });
}
