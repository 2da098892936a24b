// The shell's log: no secrets, at any depth.

import { expect, test } from 'vitest';
import type { Logger } from '../../core/base/logger.ts';
import { redactedLog } from './redacted-log.ts';

test('redacts texts, errors and nested values; keeps numbers and missing values', () => {
  const lines: unknown[][] = [];
  const target: Logger = { log: (...line) => void lines.push(line) };
  let secret = 'unknown';
  const log = redactedLog(target, (text) => text.replaceAll(secret, '•••'));
  log.log('info', 'hunter2 before it is known');
  secret = 'hunter2';
  const cause = Object.assign(new Error('with hunter2'), { stack: 'Error: with hunter2\n    at hunter2.ts' });
  log.log('warn', 'a hunter2', { url: 'https://a/?k=hunter2', cause, deep: { list: ['hunter2', 1] }, times: 3, none: null });
  expect(lines).toEqual([
    ['info', 'hunter2 before it is known', undefined],
    [
      'warn',
      'a •••',
      { url: 'https://a/?k=•••', cause: 'Error: with •••\n    at •••.ts', deep: '{"list":["•••",1]}', times: 3, none: null },
    ],
  ]);
});
