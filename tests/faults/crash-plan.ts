// The plan of crashes: at every named point, at its 1st, 2nd, 3rd … visit until it is no longer reached (after SQLite's writecrash.test),
// during the recovery from a crash, during the creation of the data folder, and at random moments.

import { ScriptedModel, type ModelRequestSeen } from '../doubles/scripted-model.ts';
import { CrashRig, emptyTally, type CrashTally } from './crash-rig.ts';

const jobPoints = ['accepted', 'before-request', 'after-request', 'during-run', 'spawned', 'after-effect', 'after-result'] as const;
const recoveryPoints = ['recovery-reaped', 'recovery-recorded'] as const;
const KILLS_PER_FOLDER = 50;
const REACHES_MAX = 60;

export interface CrashPlan {
  readonly kills: number;
  /** The maximum number of visits to try for each named point. */
  readonly reachesMax?: number;
  readonly seed: number;
  onProgress?(point: string, tally: CrashTally): void;
}

/** The tally of each point, in the order they were tried. `random` fills up to the requested number of kills. */
export async function runCrashPlan(plan: CrashPlan): Promise<Map<string, CrashTally>> {
  const model = await startJobModel();
  const tallies = new Map<string, CrashTally>();
  const tallyOf = (point: string): CrashTally => {
    const tally = tallies.get(point) ?? emptyTally();
    tallies.set(point, tally);
    return tally;
  };
  try {
    await crashAtMigrations(model, plan, tallyOf);
    const rig = new CrashRig(model);
    try {
      for (const point of jobPoints) await crashAtPoint(rig, point, plan, tallyOf);
      for (const point of recoveryPoints) await crashInRecovery(rig, point, tallyOf);
    } finally {
      rig.dispose();
    }
    await crashAtRandom(model, plan, tallies, tallyOf);
    return tallies;
  } finally {
    await model.close();
  }
}

type TallyOf = (point: string) => CrashTally;

async function crashAtMigrations(model: ScriptedModel, plan: CrashPlan, tallyOf: TallyOf): Promise<void> {
  const rig = new CrashRig(model);
  try {
    const reachesMax = plan.reachesMax ?? REACHES_MAX;
    for (let nth = 1; nth <= reachesMax; nth++) {
      const killed = await rig.run({ point: 'migration', nth, armedFromStart: true, jobs: 1 }, tallyOf('migration'));
      if (!killed) return;
    }
    await rig.run({ point: null, nth: 0, jobs: 1 }, tallyOf('migration'));
  } finally {
    rig.dispose();
  }
}

async function crashAtPoint(rig: CrashRig, point: string, plan: CrashPlan, tallyOf: TallyOf): Promise<void> {
  const tally = tallyOf(point);
  for (let nth = 1; nth <= (plan.reachesMax ?? REACHES_MAX); nth++) {
    const killed = await rig.run({ point, nth, jobs: 1 }, tally);
    plan.onProgress?.(point, tally);
    if (!killed) return;
  }
}

/** Crashes while an effect has no result yet, then at each point of the recovery from that, then starts without a crash. */
async function crashInRecovery(rig: CrashRig, point: string, tallyOf: TallyOf): Promise<void> {
  for (const nth of [3, 5]) {
    await rig.run({ point: 'after-effect', nth, jobs: 1 }, tallyOf('after-effect'));
    await rig.run({ point, nth: 1, armedFromStart: true, jobs: 1 }, tallyOf(point));
    await rig.run({ point: null, nth: 0, jobs: 0 }, tallyOf(point));
  }
}

async function crashAtRandom(
  model: ScriptedModel,
  plan: CrashPlan,
  tallies: ReadonlyMap<string, CrashTally>,
  tallyOf: TallyOf,
): Promise<void> {
  const random = createRandom(plan.seed);
  const killsSoFar = (): number => [...tallies.values()].reduce((sum, tally) => sum + tally.kills, 0);
  while (killsSoFar() < plan.kills) {
    const rig = new CrashRig(model);
    try {
      for (let kill = 0; kill < KILLS_PER_FOLDER && killsSoFar() < plan.kills; kill++) {
        // One in eight happens during the start of the program.
        const when = random() < 0.125 ? { killAfterStartMs: 150 + random() * 700 } : { killAfterMs: random() * 700 };
        const tally = tallyOf('random');
        await rig.run({ point: null, nth: 0, jobs: 1_000, ...when }, tally);
        plan.onProgress?.('random', tally);
      }
      await rig.run({ point: null, nth: 0, jobs: 1 }, tallyOf('random'));
    } finally {
      rig.dispose();
    }
  }
}

/** A model whose every job reads, writes, stamps, appends and runs a command, one after another. */
async function startJobModel(): Promise<ScriptedModel> {
  const jobOf = (request: ModelRequestSeen): string => /job (\d+)/.exec(request.userText)?.[1] ?? '0';
  const command = 'sleep 0.04; echo "$TRAYCLAW_CALL" >> commands.log';
  return ScriptedModel.start([
    {
      results: 0,
      answer: (request) => ({
        calls: [
          { tool: 'list_dir', args: { path: '.' } },
          { tool: 'write_file', args: { path: `notes/${jobOf(request)}.md`, content: `notes of job ${jobOf(request)}\n` } },
        ],
      }),
    },
    { results: 2, answer: { calls: [{ tool: 'stamp', args: {} }] } },
    {
      results: 3,
      answer: (request) => ({ calls: [{ tool: 'append_file', args: { path: 'appended.log', content: `job-${jobOf(request)}\n` } }] }),
    },
    { results: 4, answer: { calls: [{ tool: 'exec', args: { command } }] } },
    { results: 5, answer: { text: 'The job is done.' } },
  ]);
}

/** mulberry32: the same seed gives the same crashes. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
