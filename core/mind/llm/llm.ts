// The interface of the model module: the models, their prices, and one streamed call with timeouts and retries. Must not know wire formats,
// and must not touch the network or import a provider package before it is called.

import { sleep as realSleep } from '../../base/deferred.ts';
import { RandomIds } from '../../base/ids.ts';
import type { ProviderConfig } from '../../contracts/config.ts';
import { AppError } from '../../contracts/errors.ts';
import type { DeltaSink, ModelClient, ModelInfo, ModelReply, ModelRequest, Usage, ToolSchema } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { runAttempt, type AttemptOutcome } from './attempt.ts';
import { createClient } from './client-factory.ts';
import { abortReason } from './http-transport.ts';
import type { DefaultChoice } from './default-model.ts';
import type { DiscoveredModel } from './local-servers.ts';
import { costOf } from './model-catalog.ts';
import { withKeyHint } from './key-hint.ts';
import { ModelDirectory, splitRef, type ModelDirectoryDeps } from './model-directory.ts';
import { providerPresets } from './provider-presets.ts';
import { mayAskAgain, retryWaitMs, type FailedAttempt } from './retry-policy.ts';
import { RefusedWordsInMemory, type RefusedWordsStore } from './wire-words.ts';

export type { DiscoveredModel, LocalServer } from './local-servers.ts';
export { handedOverKey } from './key-hint.ts';
export { ExactCounters } from './exact-counters.ts';
export { ModelLearning, modelMigrations } from './model-learning.ts';
export { estimateTokens } from './token-estimate.ts';

export interface ModelRouterDeps extends ModelDirectoryDeps {
  /** Waits between tries; resolves false when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<boolean>;
  /** [0, 1), for the jitter of waits. */
  readonly random?: () => number;
  /** Ids for calls the server gave none. */
  readonly nextCallId?: () => string;
  /** Keeps what servers refused beyond this process; without it, it is learned again at each start. */
  readonly refusedWords?: RefusedWordsStore;
}

export interface StreamOptions {
  readonly signal: AbortSignal;
  /** Called before each wait; `attempt` is the failed one, 1 for the first. */
  onRetry?(info: { readonly attempt: number; readonly waitMs: number; readonly error: AppError }): void;
}

export type RoutedReply = ModelReply & {
  /** From the start of the successful try to the first text, reasoning or call; null when there was none. */
  readonly firstTokenMs: number | null;
};

export interface TrialOptions {
  readonly provider?: ProviderConfig | undefined;
  /** The plain key, used instead of the provider's reference. */
  readonly key?: string | undefined;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

export interface ProbeOptions extends TrialOptions {
  /** Sent along as a turn sends them: a server that refuses them refuses every turn. */
  readonly tools: readonly ToolSchema[];
}

/** Some vendors take no smaller limit than 16. */
const probeRequest = { system: '', messages: [{ role: 'user' as const, text: 'Say ok.' }], maxOutputTokens: 16 };

export class ModelRouter {
  readonly #deps: ModelRouterDeps;
  readonly #directory: ModelDirectory;
  #config: ModelRouterDeps['config'];
  readonly #clients = new Map<string, { readonly baseUrl: string | undefined; readonly client: Promise<ModelClient> }>();
  readonly #nextCallId: () => string;
  readonly #refusedWords: RefusedWordsStore;

  constructor(deps: ModelRouterDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#directory = new ModelDirectory(deps);
    this.#refusedWords = deps.refusedWords ?? new RefusedWordsInMemory();
    const ids = new RandomIds(() => deps.clock.nowMs());
    this.#nextCallId = deps.nextCallId ?? (() => ids.next('call'));
  }

  /** Replaces models and providers. A running call continues unchanged. */
  configure(config: ModelRouterDeps['config']): void {
    const before = this.#config.providers;
    const changed = Object.keys(before).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(config.providers[name]));
    this.#config = config;
    for (const provider of changed) this.#forget(provider);
    this.#directory.configure(config, changed);
  }

  defaultChoice(): DefaultChoice {
    return this.#directory.defaultChoice();
  }

  defaultRef(): string | null {
    return this.#directory.defaultChoice().ref;
  }

  info(ref: string): ModelInfo {
    return this.#directory.info(ref);
  }

  /** Asks the server of a model whose window is not known how much it takes. Null where there is nothing to wait for; never rejects. */
  askWindow(ref: string, signal: AbortSignal): Promise<void> | null {
    return this.#directory.askWindow(ref, signal);
  }

  knows(ref: string): boolean {
    return this.#directory.provider(splitRef(ref).provider) !== null;
  }

