// The waiting times of a start (the version, one answer on the command line, the served window) and the idle memory.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { ownName, type Figure, type Unit } from '../figures.ts';
import { laneUrl, readLane, replay } from '../model-server/model-server.ts';
import { endProcess, processorMs, residentBytes, timeScript, type Environment } from '../processes.ts';
import type { BenchContext } from '../section.ts';
import { median, summarize, type Summary } from '../statistics.ts';

const SETTLE_MS = 5_000;
/** Until this time the garbage of the start is collected; the idle measurement begins afterwards. */
const IDLE_FROM_MS = 20_000;
const IDLE_MS = 10_000;
const LANE = 'start';

interface StartPlace {
  readonly cliFile: string;
  readonly env: Environment;
}

export async function measureStart(context: BenchContext): Promise<Figure[]> {
  if (context.cliFile === null) {
    context.say('start: nothing is built, so nothing can be started; run npm run build first');
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  const baseUrl = laneUrl(context.origin, LANE, { toolCalls: 0, tool: 'lookup' });
  writeFileSync(
    join(home, 'config.yaml'),
    `providers:\n  bench: { kind: openai-compatible, baseUrl: "${baseUrl}" }\nmodels: { default: bench/bench }\n`,
  );
  // A separate compile cache, so that the first start is cold and the later ones are warm.
  const env = { ...process.env, TRAYCLAW_HOME: home, XDG_CACHE_HOME: join(folder, 'cache') };
  const place = { cliFile: context.cliFile, env };
  try {
    return [...(await measureCommands(context, place)), ...(await measureServe(context, place))];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureCommands(context: BenchContext, { cliFile, env }: StartPlace): Promise<Figure[]> {
  context.say('start: --version, ask');
  const version = await repeat(context.count(20), () => run([cliFile, '--version'], env));
  const first = await run([cliFile, 'ask', 'hello'], env);
  const ask = await repeat(context.count(10), () => run([cliFile, 'ask', 'hello'], env));
  const { lastTurn } = await readLane(context.origin, LANE);
  const modelMs = median(
    await repeat(20, async () => {
      const startedMs = performance.now();
      await replay(context.origin, lastTurn);
      return performance.now() - startedMs;
    }),
  );
  const beyond = summarize(ask.map((ms) => ms - modelMs));
  return [
    figureOf('--version', 'ms', summarize(version)),
    figureOf(
      'ask, beyond the model',
      'ms',
      beyond,
      `the model takes ${modelMs.toFixed(1)}; n ${beyond.count}; the first, nothing cached: ${first.toFixed(0)}`,
    ),
  ];
}

async function measureServe(context: BenchContext, place: StartPlace): Promise<Figure[]> {
  context.say('start: serve, at rest for 30 s');
  const ready = await repeat(context.count(5), async () => {
    const served = await startServe(place);
    await endProcess(served.child);
    return served.readyMs;
  });
  const served = await startServe(place);
  try {
    await sleep(SETTLE_MS);
    const idleBytes = residentBytes(served.pid);
    await sleep(IDLE_FROM_MS - SETTLE_MS);
    const busyMs = processorMs(served.pid);
    await sleep(IDLE_MS);
    const idleShare = (processorMs(served.pid) - busyMs) / IDLE_MS;
    const turns = [await timeHttpTurn(served), await timeHttpTurn(served)];
    return [
      figureOf('serve, ready', 'ms', summarize(ready)),
      {
        section: 'start',
        name: 'serve, idle memory',
        subject: ownName,
        unit: 'MB',
        p50: idleBytes / 1_000_000,
        note: `after ${SETTLE_MS / 1000} s`,
      },
      {
        section: 'start',
        name: 'serve, idle processor',
        subject: ownName,
        unit: '%',
        p50: idleShare * 100,
        note: `over ${IDLE_MS / 1000} s from ${IDLE_FROM_MS / 1000} s on, to the nearest 0.1`,
      },
      {
        section: 'start',
        name: 'serve, first turn',
        subject: ownName,
        unit: 'ms',
        p50: turns[0] ?? Number.NaN,
        note: `over HTTP; the second: ${turns[1]?.toFixed(1) ?? ''}`,
      },
    ];
  } finally {
    await endProcess(served.child);
  }
}

interface Served {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  readonly readyMs: number;
}

/** Ready means that a request is answered, not only that the address is printed. */
async function startServe({ cliFile, env }: StartPlace): Promise<Served> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [cliFile, 'serve'], { stdio: ['ignore', 'pipe', 'ignore'], env });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { url, token, pid } = JSON.parse(line) as { url: string; token: string; pid: number };
  const health = await fetch(`${url}/health`, { headers: { authorization: `Bearer ${token}` } });
  if (!health.ok) throw new Error(`serve answered ${health.status}`);
  return { child, pid, url, token, readyMs: performance.now() - startedMs };
}

async function timeHttpTurn({ url, token }: Served): Promise<number> {
  const startedMs = performance.now();
  const response = await fetch(`${url}/api/ask`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'hello' }),
  });
  const { ok, result } = (await response.json()) as { ok: boolean; result?: { status: string } };
  if (!ok || result?.status !== 'done') throw new Error(`the turn over HTTP ended as ${JSON.stringify(result ?? null)}`);
  return performance.now() - startedMs;
}

async function run(args: readonly string[], env: Environment): Promise<number> {
  const { code, wallMs, output } = await timeScript(args, env);
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code ?? 'a signal'}: ${output}`);
  return wallMs;
}

async function repeat(count: number, take: () => Promise<number>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i++) samples.push(await take());
  return samples;
}

function figureOf(name: string, unit: Unit, summary: Summary, note = `n ${summary.count}`): Figure {
  return { section: 'start', name, subject: ownName, unit, p50: summary.p50, max: summary.max, note };
}
