// Detects whether a service manager stores the output, or its variables were only inherited.

import { expect, test } from 'vitest';
import { isServiceLog, type OwnOutput } from './service-log.ts';

const own: OwnOutput = { env: {}, pid: 40, isTty: false, stat: () => ({ dev: 8, ino: 1234 }) };

test.each<[string, Partial<OwnOutput>, boolean]>([
  ['nothing of a service', {}, false],
  ['started by systemd', { env: { SYSTEMD_EXEC_PID: '40', INVOCATION_ID: 'ab' } }, true],
  ['connected to the journal', { env: { JOURNAL_STREAM: '8:1234', INVOCATION_ID: 'ab' } }, true],
  ['a pipe below a service', { env: { JOURNAL_STREAM: '8:77', INVOCATION_ID: 'ab', SYSTEMD_EXEC_PID: '39' } }, false],
  ['a terminal that is a service', { isTty: true, env: { JOURNAL_STREAM: '8:1234', SYSTEMD_EXEC_PID: '40' } }, false],
  [
    'closed output',
    {
      env: { JOURNAL_STREAM: '8:1234' },
      stat: () => {
        throw Object.assign(new Error('bad file descriptor'), { code: 'EBADF' });
      },
    },
    false,
  ],
])('%s', (_name, changes, kept) => {
  expect(isServiceLog({ ...own, ...changes })).toBe(kept);
});
