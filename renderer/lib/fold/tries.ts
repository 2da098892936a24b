// Turns that ran one message more than once: which are part of the conversation, and which were replaced. Pure.

import type { TurnView } from '../../../core/contracts/turn-view.ts';

/** The turns that were not replaced. */
export function standing(turns: readonly TurnView[]): readonly TurnView[] {
  return turns.some((turn) => turn.supersededBy !== null) ? turns.filter((turn) => turn.supersededBy === null) : turns;
}

/**
 * Leaves out the oldest turn while older events are not loaded: its first tries may be among them, and it would grow above the text being
 * read. A single turn stays.
 */
export function whole(turns: readonly TurnView[], hasEarlier: boolean): readonly TurnView[] {
  return hasEarlier && turns.length > 1 ? turns.slice(1) : turns;
}

/** The tries before a turn, oldest first; a turn continued in another counts as one try of several turns. */
export function triesBefore(turns: readonly TurnView[], turn: TurnView): readonly (readonly TurnView[])[] {
  const tries: (readonly TurnView[])[] = [];
  const seen = new Set<string>();
  let later: string | null = turn.turnId;
  while (later !== null && !seen.has(later)) {
    seen.add(later);
    const by: string = later;
    const replaced = turns.filter((candidate) => candidate.supersededBy === by);
    if (replaced.length > 0) tries.unshift(replaced);
    later = replaced[0]?.turnId ?? null;
  }
  return tries;
}

/** The turn that finally replaced this one. */
export function standingFor(turns: readonly TurnView[], turnId: string): string {
  const seen = new Set<string>();
  let at = turnId;
  while (!seen.has(at)) {
    seen.add(at);
    const wanted: string = at;
    at = turns.find((turn) => turn.turnId === wanted)?.supersededBy ?? at;
  }
  return at;
}
