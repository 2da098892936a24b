// Kills a program with a channel again and again while people write, and compares received with written messages: nothing is lost, nothing
// arrives twice, and an unknown outcome is shown as uncertain. Owns one data folder and the files of the other side.

import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { ScriptedModel, type ModelRequestSeen } from '../doubles/scripted-model.ts';
import { channelReportSchema, type ChannelChildOptions } from './channel-protocol.ts';
import { readLog } from './crash-log.ts';
import { compileCache } from '../compile-cache.ts';
import { onBuiltCore } from '../program-file.ts';

const childFile = fileURLToPath(new URL('channel-child.ts', import.meta.url));
const CHILD_MAX_MS = 300_000;
const MESSAGES_A_RUN = 3;
const BACKLOG_MAX = 12;

export interface ChannelTally {
  kills: number;
  /** Messages people wrote. */
  written: number;
  /** Messages that were not accepted, or were accepted and neither answered nor shown as uncertain. */
  lost: string[];
  /** Answers that arrived more than once, or messages that were handled more than once. */
  twice: string[];
  /** Shown to the person as uncertain. */
  uncertain: number;
  readonly faults: string[];
}

export interface ChannelRun {
  readonly point: string | null;
  readonly nth: number;
  readonly armedFromStart?: boolean;
  /** Kills the process from outside this long after the channel is open. */
  readonly killAfterMs?: number;
}

export class ChannelCrashRig {
  readonly tally: ChannelTally = { kills: 0, written: 0, lost: [], twice: [], uncertain: 0, faults: [] };
  readonly #folder = mkdtempSync(join(tmpdir(), 'trayclaw-channel-crash-'));
  readonly #model: ScriptedModel;
  #updates = 0;

  private constructor(model: ScriptedModel) {
    this.#model = model;
    mkdirSync(this.#side);
  }

  /** The message tool answers every third job, the turn's answer the others; each answer contains its number. */
  static async start(): Promise<ChannelCrashRig> {
    const jobOf = (request: ModelRequestSeen): number => Number(/job (\d+)/.exec(request.userText)?.[1] ?? '0');
    const model = await ScriptedModel.start([
      {
        results: 0,
        when: (request) => jobOf(request) % 3 === 0,
        answer: (request) => ({ calls: [{ tool: 'message', args: { content: `answer ${jobOf(request)}.` } }] }),
      },
      { answer: (request) => ({ text: `answer ${jobOf(request)}.` }) },
    ]);
    return new ChannelCrashRig(model);
  }

  async dispose(): Promise<void> {
    await this.#model.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts the program once; it runs until it dies or everything written is answered. Resolves to true if it was killed. */
  async run(run: ChannelRun): Promise<boolean> {
    // A person does not write more while many messages are unanswered.
    if (this.#updates - this.#taken() < BACKLOG_MAX) this.#updates += MESSAGES_A_RUN;
    this.tally.written = this.#updates;
    const end = await this.#runChild(run);
    const killed = end.signal === 'SIGKILL';
    if (killed) this.tally.kills += 1;
    else if (end.code !== 0) this.tally.faults.push(`the program ended with ${end.code ?? end.signal}: ${end.stderr.slice(-800)}`);
    return killed;
  }

  /** Checks the folder after a start that was not interrupted. */
  async check(): Promise<ChannelTally> {
    const log = await readLog(this.#home);
    if (!log.audit.ok) this.tally.faults.push(`the hash chain is broken: ${JSON.stringify(log.audit.firstBad)}`);
    const db = new Database(join(this.#home, 'trayclaw.db'), { readonly: true });
    try {
      this.#compare(db);
    } finally {
      db.close();
    }
    return this.tally;
  }

  #compare(db: Database.Database): void {
    const heard = db.prepare("SELECT json_extract(body, '$.text') AS text FROM events WHERE type = 'user.message'").all() as {
      text: string;
    }[];
    const items = db.prepare('SELECT state, item FROM outbound').all() as { state: string; item: string }[];
    const arrived = this.#delivered();
    for (let update = 1; update <= this.#updates; update++) {
      const times = heard.filter(({ text }) => text === `job ${update}`).length;
      if (times === 0) this.tally.lost.push(`message ${update} was never taken in`);
      if (times > 1) this.tally.twice.push(`message ${update} was taken in ${times} times`);
      const answer = `answer ${update}.`;
      const own = items.filter(({ item }) => (JSON.parse(item) as { text: string }).text === answer);
      const isUncertain = own.some(({ state }) => state === 'uncertain');
      const deliveries = arrived.filter((text) => text === answer).length;
      if (own.length > 1) this.tally.twice.push(`message ${update} has ${own.length} answers`);
      if (deliveries > 1) this.tally.twice.push(`the answer to ${update} arrived ${deliveries} times`);
      if (deliveries === 0 && !isUncertain)
        this.tally.lost.push(`the answer to ${update} is ${own.map(({ state }) => state).join() || 'not there'}`);
      if (isUncertain) this.tally.uncertain += 1;
    }
  }

  /** Simulates a part that arrived once more than it was sent, as a control of the counting. */
  arriveAgain(update: number): void {
    appendFileSync(join(this.#side, 'delivered.log'), `again\tanswer ${update}.\n`);
  }

  /** Simulates that nothing of an update arrived. */
  forget(update: number): void {
    const file = join(this.#side, 'delivered.log');
    const kept = readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => !line.endsWith(`\tanswer ${update}.`));
    writeFileSync(file, kept.join('\n'));
  }

  /** The last update that the program recorded. */
  #taken(): number {
    const file = join(this.#side, 'offset');
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  }

  #delivered(): string[] {
    const file = join(this.#side, 'delivered.log');
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return lines.map((line) => line.slice(line.indexOf('\t') + 1));
  }

  get #home(): string {
    return join(this.#folder, 'home');
  }

  get #side(): string {
    return join(this.#folder, 'side');
  }

  async #runChild(run: ChannelRun): Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }> {
    const { point, nth, armedFromStart = false } = run;
    const where = { home: this.#home, side: this.#side, config: this.#model.config('openai') };
    const options: ChannelChildOptions = { ...where, updates: this.#updates, point, nth, armedFromStart };
    const child = spawn(process.execPath, [...onBuiltCore, childFile, JSON.stringify(options)], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: this.#folder, ...compileCache },
    });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(-4_000)));
    const reports = child.stdio[3];
    if (reports === null || reports === undefined || !('read' in reports)) throw new Error('the child has no pipe for reports');
    const timers: NodeJS.Timeout[] = [setTimeout(() => child.kill('SIGTERM'), CHILD_MAX_MS)];
    const lines = createInterface({ input: reports });
    lines.on('line', (line) => {
      const isOpen = channelReportSchema.parse(JSON.parse(line)).kind === 'open';
      if (isOpen && run.killAfterMs !== undefined) timers.push(setTimeout(() => child.kill('SIGKILL'), run.killAfterMs));
    });
    const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) =>
      child.once('close', (exitCode, exitSignal) => resolve([exitCode, exitSignal])),
    );
    for (const timer of timers) clearTimeout(timer);
    return { code, signal, stderr };
  }
}
