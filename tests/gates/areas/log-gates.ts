// The end of the log and its head file. Data: each gate with its removal and the tests that must fail without it.

import type { Gate } from '../gate.ts';

export const logGates: readonly Gate[] = [
  {
    name: 'log/end',
    prevents: 'a log that lost its end starts as if it were whole',
    file: 'core/store/session/log-head.ts',
    text: "return gap(isNewRun && isWithinPromise ? 'power-cut' : 'rewound', expected.seq);",
    instead: 'return null;',
    suites: ['tests/faults/log-rewind.test.ts'],
    only: 'without a panic stop',
  },
  {
    name: 'log/head-missing',
    prevents: 'a head file that was taken away is not missed',
    file: 'core/store/session/log-head.ts',
    text: ": gap('head-missing', null);",
    instead: ": (gap('head-missing', null), null);",
    suites: ['tests/faults/log-rewind.test.ts'],
    only: 'without a panic stop',
  },
  {
    name: 'log/rewind-stops',
    prevents: 'a panic stop is lifted by taking the end of the log away',
    file: 'core/runtime/turns/settle.ts',
    text: '(head.wasStopped || (gap !== null && isRewound(gap)))',
    instead: 'false',
    suites: ['tests/faults/log-rewind.test.ts'],
    only: 'with the panic stop engaged',
  },
];
