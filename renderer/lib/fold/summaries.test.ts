import { expect, test } from 'vitest';
import { placeSummaries, type SummaryMark } from './summaries.ts';
import { createTurnView, type TurnView } from '../../../core/contracts/turn-view.ts';

/** Turns that start at these positions; 0 for a queued turn. */
const turns = (...starts: readonly number[]): TurnView[] =>
  starts.map((startSessionSeq, index) => ({
    ...createTurnView(`trn_${index + 1}`, 1),
    startSessionSeq,
    status: startSessionSeq === 0 ? 'queued' : 'done',
  }));

const summary = (summaryId: string, toSessionSeq: number): SummaryMark => ({
  seq: 1,
  summaryId,
  text: 'Asked: a plan.',
  toSessionSeq,
  messages: 4,
  method: 'extract',
  atMs: 1,
});

const places = (list: readonly TurnView[], summaries: readonly SummaryMark[], hasEarlier = false): unknown =>
  [...placeSummaries(list, summaries, hasEarlier)].map(([turnId, marks]) => [turnId, marks.map(({ summaryId }) => summaryId)]);

test('a summary stands before the first turn it leaves as it is, each at its own cut', () => {
  // The message of the third turn is at position 9, its start at 10.
  expect(places(turns(2, 6, 10, 14), [summary('one', 5), summary('two', 9)])).toEqual([
    ['trn_2', ['one']],
    ['trn_3', ['two']],
  ]);
  expect(places(turns(2, 6, 0), [summary('one', 9)])).toEqual([['trn_3', ['one']]]);
});

test('one whose cut is not among the turns that are there is left out, until they come', () => {
  expect(places(turns(10, 14), [summary('one', 9)], true)).toEqual([]);
  expect(places(turns(6, 10, 14), [summary('one', 9)], true)).toEqual([['trn_2', ['one']]]);
  expect(places(turns(2, 6), [summary('one', 40)])).toEqual([]);
});
