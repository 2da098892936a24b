// For tests only: real folders of an invented person, a real sandbox, and commands run as exec runs them.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../core/base/clock.ts';
import { silentLogger } from '../../core/base/logger.ts';
import { configSchema, type ConfigInput } from '../../core/contracts/config.ts';
import { Sandbox, type SandboxCommand, type SandboxOptions, type SandboxReport } from '../../core/guard/sandbox/sandbox.ts';

export interface BenchRun {
  readonly code: number | null;
  readonly signal: string | null;
  readonly output: string;
  readonly report: SandboxReport;
}

export class SandboxBench {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-confined-')));
  readonly person = join(this.root, 'person');
  readonly home = join(this.person, 'trayclaw');
  readonly workspace = join(this.home, 'workspace');
  readonly temporary = join(this.root, 'temporary');
  /** Real paths of the code that hooks and servers run. */
  readonly programFiles: string[] = [];
  readonly sandbox: Sandbox;

  constructor(config: ConfigInput['sandbox'] = {}, more: Partial<SandboxOptions> = {}) {
    mkdirSync(this.workspace, { recursive: true });
    mkdirSync(this.temporary);
    this.sandbox = new Sandbox({
      config: configSchema.parse({ sandbox: { mode: 'required', ...config } }).sandbox,
      facts: { workspace: this.workspace, home: this.home, extraFolders: [], programFiles: () => this.programFiles },
      userHome: this.person,
      environment: process.env,
      platform: process.platform,
      temporaryFolder: this.temporary,
      clock: systemClock,
      logger: silentLogger,
      ...more,
    });
  }

  /** Writes a file in the person's home folder. */
  put(path: string, content = 'x'): string {
    const file = join(this.person, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    return file;
  }

  has(path: string): boolean {
    return existsSync(join(this.workspace, path));
  }

  command(file: string, args: readonly string[], more: Partial<SandboxCommand> = {}): SandboxCommand {
    return {
      file,
      args,
      cwd: this.workspace,
      environment: { PATH: process.env['PATH'] ?? '', LANG: 'C' },
      sets: {},
      marker: { TRAYCLAW_CALL: 'call-1' },
      attended: false,
      reads: null,
      needsWholeMachine: false,
      // Scripts of tests need Node, wherever it is installed.
      readFolders: [dirname(realpathSync(process.execPath))],
      signal: new AbortController().signal,
      ...more,
    };
  }

  shell(line: string, more: Partial<SandboxCommand> = {}): Promise<BenchRun> {
    return this.run('/bin/bash', ['--noprofile', '--norc', '-c', line], more);
  }

  script(source: string, more: Partial<SandboxCommand> = {}): Promise<BenchRun> {
    return this.run(realpathSync(process.execPath), ['-e', source], more);
  }

  async run(file: string, args: readonly string[], more: Partial<SandboxCommand> = {}): Promise<BenchRun> {
    const wrapped = await this.sandbox.wrap(this.command(file, args, more));
    const child = spawn(wrapped.file, wrapped.args, { cwd: this.workspace, env: wrapped.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const end = await new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code, signal) => resolve({ code, signal }));
    });
    return { ...end, output, report: await wrapped.dispose() };
  }

  async dispose(): Promise<void> {
    await this.sandbox.dispose();
    rmSync(this.root, { recursive: true, force: true });
  }
}
