// Chooses among the candidates of a route: a pure function of a snapshot. Conditions come first, then health, then the route's preference.
// Must not read a clock, draw a random number, or know how a snapshot is made.

import { counted } from '../../../base/counted.ts';
import type { CandidateVerdict, RouteConfig, RouteWhen } from '../../../contracts/model-routes.ts';
import { failureWords } from './failover-table.ts';
import type { Health } from './model-health.ts';

export interface CandidateFacts {
  readonly model: string;
  readonly when: RouteWhen | undefined;
  /** Null if the route does not draw by weight. */
  readonly weight: number | null;
  /** Why the candidate cannot be asked, such as a provider that is not set up. */
  readonly problem: string | null;
  readonly isLocal: boolean;
  readonly seesImages: boolean;
  readonly contextTokens: number;
  readonly expectedUsd: number | null;
  readonly health: Health;
  readonly latencyMs: number | null;
}

export interface RequestFacts {
  readonly tokens: number;
  readonly hasTools: boolean;
  readonly hasImages: boolean;
  readonly isPrivate: boolean;
}

export interface RouteSnapshot {
  readonly prefer: RouteConfig['prefer'];
  readonly localOnly: boolean;
  readonly candidates: readonly CandidateFacts[];
  readonly request: RequestFacts;
  /** The budget left for this turn; null if there is no limit. */
  readonly usdLeft: number | null;
  /** The model that the turn has used so far, which has cached the beginning of the conversation. */
  readonly sticky: string | null;
  /** The candidates that failed in this step. */
  readonly tried: ReadonlySet<string>;
  /** A number in [0, 1), the same for the whole turn. */
  readonly draw: number;
  readonly nowMs: number;
}

export interface RouteChoice {
  readonly candidates: readonly CandidateVerdict[];
  readonly chosen: string | null;
  readonly reason: string;
  /** The candidates that were passed over, and why. */
  readonly passed: readonly { readonly model: string; readonly reason: string }[];
  /** How long the chosen candidate still asks to be left alone; 0 if another could be chosen or no wait was requested. */
  readonly waitMs: number;
}

/** The minimum room for an answer. */
const ANSWER_TOKENS_MIN = 1_000;

interface Weighed {
  readonly facts: CandidateFacts;
  /** The reason why it must not be used. */
  readonly barrier: string | null;
  /** The reason why another candidate is preferred. */
  readonly doubt: Doubt | null;
  readonly isTried: boolean;
}

interface Doubt {
  /** The lower the rank, the less is lost: pictures are replaced by their names, a long conversation is shortened, a budget refuses. */
  readonly rank: number;
  readonly words: string;
}

export function chooseCandidate(snapshot: RouteSnapshot): RouteChoice {
  const weighed = weigh(snapshot);
  const usable = weighed.filter(({ barrier, isTried }) => barrier === null && !isTried);
  const sure = usable.filter(({ doubt }) => doubt === null);
  const isMakeshift = sure.length === 0;
  const pool = isMakeshift ? leastBad(usable) : sure;
  const well = pool.filter(isWell);
  const { pick, reason } =
    well.length > 0 ? prefer(well, isMakeshift ? { ...snapshot, prefer: 'order' } : snapshot) : soonest(pool, snapshot.nowMs);
  const chosen = pick?.facts.model ?? null;
  const why = pick === null ? noneWords(weighed) : isMakeshift && pick.doubt !== null ? `${reason}, though ${pick.doubt.words}` : reason;
  const reasons = weighed.map((one) => (one === pick ? why : passedWords(one, snapshot.nowMs)));
  return {
    chosen,
    reason: why,
    waitMs:
      pick === null || isWell(pick) || pick.facts.health.why !== 'rate limit' ? 0 : Math.max(0, pick.facts.health.untilMs - snapshot.nowMs),
    candidates: weighed.map(({ facts, barrier, doubt }, index) => ({
      model: facts.model,
      allowed: barrier === null && doubt === null,
      reason: reasons[index] ?? '',
      health: healthWords[facts.health.state],
      expectedUsd: facts.expectedUsd,
    })),
    passed: weighed.flatMap((one, index) =>
      one === pick || (one.barrier === null && one.doubt === null && !one.isTried && isWell(one))
        ? []
        : [{ model: one.facts.model, reason: reasons[index] ?? '' }],
    ),
  };
}

