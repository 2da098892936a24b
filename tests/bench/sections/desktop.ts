// The waiting times of a person at the desktop: from the start to a window that accepts text, for the desktop app on a substitute for
// Electron and for the served window in Chromium; and how long each main thread is blocked while a chat streams, a tool runs and an
// approval is answered.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { chromium, type Page } from 'playwright-core';
import { ScriptedModel } from '../../doubles/scripted-model.ts';
import { prepareFolder, scriptedConfig } from '../../e2e/host/served-host.ts';
import { StandInDriver } from '../../electron/driver/stand-in-driver.ts';
import { ownName, type Figure } from '../figures.ts';
import { causeOf, ProbeFile, type HoldupCause, type Holdups } from '../probe-file.ts';
import { endProcess } from '../processes.ts';
import type { BenchContext } from '../section.ts';
import { median, summarize } from '../statistics.ts';
import { chatFor, chatReplies, type ChatWindow } from './desktop-chat.ts';

const STARTS = 7;
const CHATS = 5;
/** The duration of one frame. */
const LONG_MS = 16;
const browserFile = process.env['TRAYCLAW_CHROMIUM'] ?? '/usr/bin/chromium';
const browserArgs = ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

/** One start: the duration of each phase in milliseconds, in order. */
type Phases = Readonly<Record<string, number>>;

interface Started {
  readonly phases: Phases;
  readonly page: Page;
  readonly pid: number;
  readonly probe: ProbeFile;
  end(): Promise<void>;
}

interface Subject {
  readonly name: string;
  start(place: { readonly home: string; readonly cliFile: string }): Promise<Started>;
}

export async function measureDesktop(context: BenchContext): Promise<Figure[]> {
  const { cliFile } = context;
  if (cliFile === null) {
    context.say('desktop: nothing is built; run npm run build first');
    return [];
  }
  const figures: Figure[] = [];
  for (const subject of [standIn, served]) {
    context.say(`desktop: ${subject.name}, ${context.count(STARTS)} starts, ${context.count(CHATS)} chats`);
    figures.push(...(await measureSubject(context, subject, cliFile)));
  }
  return figures;
}

