// The command line says of a worktree that it is there, or that its call still waits.

import { expect, test } from 'vitest';
import { FakeClaw } from '../../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../../tests/doubles/fake-terminal.ts';

test.each([
  [false, 0, 'The session s works in /p/w, on the branch b.\n', 'Removed /p/w.\n'],
  [true, 3, 'It waits for your approval: trayclaw approvals list\n', 'It waits for your approval: trayclaw approvals list\n'],
])('a worktree whose call waits (%s) is not said to be there, or gone', async (waiting, code, added, removed) => {
  const claw = new FakeClaw({
    'worktree.begin': () => ({ sessionId: 's', turnId: 't', path: '/p/w', branch: 'b', waiting }),
    'worktree.remove': () => ({ path: '/p/w', waiting }),
  });
  const parts = fakeParts(claw);
  expect(await runCommand(['worktrees', 'add', '.'], parts)).toMatchObject({ code, out: expect.stringContaining(added) as string });
  expect(await runCommand(['worktrees', 'remove', '/p/w'], parts)).toMatchObject({ code, out: expect.stringContaining(removed) as string });
});
