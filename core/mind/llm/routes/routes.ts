// Applies the routes of config.yaml: takes a snapshot of the candidates, chooses one, and records how each candidate did. Must not ask a
// server; the router reports the result of each call.

import type { Clock } from '../../../base/clock.ts';
import type { Config, ProviderConfig } from '../../../contracts/config.ts';
import type { AppError } from '../../../contracts/errors.ts';
import type { ModelInfo } from '../../../contracts/llm.ts';
import type { RouteConfig, RouteWhen } from '../../../contracts/model-routes.ts';
import { isRouteRef, routeNameOf, routeRefOf } from '../../../contracts/route-name.ts';
import { costOf, isCloudModel, isLocalProvider, keysOf, type KnownProvider } from '../model-catalog.ts';
import { splitRef } from '../model-directory.ts';
import { classOf, failoverTable, failureWords } from './failover-table.ts';
import { pickKey } from './key-ring.ts';
import { subjectsOf, type Health, type ModelHealth } from './model-health.ts';
import { chooseCandidate, type CandidateFacts, type RouteChoice, type RouteSnapshot } from './route-choice.ts';

export interface RouteAsk {
  /** The size of the request. */
  readonly tokens: number;
  readonly hasTools: boolean;
  /** Called only if a condition depends on it. */
  readonly hasImages: () => boolean;
  readonly isPrivate: () => boolean;
  readonly usdLeft: () => number | null;
  readonly sticky: string | null;
  readonly tried: ReadonlySet<string>;
  /** Equal seeds give equal draws. */
  readonly seed: string;
}

export interface ExplainedRoute extends RouteChoice {
  readonly details: readonly { readonly latencyMs: number | null; readonly coolingMs: number; readonly problem: string | null }[];
}

export interface RoutesDeps {
  readonly clock: Clock;
  readonly health: ModelHealth;
  info(ref: string): ModelInfo;
  provider(name: string): KnownProvider | null;
}

interface Candidate {
  readonly model: string;
  readonly when: RouteWhen | undefined;
  readonly weight: number | null;
}

interface Site {
  readonly isLocal: boolean;
  readonly seesImages: boolean;
  readonly keys: readonly (string | null)[];
}

interface Route {
  readonly prefer: RouteConfig['prefer'];
  readonly localOnly: boolean;
  readonly candidates: readonly Candidate[];
  readonly asksImages: boolean;
  readonly asksPrivate: boolean;
}

/** The size of an answer assumed when prices are compared. */
const ANSWER_TOKENS = 1_000;
const TRIAL_MS = 60_000;
const noTried: ReadonlySet<string> = new Set();

export class Routes {
  readonly #deps: RoutesDeps;
  #routes = new Map<string, Route>();
  /** Facts derived from a provider's settings alone, keyed by those settings. */
  readonly #sites = new WeakMap<ProviderConfig, Site>();
  /** Every candidate of every route. */
  #models: ReadonlySet<string> = new Set();
  #retries = 0;

  constructor(deps: RoutesDeps, config: Pick<Config, 'models'>) {
    this.#deps = deps;
    this.configure(config);
  }

  configure({ models }: Pick<Config, 'models'>): void {
    this.#retries = models.retries;
    this.#routes = new Map(Object.entries(models.routes).map(([name, route]) => [name, readRoute(route)]));
    this.#models = new Set([...this.#routes.values()].flatMap(({ candidates }) => candidates.map(({ model }) => model)));
  }

  /** How often all candidates are tried again from the start. */
  get retries(): number {
    return this.#retries;
  }