async function measureSubject(context: BenchContext, subject: Subject, cliFile: string): Promise<Figure[]> {
  const home = mkdtempSync(join(tmpdir(), 'tcb-'));
  const replies = chatReplies();
  const model = await ScriptedModel.start([{ answer: () => replies.next().value }]);
  prepareFolder(home, {}, scriptedConfig(model));
  try {
    const starts: Phases[] = [];
    // The first start fills the folder's caches and is not counted.
    for (let index = 0; index <= context.count(STARTS); index += 1) {
      const started = await subject.start({ home, cliFile });
      if (index > 0) starts.push(started.phases);
      await started.end();
    }
    const started = await subject.start({ home, cliFile });
    try {
      return [...startFigures(subject.name, starts), ...(await measureChats(context, subject.name, started))];
    } finally {
      await started.end();
    }
  } finally {
    await model.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

function startFigures(subject: string, starts: readonly Phases[]): Figure[] {
  const wholes = starts.map((phases) => Object.values(phases).reduce((sum, ms) => sum + ms, 0));
  const whole = summarize(wholes);
  const shares = Object.keys(starts[0] ?? {}).map((name) => {
    const ms = median(starts.map((phases) => phases[name] ?? Number.NaN));
    return `${name} ${ms.toFixed(0)} (${((100 * ms) / whole.p50).toFixed(0)} %)`;
  });
  const note = `n ${whole.count}: ${shares.join(', ')}`;
  return [{ section: 'desktop', name: `start to usable, ${subject}`, subject: ownName, unit: 'ms', p50: whole.p50, max: whole.max, note }];
}

async function measureChats(context: BenchContext, subject: string, { page, pid, probe }: Started): Promise<Figure[]> {
  const window: ChatWindow = await chatFor(page);
  // Warm up, so that code is compiled as after the first minute of use.
  await window.chat();
  const found: Holdups[] = [];
  for (let index = 0; index < context.count(CHATS); index += 1) found.push(await probe.during(pid, () => window.chat()));
  return [
    {
      section: 'desktop',
      name: `main thread held up in a chat, ${subject}`,
      subject: ownName,
      unit: 'ms',
      p50: median(found.map((one) => one.maxMs)),
      p99: median(found.map((one) => one.p99Ms)),
      max: Math.max(...found.map((one) => one.maxMs)),
      note: `p50 of the longest; ${aboutHoldups(found)}`,
    },
  ];
}

/** How many blocks each cause had, and how long the program's own synchronous work took in the longest one. */
function aboutHoldups(found: readonly Holdups[]): string {
  const long = found.flatMap((one) => one.long);
  const of = (cause: HoldupCause): number => long.filter((one) => causeOf(one) === cause).length;
  const work = long.map((one) => one.workMs).toSorted((a, b) => b - a);
  const over = work.filter((ms) => ms > LONG_MS);
  const causes = `${of('work')} work, ${of('disk')} disk, ${of('processor')} waiting for a processor, ${of('other')} other waits`;
  const worst = `work over ${LONG_MS} ms: ${over.length}${
    over.length === 0
      ? ''
      : ` (${over
          .slice(0, 5)
          .map((ms) => ms.toFixed(0))
          .join(', ')})`
  }`;
  return `over ${LONG_MS} ms: ${long.length} in ${found.length} chats, for the most part ${causes}; ${worst}`;
}

const standIn: Subject = {
  name: 'desktop app on the stand-in',
  start: async ({ home }) => {
    const probe = new ProbeFile(join(home, 'probe.jsonl'));
    const startedMs = performance.timeOrigin + performance.now();
    const driver = StandInDriver.start({ home, env: probe.env });
    // Runs as soon as the app listens, before the browser is connected.
    await driver.evaluate(({ app, ipcMain }, path) => {
      const { appendFileSync } = process.getBuiltinModule('node:fs');
      const mark = (name: string): void => {
        appendFileSync(path, `${JSON.stringify({ mark: name, atMs: performance.timeOrigin + performance.now() })}\n`);
      };
      mark('program');
      app.once('ready', () => mark('browser'));
      app.once('web-contents-created', () => mark('window'));
      const handle = ipcMain.handle.bind(ipcMain);
      // The page sends this once it is mounted; from then on it accepts text.
      ipcMain.handle = (channel, listener) => {
        handle(channel, (event, ...args: unknown[]) => {
          if (channel === 'trayclaw:ready') mark('usable');
          return listener(event, ...args) as unknown;
        });
      };
    }, probe.path);
    const page = await driver.page();
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    const [process_, program, browser, window, usable] = ['process', 'program', 'browser', 'window', 'usable'].map((name) =>
      probe.mark(name),
    );
    const phases = {
      process: (process_ ?? 0) - startedMs,
      program: (program ?? 0) - (process_ ?? 0),
      browser: (browser ?? 0) - (program ?? 0),
      runtime: (window ?? 0) - (browser ?? 0),
      page: (usable ?? 0) - (window ?? 0),
    };
    const end = async (): Promise<void> => {
      await driver.quit();
      await driver.exited;
      await driver.kill();
    };
    return { phases, page, pid: driver.pid, probe, end };
  },
};

const served: Subject = {
  name: 'served window in Chromium',
  start: async ({ home, cliFile }) => {
    const probe = new ProbeFile(join(home, 'probe.jsonl'));
    const startedMs = performance.timeOrigin + performance.now();
    const env = { ...process.env, TRAYCLAW_HOME: home, DBUS_SESSION_BUS_ADDRESS: 'disabled:', ...probe.env };
    const child = spawn(process.execPath, [cliFile, 'serve'], { stdio: ['ignore', 'pipe', 'ignore'], env });
    const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
    const { url, token, pid } = JSON.parse(line) as { url: string; token: string; pid: number };
    const servedMs = performance.timeOrigin + performance.now();
    const browser = await chromium.launch({ executablePath: browserFile, args: browserArgs });
    const page = await browser.newPage();
    const openedMs = performance.timeOrigin + performance.now();
    await page.goto(`${url}/#token=${token}`);
    await page.getByRole('textbox', { name: 'Message', exact: true }).waitFor();
    const usableMs = performance.timeOrigin + performance.now();
    const begunMs = probe.mark('process');
    const phases = { process: begunMs - startedMs, runtime: servedMs - begunMs, browser: openedMs - servedMs, page: usableMs - openedMs };
    const end = async (): Promise<void> => {
      await browser.close();
      await endProcess(child);
    };
    return { phases, page, pid, probe, end };
  },
};
