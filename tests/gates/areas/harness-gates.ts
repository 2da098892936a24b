// The gates of tasks, evals and pipelines: evidence of judges, merges of candidates, approvals in throwaway folders, marks between nodes.

import type { Gate } from '../gate.ts';

export const harnessGates: readonly Gate[] = [
  {
    name: 'harness/judge-quote',
    prevents: 'a judge calls a point met with words that the work does not hold',
    file: 'core/mind/asking/judge.ts',
    text: 'if (!quotes(work, quote)) return refuse(',
    instead: "if (quote === 'x') return refuse(",
    suites: ['core/mind/asking/judge.test.ts'],
  },
  {
    name: 'harness/judge-appeal',
    prevents: 'praise, or instructions to the judge, raise the score of the work they stand in',
    file: 'core/mind/asking/judge.ts',
    text: 'if (isAppeal(quote) || repeats(point, quote)) return refuse(',
    instead: "if (quote === 'x' && isAppeal(quote) && repeats(point, quote)) return refuse(",
    suites: ['core/mind/asking/judge.test.ts'],
  },
  {
    name: 'harness/judge-empty',
    prevents: 'a judge calls a point met without showing where',
    file: 'core/mind/asking/judge.ts',
    text: "return mayHaveNoQuote(point) ? { point, met, quote, why } : refuse('The judge",
    instead: "return point !== '' || mayHaveNoQuote(point) ? { point, met, quote, why } : refuse('The judge",
    suites: ['core/mind/asking/judge.test.ts'],
  },
  {
    name: 'harness/merge-stale',
    prevents: 'a chosen candidate overwrites what the person changed in the meantime',
    file: 'core/features/work/copies.ts',
    text: 'if (stale.length > 0) {',
    instead: 'if (stale.length > 1_000_000) {',
    suites: ['core/features/work/copies.test.ts'],
  },
  {
    name: 'harness/eval-approve',
    prevents: 'a call in an eval case runs without a person having named its tool',
    file: 'core/features/evals/case-host.ts',
    text: "approve.includes(tool) ? 'approve' : 'deny'",
    instead: "approve.includes(tool) || tool !== '' ? 'approve' : 'deny'",
    suites: ['tests/program/evals.test.ts'],
    only: 'a call that no case approves',
  },
  {
    name: 'harness/node-sources',
    prevents: 'what one node of a pipeline read counts as the own words of the person in the next',
    file: 'core/features/pipelines/node-runs.ts',
    text: 'untrusted: sourcesAbove(deps, state, node),',
    instead: '',
    suites: ['tests/program/pipelines.test.ts'],
    only: 'a node that takes what another read',
  },
];
