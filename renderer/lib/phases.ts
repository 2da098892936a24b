// The eight phases of a turn in order. The record makes a missing phase a type error without importing the schemas.

import type { Phase } from '../../core/contracts/events.ts';

const places: Record<Phase, number> = {
  interpret: 1,
  plan: 2,
  'policy-gate': 3,
  act: 4,
  observe: 5,
  verify: 6,
  reflect: 7,
  respond: 8,
};

export const phaseOrder = Object.keys(places) as readonly Phase[];
