// Grants, approved calls and questions of an MCP server: each holds for one form of the server and for one of its calls.

import { expect, test, vi } from 'vitest';
import { McpRig, toolOf } from '../doubles/mcp/mcp-rig.ts';

const read = toolOf('read');
const WAIT = { timeout: 30_000 };

test('a question belongs to no call while several run', async () => {
  const rig = new McpRig();
  const results = {
    slow: { does: 'never' },
    ask: { does: 'elicit', params: { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } } },
  };
  const claw = await rig.open({ s: rig.server('s', { tools: [toolOf('ask'), toolOf('slow')], results }) });
  await rig.approve('s');
  void rig.call('s__slow', {}).catch(() => undefined);
  await vi.waitFor(() => expect(rig.calls('s')).toEqual(['slow']), WAIT);
  const running = rig.call('s__ask', {});
  const question = await vi.waitFor(async () => {
    const [one] = (await claw.op('mcp.list', {})).questions;
    if (one === undefined) throw new Error('not yet');
    return one;
  }, WAIT);
  expect(question).toMatchObject({ server: 's', tool: '', sessionId: 'system', turnId: '', callId: '' });
  await claw.op('mcp.answer', { questionId: question.questionId, action: 'decline' });
  expect((await claw.op('mcp.list', {})).questions).toEqual([]);
  void running.catch(() => undefined);
});

test('a question ends with its call, and one that hides its host is not asked', async () => {
  const rig = new McpRig();
  const form = { mode: 'form', message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
  const hidden = { mode: 'url', message: 'Open it', url: 'https://good.example@evil.example/', elicitationId: 'e1' };
  const results = { leave: { does: 'elicit', params: form, leaves: true }, hide: { does: 'elicit', params: hidden } };
  const claw = await rig.open({ s: rig.server('s', { tools: [toolOf('leave'), toolOf('hide')], results }) });
  await rig.approve('s');
  expect(await rig.call('s__leave', {})).toMatchObject({ outcome: 'ok', forModel: 'not waiting' });
  await vi.waitFor(async () => expect((await claw.op('mcp.list', {})).questions).toEqual([]), WAIT);
  void rig.call('s__hide', {}).catch(() => undefined);
  await vi.waitFor(() => expect(rig.received('s')).toContainEqual(expect.objectContaining({ result: { action: 'decline' } })), WAIT);
});

test('the grants for a server end with its approval and with its removal', async () => {
  const rig = new McpRig();
  const script = { tools: [read] };
  rig.configure({ s: rig.server('s', script) });
  const claw = await rig.open(null);
  await rig.approve('s');
  const granted = async (): Promise<number> => (await claw.op('grant.list', {})).grants.length;
  const decision = async (): Promise<string> => (await claw.op('policy.explain', { tool: 's__read', args: {} })).decision;
  const grant = async (): Promise<void> => {
    const { pending = [] } = await claw.op('tool.run', { tool: 's__read', args: {}, wait: false });
    await claw.op('approval.decide', { approvalId: pending[0]?.approvalId ?? '', decision: 'approve', scope: { kind: 'always' } });
    await claw.whenIdle();
  };
  await grant();
  expect([await decision(), await granted()]).toEqual(['allow', 1]);
  await rig.approve('s');
  expect([await decision(), await granted()]).toEqual(['allow', 1]);
  await claw.op('mcp.add', { ...rig.server('s', script, { env: { OTHER: '1' } }), name: 's', replace: true });
  await rig.approve('s');
  expect([await decision(), await granted()]).toEqual(['ask', 0]);
  await grant();
  await claw.op('mcp.remove', { name: 's' });
  expect(await granted()).toBe(0);
  await claw.op('mcp.add', { ...rig.server('s', script, { env: { OTHER: '1' } }), name: 's' });
  await rig.approve('s');
  expect(await decision()).toBe('ask');
});

test('an approved call does not reach a server that was replaced meanwhile', async () => {
  const rig = new McpRig();
  const script = { tools: [read] };
  rig.configure({ s: rig.server('s', script) });
  const claw = await rig.open(null);
  await rig.approve('s');
  const { pending = [] } = await claw.op('tool.run', { tool: 's__read', args: {}, wait: false });
  await claw.op('mcp.add', { ...rig.server('s', script, { env: { OTHER: '1' } }), name: 's', replace: true });
  await rig.approve('s');
  await claw.op('approval.decide', { approvalId: pending[0]?.approvalId ?? '', decision: 'approve' });
  await claw.whenIdle();
  expect(rig.calls('s')).toEqual([]);
});
