// Calls that an MCP server runs as tasks: started once, followed to their end with the server's status, cancelled with the call, and found
// again after a restart of the program.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { McpRig, toolOf, type McpScript } from '../doubles/mcp/mcp-rig.ts';

const WAIT = { timeout: 30_000, interval: 50 };
const built = { content: [{ type: 'text', text: 'the house is built' }] };
const build = toolOf('build', { execution: { taskSupport: 'required' } });

function builder(task: object, tasks: 'kept' | 'forgotten' = 'kept'): McpScript {
  return { tools: [build, toolOf('look')], tasks, results: { build: { steps: 3, result: built, ...task } } };
}

const methods = (rig: McpRig): unknown[] => rig.received('s').map(({ method }) => method);
const begun = (rig: McpRig): number => methods(rig).filter((method) => method === 'tools/call').length;

/** Starts and approves the call, and waits until the server is asked about its task. */
async function startTask(rig: McpRig): Promise<{ readonly callId: string; readonly sessionId: string; readonly turnId: string }> {
  const before = begun(rig);
  const { callId, sessionId, turnId, pending = [] } = await rig.claw.op('tool.run', { tool: 's__build', args: {}, wait: false });
  for (const { approvalId } of pending) await rig.claw.op('approval.decide', { approvalId, decision: 'approve' });
  await vi.waitFor(() => expect([begun(rig), methods(rig).at(-1)]).toEqual([before + 1, 'tasks/get']), WAIT);
  return { callId, sessionId, turnId };
}

async function endOf(rig: McpRig, { callId, sessionId }: { readonly callId: string; readonly sessionId: string }) {
  for await (const event of rig.claw.events({ after: 0, sessionId })) {
    if (event.type === 'tool.finished' && event.body.callId === callId) return event.body;
  }
  throw new Error('the call has no end');
}

test('a call becomes a task if the tool requires it, with progress and status', async () => {
  const rig = new McpRig();
  const claw = await rig.open({ s: rig.server('s', builder({})) });
  await rig.approve('s');
  let output = '';
  claw.onDelta(({ kind, text }) => (output += kind === 'output' ? text : ''));
  expect(await rig.call('s__build', {})).toMatchObject({ asked: 1, outcome: 'ok', forModel: 'the house is built' });
  expect(methods(rig).slice(-6)).toEqual(['tools/call', 'tasks/get', 'tasks/get', 'tasks/get', 'tasks/get', 'tasks/result']);
  for (const said of ['1 of 3', 'step 1 of the task', '3 of 3', 'step 3 of the task']) expect(output).toContain(said);
  expect(await rig.call('s__look', {})).toMatchObject({ outcome: 'ok', forModel: 'look got {}' });
  expect(methods(rig).at(-1)).toBe('tools/call');
});

test('the model learns that a task failed, or that its server cancelled it', async () => {
  const rig = new McpRig();
  const broken = { steps: 1, ends: 'failed', result: { isError: true, content: [{ type: 'text', text: 'the wall fell over' }] } };
  await rig.open({ s: rig.server('s', builder(broken)), t: rig.server('t', builder({ steps: 1, ends: 'cancelled' })) });
  await rig.approve('s');
  await rig.approve('t');
  expect(await rig.call('s__build', {})).toMatchObject({ outcome: 'error', forModel: 'the wall fell over' });
  expect(await rig.call('t__build', {})).toMatchObject({ outcome: 'cancelled', forModel: 'The MCP server cancelled the task.' });
});

test('stopping the turn cancels the task; the panic stop ends it too', async () => {
  const rig = new McpRig();
  const claw = await rig.open({ s: rig.server('s', builder({ steps: 10_000 })) });
  await rig.approve('s');
  const call = await startTask(rig);
  await claw.op('turn.cancel', { turnId: call.turnId });
  expect(await endOf(rig, call)).toMatchObject({ outcome: 'cancelled' });
  await vi.waitFor(() => expect(methods(rig)).toContain('tasks/cancel'), { timeout: 10_000, interval: 50 });
  const second = await startTask(rig);
  const starts = (): number => methods(rig).filter((method) => method === 'initialize').length;
  const before = starts();
  await claw.op('panic.engage', {});
  expect(await endOf(rig, second)).toMatchObject({ outcome: 'cancelled' });
  // The panic stop does not start a server to cancel the task, and ends the requests for its status.
  const looks = methods(rig).length;
  await sleep(1_000);
  expect([starts(), methods(rig).length - looks, begun(rig)]).toEqual([before, 0, 2]);
});

test('a restart of the program continues a task that its server still knows', async () => {
  const rig = new McpRig();
  const config = { s: rig.server('s', builder({ steps: 8 })) };
  await rig.open(config);
  await rig.approve('s');
  const call = await startTask(rig);
  const claw = await rig.open(config);
  expect((await claw.op('outcome.list', {})).outcomes).toEqual([]);
  expect(await endOf(rig, call)).toMatchObject({ outcome: 'ok', forModel: 'the house is built' });
  expect([begun(rig), methods(rig).includes('tasks/cancel')]).toEqual([1, false]);
});

test('a task that its server forgot has an unknown outcome and is not run again', async () => {
  const rig = new McpRig();
  const config = { s: rig.server('s', builder({ steps: 10_000 }, 'forgotten')) };
  await rig.open(config);
  await rig.approve('s');
  const call = await startTask(rig);
  await rig.open(config);
  expect(await endOf(rig, call)).toMatchObject({ outcome: 'unknown', forModel: expect.stringContaining('no longer knows') as string });
  expect(begun(rig)).toBe(1);
});
