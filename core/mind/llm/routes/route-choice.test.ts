import { expect, test } from 'vitest';
import type { RouteConfig } from '../../../contracts/model-routes.ts';
import { chooseCandidate, type CandidateFacts, type RequestFacts, type RouteSnapshot } from './route-choice.ts';

const NOW_MS = 1_000_000;
const ok = { state: 'ok', untilMs: 0, why: 'stop' } as const;

function candidate(model: string, more: Partial<CandidateFacts> = {}): CandidateFacts {
  const usual = { when: undefined, weight: null, problem: null, isLocal: false, seesImages: false, contextTokens: 100_000 };
  return { model, ...usual, expectedUsd: 0.01, health: ok, latencyMs: null, ...more };
}

const a = (more: Partial<CandidateFacts> = {}) => candidate('lab/a', more);
const b = (more: Partial<CandidateFacts> = {}) => candidate('lab/b', more);
const c = (more: Partial<CandidateFacts> = {}) => candidate('cloud/c', more);
const cooling = (inMs: number, why: 'server' | 'rate limit' = 'server') => ({ state: 'cooling', untilMs: NOW_MS + inMs, why }) as const;

interface Case extends Partial<Omit<RouteSnapshot, 'request' | 'candidates' | 'prefer'>> {
  readonly candidates: readonly CandidateFacts[];
  readonly prefer?: RouteConfig['prefer'];
  readonly request?: Partial<RequestFacts>;
}

function choose({ request, ...given }: Case) {
  return chooseCandidate({
    prefer: 'order',
    localOnly: false,
    usdLeft: null,
    sticky: null,
    tried: new Set(),
    draw: 0,
    nowMs: NOW_MS,
    ...given,
    request: { tokens: 1_000, hasTools: false, hasImages: false, isPrivate: false, ...request },
  });
}

