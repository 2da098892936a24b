// The time a task with criteria adds to a plain turn: the same message as one attempt with one criterion and as a turn, alternating.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Library from '../../../core/index.ts';
import { ownName, type Figure } from '../figures.ts';
import { laneUrl } from '../model-server/model-server.ts';
import type { BenchContext } from '../section.ts';
import { median, quantile } from '../statistics.ts';

/** The text that an attempt sends. The plain turn uses it too, so that sending a longer message is not counted as overhead of the task. */
const said = 'Hi\n\nIt is done when:\n- the answer is a JSON value of the given schema';
const PAIRS = 200;
const WARM = 40;

export async function measureWork(context: BenchContext): Promise<Figure[]> {
  context.say('work: a task with one criterion and a plain turn');
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-work-'));
  const { createTrayClaw } = (await import(pathToFileURL(context.libraryFile).href)) as typeof Library;
  const config = {
    providers: { lab: { kind: 'openai-compatible' as const, baseUrl: laneUrl(context.origin, 'work', { toolCalls: 0, tool: 'lookup' }) } },
    models: { default: 'lab/scripted' },
  };
  const claw = await createTrayClaw({ home, config });
  try {
    const plain = async (): Promise<void> => {
      const { status } = await claw.ask(said);
      if (status !== 'done') throw new Error(`the turn ended as ${status}`);
    };
    const task = { goal: 'Hi', criteria: [{ schema: { type: 'array' } }], strategy: 'single' as const };
    const withCriteria = async (): Promise<void> => {
      const { criteria } = await claw.op('work.run', { task });
      if (criteria[0]?.verdict !== 'fail') throw new Error('the criterion was not checked');
    };
    const added: number[] = [];
    const processor: number[] = [];
    const plainMs: number[] = [];
    const pairs = WARM + context.count(PAIRS);
    for (let pair = 0; pair < pairs; pair++) {
      const [turn, work] =
        pair % 2 === 0 ? [await timed(plain), await timed(withCriteria)] : (await inTurn(withCriteria, plain)).toReversed();
      if (pair < WARM || turn === undefined || work === undefined) continue;
      added.push(work.wallMs - turn.wallMs);
      processor.push(work.cpuMs - turn.cpuMs);
      plainMs.push(turn.cpuMs);
    }
    const note = `processor ${median(processor).toFixed(2)}, of a plain turn ${median(plainMs).toFixed(2)}; n ${added.length}`;
    return [
      { section: 'work', name: 'added by a criterion', subject: ownName, unit: 'ms', p50: median(added), p99: quantile(added, 0.99), note },
    ];
  } finally {
    await claw.close();
    rmSync(home, { recursive: true, force: true });
  }
}

interface Timed {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function inTurn(...work: readonly (() => Promise<void>)[]): Promise<Timed[]> {
  const took: Timed[] = [];
  for (const one of work) took.push(await timed(one));
  return took;
}

async function timed(work: () => Promise<void>): Promise<Timed> {
  const startMs = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return { wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 };
}
