import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import type { RunningProgram } from '../../hands/tools/tools.ts';
import { StdioLink } from './stdio-link.ts';

test('a message that its reader cannot bear ends the connection, and nothing is thrown', async () => {
  const ended = Promise.withResolvers<string>();
  const stdout = new PassThrough();
  const program: RunningProgram = {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
    ended: ended.promise,
    end: () => Promise.resolve(ended.resolve('it was ended')),
  };
  const link = new StdioLink({ start: () => Promise.resolve(program), clock: new ManualClock(), onLine: () => undefined });
  let closed = 0;
  const onmessage = (message: unknown): void => void JSON.stringify(message);
  Object.assign(link, { onmessage, onclose: () => (closed += 1) });
  await link.start();
  expect(() => stdout.emit('data', Buffer.from(`{"a":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}\n`))).not.toThrow();
  expect([closed, link.ending, await ended.promise]).toEqual([1, expect.stringContaining('could not be read'), 'it was ended']);
});
