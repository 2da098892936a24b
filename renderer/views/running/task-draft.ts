// A task as typed into the form, converted to what the operation expects. The host validates it.

import type { Criterion, WorkFile } from '../../../core/contracts/features/work.ts';

export const criterionKinds = ['contains', 'file', 'command', 'judge', 'person'] as const;
export type CriterionKind = (typeof criterionKinds)[number];

export interface TypedCriterion {
  kind: CriterionKind;
  text: string;
}

export interface TypedTask {
  readonly goal: string;
  readonly criteria: readonly TypedCriterion[];
  readonly deliverables: string;
  readonly strategy: 'single' | 'evaluate' | 'candidates' | 'human-gate';
  readonly choose: 'judge' | 'person';
  readonly workspace: string;
  readonly usd: number | null;
}

/** Omits lines without text. */
export function taskOf({ goal, criteria, deliverables, strategy, choose, workspace, usd }: TypedTask): WorkFile {
  const files = deliverables.split(',').map((path) => path.trim());
  return {
    goal: goal.trim(),
    criteria: criteria.filter(({ text }) => text.trim() !== '').map(({ kind, text }) => ({ [kind]: text.trim() }) as Criterion),
    deliverables: files.filter((path) => path !== ''),
    strategy: strategy === 'candidates' ? { kind: strategy, choose } : strategy,
    ...(workspace.trim() === '' ? {} : { workspace: workspace.trim() }),
    ...(usd === null ? {} : { budget: { usd } }),
  };
}
