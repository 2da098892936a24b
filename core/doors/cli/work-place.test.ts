// The destination of a message of the command line: the current folder, trust asked in place, the flags of ask.

import { expect, test } from 'vitest';
import { FakeClaw, type Step } from '../../../tests/doubles/fake-claw.ts';
import { atTerminal, fakeParts, runCommand } from '../../../tests/doubles/fake-terminal.ts';

function scripted(...steps: Step[]): FakeClaw {
  const claw = new FakeClaw();
  claw.scripts.push(steps);
  return claw;
}

const folder = { path: '/work-folder', risks: ['It reads all of it.'], trustedBy: null };
const sentBy = (claw: FakeClaw): unknown => claw.calls.find(({ name }) => name === 'message.send')?.params;

test('ask works in a trusted folder and, without a person, ignores any other', async () => {
  const claw = scripted({ say: 'ok' }, { say: 'ok' });
  claw.answers = { 'workspace.look': () => ({ ...folder, state: 'trusted', reason: '' }) };
  expect((await runCommand(['ask', 'x'], fakeParts(claw))).err).toBe('');
  expect(sentBy(claw)).toEqual({ text: 'x', workspace: '/work-folder' });
  const other = scripted({ say: 'ok' });
  other.answers = { 'workspace.look': () => ({ ...folder, state: 'new', reason: 'New here.' }) };
  const { err } = await runCommand(['ask', 'x'], fakeParts(other));
  expect([sentBy(other), err]).toEqual([{ text: 'x' }, 'Working in /data/workspace. To work in /work-folder, add --cwd .\n']);
});

test('a direct call and the explanation of one work in the trusted folder too; arithmetic needs none', async () => {
  const claw = new FakeClaw({ 'workspace.look': () => ({ ...folder, state: 'trusted', reason: '' }) });
  await runCommand(['tool', 'list_dir', '{}'], fakeParts(claw));
  await runCommand(['tool', 'list_dir', '{}', '--cwd', 'sub'], fakeParts(claw));
  await runCommand(['calc', '1+1'], fakeParts(claw));
  const ran = claw.calls.filter(({ name }) => name === 'tool.run').map(({ params }) => (params as { workspace?: string }).workspace);
  expect(ran).toEqual(['/work-folder', '/work-folder/sub', undefined]);
  await runCommand(['policy', 'explain', '{"tool":"read_file","args":{"path":"a"}}'], fakeParts(claw));
  expect(claw.calls.at(-1)?.params).toEqual({ tool: 'read_file', args: { path: 'a' }, folder: '/work-folder' });
});

test.each([
  ['y', { text: 'x', workspace: '/work-folder' }, ['/work-folder']],
  ['', { text: 'x' }, []],
  ['no', { text: 'x' }, []],
])('at a terminal, asks about a new folder first: %j', async (typed, sent, trusted) => {
  const claw = scripted({ say: 'ok' });
  const given: string[] = [];
  claw.answers = {
    'workspace.look': () => ({ ...folder, state: 'new', reason: 'New here.' }),
    'workspace.trust': ({ path }) => {
      given.push(path);
      return { path, grantId: 'grt_1', trustedAtMs: 1, state: 'trusted', lastUsedAtMs: null };
    },
  };
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter: no)');
  expect(terminal.err).toContain('- It reads all of it.');
  terminal.type(typed);
  expect([await finish, sentBy(claw), given]).toEqual([0, sent, trusted]);
});

test('the flags of ask set model, folder, files and session', async () => {
  const claw = scripted({ say: 'ok' });
  const argv = ['ask', 'x', '--cwd', 'sub', '--model', 'lab/m', '--file', 'a.md', '--file', '/b.md'];
  expect((await runCommand(argv, fakeParts(claw))).code).toBe(0);
  const attachments = [{ path: '/work-folder/a.md' }, { path: '/b.md' }];
  expect(sentBy(claw)).toEqual({ text: 'x', workspace: '/work-folder/sub', model: 'lab/m', attachments });

  const again = scripted({ say: 'ok' });
  const seen = (sessionId: string, channel: string, updatedAtMs: number) => ({ ...again.sessionInfo(sessionId), channel, updatedAtMs });
  const calculated = { ...seen('direct', 'cli', 8), status: 'done' as const };
  const sessions = [seen('older', 'cli', 1), seen('newest', 'window', 3), seen('chat', 'telegram', 9), calculated];
  again.answers = { 'session.list': ({ workspace }) => ({ sessions: workspace === null ? sessions : [], nextCursor: null }) };
  await runCommand(['ask', 'x', '--continue'], fakeParts(again));
  expect(sentBy(again)).toEqual({ text: 'x', sessionId: 'newest' });
  again.answers = { 'session.list': () => ({ sessions: [], nextCursor: null }) };
  expect((await runCommand(['ask', 'x', '--continue', '--json'], fakeParts(again))).out).toContain('"not_found"');
  expect((await runCommand(['ask', 'x', '--continue', '--session', 's'], fakeParts(again))).code).toBe(2);
});

test('a question about a folder takes yes or no; Enter means no', async () => {
  const opens = { path: '/work-folder', identity: '1' };
  const claw = scripted({ ask: { tool: 'open_workspace', args: '{}', opens } }, { say: 'there' });
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('[y]es · [d]eny');
  terminal.type('y');
  expect([await finish, claw.approvals[0]?.state]).toEqual([0, 'approved']);
});