  list(): OpResult<'model.list'> {
    return this.#directory.list();
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

  /** US dollars, or null when a price is unknown. */
  cost(ref: string, usage: Usage): number | null {
    return costOf(this.info(ref), usage);
  }

  /**
   * One reply, streamed to `sink`. Fails with an AppError: `model_*`, `secret_missing`, or `cancelled` once the signal aborts. Retries
   * (config.models.retries) only while the sink has received nothing; the total limit covers all tries and waits.
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

  /** A tiny request to a model, tried once over separate connections; its provider need not be in config. Fails as `stream`. */
  async probe(ref: string, how: ProbeOptions): Promise<{ reply: RoutedReply; costUsd: number | null }> {
    const { models } = this.#config;
    const { timeoutMs: totalMs, signal, tools } = how;
    const timeouts = { ...models.timeouts, firstTokenMs: totalMs, idleMs: totalMs, totalMs };
    const router = this.#trial(splitRef(ref).provider, how, { ...models, retries: 0, timeouts });
    try {
      const reply = await router.stream(ref, { ...probeRequest, tools }, { text: () => undefined }, { signal });
      return { reply, costUsd: router.cost(ref, reply.usage) };
    } finally {
      await router.close();
    }
  }

  /** Lists the models a provider's server offers and its default one; the provider need not be in config. Fails as `stream`. */
  async survey(name: string, how: TrialOptions): Promise<{ models: ModelInfo[]; usual: string | null }> {
    const router = this.#trial(name, how, this.#config.models);
    return router.#directory.survey(name, how.signal);
  }

  /** A separate router with one more provider, for testing it. */
  #trial(name: string, { provider, key }: TrialOptions, models: ModelRouterDeps['config']['models']): ModelRouter {
    const { providers } = this.#config;
    const tried = provider === undefined ? providers : { ...providers, [name]: provider };
    const secrets = key === undefined ? this.#deps.secrets : { resolve: () => Promise.resolve(key) };
    return new ModelRouter({ ...this.#deps, secrets, config: { providers: tried, models } });
  }

  /** Drops all connections. The router can be used again; clients are recreated. */
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
    let adaptations = 0;
    for (let attempt = 1; ; attempt++) {
      const answer = async (watched: DeltaSink, signal: AbortSignal): Promise<ModelReply> => {
        const client = await this.#client(provider);
        return client.stream(full, watched, signal);
      };
      const outcome = await runAttempt({ provider, limits, clock, run: answer }, sink, run.signal);
      if (outcome.ok) return { ...outcome.reply, firstTokenMs: outcome.firstTokenMs };
      const hasDelivered = isBilled(outcome);
      const error = withKeyHint(outcome.error, this.#directory.provider(provider)?.config ?? null);
      if (error.code === 'model_auth') this.#forget(provider);
      const { leftOut } = error.data;
      const isAdapted = adaptations === 0 && isAdaptable(error, hasDelivered);
      if (isAdapted) adaptations += 1;
      const failed = { attempt: attempt - adaptations, error, hasDelivered };
      const waitMs = run.signal.aborted ? null : isAdapted ? 0 : retryWaitMs(failed, config.models.retries, random);
      if (waitMs === null) throw lastError(failed, config.models.retries);
      this.#deps.logger.log('info', 'a model call is tried again', { ref, attempt, waitMs, code: error.code, leftOut });
      run.options.onRetry?.({ attempt, waitMs, error });
      if (!(await sleep(waitMs, run.signal))) throw abortReason(run.signal);
    }
  }

  #client(provider: string): Promise<ModelClient> {
    const known = this.#directory.provider(provider);
    if (known === null) {
      return Promise.reject(
        new AppError('model_unknown', `There is no provider "${provider}" in config.yaml.`, {
          data: { provider, hint: 'Set it up with: trayclaw setup, or choose one of: trayclaw models' },
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
      contextTokens: (name, modelId) => this.#directory.told(`${name}/${modelId}`).contextTokens,
      refusedWords: this.#refusedWords,
    });
    this.#clients.set(provider, { baseUrl, client });
    client.catch(() => {
      if (this.#clients.get(provider)?.client === client) this.#clients.delete(provider);
    });
    return client;
  }

  /** A refused key may have been changed since: the next call resolves it again. Calls in flight keep their client until they end. */
  #forget(provider: string): void {
    this.#clients.delete(provider);
  }
}

function totalTimeout(ref: string, totalMs: number): AppError {
  return new AppError('model_timeout', `${ref} has not finished its answer within ${totalMs} ms.`, { data: { limitMs: totalMs } });
}

/** An answer that had begun and broke off was most likely billed, even if none of it was shown. */
function isBilled({ error, hasDelivered, hasBegun }: Extract<AttemptOutcome, { ok: false }>): boolean {
  return hasDelivered || (hasBegun && error.code === 'model_cut_off');
}

function lastError(failed: FailedAttempt, retriesMax: number): AppError {
  if (!mayAskAgain(failed, retriesMax)) return failed.error;
  const { code, message, data, isRetryable, cause } = failed.error;
  return new AppError(code, message, { data: { ...data, mayAskAgain: true }, isRetryable, cause });
}

/** The server named a refused field, and the next request omits it: once a call, independent of `retries`. */
function isAdaptable(error: AppError, hasDelivered: boolean): boolean {
  return error.data['leftOut'] !== undefined && !hasDelivered;
}
