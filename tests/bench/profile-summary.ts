// Takes V8 CPU profiles and lists the functions with the most self time in the profiles of a folder. Excludes idle time.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { join } from 'node:path';

interface ProfileNode {
  readonly id: number;
  readonly children?: readonly number[];
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
}

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface FunctionTime {
  readonly name: string;
  readonly selfMs: number;
  /** Self time plus the time of everything it called. */
  readonly totalMs: number;
  /** Share of the busy time, from 0 to 1. */
  readonly share: number;
}

const SAMPLE_EVERY_MICROSECONDS = 200;
/** A longer gap between two samples is time spent waiting for the disk or for a processor. Only this much of it counts. */
const GAP_MS_MAX = 1;

/** Runs `work` under the profiler and writes the profile to a new file in `folder`. */
export async function profile(folder: string, work: () => Promise<void>): Promise<void> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_MICROSECONDS });
    await session.post('Profiler.start');
    await work();
    const { profile: taken } = await session.post('Profiler.stop');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${process.pid}.cpuprofile`), JSON.stringify(taken));
  } finally {
    session.disconnect();
  }
}

const NOT_BUSY = new Set(['(idle)', '(root)', '(program)', 'post node:inspector']);

interface Times {
  selfMs: number;
  totalMs: number;
}

export function topFunctions(folder: string, countMax: number, by: 'selfMs' | 'totalMs' = 'selfMs'): FunctionTime[] {
  const totals = new Map<string, Times>();
  for (const file of readdirSync(folder)) {
    if (!file.endsWith('.cpuprofile')) continue;
    addProfile(totals, JSON.parse(readFileSync(join(folder, file), 'utf8')) as Profile);
  }
  const busyMs = [...totals.values()].reduce((sum, times) => sum + times.selfMs, 0);
  return [...totals]
    .map(([name, times]) => ({ name, ...times, share: times[by] / busyMs }))
    .sort((a, b) => b[by] - a[by])
    .slice(0, countMax);
}

function addProfile(totals: Map<string, Times>, taken: Profile): void {
  const selfMs = new Map<number, number>();
  taken.samples.forEach((id, index) => selfMs.set(id, (selfMs.get(id) ?? 0) + Math.min(GAP_MS_MAX, (taken.timeDeltas[index] ?? 0) / 1000)));
  const nodes = new Map(taken.nodes.map((node) => [node.id, node]));
  const visit = (node: ProfileNode, callers: readonly string[]): number => {
    const name = nameOf(node, callers.at(-1) ?? '');
    const path = [...callers, name];
    let totalMs = selfMs.get(node.id) ?? 0;
    const times = timesOf(totals, name);
    if (!NOT_BUSY.has(name)) times.selfMs += totalMs;
    for (const id of node.children ?? []) {
      const child = nodes.get(id);
      if (child !== undefined) totalMs += visit(child, path);
    }
    // A recursive function counts once.
    if (!callers.includes(name) && !NOT_BUSY.has(name)) times.totalMs += totalMs;
    return totalMs;
  };
  const [root] = taken.nodes;
  if (root !== undefined) visit(root, []);
}

function timesOf(totals: Map<string, Times>, name: string): Times {
  const known = totals.get(name);
  if (known !== undefined) return known;
  const times = { selfMs: 0, totalMs: 0 };
  totals.set(name, times);
  return times;
}

/** Native functions without a name, such as those of an addon, are named after their caller. */
function nameOf({ callFrame }: ProfileNode, caller: string): string {
  const { functionName, url, lineNumber } = callFrame;
  const file = url.split('/').slice(-2).join('/');
  if (file === '') return functionName === '' ? `native code in ${caller}` : functionName;
  if (url.startsWith('node:inspector')) return 'post node:inspector';
  return `${functionName === '' ? '(anonymous)' : functionName} ${file}:${lineNumber + 1}`;
}

/** Summarises every folder below `folder` that contains profiles. */
export function printProfiles(folder: string): string {
  const FUNCTIONS_MAX = 20;
  const parts = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return parts
    .map(({ name }) => {
      const lines = topFunctions(join(folder, name), FUNCTIONS_MAX).map(
        (found) => `${(found.share * 100).toFixed(1).padStart(6)} %  ${found.selfMs.toFixed(1).padStart(8)} ms  ${found.name}`,
      );
      return [`profile of ${name}, by own time:`, ...lines].join('\n');
    })
    .join('\n\n');
}
