// The model module's door: which models there are, what they cost, and one streamed call with timeouts and retries.
// Must not know wire formats, and must not touch the network or import a provider package before it is asked to.

import type { Clock } from '../../base/clock.ts';
import { sleep as realSleep } from '../../base/deferred.ts';
import { RandomIds } from '../../base/ids.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config, ProviderConfig } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { DeltaSink, ModelClient, ModelInfo, ModelReply, ModelRequest, Usage } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { runAttempt } from './attempt.ts';
import { createClient } from './client-factory.ts';
import { demoModelId } from './demo-client.ts';
import { abortReason } from './http-transport.ts';
import {
  discoverModels,
  localServersToProbe,
  probeTimeoutMsDefault,
  wellKnownServers,
  type DiscoveredModel,
  type LocalServer,
} from './local-servers.ts';
import { costOf, describeModel, preferredModels, type KnownProvider } from './model-catalog.ts';
import { providerPresets } from './provider-presets.ts';
import { retryWaitMs } from './retry-policy.ts';

export type { DiscoveredModel, LocalServer } from './local-servers.ts';
export { ExactCounters } from './exact-counters.ts';
export { ModelLearning, modelMigrations } from './model-learning.ts';
export { estimateTokens } from './token-estimate.ts';

export const demoRef = `demo/${demoModelId}`;

export interface ModelRouterDeps {
  readonly config: Pick<Config, 'providers' | 'models'>;
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Waits between tries; resolves false when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** [0, 1), for the jitter of waits. */
  readonly random?: () => number;
  /** Ids for calls the server gave none. */
  readonly nextCallId?: () => string;
  /** Where to look for local servers; the usual ports when left out. */
  readonly localServers?: readonly LocalServer[];
  /** How long each of them may take to answer. */
  readonly probeTimeoutMs?: number;
  /** What a server was found to take, where that is less than what is told of it. */
  readonly learned?: { windowOf(ref: string): number | null };
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Told before each wait; `attempt` is the one that failed, 1 for the first. */
  onRetry?(info: { readonly attempt: number; readonly waitMs: number; readonly error: AppError }): void;
}

export type RoutedReply = ModelReply & {
  /** From the start of the try that answered to the first text, reasoning or call; null when there was none. */
  readonly firstTokenMs: number | null;
};

export interface ProbeOptions {
  readonly provider?: ProviderConfig | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Some vendors take no smaller limit than 16. */
const probeRequest = { system: '', tools: [], messages: [{ role: 'user' as const, text: 'Say ok.' }], maxOutputTokens: 16 };

export class ModelRouter {
  readonly #deps: ModelRouterDeps;
  readonly #localServers: readonly LocalServer[];
  #config: ModelRouterDeps['config'];
  readonly #clients = new Map<string, { readonly baseUrl: string | undefined; readonly client: Promise<ModelClient> }>();
  readonly #nextCallId: () => string;
  #discovered: readonly DiscoveredModel[] = [];
  #looking: Promise<unknown> | null = null;

  constructor(deps: ModelRouterDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#localServers = deps.localServers ?? wellKnownServers;
    const ids = new RandomIds(() => deps.clock.nowMs());
    this.#nextCallId = deps.nextCallId ?? (() => ids.next('call'));
  }

  /** Other models and providers from now on. A call under way ends as it began. */
  configure(config: ModelRouterDeps['config']): void {
    const before = this.#config.providers;
    const changed = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(config.providers[name]));
    this.#config = config;
    for (const provider of changed) this.#forget(provider);
  }

  /** models.default, else the first configured provider with a known model, else a local model that was found, else the demo. */
  defaultRef(): string | null {
    const { models, providers } = this.#config;
    if (models.default !== undefined) return models.default;
    for (const provider of Object.keys(providers)) {
      const [first] = this.#knownModels(provider);
      if (first !== undefined) return `${provider}/${first}`;
    }
    return this.#discovered[0]?.ref ?? demoRef;
  }

