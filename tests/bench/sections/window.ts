// The window in a real Chromium over the real server: the time until it paints and is usable (also over a slow connection), how a session
// of ten thousand messages opens and scrolls, the cost of a streaming answer and of typing meanwhile, and memory growth. Waiting is
// measured in processor time, so that other work of the machine does not count; the wall time is a note.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import { startServedHost } from '../../e2e/host/served-host.ts';
import type { HostOptions, WindowHost } from '../../e2e/host/window-host.ts';
import { findChromium } from '../../../build/chromium.ts';
import { ownName, type Figure, type Unit } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { median, quantile } from '../statistics.ts';
import { openSessionSource, scrollSource, takeTypedSource, watchTypingSource } from '../window-probes.ts';
import { longestTasks } from '../window-trace.ts';

const SECTION = 'window';
const TURNS = 5000;
const MS_PER_S = 1000;
const BYTES_PER_KB = 1000;
const BYTES_PER_MB = 1_000_000;
/** Four characters are about one token, so this is 200 tokens a second. */
const PIECE_CHARS = 4;
const PIECE_EVERY_MS = 5;
const WANTED_RATE = 200;
const TYPED = 'a message written while the answer still comes, key by key';
const KEY_EVERY_MS = 60;
/** A tunnelled connection to another continent. */
const SLOW_LINE = { offline: false, latency: 400, downloadThroughput: 100_000, uploadThroughput: 100_000 };
const SCROLL_FRAMES = 600;
const STREAM_MS = 8000;
const MEMORY_TURNS = 1000;
const MEMORY_FROM_TURN = 200;
/** The number of loaded events varies by a few hundred; sampled over this many turns, the minimum is the same each time. */
const MEMORY_SPAN_TURNS = 100;
const MEMORY_EVERY_TURNS = 20;

interface Opened {
  readonly browser: Browser;
  readonly page: Page;
  readonly host: WindowHost;
  readonly cdp: CDPSession;
}

export async function measureWindow(context: BenchContext): Promise<Figure[]> {
  const executablePath = findChromium();
  if (context.cliFile === null || executablePath === null) {
    context.say('window: needs a built program and Chromium (TRAYCLAW_CHROMIUM names one)');
    return [];
  }
  const browser = await chromium.launch({ executablePath, args: ['--headless', '--no-sandbox', '--disable-gpu'] });
  try {
    return [
      ...(await withWindow(browser, { historyTurns: TURNS }, (opened) => measureLongSession(context, opened))),
      ...(await withWindow(browser, { replies: [streamedReply(), streamedReply()] }, (opened) => measureStreaming(context, opened))),
      ...(await withWindow(browser, {}, (opened) => measureSlowLine(context, opened))),
      ...(await withWindow(browser, {}, (opened) => measureMemory(context, opened))),
    ];
  } finally {
    await browser.close();
  }
}

/** The compressed size of the page, everything it loads before its first paint, and the styles. Parts loaded on demand are excluded. */
async function firstPaintBytes(projectRoot: string, origin: string): Promise<number> {
  const folder = join(projectRoot, 'dist/renderer');
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const assets = readdirSync(join(folder, 'assets')).filter((name) => page.includes(name));
  let bytes = 0;
  for (const path of ['', ...assets.map((name) => `assets/${name}`)]) {
    // Accept the encodings that a browser accepts on this computer.
    const response = await fetch(`${origin}/${path}`, { headers: { 'accept-encoding': 'gzip, br' } });
    bytes += Number(response.headers.get('content-length'));
    await response.bytes();
  }
  return bytes;
}

async function withWindow<T>(browser: Browser, options: HostOptions, work: (opened: Opened) => Promise<T>): Promise<T> {
  const host = await startServedHost({ ...options, ownProcess: true });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await page.goto(`${host.origin}/#token=${host.token}`);
    return await work({ browser, page, host, cdp });
  } finally {
    await context.close();
    await host.close();
  }
}

/** Reloads the window and waits until the list and the message field are usable. */
async function load({ page, host, cdp }: Opened): Promise<Spent> {
  await page.goto('about:blank');
  return spentOn(cdp, async () => {
    await page.goto(`${host.origin}/#token=${host.token}`);
    await page.getByRole('list', { name: 'Sessions' }).getByRole('link').first().waitFor();
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    return page.evaluate<number>('performance.now()');
  });
}

/** Milliseconds from the start of loading to the first paint. The page may be usable before the frame that records its paint. */
function firstPaint(page: Page): Promise<number> {
  return page.evaluate<number>(`new Promise((found) => {
    const watcher = new PerformanceObserver((list) => {
      const [entry] = list.getEntriesByName('first-contentful-paint');
      if (entry) { watcher.disconnect(); found(entry.startTime); }
    });
    watcher.observe({ type: 'paint', buffered: true });
  })`);
}

