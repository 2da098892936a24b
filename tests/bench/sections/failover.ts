// The time to the first word if the first candidate of a route is down: a refused connection, and a server that never answers. Each request
// uses a new router, so that no candidate is already marked as failing.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { configSchema } from '../../../core/contracts/config.ts';
import { ModelRouter } from '../../../core/mind/llm/llm.ts';
import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { summarize } from '../statistics.ts';

const REQUESTS = 60;
const SILENT_REQUESTS = 10;
const WARM = 10;
const LIMIT_MS = 300;

const frame = (delta: object, finish: string | null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const answer = `${frame({ role: 'assistant', content: 'well' }, null)}${frame({}, 'stop')}data: [DONE]\n\n`;

export async function measureFailover({ count, say }: Pick<BenchContext, 'count' | 'say'>): Promise<Figure[]> {
  say('failover: the time to the first word behind a dead first candidate');
  const well = createServer((_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer));
  const silent = createServer(() => undefined);
  const closed = createServer();
  const servers = [well, silent, closed];
  const [wellUrl = '', silentUrl = '', closedUrl = ''] = await Promise.all(servers.map(listen));
  await close(closed);
  try {
    const measure = async (first: string, requests: number): Promise<number[]> => {
      const took: number[] = [];
      for (let n = 0; n < requests + WARM; n++) took.push(await firstWordMs(first, wellUrl));
      return took.slice(WARM);
    };
    const usual = await measure(wellUrl, count(REQUESTS));
    const refused = await measure(closedUrl, count(REQUESTS));
    const unheard = await measure(silentUrl, count(SILENT_REQUESTS));
    const usualMs = summarize(usual).p50;
    return [
      figure('first word, first candidate well', usual, 0),
      figure('added by a refused connection', refused, usualMs),
      figure(`added by a silent server, limit ${LIMIT_MS} ms`, unheard, usualMs),
    ];
  } finally {
    await Promise.all([well, silent].map(close));
  }
}

function figure(name: string, took: readonly number[], lessMs: number): Figure {
  const { p50, p99, count: samples } = summarize(took.map((ms) => ms - lessMs));
  return { section: 'failover', subject: ownName, unit: 'ms', name, p50, p99, note: `${samples} requests` };
}

async function firstWordMs(first: string, second: string): Promise<number> {
  const provider = (baseUrl: string) => ({ kind: 'openai-compatible' as const, baseUrl: `${baseUrl}/v1` });
  const router = new ModelRouter({
    config: configSchema.parse({
      providers: { one: provider(first), two: provider(second) },
      models: {
        default: 'route/everyday',
        routes: { everyday: { candidates: ['one/a', 'two/b'] } },
        timeouts: { firstTokenMs: LIMIT_MS, idleMs: 5_000 },
      },
    }),
    secrets: { resolve: () => Promise.resolve('') },
    clock: systemClock,
    logger: silentLogger,
    localServers: [],
  });
  let firstMs = Number.NaN;
  const fromMs = performance.now();
  const sink = {
    text: () => {
      if (Number.isNaN(firstMs)) firstMs = performance.now() - fromMs;
    },
  };
  const request = { system: 'Be brief.', tools: [], messages: [{ role: 'user' as const, text: 'Hello?' }] };
  await router.stream('route/everyday', request, sink, { signal: new AbortController().signal });
  await router.close();
  return firstMs;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
