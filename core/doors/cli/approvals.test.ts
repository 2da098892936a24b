// The output of approving, where the events of the turn do not arrive in time.

import { expect, test } from 'vitest';
import { turnView } from '../../../tests/doubles/fake-answers.ts';
import { FakeClaw } from '../../../tests/doubles/fake-claw.ts';
import { fakeParts, runCommand } from '../../../tests/doubles/fake-terminal.ts';

test('shows the result of an approved call, and exits by it, also where the events of an instance come too late', async () => {
  const claw = new FakeClaw();
  await runCommand(['tool', 'write', '{}'], fakeParts(claw));
  claw.isClosed = false;
  claw.events = () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }) });
  const call = { callId: 'call_trn_1', tool: 'write', args: '{}', summary: '', decision: 'approved', ruleId: null, reason: null } as const;
  const result = { outcome: 'error', forUser: 'write ran', forModel: 'write ran', tookMs: 1, artifacts: [] } as const;
  claw.answers = { 'turn.get': ({ turnId }) => ({ ...turnView(turnId), calls: [{ ...call, ...result, artifacts: [] }] }) };
  const approved = await runCommand(['approvals', 'approve', 'apr_1', '--json'], fakeParts(claw));
  expect([approved.code, JSON.parse(approved.out)]).toMatchObject([1, { result: { outcome: 'error', forUser: 'write ran' } }]);
});

test('several calls are decided in one command, and only the last one is waited for', async () => {
  const claw = new FakeClaw();
  for (const _ of [1, 2]) {
    await runCommand(['tool', 'write', '{}'], fakeParts(claw));
    claw.isClosed = false;
  }
  const denied = await runCommand(['approvals', 'deny', 'apr_1', 'apr_2', '--reason', 'Not now.', '--json'], fakeParts(claw));
  expect(denied.code).toBe(0);
  expect(JSON.parse(denied.out)).toMatchObject([{ approvalId: 'apr_1' }, { approvalId: 'apr_2', turn: { status: 'failed' } }]);
  const none = await runCommand(['approvals', 'approve', 'apr_1', '--scope', 'minutes:0'], fakeParts(new FakeClaw()));
  expect([none.code, none.err]).toEqual([
    2,
    expect.stringContaining('"minutes:0" is not a scope. Use once, minutes:N, session or always.'),
  ]);
  const refused = await runCommand(['approvals', 'approve', 'apr_1', 'apr_2', '--choice', '0'], fakeParts(new FakeClaw()));
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--choice and --args are for one call at a time.')]);
});

test('a wider scope than the call can have is not taken silently', async () => {
  const claw = new FakeClaw();
  const approve = async (widerScope: string | null): Promise<string> => {
    await runCommand(['tool', 'write', '{}'], fakeParts(claw));
    claw.isClosed = false;
    const asked = claw.approvals.at(-1);
    if (asked !== undefined) claw.approvals[claw.approvals.length - 1] = { ...asked, widerScope };
    return (await runCommand(['approvals', 'approve', asked?.approvalId ?? '', '--scope', 'session'], fakeParts(claw))).err;
  };
  expect(await approve(null)).toContain('No grant covers such a call, so only this one is approved.\n');
  claw.isClosed = false;
  expect(await approve('write in notes')).not.toContain('only this one');
});