  get refs(): string[] {
    return [...this.#routes.keys()].map(routeRefOf);
  }

  has(ref: string): boolean {
    return isRouteRef(ref) && this.#routes.has(routeNameOf(ref));
  }

  leadsTo(model: string): boolean {
    return this.#models.has(model);
  }

  candidatesOf(ref: string): readonly string[] {
    return this.#routes.get(routeNameOf(ref))?.candidates.map(({ model }) => model) ?? [];
  }

  /** The limits that hold for every candidate: the smallest window and the highest price of a request. */
  info(ref: string): ModelInfo {
    const infos = this.candidatesOf(ref).map((model) => this.#deps.info(model));
    const highest = (price: (info: ModelInfo) => number | null): number | null => {
      const prices = infos.map(price);
      return prices.length === 0 || prices.includes(null) ? null : Math.max(...prices.filter((one) => one !== null));
    };
    return {
      ref,
      contextTokens: infos.length === 0 ? this.#deps.info(ref).contextTokens : Math.min(...infos.map(({ contextTokens }) => contextTokens)),
      inputUsdPerMillion: highest((info) => info.inputUsdPerMillion),
      cachedInputUsdPerMillion: highest((info) => info.cachedInputUsdPerMillion ?? info.inputUsdPerMillion),
      outputUsdPerMillion: highest((info) => info.outputUsdPerMillion),
    };
  }

  /** Chooses a candidate for a request that is about to be sent. A candidate on trial is not chosen a second time meanwhile. */
  choose(ref: string, ask: RouteAsk): RouteChoice {
    const choice = this.preview(ref, ask);
    if (choice.chosen !== null) this.#deps.health.beginTrial(this.#subjects(choice.chosen), TRIAL_MS);
    return choice;
  }

  /** Like `choose`, but changes nothing. */
  preview(ref: string, ask: RouteAsk): RouteChoice {
    const snapshot = this.#snapshot(ref, ask);
    if (snapshot === null) return { ...nothing, reason: `there is no route "${routeNameOf(ref)}" in models.routes` };
    return chooseCandidate(snapshot);
  }

  /** Returns the choice with the facts about each candidate. A directly named model is its own only candidate. */
  explain(ref: string, ask: RouteAsk): ExplainedRoute {
    const snapshot = this.has(ref) ? this.#snapshot(ref, ask) : isRouteRef(ref) ? null : this.#direct(ref, ask);
    if (snapshot === null) return { ...nothing, reason: `there is no route "${routeNameOf(ref)}" in models.routes`, details: [] };
    const choice = chooseCandidate(snapshot);
    return {
      ...choice,
      ...(isRouteRef(ref) || choice.chosen === null ? {} : { reason: 'it was named; no route is involved' }),
      details: snapshot.candidates.map(({ latencyMs, health, problem }) => ({
        latencyMs,
        coolingMs: health.state === 'cooling' ? Math.max(0, Math.round(health.untilMs - snapshot.nowMs)) : 0,
        problem: problem ?? (health.state === 'ok' ? null : failureWords[health.why]),
      })),
    };
  }

  /**
   * Returns the candidates that are not worth asking after a failure; null if no other may be asked. A request that was too long also
   * excludes candidates whose window is no larger. `forGood` excludes them for the rest of the turn.
   */
  excludedBy(ref: string, model: string, error: AppError): { readonly models: readonly string[]; readonly forGood: boolean } | null {
    const failure = classOf(error);
    const rule = failoverTable[failure];
    if (!rule.advances) return null;
    if (failure !== 'too long') return { models: [model], forGood: !rule.mayRecover };
    const { contextTokens } = this.#deps.info(model);
    const small = this.candidatesOf(ref).filter((one) => this.#deps.info(one).contextTokens <= contextTokens);
    return { models: [...new Set([model, ...small])], forGood: false };
  }

  #snapshot(ref: string, ask: RouteAsk): RouteSnapshot | null {
    const route = this.#routes.get(routeNameOf(ref));
    if (route === undefined || !isRouteRef(ref)) return null;
    return this.#snapshotOf(route, ask);
  }

  #direct(ref: string, ask: RouteAsk): RouteSnapshot {
    const candidates = [{ model: ref, when: undefined, weight: null }];
    return this.#snapshotOf({ prefer: 'order', localOnly: false, candidates, asksImages: false, asksPrivate: false }, ask);
  }

  #snapshotOf(route: Route, ask: RouteAsk): RouteSnapshot {
    const { tokens, hasTools, sticky, tried } = ask;
    const candidates = route.candidates.map((candidate) => this.#facts(candidate, tokens));
    const seesDiffer = route.asksImages || candidates.some(({ seesImages }) => seesImages !== candidates[0]?.seesImages);
    return {
      prefer: route.prefer,
      localOnly: route.localOnly,
      candidates,
      request: {
        tokens,
        hasTools,
        hasImages: seesDiffer && ask.hasImages(),
        isPrivate: route.asksPrivate && ask.isPrivate(),
      },
      usdLeft: ask.usdLeft(),
      sticky,
      tried,
      draw: drawOf(ask.seed),
      nowMs: this.#deps.clock.nowMs(),
    };
  }

  #facts({ model, when, weight }: Candidate, tokens: number): CandidateFacts {
    const { provider: name, modelId } = splitRef(model);
    const provider = this.#deps.provider(name);
    const site = provider === null ? null : this.#siteOf(provider.config);
    const info = this.#deps.info(model);
    return {
      model,
      when,
      weight,
      problem: provider === null ? `no provider "${name}" is set up` : null,
      isLocal: site?.isLocal === true && !isCloudModel(modelId),
      seesImages: site?.seesImages === true,
      contextTokens: info.contextTokens,
      expectedUsd: costOf(info, { inputTokens: tokens, cachedInputTokens: 0, outputTokens: ANSWER_TOKENS }),
      health: this.#healthOf(model, site),
      latencyMs: this.#deps.health.latencyMs(model),
    };
  }

