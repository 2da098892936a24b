// The process that is killed during one operation: a real runtime with a data folder. Without a kill it reports the number of writes.

import { writeSync } from 'node:fs';
import type { RuntimeOptions } from '../../core/compose.ts';
import { createTrayClaw } from '../../core/index.ts';
import { killAtWrite } from './kill-at-write.ts';
import { opCrashOptionsSchema } from './op-crash-protocol.ts';

const options = opCrashOptionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const REPORTS_FD = 3;
const tell = (report: object): void => void writeSync(REPORTS_FD, `${JSON.stringify(report)}\n`);

const writes = killAtWrite(options, REPORTS_FD);
writes.areCounted = options.fromStart;

if (options.daysAhead > 0) {
  const real = globalThis.setInterval;
  // The program checks once a minute whether its daily work is due.
  globalThis.setInterval = ((work: () => void, ms: number) => real(work, ms === 60_000 ? 20 : ms)) as typeof setInterval;
}
const aheadMs = options.daysAhead * 86_400_000;
const runtime: RuntimeOptions = {
  home: options.home,
  ...(options.config === null ? {} : { config: options.config }),
  clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + (writes.areCounted ? aheadMs : 0) },
};
const claw = await createTrayClaw(runtime);
writes.areCounted = true;
for (const { op, params } of options.ops) {
  const result = await claw.op(op as 'session.list', params as never);
  tell({ kind: 'done', op, result });
}
await new Promise((resolve) => setTimeout(resolve, options.restMs));
writes.areCounted = options.fromStart;
await claw.close();
tell({ kind: 'end', writes: writes.count });
