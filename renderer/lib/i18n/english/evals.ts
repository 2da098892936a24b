// Texts about eval runs.

import { counted } from '../../../../core/base/counted.ts';
import type { OpParams } from '../../../../core/contracts/ops.ts';

type Suite = NonNullable<OpParams<'eval.run'>['suite']>;

export const evals = {
  lead: 'Evals run cases through the whole program in a throwaway folder and grade the answers. They show whether a change made the agent better.',
  run: 'Run cases',
  cases: 'Cases',
  suites: {
    tools: 'Using tools',
    injection: 'Resisting instructions in content',
    'long-context': 'Long conversations',
    recall: 'Remembering',
    budget: 'Keeping to the budget',
  } satisfies Record<Suite, string>,
  ownFile: 'A file or folder of mine',
  path: 'File or folder',
  repeat: 'Times each',
  help: 'Each case costs model requests, unless nothing it depends on has changed since an earlier run.',
  none: 'No cases have been run yet.',
  runOf: (path: string) => `Run of ${path}`,
  states: { running: 'running', finished: 'finished', interrupted: 'interrupted: run it again to finish it' },
  done: (done: number, planned: number) => `${done} of ${planned}`,
  passed: (count: number) => `${count} passed`,
  failed: (count: number) => `${count} failed`,
  errors: (count: number) => counted(count, 'could not be graded', 'could not be graded'),
  rate: (rate: string, low: string, high: string) => `${rate} (95%: ${low} to ${high})`,
  repeats: (times: number, once: string, always: string) => `at least once of ${times}: ${once}, every time: ${always}`,
  requests: (made: number, cached: number) =>
    cached === 0 ? `${made} model requests` : `${made} model requests, ${cached} cases from earlier runs`,
  stop: 'Stop',
  stopOf: (path: string) => `Stop ${path}`,
  look: 'What did not pass',
  allPassed: 'Every case passed.',
  verdicts: { pass: 'Passed', fail: 'Failed', error: 'Not graded' },
  since: (worse: number, better: number, same: number) => `Since the run before: ${worse} worse, ${better} better, ${same} the same.`,
  worse: (name: string) => `Worse: ${name}`,
  better: (name: string) => `Better: ${name}`,
} as const;
