// Finds model servers that run on this machine: Ollama, LM Studio, llama-server, and configured local addresses. Asks loopback addresses
// only, with short timeouts, and accepts only answers of the right shape.

import { isPlainObject } from '../../base/json.ts';
import type { Config } from '../../contracts/config.ts';
import { isChatModel, isLoopback } from './model-catalog.ts';
import { askJson } from './single-request.ts';

export const probeTimeoutMsDefault = 300;
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
const MODELS_PER_SERVER_MAX = 200;

export type LocalServerKind = 'ollama' | 'lm-studio' | 'llama-server' | 'openai-compatible';

export interface LocalServer {
  /** The provider name of its models. */
  readonly provider: string;
  readonly kind: LocalServerKind;
  /** Scheme, host and port; for a configured provider its base address as given. */
  readonly baseUrl: string;
  /** True for an address from config: its models belong to that provider. */
  readonly isConfigured: boolean;
}

export interface DiscoveredModel {
  readonly ref: string;
  readonly provider: string;
  readonly modelId: string;
  /** The wire kind to use. */
  readonly kind: 'ollama' | 'openai-compatible';
  /** The base address for a client of that kind. */
  readonly baseUrl: string;
  /** Describes how it was found, such as `LM Studio at http://127.0.0.1:1234`. */
  readonly source: string;
  /** The window that the server says it has loaded, or null. */
  readonly contextTokens: number | null;
}

export const wellKnownServers: readonly LocalServer[] = [
  { provider: 'ollama', kind: 'ollama', baseUrl: 'http://127.0.0.1:11434', isConfigured: false },
  { provider: 'lmstudio', kind: 'lm-studio', baseUrl: 'http://127.0.0.1:1234', isConfigured: false },
  { provider: 'llama-server', kind: 'llama-server', baseUrl: 'http://127.0.0.1:9931', isConfigured: false },
  { provider: 'llama-server', kind: 'llama-server', baseUrl: 'http://127.0.0.1:8080', isConfigured: false },
];

/** The addresses to probe: configured local providers first, then well-known addresses that config does not cover. */
export function localServersToProbe(providers: Config['providers'], wellKnown: readonly LocalServer[]): LocalServer[] {
  const configured: LocalServer[] = [];
  for (const [provider, config] of Object.entries(providers)) {
    if (config.kind === 'ollama')
      configured.push({ provider, kind: 'ollama', baseUrl: config.baseUrl ?? 'http://127.0.0.1:11434', isConfigured: true });
    if (config.kind === 'openai-compatible')
      configured.push({ provider, kind: 'openai-compatible', baseUrl: config.baseUrl, isConfigured: true });
  }
  const local = configured.filter((server) => isLoopback(server.baseUrl));
  const taken = new Set(local.map((server) => portOf(server.baseUrl)));
  return [...local, ...wellKnown.filter((server) => !(server.provider in providers) && !taken.has(portOf(server.baseUrl)))];
}

/** Models of all servers that answer in time, in the order of `servers`. Never rejects. */
export async function discoverModels(servers: readonly LocalServer[], signal: AbortSignal, timeoutMs: number): Promise<DiscoveredModel[]> {
  const found = await Promise.all(servers.map((server) => probe(server, (url) => getJson(url, signal, timeoutMs))));
  return found.flat();
}

async function probe(server: LocalServer, ask: (url: string) => Promise<unknown>): Promise<DiscoveredModel[]> {
  switch (server.kind) {
    case 'ollama':
      return describe(server, readOllama(await ask(`${server.baseUrl.replace(/\/(api)?\/*$/, '')}/api/tags`)));
    case 'lm-studio': {
      const [own, common] = await Promise.all([ask(`${server.baseUrl}/api/v1/models`), ask(`${server.baseUrl}/v1/models`)]);
      const models = readLmStudio(own);
      return describe(server, models.length > 0 ? models : readOpenAi(common, null));
    }
    case 'llama-server': {
      const [common, props] = await Promise.all([ask(`${server.baseUrl}/v1/models`), ask(`${server.baseUrl}/props`)]);
      return describe(server, readOpenAi(common, readLoadedWindow(props)));
    }
    case 'openai-compatible':
      return describe(server, readOpenAi(await ask(`${server.baseUrl.replace(/\/+$/, '')}/models`), null));
  }
}

interface FoundModel {
  readonly modelId: string;
  readonly contextTokens: number | null;
}

const serverNames: Readonly<Record<LocalServerKind, string>> = {
  ollama: 'Ollama',
  'lm-studio': 'LM Studio',
  'llama-server': 'llama-server',
  'openai-compatible': 'server',
};

function describe(server: LocalServer, models: readonly FoundModel[]): DiscoveredModel[] {
  const kind = server.kind === 'ollama' ? 'ollama' : 'openai-compatible';
  const baseUrl = server.isConfigured || kind === 'ollama' ? server.baseUrl : `${server.baseUrl}/v1`;
  return models.slice(0, MODELS_PER_SERVER_MAX).map((model) => ({
    ref: `${server.provider}/${model.modelId}`,
    provider: server.provider,
    modelId: model.modelId,
    kind,
    baseUrl,
    source: `${serverNames[server.kind]} at ${new URL(server.baseUrl).origin}`,
    contextTokens: model.contextTokens,
  }));
}

export function readOllama(answer: unknown): FoundModel[] {
  return listOf(answer, 'models').flatMap((model) => {
    const name = model['name'] ?? model['model'];
    return typeof name === 'string' && isChatModel(name) ? [{ modelId: name, contextTokens: null }] : [];
  });
}

/** LM Studio loads models on demand. The window of the loaded instance counts, which is often smaller than the model's own. */
function readLmStudio(answer: unknown): FoundModel[] {
  return listOf(answer, 'models').flatMap((model) => {
    if (model['type'] !== 'llm' || typeof model['key'] !== 'string') return [];
    const [instance] = listOf(model, 'loaded_instances');
    const config = instance?.['config'];
    return [{ modelId: model['key'], contextTokens: isPlainObject(config) ? windowOf(config['context_length']) : null }];
  });
}

function readOpenAi(answer: unknown, contextTokens: number | null): FoundModel[] {
  return listOf(answer, 'data').flatMap((model) => {
    const { id } = model as { id?: unknown };
    return typeof id === 'string' && id !== '' && isChatModel(id) ? [{ modelId: id, contextTokens }] : [];
  });
}

function readLoadedWindow(props: unknown): number | null {
  const settings = isPlainObject(props) ? props['default_generation_settings'] : undefined;
  return isPlainObject(settings) ? windowOf(settings['n_ctx']) : null;
}

export function windowOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1024 ? value : null;
}

export function listOf(answer: unknown, key: string): Record<string, unknown>[] {
  const list: unknown = isPlainObject(answer) ? answer[key] : undefined;
  return Array.isArray(list) ? (list as unknown[]).filter(isPlainObject) : [];
}

/** Null for anything but JSON, because probing an address may find any kind of server. */
async function getJson(url: string, signal: AbortSignal, timeoutMs: number): Promise<unknown> {
  if (!url.startsWith('http:')) return null;
  return askJson(url, { bytesMax: ANSWER_BYTES_MAX, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]) });
}

function portOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  return url.port === '' ? url.protocol : url.port;
}
