// Loads the AI SDK provider packages and gives each our addresses, keys and HTTP client. Every import here is dynamic:
// none of these packages may cost anything before a model of that kind is used.

import type { AiSdkProvider } from './ai-sdk-client.ts';
import { guardOllamaLines } from './ollama-stream.ts';
import { withV1 } from './wire-dialects.ts';

export interface PackageOptions {
  readonly baseUrl: string;
  readonly key: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly connectTimeoutMs: number;
}

export type PackageKind = 'openai' | 'anthropic' | 'openai-compatible' | 'ollama';

export const packageLoaders: Readonly<Record<PackageKind, (options: PackageOptions) => Promise<AiSdkProvider>>> = {
  async openai(options) {
    const [{ createOpenAI }, http] = await Promise.all([import('@ai-sdk/openai'), openHttp(options)]);
    const provider = createOpenAI({
      baseURL: options.baseUrl,
      apiKey: options.key ?? '',
      headers: { ...options.headers },
      fetch: http.fetch,
    });
    return { model: (modelId) => provider.chat(modelId), close: http.close };
  },
  async anthropic(options) {
    const [{ createAnthropic }, http] = await Promise.all([import('@ai-sdk/anthropic'), openHttp(options)]);
    const baseURL = withV1(options.baseUrl);
    const provider = createAnthropic({ baseURL, apiKey: options.key ?? '', headers: { ...options.headers }, fetch: http.fetch });
    return { model: (modelId) => provider.languageModel(modelId), close: http.close };
  },
  async 'openai-compatible'(options) {
    const [{ createOpenAICompatible }, http] = await Promise.all([import('@ai-sdk/openai-compatible'), openHttp(options)]);
    const provider = createOpenAICompatible({
      name: 'compatible',
      baseURL: options.baseUrl,
      includeUsage: true,
      headers: { ...options.headers },
      fetch: http.fetch,
      ...(options.key === null ? {} : { apiKey: options.key }),
    });
    return { model: (modelId) => provider.chatModel(modelId), close: http.close };
  },
  async ollama(options) {
    const [{ createOllama }, http] = await Promise.all([import('ollama-ai-provider-v2'), openHttp(options)]);
    const provider = createOllama({
      baseURL: withApi(options.baseUrl),
      headers: { ...options.headers },
      fetch: guardOllamaLines(http.fetch),
    });
    return { model: (modelId) => provider.chat(modelId), close: http.close };
  },
};

function withApi(baseUrl: string): string {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, '');
  url.pathname = path.endsWith('/api') ? path : `${path}/api`;
  return url.href;
}

/** A fetch without the runtime's own five-minute limits: a local model may load for longer, and the router watches the clock. */
async function openHttp(options: PackageOptions): Promise<{ fetch: typeof globalThis.fetch; close: () => Promise<void> }> {
  const undici = await import('undici');
  const agent = new undici.Agent({ headersTimeout: 0, bodyTimeout: 0, allowH2: false, connect: { timeout: options.connectTimeoutMs } });
  const fetchWithAgent = (input: unknown, init: unknown): unknown =>
    undici.fetch(input as Parameters<typeof undici.fetch>[0], { ...(init as Parameters<typeof undici.fetch>[1]), dispatcher: agent });
  return { fetch: fetchWithAgent as typeof globalThis.fetch, close: () => agent.destroy() };
}
