// Does small pieces of work in advance, one at a time, while a person looks at the newly opened window, so that the first message does not
// wait for them.

import type { Logger } from '../../core/base/logger.ts';

/** Delay, so that the window opens first. */
const BEGIN_AFTER_MS = 400;
/** Pause between two pieces, so that other work can run. */
const PAUSE_MS = 20;

/** Returns the function that cancels the remaining pieces. A piece that fails runs again when it is needed. */
export function workAhead(pieces: readonly (() => void | Promise<void>)[], logger: Logger): () => void {
  const left = [...pieces];
  let timer: NodeJS.Timeout | null = null;
  const doNext = async (): Promise<void> => {
    try {
      await left.shift()?.();
    } catch (cause) {
      logger.log('warn', 'something could not be prepared', { cause: String(cause) });
    }
    if (left.length > 0) timer = setTimeout(() => void doNext(), PAUSE_MS).unref();
  };
  timer = setTimeout(() => void doNext(), BEGIN_AFTER_MS).unref();
  return () => {
    left.length = 0;
    if (timer !== null) clearTimeout(timer);
  };
}
