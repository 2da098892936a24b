// The cost of caution: the worst case of one governor evaluation, and the time a panel adds to that of its models.

import { performance } from 'node:perf_hooks';
import type { CallFacts } from '../../../core/contracts/tools.ts';
import { assessCall, follow } from '../../../core/features/governor/governor.ts';
import { wordDisagreement } from '../../../core/features/opinions/opinions.ts';
import { ownName, type Figure } from '../figures.ts';
import type { BenchContext } from '../section.ts';
import { summarize } from '../statistics.ts';

const BATCH = 100;
const BATCHES = 200;
const MEMBERS = 3;
const ANSWER_WORDS = 400;

export function measureCaution({ count, say }: Pick<BenchContext, 'count' | 'say'>): Figure[] {
  say('turn: one evaluation of the governor, and the comparison of a panel');
  const turn = follow();
  turn.failures = 5;
  turn.contradictions = 2;
  const hosts = ['a.example', 'b.example', 'c.example'];
  const facts: CallFacts = { class: 'exec', paths: [], command: null, hosts };
  const call = { callId: 'call_1', decision: 'allow' as const, facts, taint: { session: 6, derived: 2 }, budget: 99, grantAgeDays: 40 };
  const answers = Array.from({ length: MEMBERS }, (_, member) =>
    Array.from({ length: ANSWER_WORDS }, (_word, at) => `word${at * (member + 1)}`).join(' '),
  );
  const timed = (step: () => unknown, batch: number): number[] =>
    Array.from({ length: count(BATCHES) }, () => {
      const fromMs = performance.now();
      for (let n = 0; n < batch; n++) step();
      return ((performance.now() - fromMs) * 1_000) / batch;
    });
  const figure = (name: string, step: () => unknown, batch = BATCH): Figure => {
    timed(step, batch);
    const { p50, p99, count: samples } = summarize(timed(step, batch));
    return { section: 'turn', subject: ownName, unit: 'µs', name, p50, p99, note: `${samples} × ${batch} times` };
  };
  return [
    figure('evaluation of the governor', () => assessCall(turn, call, { mode: 'on' })),
    figure(`disagreement of ${MEMBERS} answers`, () => wordDisagreement(answers), 10),
  ];
}
