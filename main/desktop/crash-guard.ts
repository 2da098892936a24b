// Handles an unexpected error of the shell: logs it without secrets, keeps the log's state, and ends the process instead of continuing in
// an unknown state. The next start resumes the work.

import type { Logger } from '../../core/base/logger.ts';

export interface CrashGuardOptions {
  readonly process: Pick<NodeJS.Process, 'on' | 'off'>;
  readonly logger: Logger;
  readonly redact: (text: string) => string;
  /** Shows the error to the person, in a box that needs no window. */
  readonly tell: (title: string, text: string) => void;
  readonly exit: (code: number) => void;
}

/** Returns the function that removes the guard. */
export function guardAgainstCrashes({ process, logger, redact, tell, exit }: CrashGuardOptions): () => void {
  let isEnding = false;
  const end = (what: string, cause: unknown): void => {
    const text = redact(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
    logger.log('error', what, { cause: text });
    if (isEnding) return;
    isEnding = true;
    tell(
      'TrayClaw has to stop',
      'Something went wrong inside TrayClaw itself. Nothing that was recorded is lost: start it again and it continues where it was. See logs/trayclaw.log for details.',
    );
    exit(1);
  };
  const onException = (cause: unknown): void => end('an unexpected error', cause);
  const onRejection = (cause: unknown): void => end('an unhandled promise rejection', cause);
  process.on('uncaughtException', onException);
  process.on('unhandledRejection', onRejection);
  return () => {
    process.off('uncaughtException', onException);
    process.off('unhandledRejection', onRejection);
  };
}
