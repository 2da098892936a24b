// Files that hooks, verifiers and MCP servers run: the agent cannot change one unasked, and an MCP server whose file has changed since its
// approval does not start.

import { appendFileSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { McpServerConfig } from '../../core/contracts/features/mcp.ts';
import { McpRig, toolOf } from '../doubles/mcp/mcp-rig.ts';

const read = toolOf('read');
const program = fileURLToPath(new URL('../doubles/mcp/stdio-server.mjs', import.meta.url));
const freely = { policy: { mode: 'workspace-free' } };

/** A server with a program in the workspace, named by a relative path. */
function serverInWorkspace(rig: McpRig, more: Partial<McpServerConfig> = {}): { config: McpServerConfig; file: string } {
  const workspace = join(rig.home, 'data', 'workspace');
  mkdirSync(workspace, { recursive: true });
  const file = join(workspace, 'server.mjs');
  copyFileSync(program, file);
  const [, script = ''] = rig.server('own', { tools: [read] }).args ?? [];
  return { config: { command: process.execPath, args: ['server.mjs', script], ...more }, file };
}

test('a server whose file changed since its approval does not start', async () => {
  const rig = new McpRig();
  const { config, file } = serverInWorkspace(rig);
  const claw = await rig.open({ own: config }, {}, freely);
  await rig.approve('own');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'ok' });
  await claw.op('mcp.stop', { name: 'own' });
  writeFileSync(rig.recordPath('own'), '');
  appendFileSync(file, '\n// Changed after the approval.\n');
  const done = await rig.call('own__read', {});
  expect(done).toMatchObject({ outcome: 'error', forModel: expect.stringContaining('not as it was approved') as string });
  expect(readFileSync(rig.recordPath('own'), 'utf8')).toBe('');
  expect((await claw.op('mcp.list', {})).servers).toMatchObject([{ state: 'waiting' }]);
  await rig.approve('own');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'ok' });
});

test('a server whose imported file changed since its approval does not start', async () => {
  const rig = new McpRig();
  const { config, file } = serverInWorkspace(rig);
  const beside = join(file, '..', 'beside.mjs');
  writeFileSync(beside, '');
  appendFileSync(file, "\nawait import('./beside.mjs');\n");
  const claw = await rig.open({ own: config }, {}, freely);
  await rig.approve('own');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'ok' });
  const write = { tool: 'write_file', args: { path: 'beside.mjs', content: 'x' } };
  expect(await claw.op('policy.explain', write)).toMatchObject({ decision: 'ask', choices: [] });
  await claw.op('mcp.stop', { name: 'own' });
  writeFileSync(beside, '// Changed.');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'error' });
  expect((await claw.op('mcp.list', {})).servers).toMatchObject([{ state: 'waiting' }]);
});

test('an approval restarts a server whose file has changed while it ran', async () => {
  const rig = new McpRig();
  const { config, file } = serverInWorkspace(rig);
  await rig.open({ own: config }, {}, freely);
  await rig.approve('own');
  appendFileSync(file, '\n// Changed while the server ran.\n');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'error' });
  await rig.approve('own');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'ok' });
  expect(rig.received('own').filter(({ method }) => method === 'initialize')).toHaveLength(2);
});

test('a change of a data file that a server names does not end its approval', async () => {
  const rig = new McpRig();
  const { config } = serverInWorkspace(rig);
  await rig.open({ own: { ...config, args: [...(config.args ?? []), '--store', rig.recordPath('own')] } });
  await rig.approve('own');
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'ok' });
  expect(await rig.call('own__read', {})).toMatchObject({ outcome: 'ok' });
});

test.each([
  [{}, homedir(), 'runs in your home folder'],
  [{ cwd: '.' }, null, 'runs in .'],
  [{ confined: true }, null, 'runs in the workspace'],
])('a server with %j runs in the workspace only if it names it or is confined', async (more, folder, told) => {
  const rig = new McpRig();
  const { config, file } = serverInWorkspace(rig, more);
  appendFileSync(file, "\nappendFileSync(script.record + '.cwd', process.cwd());\n");
  await rig.open({ own: config });
  const { gets } = await rig.approve('own');
  expect(readFileSync(`${rig.recordPath('own')}.cwd`, 'utf8')).toBe(folder ?? join(rig.home, 'data', 'workspace'));
  expect(gets[0]).toBe(told);
});

test('the agent asks before it writes a file that a hook, a verifier or a server runs', async () => {
  const rig = new McpRig();
  const { config, file } = serverInWorkspace(rig);
  const hook = { on: 'before_tool', command: ['node', 'hooks/guard.mjs'] };
  const verify = { classes: ['spend'], by: 'command:check', commands: { check: ['bash', 'check'] } };
  const claw = await rig.open({ own: config }, {}, { ...freely, hooks: [hook], verify });
  const asked = async (path: string): Promise<unknown> => {
    const { decision, grantable } = await claw
      .op('policy.explain', { tool: 'write_file', args: { path, content: 'x' } })
      .then(({ decision: said, choices }) => ({ decision: said, grantable: choices.length > 0 }));
    return [decision, grantable];
  };
  expect(await asked('other.mjs')).toEqual(['allow', false]);
  expect(await asked('server.mjs')).toEqual(['ask', false]);
  expect(await asked('Server.MJS')).toEqual(['ask', false]);
  rmSync(file);
  expect(await asked('server.mjs')).toEqual(['ask', false]);
  expect(await asked('hooks/guard.mjs')).toEqual(['ask', false]);
  expect(await asked('check')).toEqual(['ask', false]);
});
