// The known models: those of the settings, those that local and configured servers offer, and the default one. Must not call a model. Only
// `look…` and `discover` ask servers; everything else reads memory.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config, ProviderConfig } from '../../contracts/config.ts';
import { toAppError } from '../../contracts/errors.ts';
import type { ModelInfo } from '../../contracts/llm.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { portalConfig } from './cortensor-client.ts';
import { embeddedModelId } from './embedded/engine-place.ts';
import type { EngineAccess } from './embedded/engine-access.ts';
import { readGgufHead } from './embedded/gguf-head.ts';
import { chooseDefault, demoRef, type DefaultChoice } from './default-model.ts';
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
import {
  describeModel,
  isLocalProvider,
  keysOf,
  preferredModel,
  serverToAsk,
  type KnownProvider,
  type ServerToAsk,
} from './model-catalog.ts';
import { OfferedModels } from './offered-models.ts';
import { withKeyHint } from './key-hint.ts';
import { PriceBook, type PriceList } from './price-book.ts';
import { offeredKeys } from './provider-presets.ts';
import { listServerModels, type ServerModel } from './server-models.ts';
import { ServerWindows } from './server-windows.ts';

const LIST_TIMEOUT_MS = 8_000;
/** The timeout of the first list, for which a person waits at the first start. */
const FIRST_LIST_TIMEOUT_MS = 4_000;
const LOOK_AGAIN_AFTER_MS = 2_000;
const DESCRIPTIONS_MAX = 2_000;

export interface ModelDirectoryDeps {
  readonly config: Pick<Config, 'providers' | 'models'>;
  readonly secrets: { resolve(ref: string): Promise<string> };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Addresses of local servers to probe; defaults to the usual ports. */
  readonly localServers?: readonly LocalServer[];
  readonly probeTimeoutMs?: number;
  /** Defaults to the built-in prices. */
  readonly prices?: Pick<PriceBook, 'find' | 'loaded'>;
  /** Runs GGUF files; without it models of that kind are refused. */
  readonly engine?: EngineAccess;
  /** The data folder; without it models of AI SDK packages are refused. */
  readonly home?: string;
  /** A server's actual window, if it is smaller than stated. */
  readonly learned?: { windowOf(ref: string): number | null };
  /** Searched for keys that can be offered; without it none are. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** The model of the newest conversation. Called only if nothing is configured and no local server answers. */
  readonly formerModel?: () => string | null;
}

export class ModelDirectory {
  readonly #deps: ModelDirectoryDeps;
  readonly #localServers: readonly LocalServer[];
  readonly #prices: Pick<PriceBook, 'find' | 'loaded'>;
  readonly #offered: OfferedModels;
  readonly #windows: ServerWindows;
  readonly #descriptions = new Map<
    string,
    {
      readonly config: ProviderConfig | undefined;
      readonly reported: number | null;
      readonly loaded: PriceList | null;
      readonly info: ModelInfo;
    }
  >();
  /** Windows by file, as stated in the file's head. */
  readonly #fileWindows = new Map<string, number | null>();
  #discovered: readonly DiscoveredModel[] = [];
  #looking: Promise<unknown> | null = null;
  /** The time of the last search, or null if none was started. */
  #lookedAtMs: number | null = null;
  #signal: AbortSignal | null = null;
  #former: string | null = null;
  #config: ModelDirectoryDeps['config'];

