// Measures what confinement adds to a command: preparing it, running it, and checking afterwards what it left behind, compared with the
// same command without confinement.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import { configSchema } from '../../../core/contracts/config.ts';
import { Sandbox } from '../../../core/guard/sandbox/sandbox.ts';
import { summarize, type Summary } from '../statistics.ts';
import { serveJob } from './worker.ts';

export interface SandboxBenchJob {
  readonly repetitions: number;
  /** Folders in the workspace, each with one file. */
  readonly folders: number;
}

export interface SandboxFigures {
  /** Null if this machine has no sandbox. */
  readonly confined: Summary | null;
  readonly withNetwork: Summary | null;
  readonly plain: Summary;
}

await serveJob(measure);

async function measure(job: SandboxBenchJob): Promise<SandboxFigures> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'trayclaw-bench-')));
  const workspace = join(root, 'home', 'workspace');
  for (let n = 0; n < job.folders; n++) {
    mkdirSync(join(workspace, `folder-${n}`), { recursive: true });
    writeFileSync(join(workspace, `folder-${n}`, 'file'), 'x');
  }
  try {
    const plain = await timeRuns(job, workspace, null);
    return { plain, confined: await confinedRuns(job, workspace, []), withNetwork: await confinedRuns(job, workspace, ['example.org']) };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function confinedRuns(job: SandboxBenchJob, workspace: string, allowDomains: string[]): Promise<Summary | null> {
  const sandbox = new Sandbox({
    config: configSchema.parse({ sandbox: { mode: 'required', network: { allowDomains } } }).sandbox,
    facts: { workspace, home: join(workspace, '..'), extraFolders: [] },
    userHome: homedir(),
    environment: process.env,
    platform: process.platform,
    temporaryFolder: tmpdir(),
    clock: systemClock,
    logger: silentLogger,
  });
  try {
    if (!(await sandbox.health()).ok) return null;
    return await timeRuns(job, workspace, sandbox);
  } finally {
    await sandbox.dispose();
  }
}

/** The first run is not counted, because it starts what the later runs reuse. */
async function timeRuns(job: SandboxBenchJob, workspace: string, sandbox: Sandbox | null): Promise<Summary> {
  const samples: number[] = [];
  for (let run = 0; run <= job.repetitions; run++) {
    const startedMs = performance.now();
    await runOnce(workspace, sandbox);
    if (run > 0) samples.push(performance.now() - startedMs);
  }
  return summarize(samples);
}

async function runOnce(cwd: string, sandbox: Sandbox | null): Promise<void> {
  const plain = { file: '/bin/sh', args: ['-c', 'true'], environment: { PATH: process.env['PATH'] ?? '' } };
  const signal = new AbortController().signal;
  const wrapped = await sandbox?.wrap({
    ...plain,
    cwd,
    marker: {},
    attended: false,
    reads: null,
    sets: {},
    needsWholeMachine: false,
    signal,
  });
  const { file, args, environment } = wrapped ?? plain;
  const child = spawn(file, args, { cwd, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.resume();
  child.stderr.resume();
  const [code] = (await once(child, 'close')) as [number | null];
  await wrapped?.dispose();
  if (code !== 0) throw new Error(`the command ended with ${code}`);
}
