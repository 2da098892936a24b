// Processes started by the benchmark: timed, inspected through /proc, ended by pid. Linux only where noted.

import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { text } from 'node:stream/consumers';

export interface FinishedProcess {
  readonly code: number | null;
  readonly wallMs: number;
  readonly output: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a Node script to its end and passes its standard error through. */
export async function timeScript(args: readonly string[], env: Environment): Promise<FinishedProcess> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env });
  const [output, [code]] = (await Promise.all([text(child.stdout), once(child, 'exit')])) as [string, [number | null]];
  return { code, wallMs: performance.now() - startedMs, output };
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

/** Resident memory in bytes, from proc_pid_status(5). */
export function residentBytes(pid: number): number {
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
  return Number(kibibytes) * 1024;
}

/** Processor time in milliseconds, user and kernel, all threads: fields 14 and 15 of proc_pid_stat(5), in ticks of 10 ms. */
export function processorMs(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields?.[11]) + Number(fields?.[12])) * 10;
}

/** False if the process is gone or is a zombie. */
export function isAlive(pid: number): boolean {
  const state = statFields(pid)?.[0];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Pids of running processes whose command line contains `marker`, without this process. */
export function findByCommandLine(marker: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && readProc(`/proc/${pid}/cmdline`).includes(marker) && isAlive(pid));
}

/** The fields from the third on; the name before them may contain anything. Null if the process does not exist. */
function statFields(pid: number): readonly string[] | null {
  const stat = readProc(`/proc/${pid}/stat`);
  return stat === '' ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // The process ended meanwhile, or we may not read it.
    return '';
  }
}