  constructor(deps: ModelDirectoryDeps) {
    this.#deps = deps;
    this.#config = deps.config;
    this.#localServers = deps.localServers ?? wellKnownServers;
    this.#prices = deps.prices ?? new PriceBook(null);
    this.#windows = new ServerWindows(deps.secrets);
    this.#offered = new OfferedModels({
      nowMs: () => deps.clock.nowMs(),
      list: (provider, signal) => this.#listModels(provider, signal),
    });
  }

  /** `changed` lists the providers whose settings have changed. */
  configure(config: ModelDirectoryDeps['config'], changed: readonly string[]): void {
    this.#config = config;
    for (const provider of changed) this.#offered.forget(provider);
    if (changed.length > 0) this.#windows.clear();
    this.#fileWindows.clear();
    // The facts that the default depends on may be unknown again.
    this.#lookedAtMs = null;
  }

  /** The default model, or why there is none. `ask`, the doctor and every list use this. */
  defaultChoice(): DefaultChoice {
    return chooseDefault({
      configured: this.#config.models.default ?? null,
      providers: Object.keys(this.#config.providers),
      modelOf: (provider) => this.#usualModel(provider),
      failureOf: (provider) => {
        const offered = this.#offered.of(provider);
        return offered?.ok === false ? offered.error : null;
      },
      found: this.#discovered[0]?.ref ?? null,
      former: this.#former,
      offers: this.#offers(),
    });
  }

  /** Never fails: an unknown provider gives defaults and no prices. */
  info(ref: string): ModelInfo {
    const told = this.told(ref);
    const learned = this.#deps.learned?.windowOf(ref) ?? null;
    return learned === null || learned >= told.contextTokens ? told : { ...told, contextTokens: learned };
  }

  /** The properties from config and the servers, ignoring what was learned since. */
  told(ref: string): ModelInfo {
    const { provider, modelId } = splitRef(ref);
    const found = this.#discovered.find((model) => model.ref === ref);
    const offered = this.#offered.find(provider, modelId);
    const reported = this.#windowOfFile(provider) ?? this.#windows.of(ref) ?? found?.contextTokens ?? offered?.contextTokens ?? null;
    const described = this.#described(ref, modelId, reported);
    const { inputUsdPerMillion, outputUsdPerMillion } = offered ?? { inputUsdPerMillion: null, outputUsdPerMillion: null };
    return described.inputUsdPerMillion === null && inputUsdPerMillion !== null
      ? { ...described, inputUsdPerMillion, outputUsdPerMillion }
      : described;
  }

  /** Cached while its inputs are unchanged, because it parses addresses and every request needs it. */
  #described(ref: string, modelId: string, reported: number | null): ModelInfo {
    const provider = this.provider(splitRef(ref).provider);
    const known = this.#descriptions.get(ref);
    const { loaded } = this.#prices;
    if (known !== undefined && known.config === provider?.config && known.reported === reported && known.loaded === loaded)
      return known.info;
    const info = describeModel({ ref, modelId, provider, reported }, this.#prices);
    if (this.#descriptions.size >= DESCRIPTIONS_MAX) this.#descriptions.clear();
    this.#descriptions.set(ref, { config: provider?.config, reported, loaded, info });
    return info;
  }

  /** Asks the server for the window of a model if it is unknown. Null if there is nothing to wait for; never rejects. */
  askWindow(ref: string, signal: AbortSignal): Promise<void> | null {
    return this.#windows.ask(ref, () => this.#serverToAsk(ref), signal);
  }

  /** The list of a local server states a model's full window, not the window it was loaded with. */
  #serverToAsk(ref: string): ServerToAsk | null {
    const { provider, modelId } = splitRef(ref);
    const known = this.provider(provider);
    if (known === null || this.#discovered.some((model) => model.ref === ref && model.contextTokens !== null)) return null;
    const listed = this.#offered.find(provider, modelId)?.contextTokens ?? null;
    return listed !== null && !isLocalProvider(known.config) ? null : serverToAsk(known.config, modelId);
  }

  list(): OpResult<'model.list'> {
    const { ref: defaultModel, problem } = this.defaultChoice();
    const listed = new Map<string, OpResult<'model.list'>['models'][number]>();
    const add = (ref: string, source: string): void => {
      if (!listed.has(ref)) listed.set(ref, { ...this.#describe(ref), isDefault: ref === defaultModel, source });
    };
    if (this.#config.models.default !== undefined) add(this.#config.models.default, 'configured');
    for (const provider of Object.keys(this.#config.providers)) {
      for (const modelId of this.#knownModels(provider)) add(`${provider}/${modelId}`, 'configured');
      const offered = this.#offered.of(provider);
      if (offered?.ok === true) for (const { modelId } of offered.models) add(`${provider}/${modelId}`, 'offered');
    }
    for (const model of this.#discovered) add(model.ref, model.source);
    if (defaultModel !== null) add(defaultModel, 'configured');
    add(demoRef, 'built in');
    const failed = Object.keys(this.#config.providers).flatMap((provider) => {
      const offered = this.#offered.of(provider);
      return offered?.ok === false ? [{ provider, error: offered.error.toBody() }] : [];
    });
    return { models: [...listed.values()], defaultModel, problem, failed, offers: this.#offers() };
  }

  #describe(ref: string) {
    const { provider, modelId } = splitRef(ref);
    const { contextTokens, inputUsdPerMillion, outputUsdPerMillion } = this.info(ref);
    const offered = this.#offered.of(provider);
    const missing = offered?.ok === true && offered.models.length > 0 && !offered.models.some((model) => model.modelId === modelId);
    const kind = this.provider(provider)?.config.kind ?? 'unknown';
    return { ref, provider, kind, contextTokens, inputUsdPerMillion, outputUsdPerMillion, ...(missing ? { missing } : {}) };
  }

  #offers() {
    return offeredKeys(this.#deps.environment ?? {}, this.#config.providers);
  }

  /**
   * Asks the servers of configured providers for their models, each at most once in a few minutes; asks the server of `only` immediately.
   * Never rejects.
   */
  async lookAtServers(signal: AbortSignal, only?: string): Promise<void> {
    const providers = Object.keys(this.#config.providers).filter((provider) => this.#config.providers[provider]?.kind !== 'demo');
    if (only === undefined) await this.#offered.look(providers, signal);
    else
      await this.#offered.look(
        providers.filter((provider) => provider === only),
        signal,
        true,
      );
  }

  /** Fails as a call of a model does. */
  async survey(provider: string, signal: AbortSignal): Promise<{ models: ModelInfo[]; usual: string | null }> {
    await this.#offered.look([provider], signal, true);
    const offered = this.#offered.of(provider);
    if (offered === null) throw abortReason(signal);
    if (!offered.ok) throw offered.error;
    return { models: offered.models.map(({ modelId }) => this.info(`${provider}/${modelId}`)), usual: this.#usualModel(provider) };
  }

  /** Probes local servers in parallel (at most about 300 ms each), stores and returns their models. Never rejects. */
  async discover(signal: AbortSignal): Promise<DiscoveredModel[]> {
    const servers = localServersToProbe(this.#config.providers, this.#localServers);
    const found = await discoverModels(servers, signal, this.#deps.probeTimeoutMs ?? probeTimeoutMsDefault);
    if (!signal.aborted) this.#discovered = found;
    this.#deps.logger.log('debug', 'looked for local model servers', { asked: servers.length, models: found.length });
    return found;
  }

  /**
   * Starts a search for a model if none is named: local servers if nothing is configured, else the list of the first provider without a
   * known model. Makes no request if `models.default` is set or a provider's default model is known.
   */
  lookAround(signal: AbortSignal): void {
    this.#signal = signal;
    const { models, providers } = this.#config;
    if (models.default !== undefined || this.#looking !== null) return;
    const names = Object.keys(providers);
    const known = names.find((provider) => this.#usualModel(provider) !== null);
    if (known !== undefined) return;
    this.#lookedAtMs = this.#deps.clock.nowMs();
    this.#looking = (names.length === 0 ? this.#findLocal(signal) : this.#offered.look(names, signal, true)).finally(() => {
      this.#looking = null;
    });
  }

  async #findLocal(signal: AbortSignal): Promise<void> {
    const found = await this.discover(signal);
    // The runtime was closed in the meantime, so the log is no longer available.
    if (signal.aborted) return;
    this.#former = found.length === 0 ? (this.#deps.formerModel?.() ?? null) : null;
  }

  /** Resolves when the search is over; null if there is nothing to wait for. Searches again if there was no default. */
  ready(): Promise<unknown> | null {
    if (this.#looking === null && this.#signal !== null && this.defaultChoice().ref === null) {
      const sinceMs = this.#lookedAtMs === null ? Infinity : this.#deps.clock.nowMs() - this.#lookedAtMs;
      if (sinceMs >= LOOK_AGAIN_AFTER_MS) this.lookAround(this.#signal);
    }
    return this.#looking;
  }

  /** The configured provider, else a local server by its usual name (found or not), else the demo, else null. */
  provider(name: string): KnownProvider | null {
    const config = this.#config.providers[name];
    if (config !== undefined) return { config, isDiscovered: false };
    if (name === 'demo') return { config: { kind: 'demo' }, isDiscovered: false };
    const found = this.#discovered.find((model) => model.provider === name);
    if (found !== undefined) return { config: { kind: found.kind, baseUrl: found.baseUrl }, isDiscovered: true };
    const usual = this.#localServers.find((server) => server.provider === name);
    return usual === undefined ? null : { config: usualConfig(usual), isDiscovered: true };
  }

  /** The models named in the settings and those a search found. */
  #knownModels(provider: string): string[] {
    const config = this.#config.providers[provider];
    if (config === undefined) return [];
    if (config.kind === 'demo') return [demoModelId];
    if (config.kind === 'embedded') return [embeddedModelId(config.file)];
    const found = this.#discovered.filter((model) => model.provider === provider).map((model) => model.modelId);
    return [...new Set([...Object.keys(config.prices ?? {}), ...found])];
  }

  /** The default model: one named in the settings, else the preferred one of the server's list, if known. */
  #usualModel(provider: string): string | null {
    const config = this.#config.providers[provider];
    if (config === undefined) return null;
    const [named] = this.#knownModels(provider);
    if (named !== undefined) return named;
    const offered = this.#offered.of(provider);
    return preferredModel(config, offered?.ok === true ? offered.models.map(({ modelId }) => modelId) : null);
  }

  /** Fails as a call of the model does. */
  #modelInFile(file: string): ServerModel {
    const { contextTokens } = readGgufHead(this.#deps.engine?.pathOf(file) ?? file);
    return { modelId: embeddedModelId(file), contextTokens, inputUsdPerMillion: null, outputUsdPerMillion: null };
  }

  /** Reads the window once; null for anything that is not a file or cannot be read. */
  #windowOfFile(provider: string): number | null {
    const config = this.#config.providers[provider];
    if (config?.kind !== 'embedded') return null;
    const known = this.#fileWindows.get(config.file);
    if (known !== undefined) return known;
    const window = this.#readWindow(config.file);
    this.#fileWindows.set(config.file, window);
    return window;
  }

  #readWindow(file: string): number | null {
    try {
      return this.#modelInFile(file).contextTokens;
    } catch {
      // The call reports why the file cannot be read.
      return null;
    }
  }

  async #listModels(provider: string, signal: AbortSignal): Promise<readonly ServerModel[]> {
    const given = this.#config.providers[provider];
    const config = given?.kind === 'cortensor' ? portalConfig(given) : given;
    // A router node has one model, that of its session, and no list.
    if (config === undefined || config === null || config.kind === 'demo' || config.kind === 'ai-sdk') return [];
    if (config.kind === 'embedded') {
      const model = this.#modelInFile(config.file);
      this.#fileWindows.set(config.file, model.contextTokens);
      return [model];
    }
    const [ref = null] = keysOf(config);
    const key = ref === null ? null : (await this.#deps.secrets.resolve(ref)).trim();
    const timeoutMs = this.#looking === null ? LIST_TIMEOUT_MS : FIRST_LIST_TIMEOUT_MS;
    try {
      return await listServerModels({ provider, config, key, signal, timeoutMs, nowMs: this.#deps.clock.nowMs() });
    } catch (cause) {
      throw withKeyHint(toAppError(cause), ref);
    }
  }
}

function usualConfig(server: LocalServer): ProviderConfig {
  return server.kind === 'ollama'
    ? { kind: 'ollama', baseUrl: server.baseUrl }
    : { kind: 'openai-compatible', baseUrl: `${server.baseUrl}/v1` };
}

export function splitRef(ref: string): { readonly provider: string; readonly modelId: string } {
  const slash = ref.indexOf('/');
  return slash < 0 ? { provider: ref, modelId: '' } : { provider: ref.slice(0, slash), modelId: ref.slice(slash + 1) };
}
