// The output of a running call is on disk, redacted, while it runs, and removed when it ends.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { LastOutput } from './last-output.ts';

const home = mkdtempSync(join(tmpdir(), 'last-output-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const redactStream = () => ({ push: (piece: string) => piece.replaceAll('s3cret', '[redacted]'), end: () => '' });

test('the output of a call can be read in another process until the call ends', () => {
  vi.useFakeTimers();
  const folder = join(home, 'running');
  const kept = new LastOutput({ folder, redactStream }).begin('call/1');
  kept.push('a s3cret\n');
  kept.push('x'.repeat(20_000));
  const other = new LastOutput({ folder, redactStream });
  expect(other.read('call/1')).toBe('');
  vi.advanceTimersByTime(500);
  expect(other.read('call/1')).toBe('x'.repeat(16_000));
  kept.push('\nlast s3cret');
  vi.advanceTimersByTime(500);
  expect(other.read('call/1').endsWith('x\nlast [redacted]')).toBe(true);
  kept.end();
  expect(readdirSync(folder)).toEqual([]);
  vi.useRealTimers();
});

test('a failing disk does not disturb the command', () => {
  vi.useFakeTimers();
  const kept = new LastOutput({ folder: '/proc/nothing/running', redactStream }).begin('call-1');
  kept.push('text');
  expect(() => vi.advanceTimersByTime(500)).not.toThrow();
  kept.end();
  vi.useRealTimers();
});
