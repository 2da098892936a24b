// Takes up the work that an earlier run left. Under a panic stop nothing moves.

import type { Logger } from '../../base/logger.ts';

interface Waiting {
  holdWaiting(): void;
  stopAll(reason: string): unknown;
  watchQuestions(): void;
  resume(): void;
}

export interface TakingUp {
  readonly logger: Logger;
  /** False where the data is only looked at. */
  readonly resumes: boolean;
  readonly stopped: boolean;
  /** Until a model is known; null where one is. */
  readonly ready: () => Promise<unknown> | null;
  /** Takes up what is not a turn. */
  readonly rest: () => void;
}

/** Null when it is done, or else when the promise resolves. */
export function takeUp(turns: Waiting, { logger, resumes, stopped, ready, rest }: TakingUp): Promise<void> | null {
  if (stopped || !resumes) turns.holdWaiting();
  // Turns that the stop aborted before the last run ended are recorded as stopped, not left as running.
  if (stopped) turns.stopAll('The panic stop was pressed.');
  if (!resumes) return null;
  const move = (): void => {
    if (stopped) turns.watchQuestions();
    else turns.resume();
    rest();
  };
  const looking = stopped ? null : ready();
  if (looking === null) {
    move();
    return null;
  }
  return looking.then(move).catch((cause: unknown) => {
    logger.log('error', 'unfinished turns could not be taken up', { cause: String(cause) });
  });
}