  /** A model is as healthy as its best key, its server and the model itself. */
  #healthOf(model: string, site: Site | null): Health {
    const { health } = this.#deps;
    const subjects = subjectsOf(model, null);
    const own = health.of(subjects.model, subjects.server);
    if (site === null) return own;
    const { health: ofKey } = pickKey(model, site.keys, health);
    return own.state === 'ok' || (ofKey.state !== 'ok' && ofKey.untilMs > own.untilMs) ? ofKey : own;
  }

  #siteOf(config: ProviderConfig): Site {
    const known = this.#sites.get(config);
    if (known !== undefined) return known;
    const site = { isLocal: isLocalProvider(config), seesImages: takesImages(config), keys: keysOf(config) };
    this.#sites.set(config, site);
    return site;
  }

  #subjects(model: string): ReturnType<typeof subjectsOf> {
    const provider = this.#deps.provider(splitRef(model).provider);
    const key = provider === null ? null : pickKey(model, keysOf(provider.config), this.#deps.health).keyRef;
    return subjectsOf(model, key);
  }
}

const nothing: RouteChoice = { candidates: [], chosen: null, reason: '', passed: [], waitMs: 0 };

function readRoute({ candidates, prefer, localOnly }: RouteConfig): Route {
  const read = candidates.map((one): Candidate => {
    if (typeof one === 'string') return { model: one, when: undefined, weight: null };
    return { model: one.model, when: one.when, weight: one.weight ?? null };
  });
  return {
    prefer,
    localOnly,
    candidates: read,
    asksImages: read.some(({ when }) => when?.vision !== undefined),
    asksPrivate: read.some(({ when }) => when?.private !== undefined),
  };
}

function takesImages(config: ProviderConfig): boolean {
  return (
    config.kind !== 'demo' && config.kind !== 'embedded' && (config.images ?? (config.kind === 'openai' || config.kind === 'anthropic'))
  );
}

/** Maps a text to [0, 1): FNV-1a with a final mix, so that ids that differ in one letter get distant values. */
function drawOf(seed: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) hash = Math.imul(hash ^ seed.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}

/** A request outside a turn's conversation, such as a summary: it has no budget and no earlier choice. */
export function askBeside(tokens: number, tried: ReadonlySet<string> = noTried): RouteAsk {
  return {
    tokens,
    hasTools: false,
    hasImages: () => false,
    // The request is about the person's own conversation.
    isPrivate: () => true,
    usdLeft: () => null,
    sticky: null,
    tried,
    seed: '',
  };
}
