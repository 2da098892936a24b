// The messages of work to the agent: the goal, and the findings of checks. Pure.

import type { EventBodies } from '../../contracts/events.ts';
import { checksOf, describeCriterion, type WorkState } from './fold.ts';

/** The first message states the goal, later ones the findings of the last check. */
export function messageFor(state: WorkState, candidate: number | null, attempt: number): string {
  return attempt === 1 ? askFor(state.started) : critiqueOf(state, candidate, attempt - 1);
}

function askFor({ goal, input, criteria }: EventBodies['work.started']): string {
  const given = input === null ? '' : `\n\nInput:\n${input}`;
  const asked = criteria.filter((one) => !('person' in one)).map((one) => `- ${describeCriterion(one)}`);
  return `${goal}${given}${asked.length === 0 ? '' : `\n\nIt is done when:\n${asked.join('\n')}`}`;
}

function critiqueOf(state: WorkState, candidate: number | null, attempt: number): string {
  const found = checksOf(state, candidate, attempt);
  const lines = state.started.criteria.flatMap((_, index) => {
    const check = found.get(index);
    if (check === undefined) return [];
    return [check.verdict === 'pass' ? `- met: ${check.text}` : `- not met: ${check.text}\n  ${check.evidence.replaceAll('\n', '\n  ')}`];
  });
  return `The result was checked, and it is not done yet.\n${lines.join('\n')}\n\nCorrect what is not met. What is met must stay so. Give the whole answer again.`;
}
