// The work of turns that other load does not affect: statements and commits sent to SQLite, and bytes allocated. Counted separately from
// the timed turns, so that counting does not slow them.

import { Session } from 'node:inspector/promises';
import Database from 'better-sqlite3';

export interface TurnWork {
  readonly statements: number;
  readonly commits: number;
  readonly allocatedBytes: number;
}

interface AllocationNode {
  readonly selfSize: number;
  readonly children: readonly AllocationNode[];
}

const SAMPLE_EVERY_BYTES = 1024;

/** The average work of one turn. */
export async function workOf(turns: number, run: (turns: number) => Promise<void>): Promise<TurnWork> {
  const { statements, commits } = await statementsOf(() => run(turns));
  const allocatedBytes = await allocatedBy(() => run(turns));
  return { statements: statements / turns, commits: commits / turns, allocatedBytes: allocatedBytes / turns };
}

async function statementsOf(work: () => Promise<void>): Promise<Pick<TurnWork, 'statements' | 'commits'>> {
  const database = new Database(':memory:');
  const prototype = Object.getPrototypeOf(database.prepare('SELECT 1')) as Record<string, unknown>;
  database.close();
  const count = { statements: 0, commits: 0 };
  const restores = ['run', 'get', 'all', 'iterate'].map((name) => {
    const was = prototype[name] as (...args: unknown[]) => unknown;
    prototype[name] = function (this: Database.Statement, ...args: unknown[]): unknown {
      count.statements += 1;
      if (this.source === 'COMMIT') count.commits += 1;
      return was.apply(this, args);
    };
    return () => {
      prototype[name] = was;
    };
  });
  try {
    await work();
  } finally {
    for (const restore of restores) restore();
  }
  return count;
}

/** As V8's sampling profiler reports it, including garbage collected meanwhile. */
export async function allocatedBy(work: () => Promise<void>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true };
    await session.post('HeapProfiler.enable');
    await session.post('HeapProfiler.startSampling', { samplingInterval: SAMPLE_EVERY_BYTES, ...all });
    await work();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return bytesOf(profile.head);
  } finally {
    session.disconnect();
  }
}

function bytesOf(node: AllocationNode): number {
  return node.children.reduce((sum, child) => sum + bytesOf(child), node.selfSize);
}