  /** Never fails: an unknown provider gives defaults and no prices. */
  info(ref: string): ModelInfo {
    const { provider, modelId } = splitRef(ref);
    const found = this.#discovered.find((model) => model.ref === ref);
    const told = describeModel(ref, modelId, this.#provider(provider), found?.contextTokens ?? null);
    const learned = this.#deps.learned?.windowOf(ref) ?? null;
    return learned === null || learned >= told.contextTokens ? told : { ...told, contextTokens: learned };
  }

  knows(ref: string): boolean {
    return this.#provider(splitRef(ref).provider) !== null;
  }

  list(): OpResult<'model.list'> {
    const defaultModel = this.defaultRef();
    const listed = new Map<string, OpResult<'model.list'>['models'][number]>();
    const add = (ref: string, source: string): void => {
      const { provider } = splitRef(ref);
      const kind = this.#provider(provider)?.config.kind ?? 'unknown';
      const { contextTokens, inputUsdPerMillion, outputUsdPerMillion } = this.info(ref);
      const known = { contextTokens, inputUsdPerMillion, outputUsdPerMillion };
      if (!listed.has(ref)) listed.set(ref, { ref, provider, kind, isDefault: ref === defaultModel, source, ...known });
    };
    if (this.#config.models.default !== undefined) add(this.#config.models.default, 'configured');
    for (const provider of Object.keys(this.#config.providers)) {
      for (const modelId of this.#knownModels(provider)) add(`${provider}/${modelId}`, 'configured');
    }
    for (const model of this.#discovered) add(model.ref, model.source);
    add(demoRef, 'built in');
    return { models: [...listed.values()], defaultModel };
  }

  /** Asks local servers (each at most about 300 ms, all at once), remembers and returns what they have. Never rejects. */
  async discover(signal: AbortSignal): Promise<DiscoveredModel[]> {
    const servers = localServersToProbe(this.#config.providers, this.#localServers);
    const found = await discoverModels(servers, signal, this.#deps.probeTimeoutMs ?? probeTimeoutMsDefault);
    if (!signal.aborted) this.#discovered = found;
    this.#deps.logger.log('debug', 'looked for local model servers', { asked: servers.length, models: found.length });
    return found;
  }

  /** Where nothing is configured, starts a look for local servers; `ready` waits for it. */
  lookAround(signal: AbortSignal): void {
    const { models, providers } = this.#config;
    if (models.default !== undefined || Object.keys(providers).length > 0) return;
    this.#looking = this.discover(signal).finally(() => {
      this.#looking = null;
    });
  }

  /** Resolves when the look around is over; null when none is under way. */
  ready(): Promise<unknown> | null {
    return this.#looking;
  }

  /** US dollars, or null when a price is unknown. */
  cost(ref: string, usage: Usage): number | null {
    return costOf(this.info(ref), usage);
  }

  /**
   * One reply, streamed to `sink`. Fails with an AppError: `model_*`, `secret_missing`, or `cancelled` once the signal aborts.
   * Tries again (config.models.retries) only while the sink has been given nothing; the total limit covers all tries and waits.
   */
  async stream(ref: string, request: Omit<ModelRequest, 'modelId'>, sink: DeltaSink, options: StreamOptions): Promise<RoutedReply> {
    const { totalMs } = this.#config.models.timeouts;
    const overall = new AbortController();
    const onAbort = (): void => overall.abort(abortReason(options.signal));
    if (options.signal.aborted) onAbort();
    options.signal.addEventListener('abort', onAbort, { once: true });
    const timer = setTimeout(() => overall.abort(totalTimeout(ref, totalMs)), totalMs);
    try {
      return await this.#tryUntilDone(ref, request, sink, { options, signal: overall.signal });
    } finally {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
    }
  }

  presets(): OpResult<'model.presets'>['presets'] {
    return [...providerPresets];
  }

  /** A tiny question to a model, tried once with connections of its own; with a provider that need not be in config. Fails as `stream`. */
  async probe(ref: string, how: ProbeOptions): Promise<{ reply: RoutedReply; costUsd: number | null }> {
    const { providers, models } = this.#config;
    const { timeoutMs: totalMs, provider, signal } = how;
    const tried = provider === undefined ? providers : { ...providers, [splitRef(ref).provider]: provider };
    const timeouts = { ...models.timeouts, firstTokenMs: totalMs, idleMs: totalMs, totalMs };
    const router = new ModelRouter({ ...this.#deps, config: { providers: tried, models: { ...models, retries: 0, timeouts } } });
    try {
      const reply = await router.stream(ref, probeRequest, { text: () => undefined }, { signal });
      return { reply, costUsd: router.cost(ref, reply.usage) };
    } finally {
      await router.close();
    }
  }

  /** Drops all connections. The router can be used again; clients are made anew. */
  async close(): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    const closing = await Promise.allSettled(clients.map(async ({ client }) => (await client).close?.()));
    for (const result of closing) {
      if (result.status === 'rejected') this.#deps.logger.log('debug', 'a model client was never open', { cause: String(result.reason) });
    }
  }

  async #tryUntilDone(
    ref: string,
    request: Omit<ModelRequest, 'modelId'>,
    sink: DeltaSink,
    run: { readonly options: StreamOptions; readonly signal: AbortSignal },
  ): Promise<RoutedReply> {
    const { provider, modelId } = splitRef(ref);
    const { clock, random = Math.random, sleep = realSleep } = this.#deps;
    const config = this.#config;
    const limits = config.models.timeouts;
    const full: ModelRequest = { ...request, modelId };
    for (let attempt = 1; ; attempt++) {
      const answer = async (watched: DeltaSink, signal: AbortSignal): Promise<ModelReply> => {
        const client = await this.#client(provider);
        return client.stream(full, watched, signal);
      };
      const outcome = await runAttempt({ provider, limits, clock, run: answer }, sink, run.signal);
      if (outcome.ok) return { ...outcome.reply, firstTokenMs: outcome.firstTokenMs };
      const { error, hasDelivered } = outcome;
      if (error.code === 'model_auth') this.#forget(provider);
      const waitMs = run.signal.aborted ? null : retryWaitMs({ attempt, error, hasDelivered }, config.models.retries, random);
      if (waitMs === null) throw error;
      this.#deps.logger.log('info', 'a model call is tried again', { ref, attempt, waitMs, code: error.code });
      run.options.onRetry?.({ attempt, waitMs, error });
      if (!(await sleep(waitMs, run.signal))) throw abortReason(run.signal);
    }
  }

  #client(provider: string): Promise<ModelClient> {
    const known = this.#provider(provider);
    if (known === null) {
      return Promise.reject(
        new AppError('model_unknown', `There is no provider "${provider}" in config.yaml.`, {
          data: { provider, hint: 'Add it under providers, or choose one of the models that "model.list" names.' },
        }),
      );
    }
    const baseUrl = 'baseUrl' in known.config ? known.config.baseUrl : undefined;
    const open = this.#clients.get(provider);
    if (open !== undefined && open.baseUrl === baseUrl) return open.client;
    this.#forget(provider);
    const client = createClient(provider, known.config, {
      secrets: this.#deps.secrets,
      connectTimeoutMs: this.#config.models.timeouts.connectMs,
      nowMs: () => this.#deps.clock.nowMs(),
      nextCallId: this.#nextCallId,
      contextTokens: (name, modelId) => this.info(`${name}/${modelId}`).contextTokens,
    });
    this.#clients.set(provider, { baseUrl, client });
    client.catch(() => {
      if (this.#clients.get(provider)?.client === client) this.#clients.delete(provider);
    });
    return client;
  }

  /** A refused key may since have been changed: the next call resolves it anew. Calls in flight keep their client until they end. */
  #forget(provider: string): void {
    this.#clients.delete(provider);
  }

  /** Configured, else a local server by its usual name (found or not), else the demo, else null. */
  #provider(name: string): KnownProvider | null {
    const config = this.#config.providers[name];
    if (config !== undefined) return { config, isDiscovered: false };
    if (name === 'demo') return { config: { kind: 'demo' }, isDiscovered: false };
    const found = this.#discovered.find((model) => model.provider === name);
    if (found !== undefined) return { config: { kind: found.kind, baseUrl: found.baseUrl }, isDiscovered: true };
    const usual = this.#localServers.find((server) => server.provider === name);
    return usual === undefined ? null : { config: usualConfig(usual), isDiscovered: true };
  }

  #knownModels(provider: string): string[] {
    const config = this.#config.providers[provider];
    if (config === undefined) return [];
    if (config.kind === 'demo') return [demoModelId];
    const found = this.#discovered.filter((model) => model.provider === provider).map((model) => model.modelId);
    const priced = Object.keys(config.prices ?? {});
    const preferred = preferredModels[config.kind];
    // A vendor's own model name means nothing at another address.
    const fallback = preferred === undefined || config.baseUrl !== undefined ? [] : [preferred];
    const named = [...priced, ...found];
    return named.length > 0 ? [...new Set(named)] : fallback;
  }
}

function usualConfig(server: LocalServer): ProviderConfig {
  return server.kind === 'ollama'
    ? { kind: 'ollama', baseUrl: server.baseUrl }
    : { kind: 'openai-compatible', baseUrl: `${server.baseUrl}/v1` };
}

function splitRef(ref: string): { readonly provider: string; readonly modelId: string } {
  const slash = ref.indexOf('/');
  return slash < 0 ? { provider: ref, modelId: '' } : { provider: ref.slice(0, slash), modelId: ref.slice(slash + 1) };
}

function totalTimeout(ref: string, totalMs: number): AppError {
  return new AppError('model_timeout', `${ref} has not finished its answer within ${totalMs} ms.`, { data: { limitMs: totalMs } });
}
