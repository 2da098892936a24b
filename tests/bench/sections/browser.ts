// Compares the browser tool with the library it uses and with another server of browser tools: from no browser to the outline of the first
// page, and a click with the resulting text. All run with the same browser and page on the same machine, one after the other. The processor
// time covers this process and everything it started.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { chromium } from 'playwright-core';
import { findChromium } from '../../../build/chromium.ts';
import type * as Library from '../../../core/index.ts';
import { ownName, type Figure } from '../figures.ts';
import { installPeer, peerFile } from '../peers/peer-folder.ts';
import { processorMs } from '../processes.ts';
import type { BenchContext } from '../section.ts';
import { median, quantile } from '../statistics.ts';

const STARTS = 5;
const CLICKS = 100;
const WARM = 10;
const peer = { name: 'browser', dependencies: { '@playwright/mcp': '0.0.83' } };
const peerLabel = '@playwright/mcp 0.0.83';
const rawLabel = 'playwright-core 1.65.1';

/** A page of typical size, with a button that changes it. */
const page = `<!doctype html><title>Shop</title><h1>Shop</h1><p id="n">0 shown</p>
  <button onclick="n.textContent = (Number.parseInt(n.textContent) + 1) + ' shown'">Show next</button>
  <ul>${Array.from({ length: 80 }, (_, at) => `<li><a href="/item/${at}">Item ${at}</a> costs ${at} €</li>`).join('')}</ul>`;

/** One way to use a browser. Each call returns the text an agent would read. */
interface Driver {
  open(url: string): Promise<string>;
  click(ref: string): Promise<string>;
  /** Closes the browser. */
  close(): Promise<void>;
}

