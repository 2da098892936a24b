// Slash commands in a whole runtime: each calls its operation, actions need approval like any call, and errors are explained.

import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chatCommands, commandTable } from '../../core/contracts/commands.ts';
import type { OpResult } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import { TestHome } from '../faults/test-home.ts';

let claw: TrayClaw;
let home: TestHome;

beforeEach(async () => {
  home = new TestHome();
  claw = await home.open({ config: { models: { default: 'demo/offline' }, budget: { perSessionUsd: 1 } } });
  onTestFinished(() => home.dispose());
});

function run(line: string, sessionId?: string): Promise<OpResult<'command.run'>> {
  return claw.op('command.run', { line, ...(sessionId === undefined ? {} : { sessionId }) });
}

test('an action goes through the gate: it waits for approval and runs after it', async () => {
  const waiting = await run('/run touch made.txt');
  expect(waiting).toMatchObject({ command: 'run', waiting: true, text: expect.stringContaining('approval') as string });
  expect((await claw.op('approval.list', {})).approvals).toMatchObject([{ tool: 'exec' }]);
  await run('/stop', waiting.sessionId ?? '');
  expect((await claw.op('approval.list', {})).approvals).toEqual([]);
  expect(await run('/calc 6*7')).toMatchObject({ waiting: false, text: expect.stringContaining('42') as string });
  writeFileSync(join(home.workspace, 'notes.md'), 'hello notes');
  expect((await run('/read notes.md')).text).toContain('hello notes');
});

test('a command begins its session in the folder of its caller', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trayclaw-project-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'here.md'), 'in the project');
  const { path } = await claw.op('workspace.trust', { path: folder });
  const folderOf = async (line: string): Promise<string | null> => {
    const { sessionId } = await claw.op('command.run', { line, workspace: path });
    return (await claw.op('session.get', { sessionId: sessionId ?? '', limit: 1 })).session.workspace;
  };
  expect((await claw.op('command.run', { line: '/read here.md', workspace: path })).text).toContain('in the project');
  const lines = ['/calc 1+1', '/new Plans', '/model demo/offline', '/plan whole'];
  for (const line of lines) expect([line, await folderOf(line)]).toEqual([line, path]);
});

test('a command whose turn answers later says so', async () => {
  await claw.op('saved.put', { name: 'sum', text: 'Calculate 40 + 2' });
  const sent = await run('/prompt sum');
  expect(sent).toMatchObject({ follow: true, waiting: false });
  expect((await claw.op('turn.wait', { turnId: sent.turnId ?? '' })).text).toContain('42');
  expect([(await run('/calc 6*7')).follow, (await run('/run touch made.txt')).follow]).toEqual([false, true]);
});

