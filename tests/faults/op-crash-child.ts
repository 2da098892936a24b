// The process that is killed during one operation: a real runtime with a data folder. It sends itself SIGKILL right before or right after the
// nth write, where each statement that changes the database counts and each call that changes a file, or reports the number of writes.

import { createRequire, syncBuiltinESMExports } from 'node:module';
import { writeSync } from 'node:fs';
import Database from 'better-sqlite3';
import { createTrayClaw, type RuntimeOptions } from '../../core/index.ts';
import { opCrashOptionsSchema } from './op-crash-protocol.ts';

const options = opCrashOptionsSchema.parse(JSON.parse(process.argv[2] ?? ''));
const REPORTS_FD = 3;
const tell = (report: object): void => void writeSync(REPORTS_FD, `${JSON.stringify(report)}\n`);

const changing = [
  'mkdirSync',
  'openSync',
  'writeSync',
  'writeFileSync',
  'fsyncSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'unlinkSync',
  'linkSync',
];
type Calls = Record<string, (...args: unknown[]) => unknown>;
let writes = 0;
let isCounting = options.fromStart;

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive, and nothing may happen meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function killAround(calls: Calls, name: string, counts: (self: unknown, args: unknown[]) => boolean): void {
  const real = calls[name];
  if (real === undefined) throw new Error(`no ${name}`);
  calls[name] = function (this: unknown, ...args: unknown[]) {
    const isHere = isCounting && counts(this, args) && ++writes === options.nth;
    if (isHere && options.side === 'before') die();
    const result = real.apply(this, args);
    if (isHere) die();
    return result;
  };
}

const fs = createRequire(import.meta.url)('node:fs') as Calls;
for (const name of changing) killAround(fs, name, (_, args) => args[0] !== REPORTS_FD);
syncBuiltinESMExports();
const statements = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Calls;
killAround(
  statements,
  'run',
  (self) => !(self as Database.Statement).readonly || /^(?:BEGIN|COMMIT)/.test((self as Database.Statement).source),
);

if (options.daysAhead > 0) {
  const real = globalThis.setInterval;
  // The daily work is looked at once a minute.
  globalThis.setInterval = ((work: () => void, ms: number) => real(work, ms === 60_000 ? 20 : ms)) as typeof setInterval;
}
const aheadMs = options.daysAhead * 86_400_000;
const runtime: RuntimeOptions = {
  home: options.home,
  ...(options.config === null ? {} : { config: options.config }),
  clock: { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() + (isCounting ? aheadMs : 0) },
};
const claw = await createTrayClaw(runtime);
isCounting = true;
for (const { op, params } of options.ops) {
  const result = await claw.op(op as 'session.list', params as never);
  tell({ kind: 'done', op, result });
}
await new Promise((resolve) => setTimeout(resolve, options.restMs));
isCounting = options.fromStart;
await claw.close();
tell({ kind: 'end', writes });