export async function measureBrowser(context: BenchContext): Promise<Figure[]> {
  context.say('browser: cold start, and a click with its outline');
  const executablePath = findChromium();
  if (executablePath === null) {
    context.say('browser: no Chromium was found');
    return [];
  }
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-browser-bench-'));
  const server = createServer((_request, response) => void response.setHeader('content-type', 'text/html; charset=utf-8').end(page));
  const url = await addressOf(server);
  const missing = await installPeer(peer);
  if (missing !== null) context.say(`browser: ${peerLabel}: ${missing}`);
  const own = await ownDriver(context, { folder, url, executablePath });
  const subjects: [string, () => Promise<Driver>][] = [
    [ownName, () => Promise.resolve(own)],
    [rawLabel, () => Promise.resolve(rawDriver(executablePath))],
    ...(missing === null ? [[peerLabel, () => peerDriver(executablePath, folder)] as [string, () => Promise<Driver>]] : []),
  ];
  try {
    const starts = new Map(subjects.map(([name]) => [name, new Samples()]));
    for (let i = 0; i < context.count(STARTS); i++) for (const [name, start] of subjects) await measureStart(start, url, starts.get(name));
    const clicks = new Map(subjects.map(([name]) => [name, new Samples()]));
    for (const [name, start] of subjects) await measureClicks(context, start, url, clicks.get(name));
    return [...figuresOf('cold start to the first outline', starts), ...figuresOf('a click with its outline', clicks)];
  } finally {
    await own.end();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

class Samples {
  readonly wall: number[] = [];
  readonly processor: number[] = [];
  chars = 0;

  async take(work: () => Promise<string>): Promise<string> {
    const [startMs, before] = [performance.now(), treeMs()];
    const text = await work();
    this.wall.push(performance.now() - startMs);
    this.processor.push(treeMs() - before);
    this.chars = text.length;
    return text;
  }
}

async function measureStart(start: () => Promise<Driver>, url: string, samples = new Samples()): Promise<void> {
  let driver: Driver | null = null;
  try {
    await samples.take(async () => (driver = await start()).open(url));
  } finally {
    await (driver as Driver | null)?.close();
  }
}

async function measureClicks(context: BenchContext, start: () => Promise<Driver>, url: string, samples = new Samples()): Promise<void> {
  const driver = await start();
  try {
    const ref = /button "Show next" \[ref=(\w+)\]/.exec(await driver.open(url))?.[1] ?? '';
    for (let i = 0; i < WARM; i++) await driver.click(ref);
    for (let i = 0; i < context.count(CLICKS); i++) {
      const said = await samples.take(() => driver.click(ref));
      if (!said.includes(`${WARM + i + 1} shown`)) throw new Error(`the click was not seen: ${said.slice(0, 300)}`);
    }
  } finally {
    await driver.close();
  }
}

function figuresOf(name: string, samples: ReadonlyMap<string, Samples>): Figure[] {
  return [...samples].map(([subject, { wall, processor, chars }]) => ({
    section: 'browser',
    name,
    subject,
    unit: 'ms',
    p50: median(wall),
    p99: quantile(wall, 0.99),
    // Processor time is counted in ticks of ten milliseconds, so the mean is more precise than the median.
    note: `processor ${Math.round(processor.reduce((sum, one) => sum + one, 0) / processor.length)}; ${chars} characters; n ${wall.length}`,
  }));
}

interface OwnParts {
  readonly folder: string;
  readonly url: string;
  readonly executablePath: string;
}

/** The browser tool as a turn uses it, including the gate and the log. */
async function ownDriver(context: BenchContext, { folder, url, executablePath }: OwnParts): Promise<Driver & { end(): Promise<void> }> {
  const { createTrayClaw } = (await import(pathToFileURL(context.libraryFile).href)) as typeof Library;
  const claw = await createTrayClaw({
    home: join(folder, 'home'),
    config: {
      sandbox: { mode: 'off' },
      browser: { executable: executablePath, allowHosts: [new URL(url).host] },
      policy: { limits: { callsPerMinute: { browser: 10_000 } } },
    },
  });
  const run = async (args: object): Promise<string> => {
    const { outcome, forModel } = await claw.op('tool.run', { tool: 'browser', args, wait: false });
    if (outcome !== 'ok') throw new Error(`the call ended as ${outcome}: ${forModel.slice(0, 300)}`);
    return forModel;
  };
  return {
    open: (address) => run({ action: 'open', url: address }),
    click: (ref) => run({ action: 'click', ref }),
    close: async () => void (await run({ action: 'close' })),
    end: () => claw.close(),
  };
}

/** The plain library: no gate, no proxy, no log, and the whole outline each time. */
function rawDriver(executablePath: string): Driver {
  const started = chromium.launch({ executablePath, headless: true, args: ['--no-sandbox'] });
  const opened = started.then((browser) => browser.newPage());
  return {
    open: async (url) => {
      const shown = await opened;
      await shown.goto(url);
      return shown.ariaSnapshot({ mode: 'ai' });
    },
    click: async (ref) => {
      const shown = await opened;
      await shown.locator(`aria-ref=${ref}`).click();
      return shown.ariaSnapshot({ mode: 'ai' });
    },
    close: async () => (await started).close(),
  };
}

/** The peer writes its outlines to files, which an agent then reads. */
async function peerDriver(executablePath: string, cwd: string): Promise<Driver> {
  const client = new Client({ name: 'bench', version: '1' });
  const args = [
    peerFile(peer.name, '@playwright/mcp/cli.js'),
    '--headless',
    '--isolated',
    '--no-sandbox',
    '--executable-path',
    executablePath,
  ];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, stderr: 'ignore' }));
  const call = async (name: string, given: Record<string, unknown>): Promise<string> => {
    const { content } = (await client.callTool({ name, arguments: given })) as { content: { text?: string }[] };
    const said = content.map(({ text = '' }) => text).join('\n');
    const file = /\[Snapshot\]\(([^)]+)\)/.exec(said)?.[1];
    return file === undefined ? said : `${said}\n${readFileSync(join(cwd, file), 'utf8')}`;
  };
  return {
    open: (url) => call('browser_navigate', { url }),
    click: (ref) => call('browser_click', { element: 'Show next', target: ref }),
    close: async () => {
      await call('browser_close', {});
      await client.close();
    },
  };
}

function addressOf(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`));
  });
}

/** Processor time of this process and all its descendants. Linux only. */
function treeMs(pid = process.pid): number {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').map(Number).filter(Boolean);
    return processorMs(pid) + children.reduce((sum, child) => sum + treeMs(child), 0);
  } catch {
    // The process has ended.
    return 0;
  }
}
