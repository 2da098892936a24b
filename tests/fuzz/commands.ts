// `node tests/fuzz/commands.ts --lines 1000000 --seed 1 --sample 2000`: tests the analysis of commands with that many lines and prints the
// findings. Exits with 1 if a line was wrongly allowed.

import { parseArgs } from 'node:util';
import { CommandRig, fuzzCommands } from './fuzz-commands.ts';

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    sample: { type: 'string', default: '200' },
  },
});
const rig = new CommandRig();
try {
  const startedMs = performance.now();
  const report = await fuzzCommands({ lines: Number(values.lines), seed: Number(values.seed), sample: Number(values.sample) }, rig);
  const tookMs = Math.round(performance.now() - startedMs);
  const looks = timeLooks(rig);
  process.stdout.write(`${JSON.stringify({ seed: Number(values.seed), ...report, tookMs, ...looks }, null, 2)}\n`);
  process.exitCode = report.escapes.length > 0 ? 1 : 0;
} finally {
  await rig.dispose();
}

/** How long the facts of a command of 200 characters take, with all its files already read once. */
function timeLooks(timed: CommandRig): { lookMsP10: number; lookMsP50: number } {
  const line = `grep -n "some words to look for" README.md notes.txt -A 3 src/a.ts src/b.ts ${'x'.repeat(200)}`.slice(0, 200);
  const times = Array.from({ length: 3000 }, () => {
    const startedMs = performance.now();
    timed.facts(line);
    return performance.now() - startedMs;
  });
  const sorted = times.sort((a, b) => a - b).map((ms) => Math.round(ms * 1000) / 1000);
  return { lookMsP10: sorted[300] ?? 0, lookMsP50: sorted[1500] ?? 0 };
}
