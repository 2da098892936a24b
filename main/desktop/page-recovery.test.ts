// A failing page is reloaded twice; then a person is asked, once. Failures long ago do not count.

import { expect, test } from 'vitest';
import { ManualClock } from '../../tests/doubles/manual-clock.ts';
import { RecordingLogger } from '../../tests/rigs/desktop-bench.ts';
import { PageRecovery } from './page-recovery.ts';

function rig() {
  const clock = new ManualClock();
  const logger = new RecordingLogger();
  const asked: string[] = [];
  const answers: ((again: boolean | Error) => void)[] = [];
  let reloads = 0;
  let left = 0;
  const recovery = new PageRecovery({
    clock,
    logger,
    reload: () => (reloads += 1),
    leave: () => (left += 1),
    ask: (why) => {
      asked.push(why);
      return new Promise((resolve, reject) => {
        answers.push((again) => (typeof again === 'boolean' ? resolve(again) : reject(again)));
      });
    },
  });
  const answer = async (again: boolean | Error): Promise<void> => {
    answers.shift()?.(again);
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { recovery, clock, logger, asked, answer, reloads: () => reloads, left: () => left };
}

test('reloads twice automatically, then asks a person, for any number of failures', async () => {
  const { recovery, asked, answer, reloads, left, logger } = rig();
  for (const why of ['one', 'two', 'three', 'four', 'five']) recovery.failed(why);
  expect([reloads(), asked, new Set(logger.lines)]).toEqual([2, ['three'], new Set(['error: the window failed'])]);
  await answer(true);
  expect(reloads()).toBe(3);
  // The person chose to try again, so the count restarts.
  recovery.failed('six');
  recovery.failed('seven');
  expect([reloads(), asked]).toEqual([5, ['three']]);
  recovery.failed('eight');
  await answer(false);
  expect([reloads(), left(), asked]).toEqual([5, 1, ['three', 'eight']]);
  // A new window resets the count.
  recovery.failed('nine');
  expect(reloads()).toBe(6);
});

test('failures more than a minute apart are counted separately', () => {
  const { recovery, clock, asked, reloads } = rig();
  for (let i = 0; i < 10; i += 1) {
    recovery.failed('crashed');
    clock.advance(30_001);
  }
  expect([reloads(), asked]).toEqual([10, []]);
});

test('if no person can be asked it is logged, and asked again at the next failure', async () => {
  const { recovery, asked, answer, logger } = rig();
  for (let i = 0; i < 3; i += 1) recovery.failed('x');
  await answer(new Error('no display'));
  expect(logger.lines.at(-1)).toBe('error: no dialog about the window could be shown');
  recovery.failed('y');
  expect(asked).toEqual(['x', 'y']);
  await answer(false);
});