const healthWords = { ok: 'ok', cooling: 'cooling', open: 'on trial', trying: 'on trial' } as const;

/** Returns whether a candidate may be asked: it is healthy or due for a trial. While a trial is in flight, other requests avoid it. */
function isWell({ facts: { health } }: Weighed): boolean {
  return health.state === 'ok' || health.state === 'open';
}

function weigh({ candidates, localOnly, request, usdLeft, tried }: RouteSnapshot): Weighed[] {
  const barriers = candidates.map((facts) => barrierTo(facts, localOnly, request));
  const somebodySees = candidates.some((facts, index) => barriers[index] === null && facts.seesImages);
  return candidates.map((facts, index) => ({
    facts,
    barrier: barriers[index] ?? null,
    doubt: doubtOf(facts, request, { usdLeft, somebodySees }),
    isTried: tried.has(facts.model),
  }));
}

function barrierTo(facts: CandidateFacts, localOnly: boolean, request: RequestFacts): string | null {
  if (facts.problem !== null) return facts.problem;
  if (localOnly && !facts.isLocal) return 'the route takes only models that run on this computer';
  return facts.when === undefined ? null : (sizeBarrier(facts.when, request) ?? kindBarrier(facts.when, request) ?? priceBarrier(facts));
}

function sizeBarrier({ contextOver, contextUnder }: RouteWhen, { tokens }: RequestFacts): string | null {
  if (contextOver !== undefined && tokens <= contextOver) return `only for requests of more than ${counted(contextOver, 'token')}`;
  return contextUnder !== undefined && tokens >= contextUnder ? `only for requests of fewer than ${counted(contextUnder, 'token')}` : null;
}

function kindBarrier({ tools, vision, private: wantsPrivate }: RouteWhen, request: RequestFacts): string | null {
  if (tools !== undefined && tools !== request.hasTools) return tools ? 'only where tools are offered' : 'only where no tools are offered';
  if (vision !== undefined && vision !== request.hasImages)
    return vision ? 'only where there are pictures' : 'only where there are no pictures';
  if (wantsPrivate === undefined || wantsPrivate === request.isPrivate) return null;
  return wantsPrivate ? 'only where there is private data' : 'not where there is private data';
}

function priceBarrier({ when, expectedUsd }: CandidateFacts): string | null {
  const limit = when?.usdUnder;
  if (limit === undefined || (expectedUsd !== null && expectedUsd < limit)) return null;
  return expectedUsd === null ? `its price is unknown, and the limit is US$ ${limit}` : `it would cost more than US$ ${limit}`;
}

function doubtOf(
  { contextTokens, seesImages, expectedUsd }: CandidateFacts,
  { tokens, hasImages }: RequestFacts,
  { usdLeft, somebodySees }: { readonly usdLeft: number | null; readonly somebodySees: boolean },
): Doubt | null {
  if (usdLeft !== null && expectedUsd !== null && expectedUsd > usdLeft)
    return { rank: 3, words: 'it would cost more than the budget has left' };
  if (tokens + ANSWER_TOKENS_MIN > contextTokens)
    return { rank: 2, words: `it reads ${contextTokens} tokens and the request has about ${tokens}` };
  return hasImages && !seesImages && somebodySees ? { rank: 1, words: 'it sees no pictures' } : null;
}

