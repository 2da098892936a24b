// Kills this process right before or right after its nth write. Each statement that changes a database counts, and each call that changes a
// file. Must be called before the program under test is imported, so import that dynamically or built.

import { createRequire, syncBuiltinESMExports } from 'node:module';
import Database from 'better-sqlite3';

const changing = [
  'mkdirSync',
  'openSync',
  'writeSync',
  'writeFileSync',
  'copyFileSync',
  'fsyncSync',
  'renameSync',
  'rmSync',
  'rmdirSync',
  'unlinkSync',
  'linkSync',
];
type Calls = Record<string, (...args: unknown[]) => unknown>;

export interface WriteKill {
  /** 0 kills nothing. */
  readonly nth: number;
  readonly side: 'before' | 'after';
}

function die(): never {
  process.kill(process.pid, 'SIGKILL');
  // The signal may take a moment to arrive, and nothing may happen meanwhile.
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Writes to the file handle of the reports do not count. */
export function killAtWrite({ nth, side }: WriteKill, reportsFd: number): { count: number; areCounted: boolean } {
  const writes = { count: 0, areCounted: false };
  const killAround = (calls: Calls, name: string, counts: (self: unknown, args: unknown[]) => boolean): void => {
    const real = calls[name];
    if (real === undefined) throw new Error(`no ${name}`);
    calls[name] = function (this: unknown, ...args: unknown[]) {
      const isHere = writes.areCounted && counts(this, args) && ++writes.count === nth;
      if (isHere && side === 'before') die();
      const result = real.apply(this, args);
      if (isHere) die();
      return result;
    };
  };
  const fs = createRequire(import.meta.url)('node:fs') as Calls;
  for (const name of changing) killAround(fs, name, (_, args) => args[0] !== reportsFd);
  syncBuiltinESMExports();
  const statements = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Calls;
  killAround(statements, 'run', (self) => {
    const { readonly, source } = self as Database.Statement;
    return !readonly || /^(?:BEGIN|COMMIT)/.test(source);
  });
  for (const name of ['exec', 'pragma', 'close']) killAround(Database.prototype as unknown as Calls, name, () => true);
  return writes;
}
