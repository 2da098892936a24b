// Does small pieces of work while a person looks at the newly opened window, one at a time, so that their first message waits for none.

import type { Logger } from '../../core/base/logger.ts';

/** The window comes first. */
const BEGIN_AFTER_MS = 400;
/** The pause between two pieces, for other work. */
const PAUSE_MS = 20;

/** Returns the function that cancels the rest. A piece that fails is repeated when it is needed. */
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
