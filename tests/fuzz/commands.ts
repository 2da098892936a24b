// `node tests/fuzz/commands.ts --lines 1000000 --seed 1 --sample 2000`: tries the analysis of commands with that many lines and prints what
// was found. Ends with 1 when a line slipped through.

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
  process.stdout.write(`${JSON.stringify({ seed: Number(values.seed), ...report, tookMs }, null, 2)}\n`);
  process.exitCode = report.escapes.length > 0 ? 1 : 0;
} finally {
  await rig.dispose();
}