async function measureLongSession(context: BenchContext, opened: Opened): Promise<Figure[]> {
  const { browser, page, cdp } = opened;
  context.say(`window: first paint; a session of ${TURNS * 2} messages`);
  await page.getByText(`Question ${TURNS}`, { exact: true }).waitFor();
  const paints: number[] = [];
  const usable: Spent[] = [];
  for (let run = 0; run < context.count(8); run++) {
    usable.push(await load(opened));
    paints.push(await firstPaint(page));
  }
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  const opens: Spent[] = [];
  const toBeginning: Spent[] = [];
  const runs = context.count(8);
  for (let run = 0; run < runs; run++) {
    // A new page each time, so that nothing of the session is in memory yet; it starts with the empty session.
    await load(opened);
    await page.getByText('What can I do for you?').waitFor();
    await page.getByRole('list', { name: 'Sessions' }).getByText('Earlier work').waitFor();
    await sleep(500);
    opens.push(await spentOn(cdp, () => page.evaluate<number>(openSessionSource('Earlier work', `Question ${TURNS}`))));
    await page.getByRole('log', { name: 'Conversation' }).focus();
    toBeginning.push(
      await spentOn(cdp, async () => {
        await page.keyboard.press('Home');
        await page.getByText('Question 1', { exact: true }).waitFor();
      }),
    );
    await page.keyboard.press('End');
    await page.getByText(`Question ${TURNS}`, { exact: true }).waitFor();
    // The next page opens the session that this one showed last.
    if (run + 1 < runs) await page.getByRole('list', { name: 'Sessions' }).getByText('New session').click();
  }
  const worst: number[] = [];
  const frames: number[] = [];
  let wayPx = 0;
  for (let run = 0; run < context.count(4); run++) {
    const tasks = await longestTasks(browser, page, async () => {
      const seen = await page.evaluate<{ deltas: number[]; travelledPx: number }>(scrollSource(SCROLL_FRAMES));
      frames.push(...seen.deltas);
      wayPx = Math.max(wayPx, seen.travelledPx);
    });
    worst.push(tasks[0] ?? Number.NaN);
    await page.getByRole('button', { name: 'Newest' }).click();
    await page.getByText(`Question ${TURNS}`, { exact: true }).waitFor();
  }
  const note = `${wayPx} px up; by the clock of a busy machine p50 ${median(frames).toFixed(0)} ms, p99 ${quantile(frames, 0.99).toFixed(0)} ms`;
  return [
    figure('bytes for first paint, as sent', 'KB', (await firstPaintBytes(context.projectRoot, opened.host.origin)) / BYTES_PER_KB),
    best('first paint', 'ms', paints),
    ofProcessor('usable', usable),
    ofProcessor('open 10,000 messages', opens),
    ofProcessor('to the beginning of 10,000 messages', toBeginning),
    { ...best('worst frame while scrolling', 'ms', worst), note },
  ];
}

function streamedReply(): { text: string; pieceChars: number; delayMs: number } {
  const part =
    'A paragraph with **bold**, `code` and a [link](https://example.org/) that goes on for a while, as answers do.\n\n' +
    '- a point\n- another point with *stress*\n\n```ts\nexport function add(a: number, b: number): number {\n  return a + b;\n}\n```\n\n' +
    '| name | value |\n|---|---:|\n| one | 1 |\n| two | 2 |\n\n';
  return { text: part.repeat(100), pieceChars: PIECE_CHARS, delayMs: PIECE_EVERY_MS };
}

async function measureStreaming(context: BenchContext, { browser, page, cdp }: Opened): Promise<Figure[]> {
  context.say('window: a streaming answer, and typing meanwhile');
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const message = page.getByRole('textbox', { name: 'Message', exact: true });
  await message.fill('Talk');
  await message.press('Enter');
  await page.getByText('A paragraph with').first().waitFor();
  const shares: number[] = [];
  const rates: number[] = [];
  const slice = STREAM_MS / 8;
  for (let run = 0; run < 8; run++) {
    const before = await streamState(page, cdp);
    await sleep(slice);
    const after = await streamState(page, cdp);
    const seconds = after.atS - before.atS;
    const rate = (after.chars - before.chars) / PIECE_CHARS / seconds;
    rates.push(rate);
    // A busy machine streams slower than wanted; the share is scaled up to the wanted rate.
    shares.push(((after.busyS - before.busyS) / seconds) * 100 * Math.max(1, WANTED_RATE / rate));
  }
  const note = `${median(rates).toFixed(0)} tokens/s shown`;
  await page.evaluate(watchTypingSource());
  const tasks = await longestTasks(browser, page, () => message.pressSequentially(TYPED, { delay: KEY_EVERY_MS }));
  const typed = await page.evaluate<number[]>(takeTypedSource());
  return [
    { ...best('streaming, share of one core', '%', shares), note },
    figure('longest task, streaming and typing', 'ms', tasks[0] ?? Number.NaN),
    {
      ...figure('typing while an answer streams, p95', 'ms', quantile(typed, 0.95)),
      note: `${typed.length} keys, from the key to the end of its frame by the clock; p50 ${median(typed).toFixed(0)} ms`,
    },
  ];
}

