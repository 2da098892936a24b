// A message whose words are not its sender's own: what is written before it, so that nothing takes them for the person's.

import type { AnyDraft } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';

/** Every time, also from a known source: only the mark tells the words of such a message from the person's own. */
export function markForeign(turnId: string, sources: readonly TaintSource[]): AnyDraft[] {
  if (sources.length === 0) return [];
  return [{ type: 'taint.marked', turnId, phase: 'interpret', body: { callId: null, sources: [...sources], paths: [] } }];
}
