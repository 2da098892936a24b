// Eval runs as the command line prints them.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../../tests/doubles/fake-terminal.ts';

test('reports a run as stopped only if it was running', async () => {
  const said = async (stopped: boolean): Promise<string> => {
    const claw = new FakeClaw({ 'eval.stop': ({ runId }) => ({ runId, stopped }) });
    return (await runCommand(['eval', 'stop', 'evl_1'], fakeParts(claw))).out;
  };
  expect([await said(true), await said(false)]).toEqual(['Stopped evl_1.\n', 'Nothing to stop: evl_1 is not running.\n']);
});
