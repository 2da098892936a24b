// `node tests/faults/panic.ts [--rounds 50]`: stops twenty process trees that often and prints how long it took. Exits with 1 if a process
// survived.

import { parseArgs } from 'node:util';
import { PanicRig } from './panic-rig.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '50' } } });
const rig = await PanicRig.start();
const toLastDeath: number[] = [];
const toAnswer: number[] = [];
let processes = 0;
let survivors = 0;
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    const mark = await rig.startTrees();
    const result = await rig.engage(mark);
    toLastDeath.push(result.status.tookMs ?? Number.NaN);
    toAnswer.push(result.tookMs);
    processes += result.runningBefore;
    survivors += result.survivors;
    await rig.op('panic.release', {});
  }
} finally {
  await rig.dispose();
}
const show = (name: string, times: number[]): string => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN).toFixed(0);
  return `${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms\n`;
};
process.stdout.write(`${values.rounds} rounds, ${processes} processes stopped, ${survivors} survivors\n`);
process.stdout.write(show('to the last death', toLastDeath) + show('to the answer', toAnswer));
process.exitCode = survivors > 0 ? 1 : 0;
