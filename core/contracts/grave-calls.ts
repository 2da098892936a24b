// Decides which calls are grave: their harm cannot be undone, so each is approved individually. Free of schemas, because the window uses it
// too.

import type { CallFacts, ToolClass } from './tools.ts';

/** Calls whose harm cannot be undone. Each is approved individually: no grant covers more than the one call. */
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
