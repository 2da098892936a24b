// The work of the first quiet moment of a server: it keeps its compiled code for the next start, and returns heap memory used during
// start-up, because a resident program is mostly idle and the collector would not run soon.

import { flushCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { compileCacheFolder } from './compile-cache.ts';
import { growAgain } from './frugal-start.ts';

const QUIET_AFTER_MS = 3_000;

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/**
 * Once, a moment after the start: blocks for about 50 ms, and saves some 8 MB. Node writes compiled code at the end of a process, which a
 * service that is killed never reaches: each of its starts would compile everything, and hold 5 MB more.
 */
export function settleMemorySoon(): void {
  setTimeout(() => {
    flushCompileCache();
    // Loaded here: other commands need neither.
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    const { runInNewContext } = process.getBuiltinModule('node:vm');
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as Collect;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    setFlagsFromString('--no-expose-gc');
    growAgain();
    void sweep();
  }, QUIET_AFTER_MS).unref();
}

async function sweep(): Promise<void> {
  const { sweepCompiled } = await import('./sweep-compiled.ts');
  await sweepCompiled(compileCacheFolder(process.env, process.platform, homedir()), Date.now());
}
