// The last words of a turn that ended before its answer was complete. They stay where they were read.

import { isOpen, type TurnEntry, type TurnView } from '../../../core/contracts/turn-view.ts';

/** Null if the turn has an answer, or did something after its last words. Notes say only how it ended. */
export function cutAnswer(turn: TurnView): Extract<TurnEntry, { kind: 'text' }> | null {
  if (isOpen(turn) || turn.answer !== '') return null;
  const last = turn.entries.findLast(({ kind }) => kind !== 'note');
  return last?.kind === 'text' ? last : null;
}
