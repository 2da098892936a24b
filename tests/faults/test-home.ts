// A separate data folder for each test and the command line running on it, in separate processes or in this one; everything is deleted
// afterwards.

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { parseJson } from '../../core/base/json.ts';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { RuntimeOptions } from '../../core/compose.ts';
import { createTrayClaw, type TrayClaw } from '../../core/index.ts';
import { replayEveryTurn, type ReplayCheck } from './replay-check.ts';
import { compileCache } from '../compile-cache.ts';
import { cliFile } from '../program-file.ts';
import { blankDatabase } from '../rigs/blank-database.ts';
import { runHere } from '../rigs/command-here.ts';

const CLI_MAX_MS = 60_000;

export interface CliEnd {
  /** Null if the process was killed. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The JSON document that `--json` prints. */
  readonly json: unknown;
}

const announcedSchema = z.object({ url: z.string(), token: z.string(), pid: z.number() });

export interface Serving {
  readonly url: string;
  readonly token: string;
  readonly child: ChildProcessWithoutNullStreams;
  /** Ends the process with the signal and waits until it has exited. */
  end(signal: NodeJS.Signals): Promise<void>;
}

export class TestHome {
  readonly path: string;
  readonly #folder: string;
  readonly #claws = new Set<TrayClaw>();
  readonly #children = new Set<Serving>();
  readonly env: Record<string, string> = {};

  /** `isNew`: the folder is empty, so that the first start applies the migrations. */
  constructor({ isNew = false }: { readonly isNew?: boolean } = {}) {
    this.#folder = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-fault-')));
    this.path = join(this.#folder, 'home');
    mkdirSync(this.path, { mode: 0o700 });
    if (!isNew) writeFileSync(join(this.path, 'trayclaw.db'), blankDatabase(), { mode: 0o600 });
  }

  get workspace(): string {
    return join(this.path, 'workspace');
  }

  /** A project folder outside the data folder. */
  project(name = 'project'): string {
    const folder = join(this.#folder, name);
    mkdirSync(folder, { recursive: true });
    return folder;
  }

  /** Writes config.yaml; JSON is valid YAML. */
  configure(config: ConfigInput | string): void {
    writeFileSync(join(this.path, 'config.yaml'), typeof config === 'string' ? config : JSON.stringify(config, null, 2));
  }

  async open(more: Omit<RuntimeOptions, 'home'> = {}): Promise<TrayClaw> {
    const options: RuntimeOptions = { home: this.path, environment: { ...process.env, ...this.env }, ...more };
    const claw = await createTrayClaw(options);
    this.#claws.add(claw);
    return claw;
  }

  /** Replays the recorded turns of an open runtime before it is closed. */
  async close(claw: TrayClaw): Promise<ReplayCheck> {
    const replay = await replayEveryTurn(claw);
    this.#claws.delete(claw);
    await claw.close();
    return replay;
  }

  /** Runs a command in this process: for the work, output and exit code of a command, which need no separate process. */
  async command(args: readonly string[], stdin = '', cwd = this.#folder): Promise<CliEnd> {
    const { code, out, err } = await runHere([...args, '--json'], { env: this.#variables(), cwd, userFolder: this.#folder, stdin });
    return endOf(code, out, err);
  }

  /** Runs a command as a separate process, as a person does. */
  async cli(args: readonly string[], stdin = '', cwd = this.#folder): Promise<CliEnd> {
    const child = this.#spawnCli(args, cwd);
    // A command that reads no input may exit before the input is written.
    child.stdin.on('error', () => undefined).end(stdin);
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const guard = setTimeout(() => child.kill('SIGKILL'), CLI_MAX_MS);
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
    clearTimeout(guard);
    return endOf(code, stdout, stderr);
  }

  /** Runs `serve` in a separate process; resolves once it prints its address. */
  async serve(): Promise<Serving> {
    const child = this.#spawnCli(['serve']);
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    const lines = createInterface({ input: child.stdout });
    const line = await new Promise<string>((resolve, reject) => {
      lines.once('line', resolve);
      child.once('close', (code) => reject(new Error(`serve ended with ${code}: ${stderr}`)));
    });
    const { url, token } = announcedSchema.parse(JSON.parse(line));
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const serving: Serving = {
      url,
      token,
      child,
      end: async (signal) => {
        if (child.exitCode === null && child.signalCode === null) child.kill(signal);
        lines.close();
        await gone;
        this.#children.delete(serving);
      },
    };
    this.#children.add(serving);
    return serving;
  }

  async dispose(): Promise<void> {
    for (const child of Array.from(this.#children)) await child.end('SIGKILL');
    for (const claw of this.#claws) await claw.close();
    this.#claws.clear();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.dispose();
  }

  #spawnCli(args: readonly string[], cwd = this.#folder): ChildProcessWithoutNullStreams {
    return spawn(process.execPath, [cliFile, ...args, '--json'], { cwd, env: { ...compileCache, ...this.#variables() } });
  }

  #variables(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.#folder, TRAYCLAW_HOME: this.path, ...this.env };
  }
}

function endOf(code: number | null, stdout: string, stderr: string): CliEnd {
  const parsed = parseJson(stdout);
  return { code, stdout, stderr, json: parsed.ok ? parsed.value : undefined };
}
