// Which calls are grave: their harm does not come back, so each is approved for itself. No schemas: the window carries this too.

import type { CallFacts, ToolClass } from './tools.ts';

/** Calls whose harm does not come back. Each is approved for itself: no permission of a person reaches beyond the one call. */
export type GraveKind = Extract<ToolClass, 'destructive' | 'credential' | 'spend'> | 'network-code';

export function graveKind(facts: Pick<CallFacts, 'class' | 'runsFetched'>): GraveKind | null {
  switch (facts.class) {
    case 'destructive':
    case 'credential':
    case 'spend':
      return facts.class;
    default:
      return facts.runsFetched === true ? 'network-code' : null;
  }
}
