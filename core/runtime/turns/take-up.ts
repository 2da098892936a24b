// Resumes the work that an earlier run left. During a panic stop nothing is resumed.

import type { Logger } from '../../base/logger.ts';

interface Waiting {
  holdWaiting(): void;
  stopAll(reason: string): unknown;
  watchDeadlines(): void;
  resume(): void;
}

export interface TakingUp {
  readonly logger: Logger;
  /** False if the data is only inspected. */
  readonly resumes: boolean;
  readonly stopped: boolean;
  /** Resolves once a model is known; null if one is known already. */
  readonly ready: () => Promise<unknown> | null;
  /** Resumes work other than turns. */
  readonly rest: () => void;
}

/** Returns null if everything is resumed, else a promise that resolves when it is. */
export function takeUp(turns: Waiting, { logger, resumes, stopped, ready, rest }: TakingUp): Promise<void> | null {
  if (stopped || !resumes) turns.holdWaiting();
  // Turns that the stop aborted before the last run ended are recorded as stopped, not left as running.
  if (stopped) turns.stopAll('The panic stop was pressed.');
  if (!resumes) return null;
  const move = (): void => {
    if (stopped) turns.watchDeadlines();
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
