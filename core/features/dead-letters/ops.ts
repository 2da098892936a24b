// The operations on dead letters: list, retry and clear.

import type { OpHandlers } from '../../contracts/ops.ts';
import type { deadLetterOps } from '../../contracts/features/dead-letters.ts';
import type { DeadLetters } from './letters.ts';

export function createDeadLetterOps(
  deadLetters: Pick<DeadLetters, 'list' | 'retry' | 'clear'>,
): Pick<OpHandlers, keyof typeof deadLetterOps> {
  return {
    'dlq.list': ({ limit }) => ({ letters: deadLetters.list(limit ?? 100) }),
    'dlq.retry': ({ letterId }, caller) => deadLetters.retry(letterId, caller.actor),
    'dlq.clear': ({ letterId }, caller) => ({ cleared: deadLetters.clear(letterId ?? null, caller.actor) }),
  };
}
