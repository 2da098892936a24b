// Approvals and unknown outcomes in the window: no event is lost that arrived while an older answer of the host was in flight.

import { expect, test } from 'vitest';
import type { AnyEvent, EventBodies, EventType } from '../../../core/contracts/events.ts';
import type { Approval, Grant } from '../../../core/contracts/policy.ts';
import type { OpClient } from '../client.ts';
import { Approvals } from './approvals.svelte.ts';

const nothing = { 'approval.list': { approvals: [] }, 'outcome.list': { outcomes: [] }, 'grant.list': { grants: [] } };

/** Answers are computed at once and delivered when the test releases them. */
function openApprovals(answers: Record<string, unknown> = {}) {
  const held: (() => void)[] = [];
  const op = async (name: string): Promise<unknown> => {
    await new Promise<void>((resolve) => held.push(resolve));
    return { ...nothing, ...answers }[name];
  };
  const approvals = new Approvals({ op } as unknown as OpClient);
  return { approvals, arrive: () => held.splice(0).forEach((resolve) => resolve()) };
}

function event<T extends EventType>(type: T, body: unknown, atMs = 10): AnyEvent {
  const at = { seq: 1, sessionSeq: 1, turnId: 'trn_1', step: 0, phase: null, v: 1, atMs };
  return { sessionId: 'ses_1', type, body: body as EventBodies[T], ...at } as AnyEvent;
}

const question = {
  approvalId: 'apr_1',
  callId: 'call_1',
  turnId: 'trn_1',
  sessionId: 'ses_1',
  state: 'pending',
  createdAtMs: 10,
} as Approval;
const grant = { grantId: 'grt_1', scope: { kind: 'session' }, createdAtMs: 10, revokedAtMs: null } as unknown as Grant;
const decision = { approvalId: 'apr_1', decision: 'approve', by: 'window', scope: null, reason: null };

for (const how of ['load', 'loadAll'] as const) {
  test(`a question asked while the list is on its way stays (${how})`, async () => {
    const { approvals, arrive } = openApprovals();
    const loading = approvals[how]();
    approvals.apply(event('approval.requested', { approval: question }));
    arrive();
    await loading;
    expect(approvals.pending.map(({ approvalId }) => approvalId)).toEqual(['apr_1']);
  });

  test(`a question decided while the list is on its way is not asked again (${how})`, async () => {
    const { approvals, arrive } = openApprovals({ 'approval.list': { approvals: [question] } });
    const loading = approvals[how]();
    approvals.apply(event('approval.decided', decision));
    arrive();
    await loading;
    expect(approvals.pending).toEqual([]);
  });
}

test('a decision that the answer knows of is not undone by the older event of its question', async () => {
  const decided = { ...question, state: 'approved', decidedAtMs: 20 };
  const { approvals, arrive } = openApprovals({ 'approval.list': { approvals: [decided] } });
  const loading = approvals.loadAll();
  approvals.apply(event('approval.requested', { approval: question }));
  arrive();
  await loading;
  expect(approvals.byId['apr_1']?.state).toBe('approved');
});

test('an unknown outcome told of while the list is on its way stays, and one settled meanwhile goes', async () => {
  const settled = { callId: 'call_2', tool: 'exec', args: '{}', reason: 'It was killed.', sessionId: 'ses_1', turnId: 'trn_1', atMs: 5 };
  const { approvals, arrive } = openApprovals({ 'outcome.list': { outcomes: [settled] } });
  const loading = approvals.load();
  approvals.apply(event('tool.outcome_unknown', { callId: 'call_1', tool: 'exec', args: '{}', reason: 'It was killed.' }));
  approvals.apply(event('tool.outcome_settled', { callId: 'call_2', answer: 'done' }));
  arrive();
  await loading;
  expect(approvals.outcomes.map(({ callId }) => callId)).toEqual(['call_1']);
});

test('uses of a grant while the list is on its way count once', async () => {
  const use = event('tool.requested', { callId: 'call_1', grantId: 'grt_1' }, 30);
  for (const listed of [
    { ...grant, uses: 0, lastUsedAtMs: null },
    { ...grant, uses: 1, lastUsedAtMs: 30 },
  ]) {
    const { approvals, arrive } = openApprovals({ 'grant.list': { grants: [listed] } });
    const loading = approvals.loadAll();
    approvals.apply(use);
    arrive();
    await loading;
    expect(approvals.grantsById['grt_1']).toMatchObject({ uses: 1, lastUsedAtMs: 30 });
  }
});
