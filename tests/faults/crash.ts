// `node tests/faults/crash.ts [--kills 400] [--seed 1]`: kills the runtime that often, at every named point and at random, and prints what
// was lost, run twice or left unknown. Exits with 1 if there was anything.

import { parseArgs } from 'node:util';
import { runCrashPlan } from './crash-plan.ts';
import type { CrashTally } from './crash-rig.ts';

const { values } = parseArgs({ options: { kills: { type: 'string', default: '400' }, seed: { type: 'string', default: '1' } } });
const startedMs = performance.now();
let shown = 0;
const tallies = await runCrashPlan({
  kills: Number(values.kills),
  seed: Number(values.seed),
  onProgress: (point, tally) => {
    if (++shown % 20 === 0) process.stderr.write(`${point}: ${tally.kills} kills\n`);
  },
});

const columns = ['kills', 'acked', 'lost', 'effects', 'twice', 'unknown'] as const;
const line = (name: string, cells: readonly (string | number)[]): string =>
  name.padEnd(20) + cells.map((cell) => String(cell).padStart(14)).join('');
const sum = (pick: (tally: CrashTally) => number): number => [...tallies.values()].reduce((total, tally) => total + pick(tally), 0);
const titles = ['kills', 'acked events', 'lost', 'effects', 'run twice', 'asked about'];
process.stdout.write(line('crash point', titles) + '\n');
for (const [point, tally] of tallies)
  process.stdout.write(
    line(
      point,
      columns.map((column) => tally[column]),
    ) + '\n',
  );
process.stdout.write(
  line(
    'all',
    columns.map((column) => sum((tally) => tally[column])),
  ) + '\n',
);
const faults = [...tallies].flatMap(([point, tally]) => tally.faults.map((fault) => `${point}: ${fault}`));
for (const fault of faults) process.stdout.write(`FAULT ${fault}\n`);
const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
process.stdout.write(
  `${sum((tally) => tally.kills)} kills, ${sum((tally) => tally.acked)} acknowledged events, ${sum((tally) => tally.lost)} lost, ` +
    `${sum((tally) => tally.twice)} run twice, ${sum((tally) => tally.unknown)} unknown outcomes all asked about and answered, ` +
    `${faults.length} faults, ${seconds} s\n`,
);
process.exitCode = faults.length > 0 || sum((tally) => tally.lost + tally.twice) > 0 ? 1 : 0;
