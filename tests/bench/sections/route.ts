// The cost a route adds to a model request: choosing a candidate, its shared limits, and checking a directly named model.

import { performance } from 'node:perf_hooks';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { configSchema } from '../../../core/contracts/config.ts';
import { ModelRouter, type RouteAsk } from '../../../core/mind/llm/llm.ts';
import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { summarize } from '../statistics.ts';

const BATCH = 100;
const BATCHES = 400;
const CANDIDATES = 3;

const ask: RouteAsk = {
  tokens: 9_000,
  hasTools: true,
  hasImages: () => false,
  isPrivate: () => false,
  usdLeft: () => 1,
  sticky: null,
  tried: new Set(),
  seed: 'trn_1',
};

export function measureRouteChoice({ count, say }: Pick<BenchContext, 'count' | 'say'>): Figure[] {
  say(`turn: the choice of a route among ${CANDIDATES}`);
  const server = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' } as const;
  const candidates = ['lab/a', 'near/b', { model: 'far/c', when: { contextOver: 30_000 } }];
  const config = configSchema.parse({
    providers: { lab: server, near: server, far: { kind: 'openai', apiKey: 'env:KEY' } },
    models: { default: 'route/everyday', routes: { everyday: { candidates, prefer: 'cost' } } },
  });
  const { routes } = new ModelRouter({
    config,
    secrets: { resolve: () => Promise.resolve('') },
    clock: systemClock,
    logger: silentLogger,
  });
  const timed = (step: () => unknown): number[] =>
    Array.from({ length: count(BATCHES) }, () => {
      const fromMs = performance.now();
      for (let n = 0; n < BATCH; n++) step();
      return ((performance.now() - fromMs) * 1_000) / BATCH;
    });
  const about = { section: 'turn', subject: ownName, unit: 'µs' } as const;
  const figure = (name: string, step: () => unknown): Figure => {
    timed(step);
    const { p50, p99, count: samples } = summarize(timed(step));
    return { ...about, name, p50, p99, note: `${samples} × ${BATCH} times` };
  };
  return [
    figure('choice of a route', () => routes.choose('route/everyday', ask)),
    figure('limits of a route', () => routes.info('route/everyday')),
    figure('a model named directly', () => routes.has('lab/a')),
  ];
}
