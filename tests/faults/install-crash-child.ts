// The process that is killed while skills are installed or updated: a real runtime with a data folder. It sends itself SIGKILL right before
// or right after the nth call that changes a file below the workspace or the data folder, or reports the number of such calls.

import { createRequire, syncBuiltinESMExports } from 'node:module';
import type * as Fs from 'node:fs';
import { createTrayClaw } from '../../core/index.ts';

const [home = '', market = '', nth = '0', side = 'before', only = ''] = process.argv.slice(2);
const all = ['mkdirSync', 'openSync', 'writeSync', 'fsyncSync', 'closeSync', 'renameSync', 'rmSync', 'unlinkSync'] as const;
const changing = all.filter((name) => only === '' || name === only);
const fs = createRequire(import.meta.url)('node:fs') as Record<string, (...args: unknown[]) => unknown>;
let calls = 0;
let isCounting = false;

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive, and nothing may happen meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

for (const name of changing satisfies readonly (keyof typeof Fs)[]) {
  const real = fs[name];
  if (real === undefined) throw new Error(`no ${name}`);
  fs[name] = (...args) => {
    const isHere = isCounting && ++calls === Number(nth);
    if (isHere && side === 'before') die();
    const result = real.apply(fs, args);
    if (isHere) die();
    return result;
  };
}
syncBuiltinESMExports();

const claw = await createTrayClaw({ home, config: { skills: { markets: [{ name: 'team', url: market }] } } });
const plan = await claw.op('skill.plan', { wants: ['digest', 'notes'] });
isCounting = true;
if (plan.planId !== null) await claw.op('skill.install', { planId: plan.planId });
isCounting = false;
await claw.close();
process.stdout.write(`${calls}\n`);
