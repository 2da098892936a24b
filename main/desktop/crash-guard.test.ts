// Failures of the shell itself: logged without secrets, shown once, and the process ends.

import { EventEmitter } from 'node:events';
import { expect, test } from 'vitest';
import type { Logger } from '../../core/base/logger.ts';
import { guardAgainstCrashes } from './crash-guard.ts';

function rig() {
  const process = new EventEmitter();
  const did: string[] = [];
  let secret = 'nothing yet';
  const logger: Logger = { log: (level, message, data) => did.push(`${level}: ${message}: ${String(data?.['cause']).split('\n')[0]}`) };
  const remove = guardAgainstCrashes({
    process: process as unknown as NodeJS.Process,
    logger,
    redact: (text) => text.replaceAll(secret, '•••'),
    tell: (title) => did.push(`told: ${title}`),
    exit: (code) => did.push(`exit ${code}`),
  });
  return { process, did, remove, know: (text: string) => (secret = text) };
}

test('an unexpected error is logged, then shown, then ends the process', () => {
  const { process, did, know } = rig();
  know('sk-12345');
  process.emit('uncaughtException', new Error('the key sk-12345 broke'));
  expect(did).toEqual(['error: an unexpected error: Error: the key ••• broke', 'told: TrayClaw has to stop', 'exit 1']);
});

test('a later error is only logged', () => {
  const { process, did, know } = rig();
  know('hunter2');
  process.emit('unhandledRejection', 'hunter2 was not caught');
  process.emit('uncaughtException', new Error('and then'));
  process.emit('unhandledRejection', undefined);
  expect(did).toEqual([
    'error: an unhandled promise rejection: ••• was not caught',
    'told: TrayClaw has to stop',
    'exit 1',
    'error: an unexpected error: Error: and then',
    'error: an unhandled promise rejection: undefined',
  ]);
});

test('removing the guard removes its listeners', () => {
  const { process, remove } = rig();
  expect(process.eventNames()).toEqual(['uncaughtException', 'unhandledRejection']);
  remove();
  expect(process.eventNames()).toEqual([]);
});