/** Those with the lowest-ranked doubt, the largest window first and, among equals, the lowest price. */
function leastBad(usable: readonly Weighed[]): Weighed[] {
  const lowest = Math.min(...usable.map(({ doubt }) => doubt?.rank ?? 0));
  return usable
    .filter(({ doubt }) => (doubt?.rank ?? 0) === lowest)
    .toSorted((a, b) => b.facts.contextTokens - a.facts.contextTokens || compare(priceOf(a.facts), priceOf(b.facts)));
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface Pick {
  readonly pick: Weighed | null;
  readonly reason: string;
}

function prefer(well: readonly Weighed[], { prefer: wish, sticky, request, draw }: RouteSnapshot): Pick {
  const kept = well.find(({ facts }) => facts.model === sticky);
  if (kept !== undefined) return { pick: kept, reason: 'the turn has used it until now' };
  const meant = well.filter(({ facts }) => isMeantFor(facts, request));
  const pool = meant.length > 0 ? meant : well;
  const { pick, reason } = pickBy(pool, wish, draw);
  return { pick, reason: meant.length > 0 && pick !== null ? `${occasion(pick.facts)}; ${reason}` : reason };
}

function pickBy(pool: readonly Weighed[], wish: RouteConfig['prefer'], draw: number): Pick {
  const [first = null] = pool;
  if (pool.length < 2) return { pick: first, reason: 'it is the only one that may be used' };
  if (wish === 'cost') {
    const pick = least(pool, ({ facts }) => priceOf(facts));
    const usd = pick?.facts.expectedUsd ?? null;
    return { pick, reason: usd === null ? 'no price is known, so the first in order' : `it costs least, about US$ ${shortUsd(usd)}` };
  }
  if (wish === 'latency') {
    const pick = least(pool, ({ facts }) => facts.latencyMs ?? -1);
    const ms = pick?.facts.latencyMs ?? null;
    return {
      pick,
      reason: ms === null ? 'how soon it answers is not known yet' : `it begins to answer soonest, after about ${Math.round(ms)} ms`,
    };
  }
  if (pool.some(({ facts }) => facts.weight !== null)) return { pick: drawn(pool, draw), reason: 'drawn by weight' };
  return { pick: first, reason: 'the first in order' };
}

/** Returns whether its conditions single it out for this request rather than merely allow it. */
function isMeantFor({ when }: CandidateFacts, { hasImages }: RequestFacts): boolean {
  return when?.contextOver !== undefined || (when?.vision === true && hasImages);
}

function occasion({ when }: CandidateFacts): string {
  return when?.contextOver === undefined ? 'there are pictures' : `the request has more than ${when.contextOver} tokens`;
}

/** All candidates are cooling down: picks the one that is ready first. */
function soonest(pool: readonly Weighed[], nowMs: number): Pick {
  const pick = least(pool, ({ facts }) => facts.health.untilMs);
  return {
    pick,
    reason:
      pick === null
        ? ''
        : `every candidate is cooling down, and this one is over it first, in ${seconds(pick.facts.health.untilMs - nowMs)}`,
  };
}

/** Returns the first entry with the lowest value. */
function least(pool: readonly Weighed[], value: (one: Weighed) => number): Weighed | null {
  let best: Weighed | null = null;
  for (const one of pool) if (best === null || value(one) < value(best)) best = one;
  return best;
}

function drawn(pool: readonly Weighed[], draw: number): Weighed | null {
  const weightOf = ({ facts }: Weighed): number => facts.weight ?? 1;
  let left = draw * pool.reduce((sum, one) => sum + weightOf(one), 0);
  for (const one of pool) {
    left -= weightOf(one);
    if (left < 0) return one;
  }
  return pool.at(-1) ?? null;
}

function priceOf({ expectedUsd }: CandidateFacts): number {
  return expectedUsd ?? Number.POSITIVE_INFINITY;
}

function passedWords({ facts: { health }, barrier, doubt, isTried }: Weighed, nowMs: number): string {
  if (barrier !== null) return barrier;
  if (isTried) return health.state === 'ok' ? 'it was asked and failed' : `it was asked and failed: ${failureWords[health.why]}`;
  if (health.state === 'cooling') return `cooling down for ${seconds(health.untilMs - nowMs)} more: ${failureWords[health.why]}`;
  if (health.state === 'trying') return `on trial after a failure: ${failureWords[health.why]}`;
  return doubt?.words ?? 'it may be used; another is preferred';
}

function noneWords(weighed: readonly Weighed[]): string {
  if (weighed.some(({ barrier, isTried }) => barrier === null && isTried)) return 'every candidate that may be used was asked and failed';
  return `no candidate may be used: ${weighed.map(({ facts, barrier }) => `${facts.model}: ${barrier ?? ''}`).join('; ')}`;
}

function seconds(ms: number): string {
  return ms < 90_000 ? `${Math.max(1, Math.ceil(ms / 1000))} s` : `${Math.ceil(ms / 60_000)} min`;
}

function shortUsd(usd: number): string {
  return usd === 0 ? '0' : String(Number(usd.toPrecision(2)));
}