const table: readonly (readonly [what: string, given: Case, chosen: string | null, reason: string | RegExp])[] = [
  ['the first in order', { candidates: [a(), b()] }, 'lab/a', 'the first in order'],
  ['the cheapest', { prefer: 'cost', candidates: [a(), b({ expectedUsd: 0.001 })] }, 'lab/b', 'it costs least, about US$ 0.001'],
  ['a known price before an unknown one', { prefer: 'cost', candidates: [a({ expectedUsd: null }), b()] }, 'lab/b', /costs least/],
  [
    'the first where no price is known',
    { prefer: 'cost', candidates: [a({ expectedUsd: null }), b({ expectedUsd: null })] },
    'lab/a',
    /no price/,
  ],
  ['the fastest', { prefer: 'latency', candidates: [a({ latencyMs: 900 }), b({ latencyMs: 90 })] }, 'lab/b', /soonest, after about 90 ms/],
  [
    'one whose speed is unknown, so that it becomes known',
    { prefer: 'latency', candidates: [a({ latencyMs: 9 }), b()] },
    'lab/b',
    /not known yet/,
  ],
  ['one drawn by weight', { draw: 0.9, candidates: [a({ weight: 3 }), b({ weight: 1 })] }, 'lab/b', 'drawn by weight'],
  ['one drawn by weight, at the other end', { draw: 0.7, candidates: [a({ weight: 3 }), b({ weight: 1 })] }, 'lab/a', 'drawn by weight'],
  ['never one of weight 0', { draw: 0, candidates: [a({ weight: 0 }), b({ weight: 1 })] }, 'lab/b', 'drawn by weight'],
  ['the one the turn uses', { sticky: 'lab/b', candidates: [a(), b()] }, 'lab/b', 'the turn has used it until now'],
  ['another if that one failed', { sticky: 'lab/b', tried: new Set(['lab/b']), candidates: [a(), b()] }, 'lab/a', /only one/],
  ['another if that one is cooling down', { sticky: 'lab/b', candidates: [a(), b({ health: cooling(9) })] }, 'lab/a', /only one/],
  [
    'one made for long requests',
    { request: { tokens: 40_000 }, candidates: [a(), c({ when: { contextOver: 30_000 } })] },
    'cloud/c',
    /more than 30000 tokens/,
  ],
  ['not that one for short requests', { candidates: [c({ when: { contextOver: 30_000 } }), a()] }, 'lab/a', /only one/],
  ['one for short requests', { candidates: [a({ when: { contextUnder: 2_000 } }), b()] }, 'lab/a', 'the first in order'],
  [
    'not that one for long requests',
    { request: { tokens: 3_000 }, candidates: [a({ when: { contextUnder: 2_000 } }), b()] },
    'lab/b',
    /only one/,
  ],
  ['one with room for the request', { request: { tokens: 9_000 }, candidates: [a({ contextTokens: 8_000 }), b()] }, 'lab/b', /only one/],
  [
    'the largest where none has room',
    { request: { tokens: 90_000 }, candidates: [a({ contextTokens: 8_000 }), b({ contextTokens: 16_000 })] },
    'lab/b',
    /though it reads 16000/,
  ],
  [
    'one that sees, where there are pictures',
    { request: { hasImages: true }, candidates: [a(), b({ seesImages: true })] },
    'lab/b',
    /only one/,
  ],
  ['the first if none sees images', { request: { hasImages: true }, candidates: [a(), b()] }, 'lab/a', 'the first in order'],
  [
    'one made for pictures',
    { request: { hasImages: true }, candidates: [a({ seesImages: true }), b({ seesImages: true, when: { vision: true } })] },
    'lab/b',
    /there are pictures/,
  ],
  ['one for requests without tools', { candidates: [a({ when: { tools: true } }), b()] }, 'lab/b', /only one/],
  [
    'not that one where tools are offered',
    { request: { hasTools: true }, candidates: [a({ when: { tools: false } }), b()] },
    'lab/b',
    /only one/,
  ],
  [
    'no remote one where data is private',
    { request: { isPrivate: true }, candidates: [c({ when: { private: false } }), a({ isLocal: true })] },
    'lab/a',
    /only one/,
  ],
  ['a remote one if nothing is private', { candidates: [c({ when: { private: false } }), a()] }, 'cloud/c', 'the first in order'],
  ['one below its price limit', { candidates: [a({ when: { usdUnder: 0.005 } }), b()] }, 'lab/b', /only one/],
  ['none with an unknown price below a limit', { candidates: [a({ expectedUsd: null, when: { usdUnder: 5 } }), b()] }, 'lab/b', /only one/],
  ['a local one if only local ones are allowed', { localOnly: true, candidates: [c(), a({ isLocal: true })] }, 'lab/a', /only one/],
  ['none if there is no local one', { localOnly: true, candidates: [c()] }, null, /takes only models that run on this computer/],
  ['one that the budget can pay for', { usdLeft: 0.005, candidates: [a(), b({ expectedUsd: 0.001 })] }, 'lab/b', /only one/],
  [
    'the cheapest where the budget can pay none',
    { usdLeft: 0.0001, candidates: [a(), b({ expectedUsd: 0.001 })] },
    'lab/b',
    /though it would cost more/,
  ],
  ['a healthy one', { candidates: [a({ health: cooling(5_000) }), b()] }, 'lab/b', /only one/],
  [
    'one whose cool-down is over',
    { candidates: [a({ health: { state: 'open', untilMs: 0, why: 'server' } }), b()] },
    'lab/a',
    'the first in order',
  ],
  ['not one on trial', { candidates: [a({ health: { state: 'trying', untilMs: NOW_MS + 9, why: 'server' } }), b()] }, 'lab/b', /only one/],
  ['the one whose cool-down ends first', { candidates: [a({ health: cooling(5_000) }), b({ health: cooling(2_000) })] }, 'lab/b', /in 2 s/],
  ['none without a provider', { candidates: [a({ problem: 'no provider "lab" is set up' })] }, null, /no provider "lab"/],
  ['none if all were asked', { tried: new Set(['lab/a', 'lab/b']), candidates: [a(), b()] }, null, /was asked and failed/],
];

test.each(table)('chooses %s', (_what, given, chosen, reason) => {
  const choice = choose(given);
  expect(choice.chosen).toBe(chosen);
  if (typeof reason === 'string') expect(choice.reason).toBe(reason);
  else expect(choice.reason).toMatch(reason);
});

test('every candidate states its health and whether it may be used', () => {
  const { candidates, passed } = choose({ candidates: [c({ when: { contextOver: 9_000 } }), a({ health: cooling(30_000) }), b()] });
  expect(candidates).toEqual([
    { model: 'cloud/c', allowed: false, reason: 'only for requests of more than 9000 tokens', health: 'ok', expectedUsd: 0.01 },
    { model: 'lab/a', allowed: true, reason: 'cooling down for 30 s more: its server failed', health: 'cooling', expectedUsd: 0.01 },
    { model: 'lab/b', allowed: true, reason: 'it is the only one that may be used', health: 'ok', expectedUsd: 0.01 },
  ]);
  expect(passed.map(({ model }) => model)).toEqual(['cloud/c', 'lab/a']);
});

test('waits only if a candidate asked for it', () => {
  expect(choose({ candidates: [a({ health: cooling(5_000, 'rate limit') })] }).waitMs).toBe(5_000);
  expect(choose({ candidates: [a({ health: cooling(5_000) })] }).waitMs).toBe(0);
  expect(choose({ candidates: [a({ health: cooling(5_000, 'rate limit') }), b()] }).waitMs).toBe(0);
});

test('the same snapshot gives the same choice', () => {
  const given: Case = { prefer: 'latency', draw: 0.4, candidates: [a({ latencyMs: 5 }), b({ latencyMs: 5 }), c()] };
  expect(choose(given)).toEqual(choose(given));
});