/** The first visit with an empty cache, and a later visit. */
async function measureSlowLine(context: BenchContext, opened: Opened): Promise<Figure[]> {
  context.say('window: 400 ms latency, 100 kB a second');
  const { page, cdp } = opened;
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  await cdp.send('Network.enable');
  await cdp.send('Network.clearBrowserCache');
  await cdp.send('Network.emulateNetworkConditions', SLOW_LINE);
  const first = await load(opened);
  const painted = await firstPaint(page);
  const later = await load(opened);
  return [
    { ...figure('slow line, first visit usable', 'ms', first.wallMs), note: `painted after ${painted.toFixed(0)} ms` },
    figure('slow line, later visit usable', 'ms', later.wallMs),
  ];
}

interface Spent {
  readonly wallMs: number;
  readonly taskMs: number;
  readonly scriptMs: number;
  readonly layoutMs: number;
}

/** The processor time of the page's main thread. `work` may return the wall time to use. */
async function spentOn(cdp: CDPSession, work: () => Promise<number | void>): Promise<Spent> {
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await workOf(cdp);
  const startMs = performance.now();
  const wallMs = (await work()) ?? performance.now() - startMs;
  const after = await workOf(cdp);
  // A page in a new process counts from zero.
  const isAnother = after.taskMs < before.taskMs;
  const since = (key: keyof typeof after): number => after[key] - (isAnother ? 0 : before[key]);
  return { wallMs, taskMs: since('taskMs'), scriptMs: since('scriptMs'), layoutMs: since('layoutMs') };
}

async function workOf(cdp: CDPSession): Promise<Omit<Spent, 'wallMs'>> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  const ms = (...names: string[]): number =>
    metrics.filter(({ name }) => names.includes(name)).reduce((sum, { value }) => sum + value * MS_PER_S, 0);
  return { taskMs: ms('TaskDuration'), scriptMs: ms('ScriptDuration'), layoutMs: ms('LayoutDuration', 'RecalcStyleDuration') };
}

function ofProcessor(name: string, spent: readonly Spent[]): Figure {
  const of = (key: keyof Spent): string =>
    quantile(
      spent.map((one) => one[key]),
      0.25,
    ).toFixed(0);
  return {
    ...best(
      name,
      'ms',
      spent.map(({ taskMs }) => taskMs),
    ),
    note: `scripts ${of('scriptMs')} ms, styles and layout ${of('layoutMs')} ms; by the clock ${of('wallMs')} ms`,
  };
}

async function streamState(page: Page, cdp: CDPSession): Promise<{ atS: number; busyS: number; chars: number }> {
  const chars = await page.evaluate<number>("[...document.querySelectorAll('.answer')].at(-1)?.textContent.length ?? 0");
  const atS = performance.now() / 1000;
  const { metrics } = await cdp.send('Performance.getMetrics');
  const valueOf = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { atS, busyS: valueOf('TaskDuration'), chars };
}

async function measureMemory(context: BenchContext, { page, host, cdp }: Opened): Promise<Figure[]> {
  context.say(`window: memory over ${MEMORY_TURNS} turns`);
  await page.getByRole('button', { name: 'New session', exact: true }).click();
  const { sessionId } = (await host.op('message.send', { text: 'Turn 0' })) as { sessionId: string };
  await page.goto(`${host.origin}/#/chat/${sessionId}`);
  let atFirst = Number.POSITIVE_INFINITY;
  let atLast = Number.POSITIVE_INFINITY;
  for (let turn = 1; turn <= MEMORY_TURNS; turn++) {
    const { turnId } = (await host.op('message.send', { text: `Turn ${turn}`, sessionId })) as { turnId: string };
    await host.op('turn.wait', { turnId });
    if (turn % MEMORY_EVERY_TURNS !== 0) continue;
    if (isIn(turn, MEMORY_FROM_TURN)) atFirst = Math.min(atFirst, await heapBytes(page, cdp, turn));
    if (isIn(turn, MEMORY_TURNS)) atLast = Math.min(atLast, await heapBytes(page, cdp, turn));
  }
  return [
    {
      ...figure(`memory, turn ${MEMORY_TURNS} over turn ${MEMORY_FROM_TURN}`, '×', atLast / atFirst),
      note: `${(atFirst / BYTES_PER_MB).toFixed(1)} MB, then ${(atLast / BYTES_PER_MB).toFixed(1)} MB`,
    },
  ];
}

function isIn(turn: number, endTurn: number): boolean {
  return turn <= endTurn && turn > endTurn - MEMORY_SPAN_TURNS;
}

async function heapBytes(page: Page, cdp: CDPSession, turn: number): Promise<number> {
  await page.getByText(`Turn ${turn}`, { exact: true }).last().waitFor();
  await sleep(1000);
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  return usedSize;
}

/** The best quarter of the runs, because other work may slow the rest. */
function best(name: string, unit: Unit, samples: readonly number[]): Figure {
  return { ...figure(name, unit, quantile(samples, 0.25)), max: quantile(samples, 1) };
}

function figure(name: string, unit: Unit, value: number): Figure {
  return { section: SECTION, name, subject: ownName, unit, p50: value };
}
