// The interface of the model module: the models, their prices, and one streamed call with timeouts and retries. Must not know wire formats,
// and must not touch the network or import a provider package before it is called.

import { sleep as realSleep } from '../../base/waits.ts';
import { RandomIds } from '../../base/ids.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import type { AppError } from '../../contracts/errors.ts';
import { isRouteRef } from '../../contracts/route-name.ts';
import type { DeltaSink, ModelClient, ModelInfo, ModelReply, ModelRequest, Usage, ToolSchema } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { runAttempt, type AttemptOutcome } from './attempt.ts';
import {
  begunError,
  isAdaptable,
  isBilled,
  lastError,
  totalTimeout,
  unknownProvider,
  unknownModel,
  unknownRoute,
  type FailedOutcome,
} from './call-errors.ts';
import { createClient } from './client-factory.ts';
import { abortReason } from './http-transport.ts';
import type { DefaultChoice } from './default-model.ts';
import type { DiscoveredModel } from './local-servers.ts';
import { costOf, isRunLocally, keysOf } from './model-catalog.ts';
import { withKeyHint } from './key-hint.ts';
import { ModelDirectory, splitRef, type ModelDirectoryDeps } from './model-directory.ts';
import { providerPresets } from './provider-presets.ts';
import { retryWaitMs } from './retry-policy.ts';
import { classOf, failoverTable } from './routes/failover-table.ts';
import { pickKey } from './routes/key-ring.ts';
import { ModelHealth, subjectsOf, type HealthStore } from './routes/model-health.ts';
import { Routes } from './routes/routes.ts';
import { streamRoute } from './routes/stream-route.ts';
import { RefusedWordsInMemory, type RefusedWordsStore } from './wire-words.ts';

export type { DiscoveredModel, LocalServer } from './local-servers.ts';
export { bareKey, handedOverKey, otherVendorHint } from './key-hint.ts';
export { ExactCounters } from './exact-counters.ts';
export { ModelLearning, modelMigrations } from './model-learning.ts';
export { keysOf } from './model-catalog.ts';
export { estimateTokens } from './token-estimate.ts';
export { newestModel } from './newest-model.ts';
export { keptHealth } from './routes/kept-health.ts';
export { noCandidate } from './routes/stream-route.ts';
export type { RouteAsk, Routes } from './routes/routes.ts';
export type { RouteChoice } from './routes/route-choice.ts';
export { EngineAccess } from './embedded/engine-access.ts';
export type { StartChild } from './embedded/embedded-engine.ts';
export { engineFolder, engineTarget, engineVersion, installedEngine } from './embedded/engine-place.ts';
export { builtInOn, vendors, type Vendor } from './model-prices.ts';
export { listedModelSchema, PriceBook, type ListedModel, type PriceList } from './price-book.ts';
export { readGgufHead } from './embedded/gguf-head.ts';
export { CortensorRouter, type CortensorVerdict } from './cortensor-router.ts';

export interface ModelRouterDeps extends ModelDirectoryDeps {
  /** Waits between retries; resolves to false when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** Returns a number in [0, 1) for the jitter of waits. */
  readonly random?: () => number;
  /** Creates ids for calls to which the server gave none. */
  readonly nextCallId?: () => string;
  /** Stores what servers refused across restarts; without it, refusals are learned again at each start. */
  readonly refusedWords?: RefusedWordsStore;
  /** Stores cool-downs across restarts. */
  readonly health?: HealthStore;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Makes a single attempt, because the caller retries. Another key of the provider is still tried. */
  readonly once?: boolean;
  /** Called before each wait; `attempt` is the failed attempt, 1 for the first. */
  onRetry?(info: { readonly attempt: number; readonly waitMs: number; readonly error: AppError }): void;
}

export type RoutedReply = ModelReply & {
  /** From the start of the successful attempt to the first text, reasoning or call; null if there was none. */
  readonly firstTokenMs: number | null;
  /** The candidate that answered, if a route was named. */
  readonly model?: string;
};

export interface TrialOptions {
  readonly provider?: ProviderConfig | undefined;
  /** The plain key, used instead of the provider's reference. */
  readonly key?: string | undefined;
  readonly signal: AbortSignal;
}

