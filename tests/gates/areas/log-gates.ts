// The end of the log and its head file. Data: each gate with its removal and the tests that must fail without it.

import type { Gate } from '../gate.ts';

export const logGates: readonly Gate[] = [
  {
    name: 'log/permitting-rows',
    prevents: 'a grant that was put into the database permits calls, and the audit says that all is intact',
    file: 'core/doors/ops/audit-ops.ts',
    text: 'if (report.ok) faults.push(...unexplained(log));',
    instead: '',
    suites: ['tests/faults/permitting-rows.test.ts'],
  },
  {
    name: 'log/permitting-value',
    prevents: 'a grant that was widened in the database counts as explained by its event',
    file: 'core/store/session/permitting-rows.ts',
    text: 'WHERE told.permits IS NOT held.permits LIMIT',
    instead: 'WHERE told.name IS NULL LIMIT',
    suites: ['tests/faults/permitting-rows.test.ts'],
  },
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
  {
    name: 'secret/stored-encodings',
    prevents: 'a secret in text that is not UTF-8 is stored, and shown from there',
    file: 'core/guard/safety/safe-sinks.ts',
    text: 'redactor.redact(decoded.text).text',
    instead: 'decoded.text',
    suites: ['core/guard/safety/safe-sinks.test.ts'],
    only: 'is kept without secrets, and otherwise byte by byte',
  },
  {
    name: 'secret/stored-damaged',
    prevents: 'a secret in a text with one broken letter is stored, and shown from there',
    file: 'core/guard/safety/safe-sinks.ts',
    text: 'decoded === null ? redactor.redactValues(text) : redactor.redact(text).text',
    instead: 'redactor.redactValues(text)',
    suites: ['core/guard/safety/safe-sinks.test.ts'],
    only: 'is kept without secrets, and otherwise byte by byte',
  },
];
