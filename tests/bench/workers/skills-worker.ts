// A separate process with a runtime of many installed skills: installs them through the store, or measures a start with them.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TrayClaw } from '../../../core/index.ts';
import { summarize, type Summary } from '../statistics.ts';
import { serveJob } from './worker.ts';

export interface SkillsJob {
  readonly libraryFile: string;
  readonly home: string;
  readonly skills: number;
  /** True to install them instead of measuring. */
  readonly installs: boolean;
  readonly questions: number;
}

export interface SkillsFigures {
  /** Milliseconds until operations are answered. */
  readonly startMs: number;
  /** The first shortlist, which reads the installed skills. */
  readonly firstMs: number;
  readonly shortlist: Summary;
  /** Checking all folders, as happens once a minute, in milliseconds of processor time. */
  readonly lookMs: number;
  readonly heapBytes: number;
  readonly offered: number;
}

const BATCH = 100;
const words =
  'invoice contract garden weather budget travel recipe photo calendar music library network report ledger sensor battery harbor museum survey ticket'.split(
    ' ',
  );

await serveJob<SkillsJob, SkillsFigures | null>(async (job) => {
  const library = (await import(job.libraryFile)) as { createTrayClaw(options: object): Promise<TrayClaw> };
  const startedMs = performance.now();
  const claw = await library.createTrayClaw({ home: job.home });
  const startMs = performance.now() - startedMs;
  try {
    if (!job.installs) return { startMs, ...(await measure(claw, job)) };
    await installAll(claw, job);
    return null;
  } finally {
    await claw.close();
  }
});

async function measure(claw: TrayClaw, { skills, questions }: SkillsJob): Promise<Omit<SkillsFigures, 'startMs'>> {
  const ask = async (n: number): Promise<number> => {
    const query = `prepare the ${word(n)} and the ${word(n * 7)} for topic${(n * 37) % Math.max(1, skills)}`;
    const fromMs = performance.now();
    await claw.op('skill.list', { query });
    return performance.now() - fromMs;
  };
  const firstMs = await ask(0);
  const samples: number[] = [];
  for (let n = 0; n < questions; n++) samples.push(await ask(n));
  const from = process.cpuUsage();
  await claw.op('skill.reload', {});
  const { user, system } = process.cpuUsage(from);
  globalThis.gc?.();
  const heapBytes = process.memoryUsage().heapUsed;
  const listed = (await claw.op('skill.list', {})).skills;
  const offered = listed.filter(({ isOffered, trust }) => isOffered && trust === 'content').length;
  return { firstMs, shortlist: summarize(samples), lookMs: (user + system) / 1_000, heapBytes, offered };
}

async function installAll(claw: TrayClaw, { home, skills }: SkillsJob): Promise<void> {
  const made = join(home, 'made');
  for (let from = 0; from < skills; from += BATCH) {
    for (let n = from; n < Math.min(skills, from + BATCH); n++) write(join(made, `skill-${n}`), n);
    const { planId } = await claw.op('skill.plan', { wants: [made] });
    if (planId === null) throw new Error('nothing to install');
    await claw.op('skill.install', { planId });
    rmSync(made, { recursive: true });
  }
}

function word(n: number): string {
  return words[n % words.length] ?? '';
}

/** As large as typical skills: 6 KB of instructions, a reference and a script. */
function write(folder: string, n: number): void {
  const [a, b] = [word(n), word(Math.floor(n / words.length))];
  const description = `Prepares the ${a} ${b} for topic${n}. Use it when a person asks for the ${a} or its ${b}.`;
  const lines = `Read the ${a} and write the ${b} of topic${n} in plain words, then check it.\n`.repeat(60);
  const steps = `1. Look at the [notes](references/notes.md) of topic${n}.\n`.repeat(20);
  mkdirSync(join(folder, 'references'), { recursive: true });
  writeFileSync(
    join(folder, 'SKILL.md'),
    `---\nname: skill-${n}\ndescription: ${description}\nlicense: MIT\nmetadata:\n  version: "1.0.0"\n---\n\n# ${a} ${b}\n\n## When to use it\n\n${lines}\n## Steps\n\n${steps}`,
  );
  writeFileSync(join(folder, 'references', 'notes.md'), `Notes of ${n}.\n`.repeat(200));
  writeFileSync(join(folder, 'look.py'), `print(${n})\n`);
}
