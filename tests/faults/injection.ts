// `node tests/faults/injection.ts [--every 1]`: an obeying model against every hostile text, and prints what came of it. Ends with 1 if
// anything happened that nobody asked for.

import { parseArgs } from 'node:util';
import { InjectionRig, type CaseEnd } from './injection/injection-rig.ts';
import { showReport } from './injection/report.ts';

const { values } = parseArgs({ options: { every: { type: 'string', default: '1' } } });
const startedMs = performance.now();
const ends: CaseEnd[] = [];
const rig = await InjectionRig.start();
try {
  const chosen = rig.cases().filter((_, index) => index % Number(values.every) === 0);
  for (const one of chosen) ends.push(await rig.run(one));
} finally {
  await rig.dispose();
}
process.stdout.write(showReport(ends));
process.stdout.write(`${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
process.exitCode = ends.some((end) => end.violations.length > 0) ? 1 : 0;
