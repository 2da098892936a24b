// Dead letters as operations: what failed, once more, or not at all.

import type { OpHandlers } from '../../contracts/ops.ts';
import type { OpsDeps } from './deps.ts';

export function createDeadLetterOps({ deadLetters }: OpsDeps): Pick<OpHandlers, `dlq.${'list' | 'retry' | 'clear'}`> {
  return {
    'dlq.list': ({ limit }) => ({ letters: deadLetters.list(limit ?? 100) }),
    'dlq.retry': ({ letterId }, caller) => deadLetters.retry(letterId, caller.actor),
    'dlq.clear': ({ letterId }, caller) => ({ cleared: deadLetters.clear(letterId ?? null, caller.actor) }),
  };
}
