// Returns heap memory used during start-up: a resident program is mostly idle, and the collector would not run soon.

const QUIET_AFTER_MS = 3_000;

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void;

/** Once, a moment after the start: blocks for about 50 ms, and saves some 8 MB. */
export function settleMemorySoon(): void {
  setTimeout(() => {
    // Loaded here: other commands need neither.
    const { setFlagsFromString } = process.getBuiltinModule('node:v8');
    const { runInNewContext } = process.getBuiltinModule('node:vm');
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as Collect;
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    setFlagsFromString('--no-expose-gc');
  }, QUIET_AFTER_MS).unref();
}
