// The rows kept in step with events are the same however the events are grouped into appends.

import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnyDraft } from '../../contracts/events.ts';
import { answered, created, ended, finished, LogBench, requested, said, started } from '../../../tests/rigs/log-bench.ts';

const turnId = fc.constantFrom('t1', 't2', 't3');
const draft: fc.Arbitrary<AnyDraft> = fc.oneof(
  fc.tuple(fc.string({ maxLength: 5 }), turnId).map(([text, turn]) => said(text, turn)),
  fc.string({ maxLength: 5 }).map((text) => answered(text)),
  turnId.map(started),
  turnId.map((turn): AnyDraft => {
    const draftOfTurn = started(turn);
    return draftOfTurn.type === 'turn.started' ? { ...draftOfTurn, body: { ...draftOfTurn.body, kind: 'tool' } } : draftOfTurn;
  }),
  turnId.map((turn): AnyDraft => ({ type: 'turn.waiting', turnId: turn, body: { approvalIds: [], callIds: [] } })),
  turnId.map((turn): AnyDraft => ({ type: 'turn.resumed', turnId: turn, body: { reason: 'r' } })),
  turnId.map(ended),
  fc.string({ maxLength: 5 }).map((title): AnyDraft => ({ type: 'session.renamed', body: { title } })),
  fc.boolean().map((pinned): AnyDraft => ({ type: 'session.pinned', body: { pinned } })),
  fc.nat(20).map((seq): AnyDraft => ({ type: 'session.seen', body: { seq } })),
  fc.string({ maxLength: 5 }).map((model): AnyDraft => ({ type: 'session.configured', body: { agentId: 'main', model, by: 'b' } })),
  fc.boolean().map((archived): AnyDraft => ({ type: 'session.archived', body: { archived } })),
);

function rowsAfter(groups: readonly (readonly AnyDraft[])[]): unknown {
  const bench = new LogBench();
  try {
    for (const group of groups) bench.log.append('a', group);
    return [
      bench.rows('SELECT * FROM sessions'),
      bench.rows('SELECT * FROM turns ORDER BY turn_id'),
      bench.rows('SELECT * FROM tool_calls'),
    ];
  } finally {
    bench.dispose();
  }
}

test('one append, or one per event, gives the same rows', () => {
  fc.assert(
    fc.property(fc.array(draft, { maxLength: 12 }), (drafts) => {
      const timed = [created('First'), ...drafts, requested('c1', 't1'), finished('c1')].map((each, index) => {
        // A person cannot have seen future events.
        const body = each.type === 'session.seen' ? { seq: Math.min(each.body.seq, index) } : each.body;
        return { ...each, body, atMs: index } as AnyDraft;
      });
      expect(rowsAfter([timed])).toEqual(rowsAfter(timed.map((each) => [each])));
    }),
    { numRuns: 100 },
  );
});
