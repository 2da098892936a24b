// The cost of many installed skills: the start, the first message, the choice for a message, the check of their folders once a minute,
// memory.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { median, summarize } from '../statistics.ts';
import { runWorker } from '../workers/worker.ts';
import type { SkillsFigures, SkillsJob } from '../workers/skills-worker.ts';

const SKILLS = [1_000, 5_000];
const STARTS = 5;

export async function measureSkills(context: BenchContext): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-bench-'));
  try {
    const none = await measureHome(context, join(folder, 'none'), 0);
    const figures: Figure[] = [];
    for (const skills of SKILLS.map((many) => context.count(many)))
      figures.push(...figuresOf(skills, await measureHome(context, join(folder, `home-${skills}`), skills), none));
    return figures;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureHome(context: BenchContext, home: string, skills: number): Promise<SkillsFigures[]> {
  context.say(`skills: ${skills} installed`);
  mkdirSync(home, { mode: 0o700 });
  const { libraryFile } = context;
  const job: SkillsJob = { libraryFile, home, skills, installs: false, questions: context.count(500) };
  if (skills > 0) await runWorker<SkillsJob, null>('skills-worker.ts', { ...job, installs: true });
  const measured: SkillsFigures[] = [];
  // The first start after an installation reads all files; it is not measured here.
  for (let start = 0; start <= context.count(STARTS); start++)
    measured.push(await runWorker<SkillsJob, SkillsFigures>('skills-worker.ts', job, { nodeArgs: ['--expose-gc'] }));
  const wrong = measured.find(({ offered }) => offered !== skills);
  if (wrong !== undefined) throw new Error(`${wrong.offered} of ${skills} skills are offered`);
  return measured.slice(1);
}

function figuresOf(skills: number, measured: readonly SkillsFigures[], none: readonly SkillsFigures[]): Figure[] {
  const over = (take: (figures: SkillsFigures) => number): number => median(measured.map(take)) - median(none.map(take));
  const about = { section: 'skills', subject: ownName } as const;
  const of = `${skills.toLocaleString('en')} skills`;
  const shortlist = summarize(measured.map((one) => one.shortlist.p50));
  const worst = Math.max(...measured.map((one) => one.shortlist.p99));
  return [
    { ...about, name: `${of}, added to a start`, unit: 'ms', p50: over(({ startMs }) => startMs) },
    { ...about, name: `${of}, added to the first message`, unit: 'ms', p50: over(({ firstMs }) => firstMs) },
    { ...about, name: `${of}, shortlist`, unit: 'ms', p50: shortlist.p50, p99: worst, note: 'through the operation' },
    { ...about, name: `${of}, one look at the folders`, unit: 'ms', p50: over(({ lookMs }) => lookMs), note: 'processor; once a minute' },
    { ...about, name: `${of}, memory`, unit: 'MB', p50: over(({ heapBytes }) => heapBytes) / 1_000_000 },
  ];
}