export interface ProbeOptions extends TrialOptions {
  readonly timeoutMs: number;
  /** Included as in a turn, because a server that refuses them refuses every turn. */
  readonly tools: readonly ToolSchema[];
}

/** Some vendors accept no limit below 16. */
export const probeTokensMax = 16;
const probeRequest = { system: '', messages: [{ role: 'user' as const, text: 'Say ok.' }], maxOutputTokens: probeTokensMax };

export class ModelRouter {
  readonly #deps: ModelRouterDeps;
  readonly #directory: ModelDirectory;
  #config: ModelRouterDeps['config'];
  readonly #clients = new Map<string, { readonly baseUrl: string | undefined; readonly client: Promise<ModelClient> }>();
  readonly #nextCallId: () => string;
  readonly #refusedWords: RefusedWordsStore;
  readonly #health: ModelHealth;
  readonly routes: Routes;

  constructor(deps: ModelRouterDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#directory = new ModelDirectory(deps);
    this.#refusedWords = deps.refusedWords ?? new RefusedWordsInMemory();
    this.#health = new ModelHealth(() => deps.clock.nowMs(), deps.health);
    const known = { info: (ref: string) => this.#directory.info(ref), provider: (name: string) => this.#directory.provider(name) };
    this.routes = new Routes({ clock: deps.clock, health: this.#health, ...known }, deps.config);
    const ids = new RandomIds(() => deps.clock.nowMs());
    this.#nextCallId = deps.nextCallId ?? (() => ids.next('call'));
  }

  /** Replaces models and providers. Calls in flight continue unchanged. */
  configure(config: ModelRouterDeps['config']): void {
    const before = this.#config.providers;
    const changed = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(config.providers[name]));
    this.#config = config;
    for (const provider of changed) {
      this.#forget(provider);
      this.#health.forget(provider);
    }
    this.routes.configure(config);
    this.#directory.configure(config, changed);
  }

  defaultChoice(): DefaultChoice {
    return this.#directory.defaultChoice();
  }

  defaultRef(): string | null {
    return this.#directory.defaultChoice().ref;
  }

  /** For a route: what every one of its candidates supports. */
  info(ref: string): ModelInfo {
    return this.routes.has(ref) ? this.routes.info(ref) : this.#directory.info(ref);
  }

  /** Asks the server for the window of a model if it is unknown. Null if there is nothing to wait for; never rejects. */
  askWindow(ref: string, signal: AbortSignal): Promise<void> | null {
    return this.#directory.askWindow(ref, signal);
  }

  knows(ref: string): boolean {
    return this.routes.has(ref) || this.#directory.provider(splitRef(ref).provider) !== null;
  }

  /** Fails with `model_unknown` and a hint that lists the known models. */
  assertKnown(ref: string): void {
    if (!this.knows(ref)) throw unknownModel(ref, this.list());
  }

  list(): OpResult<'model.list'> {
    const listed = this.#directory.list();
    if (this.routes.refs.length === 0) return listed;
    const { defaultModel } = listed;
    const routes = this.routes.refs.map((ref) => {
      const { contextTokens, inputUsdPerMillion, outputUsdPerMillion } = this.routes.info(ref);
      const about = { contextTokens, inputUsdPerMillion, outputUsdPerMillion, isDefault: ref === defaultModel, source: 'route' };
      return { ref, provider: 'route', kind: 'route', ...about };
    });
    return { ...listed, models: [...routes, ...listed.models.filter(({ ref }) => !this.routes.has(ref))] };
  }

  /** Returns whether requests to the model stay on this computer. */
  isLocal(ref: string): boolean {
    const { provider, modelId } = splitRef(ref);
    const known = this.#directory.provider(provider);
    return known !== null && isRunLocally(known.config, modelId);
  }

  /** Saves changes to the health of models. Meant for idle time. */
  save(): void {
    this.#health.save();
  }

  lookAtServers(signal: AbortSignal, only?: string): Promise<void> {
    return this.#directory.lookAtServers(signal, only);
  }

  discover(signal: AbortSignal): Promise<DiscoveredModel[]> {
    return this.#directory.discover(signal);
  }

  lookAround(signal: AbortSignal): void {
    this.#directory.lookAround(signal);
  }

  ready(): Promise<unknown> | null {
    return this.#directory.ready();
  }

  /** US dollars, or null if a price is unknown. */
  cost(ref: string, usage: Usage): number | null {
    return costOf(this.info(ref), usage);
  }

  /**
   * Streams one reply to `sink`. Fails with an AppError: `model_*`, `secret_missing`, or `cancelled` once the signal aborts. Retries
   * (config.models.retries) only while the sink has received nothing; the total limit covers all attempts and waits.
   */
  async stream(ref: string, request: Omit<ModelRequest, 'modelId'>, sink: DeltaSink, options: StreamOptions): Promise<RoutedReply> {
    if (this.routes.has(ref)) {
      const stream = (model: string, watched: DeltaSink, once: boolean): Promise<RoutedReply> =>
        this.stream(model, request, watched, { ...options, ...(once ? { once } : {}) });
      return streamRoute({ routes: this.routes, stream }, ref, request, { sink, signal: options.signal });
    }
    if (isRouteRef(ref) && !this.knows(ref)) throw unknownRoute(ref);
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

  /** Sends a tiny request to a model once, over separate connections. The provider may be missing in config. Fails as `stream` does. */
  async probe(ref: string, how: ProbeOptions): Promise<{ reply: RoutedReply; costUsd: number | null }> {
    const { models } = this.#config;
    const { timeoutMs: totalMs, signal, tools } = how;
    const timeouts = { ...models.timeouts, firstTokenMs: totalMs, idleMs: totalMs, totalMs };
    const router = this.#trial(splitRef(ref).provider, how, { ...models, retries: 0, timeouts });
    try {
      const reply = await router.stream(ref, { ...probeRequest, tools }, { text: () => undefined }, { signal });
      return { reply, costUsd: router.cost(reply.model ?? ref, reply.usage) };
    } finally {
      await router.close();
    }
  }

  /** Lists the models a provider's server offers and its default one. The provider may be missing in config. Fails as `stream` does. */
  async survey(name: string, how: TrialOptions): Promise<{ models: ModelInfo[]; usual: string | null }> {
    const router = this.#trial(name, how, this.#config.models);
    return router.#directory.survey(name, how.signal);
  }

  /** A separate router with one more provider, for testing it. */
  #trial(name: string, { provider, key }: TrialOptions, models: ModelRouterDeps['config']['models']): ModelRouter {
    const { providers } = this.#config;
    const tried = provider === undefined ? providers : { ...providers, [name]: provider };
    const secrets = key === undefined ? this.#deps.secrets : { resolve: () => Promise.resolve(key) };
    return new ModelRouter({ ...withoutHealth(this.#deps), secrets, config: { providers: tried, models } });
  }

  /** Called when the program ends. */
  dispose(): Promise<void> {
    this.save();
    return this.close();
  }

  /** Closes all connections. The router can still be used; clients are recreated. */
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
    const { timeouts: limits, retries } = this.#config.models;
    const retriesMax = run.options.once === true ? 0 : retries;
    const full: ModelRequest = { ...request, modelId };
    const free: FreeTries = { adaptations: 0, keys: 0 };
    for (let attempt = 1; ; attempt++) {
      const key = this.#keyFor(ref);
      const answer = async (watched: DeltaSink, signal: AbortSignal): Promise<ModelReply> => {
        const client = await this.#client(provider, key.keyRef);
        return client.stream(full, watched, signal);
      };
      const outcome = await runAttempt({ provider, limits, clock, run: answer }, sink, run.signal);
      this.#tell(ref, key, outcome, run.options.signal);
      if (outcome.ok) return { ...outcome.reply, firstTokenMs: outcome.firstTokenMs };
      const error = withKeyHint(outcome.error, key.keyRef);
      if (error.code === 'model_auth') this.#forget(provider);
      const freeTry = this.#freeTry(ref, key, { error, outcome, free });
      if (freeTry !== null) free[freeTry] += 1;
      const failed = { attempt: attempt - free.adaptations - free.keys, error, hasDelivered: isBilled(outcome) };
      const waitMs = run.signal.aborted ? null : freeTry !== null ? 0 : retryWaitMs(failed, retriesMax, random);
      if (waitMs === null) throw run.options.once === true ? begunError(error, outcome) : lastError(failed, retriesMax);
      const { leftOut } = error.data;
      this.#deps.logger.log('info', 'a model call is tried again', { ref, attempt, waitMs, code: error.code, leftOut });
      run.options.onRetry?.({ attempt, waitMs, error });
      if (!(await sleep(waitMs, run.signal))) throw abortReason(run.signal);
    }
  }

  /** Which free attempt may follow: without the fields that were refused, or with another key. Null if it would be identical. */
  #freeTry(ref: string, key: UsedKey, { error, outcome, free }: FailedTry): keyof FreeTries | null {
    const hasDelivered = isBilled(outcome);
    if (free.adaptations === 0 && isAdaptable(error, hasDelivered)) return 'adaptations';
    const mayChange = !hasDelivered && free.keys < key.others;
    return mayChange && this.#keyFor(ref).keyRef !== key.keyRef ? 'keys' : null;
  }

  #keyFor(ref: string): UsedKey {
    const known = this.#directory.provider(splitRef(ref).provider);
    const keys = known === null ? [null] : keysOf(known.config);
    return { keyRef: keys.length === 1 ? (keys[0] ?? null) : pickKey(ref, keys, this.#health).keyRef, others: keys.length - 1 };
  }

  /** Records how an attempt did. Tracks only models of routes and providers with several keys: nothing else is chosen by health. */
  #tell(ref: string, { keyRef, others }: UsedKey, outcome: AttemptOutcome, wanted: AbortSignal): void {
    const isCandidate = this.routes.leadsTo(ref);
    if (!isCandidate && others === 0) return;
    const subjects = subjectsOf(ref, keyRef);
    if (outcome.ok) return this.#health.answered(ref, subjects, isCandidate ? outcome.firstTokenMs : null);
    // The call was cancelled, which says nothing about the model.
    if (wanted.aborted) return this.#health.endTrial(subjects);
    const { cools } = failoverTable[classOf(outcome.error)];
    if (isCandidate || cools === 'key' || cools === 'key and model') this.#health.failed(subjects, outcome.error);
  }

  #client(provider: string, keyRef: string | null): Promise<ModelClient> {
    const known = this.#directory.provider(provider);
    if (known === null) return Promise.reject(unknownProvider(provider));
    const baseUrl = 'baseUrl' in known.config ? known.config.baseUrl : undefined;
    const name = `${provider}\n${keyRef ?? ''}`;
    const open = this.#clients.get(name);
    if (open !== undefined && open.baseUrl === baseUrl) return open.client;
    this.#clients.delete(name);
    const client = createClient(provider, known.config, {
      keyRef,
      secrets: this.#deps.secrets,
      connectTimeoutMs: this.#config.models.timeouts.connectMs,
      nowMs: () => this.#deps.clock.nowMs(),
      nextCallId: this.#nextCallId,
      contextTokens: (ofProvider, modelId) => this.#directory.told(`${ofProvider}/${modelId}`).contextTokens,
      refusedWords: this.#refusedWords,
      engine: this.#deps.engine ?? null,
      home: this.#deps.home ?? null,
    });
    this.#clients.set(name, { baseUrl, client });
    client.catch(() => {
      if (this.#clients.get(name)?.client === client) this.#clients.delete(name);
    });
    return client;
  }

  /** A refused key may have been changed since, so the next call resolves it again. Calls in flight keep their client until they end. */
  #forget(provider: string): void {
    for (const open of this.#clients.keys()) if (open.startsWith(`${provider}\n`)) this.#clients.delete(open);
  }
}

interface UsedKey {
  readonly keyRef: string | null;
  /** The number of other keys of the provider. */
  readonly others: number;
}

/** Attempts that do not count as retries. */
interface FreeTries {
  adaptations: number;
  keys: number;
}

interface FailedTry {
  readonly error: AppError;
  readonly outcome: FailedOutcome;
  readonly free: FreeTries;
}

function withoutHealth({ health: _kept, ...deps }: ModelRouterDeps): ModelRouterDeps {
  return deps;
}
