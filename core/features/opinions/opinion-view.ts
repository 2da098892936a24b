// Folds the opinions on a turn from its events, so that the log always gives the result that the operation returned. Pure.

import type { AnyEvent } from '../../contracts/events.ts';
import type { Opinion } from '../../contracts/features/opinions.ts';
import { addCost } from '../../contracts/spending.ts';

export function foldOpinions(turnId: string, events: readonly AnyEvent[]): Opinion[] {
  const found = new Map<string, Opinion>();
  const places = new Map<string, readonly string[]>();
  for (const event of events) {
    if (event.type === 'opinion.requested') {
      const { opinionId, panel, judge, by, members } = event.body;
      places.set(opinionId, members);
      const open = { verdict: 'ask', opinions: [], disagreement: 1, best: null, text: '', reason: '', costUsd: 0 } as const;
      found.set(opinionId, { opinionId, turnId, panel, judge, by, atMs: event.atMs, finished: false, ...open, opinions: [] });
    }
    if (event.type === 'opinion.given') {
      const { opinionId, model, text, error, costUsd } = event.body;
      change(found, opinionId, ({ opinions, costUsd: before }) => ({
        // In the order of the panel, not of arrival.
        opinions: [...opinions, { model, text, ...(error === undefined ? {} : { error }) }].toSorted(byPlace(places.get(opinionId) ?? [])),
        costUsd: addCost(before, costUsd),
      }));
    }
    if (event.type === 'opinion.judged') {
      const { opinionId, verdict, disagreement, order, best, text, reason, error, costUsd } = event.body;
      const preferred = best === null ? null : (order[best.charCodeAt(0) - 'A'.charCodeAt(0)] ?? null);
      change(found, opinionId, ({ costUsd: before }) => ({
        finished: true,
        verdict,
        disagreement,
        best: preferred,
        text,
        reason,
        costUsd: addCost(before, costUsd),
        ...(error === undefined ? {} : { stopped: error }),
      }));
    }
  }
  return [...found.values()];
}

function byPlace(members: readonly string[]): (one: { model: string }, other: { model: string }) => number {
  return (one, other) => members.indexOf(one.model) - members.indexOf(other.model);
}

function change(found: Map<string, Opinion>, opinionId: string, what: (opinion: Opinion) => Partial<Opinion>): void {
  const known = found.get(opinionId);
  if (known !== undefined) found.set(opinionId, { ...known, ...what(known) });
}
