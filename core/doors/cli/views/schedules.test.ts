import { expect, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../../tests/doubles/fake-terminal.ts';
import { scheduleView } from '../../../../tests/doubles/schedule-answers.ts';

test.each([
  [1, 'every minute'],
  [90, 'every 90 minutes'],
  [60, 'every hour'],
  [24 * 60, 'every day'],
  [48 * 60, 'every 2 days'],
  [25 * 60, 'every 25 hours'],
])('a schedule of %i minutes runs %s', async (minutes, words) => {
  const spec = { kind: 'every', everyMs: minutes * 60_000, anchorMs: 0 } as const;
  const claw = new FakeClaw({ 'schedule.list': () => ({ schedules: [{ ...scheduleView, spec }], clockJump: null }) });
  expect((await runCommand(['schedule', 'list'], fakeParts(claw))).out).toContain(`  ${words}  `);
});
