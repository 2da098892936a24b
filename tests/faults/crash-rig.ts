// Runs the program, kills it, and compares what it promised with what is stored. Owns the data folder of one chain of crashes: each start
// first recovers from the crash before it.

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ScriptedModel } from '../doubles/scripted-model.ts';
import { countEffects, openUnsafeCalls, readLog, type LogView } from './crash-log.ts';
import { crashReportSchema, type CrashChildOptions, type CrashReport, type ToldEvent } from './crash-protocol.ts';
import { compileCache } from '../compile-cache.ts';
import { onBuiltCore } from '../program-file.ts';

const childFile = fileURLToPath(new URL('crash-child.ts', import.meta.url));
const CHILD_MAX_MS = 60_000;

export interface CrashTally {
  kills: number;
  acked: number;
  lost: number;
  effects: number;
  twice: number;
  unknown: number;
  /** Sentences that describe faults; none is expected. */
  readonly faults: string[];
}

export const emptyTally = (): CrashTally => ({ kills: 0, acked: 0, lost: 0, effects: 0, twice: 0, unknown: 0, faults: [] });

export interface CrashRun {
  readonly point: string | null;
  readonly nth: number;
  readonly armedFromStart?: boolean;
  readonly jobs: number;
  /** Kills the process from outside this long after the data folder is open. */
  readonly killAfterMs?: number;
  /** The same, counted from the start of the process. */
  readonly killAfterStartMs?: number;
}

interface ChildEnd {
  readonly signal: NodeJS.Signals | null;
  readonly code: number | null;
  readonly reports: readonly CrashReport[];
  readonly stderr: string;
}

export class CrashRig {
  readonly home: string;
  readonly #folder: string;
  readonly #model: ScriptedModel;
  #nextJob = 1;
  #starts = 0;
  #told: ToldEvent[] = [];
  #effects = 0;
  #expectUnknown: readonly string[] = [];
  #hasDatabase = false;
  #lastSeq = 0;

  constructor(model: ScriptedModel) {
    this.#model = model;
    this.#folder = mkdtempSync(join(tmpdir(), 'trayclaw-crash-'));
    this.home = join(this.#folder, 'home');
  }

  dispose(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts the program once; it runs until it dies or has done its jobs. Resolves to true if it was killed. */
  async run(run: CrashRun, tally: CrashTally): Promise<boolean> {
    const end = await this.#runChild(run);
    this.#starts += 1;
    const killed = end.signal === 'SIGKILL';
    if (killed) tally.kills += 1;
    else if (end.code !== 0) tally.faults.push(`the program ended with ${end.code ?? end.signal}: ${end.stderr.slice(-600)}`);
    await this.#check(end, killed, tally);
    return killed;
  }

  async #check(end: ChildEnd, killed: boolean, tally: CrashTally): Promise<void> {
    const told = end.reports.filter((report) => report.kind === 'event');
    this.#told.push(...told);
    tally.acked += told.length;
    for (const report of end.reports) this.#checkReport(report, tally);
    const opened = end.reports.some((report) => report.kind === 'open');
    if (!opened && !this.#hasDatabase) return;
    this.#hasDatabase = true;
    const log = await readLog(this.home);
    this.#lastSeq = log.lastSeq;
    if (!log.audit.ok) tally.faults.push(`the hash chain is broken: ${JSON.stringify(log.audit.firstBad)}`);
    tally.lost += log.missing(this.#told).length;
    this.#checkPromises(end.reports, log, tally);
    this.#checkEffects(log, tally);
    this.#expectUnknown = openUnsafeCalls(log);
    if (!killed) this.#checkAtRest(log, tally);
  }

  #checkReport(report: CrashReport, tally: CrashTally): void {
    if (report.kind === 'recovered') {
      tally.unknown += report.unknown.length;
      const expected = [...this.#expectUnknown].sort().join(' ');
      const listed = [...report.unknown].sort().join(' ');
      if (expected !== listed) tally.faults.push(`a start should ask about [${expected}], it asks about [${listed}]`);
    } else if (report.kind === 'still-unknown' && report.is) tally.faults.push(`${report.callId} was answered and is still asked about`);
    else if (report.kind === 'ended') {
      if (report.status !== 'done') tally.faults.push(`turn ${report.turnId} ended as ${report.status}: ${report.error}`);
      if (!report.identical) tally.faults.push(`turn ${report.turnId} is decided otherwise on replay`);
    } else if (report.kind === 'survived') tally.faults.push(...report.different);
    else if (report.kind === 'accepted') this.#nextJob = Math.max(this.#nextJob, report.job + 1);
  }

  /** Everything reported as safe must be in the log. */
  #checkPromises(reports: readonly CrashReport[], log: LogView, tally: CrashTally): void {
    for (const report of reports) {
      if (report.kind === 'accepted' && !log.startedTurns.has(report.turnId))
        tally.faults.push(`the accepted turn ${report.turnId} is gone`);
      if (report.kind === 'ended' && !log.finishedTurns.has(report.turnId)) tally.faults.push(`the ended turn ${report.turnId} has no end`);
    }
    for (const call of log.calls.values()) if (call.results > 1) tally.faults.push(`${call.callId} has ${call.results} results`);
  }

  #checkEffects(log: LogView, tally: CrashTally): void {
    const workspace = join(this.home, 'workspace');
    const { total, twice, unasked } = countEffects(log, {
      stamps: this.#ledger,
      commands: join(workspace, 'commands.log'),
      appended: join(workspace, 'appended.log'),
    });
    tally.effects += total - this.#effects;
    this.#effects = total;
    tally.twice += twice.length;
    if (twice.length > 0) tally.faults.push(`run more often than asked: ${twice.join(' ')}`);
    if (unasked.length > 0) tally.faults.push(`happened without a request: ${unasked.join(' ')}`);
  }

  /** Checks that everything that began has finished after a run without a crash: pure and idempotent calls needed no answer. */
  #checkAtRest(log: LogView, tally: CrashTally): void {
    const open = [...log.calls.values()].filter((call) => call.state !== 'closed').map((call) => call.callId);
    const unended = [...log.startedTurns].filter((turnId) => !log.finishedTurns.has(turnId));
    if (open.length > 0) tally.faults.push(`calls left open: ${open.join(' ')}`);
    if (unended.length > 0) tally.faults.push(`turns left open: ${unended.join(' ')}`);
  }

