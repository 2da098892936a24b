// The eight phases of a turn with their names for people. The record makes a missing phase a type error without importing the schemas.

import type { Phase } from '../../core/contracts/events.ts';

const names: Record<Phase, string> = {
  interpret: 'Interpret',
  plan: 'Plan',
  'policy-gate': 'Policy gate',
  act: 'Act',
  observe: 'Observe',
  verify: 'Verify',
  reflect: 'Reflect',
  respond: 'Respond',
};

export const phaseOrder = Object.keys(names) as readonly Phase[];

export function phaseName(phase: Phase): string {
  return names[phase];
}
