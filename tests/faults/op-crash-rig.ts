// Starts the process that is killed during an operation, and collects what it acknowledged.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { OpName } from '../../core/contracts/ops.ts';
import { compileCache } from '../compile-cache.ts';
import { onBuiltCore } from '../program-file.ts';
import type { OpCrashOptions } from './op-crash-protocol.ts';

const childFile = fileURLToPath(new URL('op-crash-child.ts', import.meta.url));

export interface CrashRun {
  readonly killed: boolean;
  readonly writes: number;
  /** The operations that were acknowledged. */
  readonly done: readonly { readonly op: string; readonly result: unknown }[];
}

export type CrashWork = Partial<Pick<OpCrashOptions, 'fromStart' | 'daysAhead' | 'restMs'>> & {
  readonly ops?: readonly { readonly op: OpName; readonly params: unknown }[];
};

/** Runs the work in a process that kills itself at a write; with 0 it reports how many there are. */
export function runAndKill(
  home: string,
  { config, ...work }: CrashWork & { readonly config: ConfigInput | null },
  { nth, side }: Pick<OpCrashOptions, 'nth' | 'side'>,
): Promise<CrashRun> {
  const options = { ops: [], fromStart: false, daysAhead: 0, restMs: 0, ...work, home, config, nth, side };
  const child = spawn(process.execPath, [...onBuiltCore, childFile, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...compileCache },
  });
  let problem = '';
  child.stderr?.on('data', (part) => (problem += String(part)));
  const pipe = child.stdio[3];
  if (pipe === null || pipe === undefined || !('read' in pipe)) throw new Error('the child has no pipe for its reports');
  const reports: { kind: string; op: string; result: unknown; writes: number }[] = [];
  createInterface({ input: pipe }).on('line', (line) => void reports.push(JSON.parse(line) as never));
  return new Promise((resolve, reject) => {
    child.on('close', (code, signal) => {
      if (signal === null && code !== 0) return reject(new Error(problem.slice(-2_000)));
      const done = reports.filter(({ kind }) => kind === 'done');
      resolve({ killed: signal === 'SIGKILL', writes: reports.find(({ kind }) => kind === 'end')?.writes ?? 0, done });
    });
  });
}
