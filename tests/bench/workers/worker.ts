// Runs one measurement in a separate process, so that neither memory nor compiled code of one subject affects the next. The job is passed
// as a JSON argument; the result is one JSON line on standard output.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

export interface WorkerOptions {
  /** Extra arguments for Node, e.g. for a profile. */
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export async function runWorker<Job, Result>(script: string, job: Job, options: WorkerOptions = {}): Promise<Result> {
  const file = fileURLToPath(new URL(script, import.meta.url));
  const child = spawn(process.execPath, [...(options.nodeArgs ?? []), file, JSON.stringify(job)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...options.env },
  });
  const [output, [code]] = (await Promise.all([text(child.stdout), once(child, 'exit')])) as [string, [number | null]];
  if (code !== 0) throw new Error(`${script} ended with ${code ?? 'a signal'}`);
  return JSON.parse(output.trimEnd().split('\n').at(-1) ?? '') as Result;
}

/** The worker's side: reads the job, prints the result of `work`, exits. */
export async function serveJob<Job, Result>(work: (job: Job) => Promise<Result>): Promise<void> {
  const result = await work(JSON.parse(process.argv[2] ?? '') as Job);
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