test('a session: created, used with a model, retried, exported, undone, listed', async () => {
  const { sessionId } = await run('/new Plans');
  if (sessionId === null) throw new Error('a session is expected');
  expect((await run('/status', sessionId)).text).toContain('demo/offline');
  await expect(run('/retry', sessionId)).rejects.toMatchObject({ code: 'not_found' });
  const { turnId } = await claw.ask('Calculate 1 + 1', { sessionId });
  const again = await run('/retry', sessionId);
  expect(await claw.op('turn.wait', { turnId: again.turnId ?? '' })).toMatchObject({ status: 'done' });
  expect(await claw.op('turn.get', { turnId })).toMatchObject({ supersededBy: again.turnId });
  const fork = await claw.op('session.fork', { sessionId });
  await expect(run('/retry', fork.sessionId)).rejects.toMatchObject({ code: 'conflict' });
  await claw.ask('Calculate 2 + 2', { sessionId: fork.sessionId });
  expect(await run('/retry', fork.sessionId)).toMatchObject({ sessionId: fork.sessionId });
  expect((await run('/export', sessionId)).file).toMatchObject({
    name: `${sessionId}.md`,
    text: expect.stringContaining('# Plans') as string,
  });
  await expect(run('/undo', sessionId)).rejects.toMatchObject({ code: 'not_found' });
  const write = claw.op('tool.run', { tool: 'write_file', args: { path: 'a.md', content: 'x' }, sessionId });
  const [asked] = await pending();
  await claw.op('approval.decide', { approvalId: asked ?? '', decision: 'approve' });
  await write;
  expect((await run('/undo', sessionId)).text).toContain('put back');
  expect((await run('/sessions')).text).toContain('Plans');
  expect((await run('/sessions calc')).text).toContain(sessionId);
  expect((await run('/sessions 1')).sessionId).toBe((await claw.op('session.list', {})).sessions[0]?.sessionId);
  expect((await run('/model', sessionId)).text).toContain('demo/offline');
  await run('/model demo/offline', sessionId);
  expect((await claw.op('session.get', { sessionId })).session.model).toBe('demo/offline');
  expect((await run('/model demo/offline')).sessionId).not.toBeNull();
  expect((await run('/budget 2', sessionId)).text).toContain('2 US dollars more');
  expect((await run('/budget', sessionId)).text).toMatch(/session: \$\d+\.\d\d of \$\d+\.\d\d$/m);
});

async function pending(): Promise<string[]> {
  for (;;) {
    const { approvals } = await claw.op('approval.list', {});
    if (approvals.length > 0) return approvals.map(({ approvalId }) => approvalId);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('the stop and its release, help, and explained errors', async () => {
  expect((await run('/panic enough')).text).toContain('stopped');
  expect(await claw.op('panic.status', {})).toMatchObject({ engaged: true, reason: 'enough' });
  await run('/release');
  expect(await claw.op('panic.status', {})).toMatchObject({ engaged: false });
  const { text } = await run('/help');
  const here = commandTable.filter(({ inChats }) => inChats !== 'only').map(({ name }) => name);
  expect(here.filter((name) => !text.includes(`/${name}`))).toEqual([]);
  await expect(run('/approve')).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(run('/nothing')).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(run('/stop')).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(run('/help nothing')).rejects.toMatchObject({ code: 'invalid_params' });
  expect((await claw.op('command.list', {})).commands.map(({ name }) => name)).toEqual(here);
});

test('completion: names, choices, models, and files of the workspace only', async () => {
  mkdirSync(join(home.workspace, 'docs'));
  writeFileSync(join(home.workspace, 'docs', 'plan.md'), '');
  symlinkSync('/etc', join(home.workspace, 'away'));
  symlinkSync('docs', join(home.workspace, 'near'));
  const lines = async (line: string): Promise<string[]> => (await claw.op('command.complete', { line })).completions.map((one) => one.line);
  expect(await lines('/ca')).toEqual(['/calc ']);
  expect(await lines('/budget 5 s')).toEqual(['/budget 5 session']);
  expect(await lines('/model demo')).toEqual(['/model demo/offline']);
  expect(await lines('/read d')).toEqual(['/read docs/']);
  expect(await lines('/read docs/p')).toEqual(['/read docs/plan.md']);
  expect(await lines('/read near/')).toEqual(['/read near/plan.md']);
  for (const outside of ['/read ../', '/read /etc/', '/read away/', '//ca', 'ca', '/stop x', '/none x'])
    expect(await lines(outside)).toEqual([]);
});

test('a chat gets the commands that the table offers there, and no others', async () => {
  const caller = { channel: 'telegram', actor: 'telegram:42' } as const;
  const { commands } = await claw.op('command.list', {}, caller);
  expect(commands.map(({ name }) => name)).toEqual(chatCommands.map(({ name }) => name));
  for (const line of ['/run ls', '/release', '/undo', '/export'])
    await expect(claw.op('command.run', { line }, caller)).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(claw.op('command.run', { line: '/plan' }, caller)).rejects.toMatchObject({ message: 'There is no session yet.' });
});