  get #ledger(): string {
    return join(this.#folder, 'stamps.log');
  }

  #runChild(run: CrashRun): Promise<ChildEnd> {
    const options: CrashChildOptions = {
      home: this.home,
      ledger: this.#ledger,
      config: this.#model.config('openai'),
      point: run.point,
      nth: run.nth,
      armedFromStart: run.armedFromStart ?? false,
      firstJob: this.#nextJob,
      jobs: run.jobs,
      firstAnswer: this.#starts % 3,
      afterSeq: this.#lastSeq,
    };
    const child = spawn(process.execPath, [...onBuiltCore, childFile, JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: this.#folder, ...compileCache },
    });
    return followChild(child, run);
  }
}

async function followChild(child: ChildProcess, run: CrashRun): Promise<ChildEnd> {
  const reports: CrashReport[] = [];
  let stderr = '';
  const timers: NodeJS.Timeout[] = [];
  const killIn = (ms: number): void => void timers.push(setTimeout(() => child.kill('SIGKILL'), ms));
  child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
  const pipe = child.stdio[3];
  if (pipe === null || pipe === undefined || !('read' in pipe)) throw new Error('the child has no pipe for its reports');
  const lines = createInterface({ input: pipe });
  lines.on('line', (line) => {
    // A line that the kill cut in half was never reported completely.
    if (!line.endsWith('}')) return;
    const report = crashReportSchema.parse(JSON.parse(line));
    reports.push(report);
    if (report.kind === 'open' && run.killAfterMs !== undefined) killIn(run.killAfterMs);
  });
  if (run.killAfterStartMs !== undefined) killIn(run.killAfterStartMs);
  const guard = setTimeout(() => {
    stderr += '\n(killed by the rig: it took too long)';
    child.kill('SIGTERM');
  }, CHILD_MAX_MS);
  const linesEnded = new Promise<void>((resolve) => lines.once('close', resolve));
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
    child.once('close', (exitCode, exitSignal) => resolve([exitCode, exitSignal])),
  );
  await linesEnded;
  clearTimeout(guard);
  for (const timer of timers) clearTimeout(timer);
  return { signal, code, reports, stderr };
}
