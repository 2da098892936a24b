// Places summaries among the turns of a conversation: at the cut, before the first turn that a summary does not cover. Pure.

import type { EventOf } from '../../../core/contracts/events.ts';
import type { TurnView } from '../../../core/contracts/turn-view.ts';

export interface SummaryMark {
  readonly seq: number;
  readonly summaryId: string;
  readonly text: string;
  /** The last position in the session that it covers. */
  readonly toSessionSeq: number;
  /** The number of messages this summary covers, without those of an earlier summary that it includes. */
  readonly messages: number;
  readonly method: 'model' | 'extract';
  readonly atMs: number;
}

export function markOf({ seq, body, atMs }: EventOf<'summary.written'>): SummaryMark {
  const { summaryId, text, covers, source, method } = body;
  return { seq, summaryId, text, toSessionSeq: covers.toSessionSeq, messages: source.messages, method, atMs };
}

/** Summaries by the turn they precede. A summary whose cut is among turns that are not loaded is left out. */
export function placeSummaries(
  turns: readonly TurnView[],
  summaries: readonly SummaryMark[],
  hasEarlier: boolean,
): ReadonlyMap<string, readonly SummaryMark[]> {
  const placed = new Map<string, SummaryMark[]>();
  for (const summary of summaries) {
    // A turn's message may precede its start and so be covered; the turn itself never is.
    const at = turns.findIndex(({ startSessionSeq, status }) => startSessionSeq > summary.toSessionSeq || status === 'queued');
    const turn = turns[at];
    if (turn === undefined || (at === 0 && hasEarlier)) continue;
    placed.set(turn.turnId, [...(placed.get(turn.turnId) ?? []), summary]);
  }
  return placed;
}
