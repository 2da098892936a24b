// A session works in its own folder: trusted by a person once, bound to exactly that folder, and used by every tool, rule and the sandbox.

import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { OpParams } from '../../core/contracts/ops.ts';
import type { TrayClaw } from '../../core/index.ts';
import { isAppError } from '../../core/contracts/errors.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

interface Rig {
  readonly claw: TrayClaw;
  readonly model: ScriptedModel;
  readonly home: TestHome;
  readonly project: string;
  readonly send: (params: Partial<OpParams<'message.send'>>) => Promise<Awaited<ReturnType<TrayClaw['ask']>>>;
}

const read = (path: string) => ({ calls: [{ tool: 'read_file', args: { path } }] });

async function open(rules: readonly Rule[] = [{ answer: { text: 'seen' } }], more: ConfigInput = {}): Promise<Rig> {
  const model = await ScriptedModel.start(rules);
  const home = new TestHome();
  home.env['MODEL_KEY'] = 'a-key-of-some-length';
  const claw = await home.open({ config: { ...model.config('openai'), ...more } });
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const send: Rig['send'] = async (params) => {
    const { turnId } = await claw.op('message.send', { text: 'look', ...params });
    return claw.op('turn.wait', { turnId });
  };
  return { claw, model, home, project: home.project(), send };
}

test('a new folder is asked about once; then the session works there, as logged', async () => {
  const { claw, model, project, send } = await open([{ results: 0, answer: read('notes.md') }, { answer: { text: 'seen' } }]);
  writeFileSync(join(project, 'notes.md'), 'milk');
  const first = await send({ workspace: project });
  expect(first).toMatchObject({ status: 'waiting', pending: [{ tool: 'open_workspace', summary: `Wants to work in ${project}` }] });
  expect(model.requests).toEqual([]);
  const approvalId = first.pending?.[0]?.approvalId ?? '';
  await claw.op('approval.decide', { approvalId, decision: 'approve' });
  expect(await claw.op('turn.wait', { turnId: first.turnId })).toMatchObject({ status: 'done', text: 'seen' });
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain(`The workspace is ${project};`);
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('milk');
  expect(await send({ workspace: project })).toMatchObject({ status: 'done' });

  const { session, events } = await claw.op('session.get', { sessionId: first.sessionId });
  expect(session.workspace).toBe(project);
  expect(events.find(({ type }) => type === 'turn.started')?.body).toMatchObject({ workspace: project });
  const decided = events.filter(({ type }) => type === 'policy.decided').map(({ body }) => body as { ruleId: string });
  expect(decided.map(({ ruleId }) => ruleId)).toEqual(['ask.workspace', 'read.workspace']);
  const { text } = await claw.op('session.export', { sessionId: first.sessionId, format: 'markdown' });
  expect(text).toContain(`*Works in ${project}*`);
  expect(model.violations).toEqual([]);
  for (const { turnId } of events) if (turnId !== null) expect(await claw.op('replay.run', { turnId })).toMatchObject({ identical: true });
});

test('a denial ends the turn without a model call, and asks again the next time', async () => {
  const { claw, model, project, send } = await open();
  const first = await send({ workspace: project });
  await claw.op('approval.decide', { approvalId: first.pending?.[0]?.approvalId ?? '', decision: 'deny' });
  expect(await claw.op('turn.wait', { turnId: first.turnId })).toMatchObject({ status: 'failed', error: { code: 'denied' } });
  expect(model.requests).toEqual([]);
  expect(await send({ sessionId: first.sessionId })).toMatchObject({ status: 'waiting' });
});

test('the sandbox is explained for the current folder once it is trusted', async () => {
  const { claw, project } = await open();
  const { configured } = await claw.op('workspace.list', {});
  const writes = async (params: OpParams<'sandbox.explain'>) => (await claw.op('sandbox.explain', params)).files.write;
  const ofCommand = { command: 'ls', folder: project };
  expect(await writes({ folder: project })).toContain(configured);
  expect(await writes({ folder: project })).not.toContain(project);
  await claw.op('workspace.trust', { path: project });
  for (const params of [{ folder: project }, ofCommand, { command: 'ls', cwd: project }]) expect(await writes(params)).toContain(project);
  expect(await writes({})).toContain(configured);
});

test('trust covers subfolders, is listed, and can be revoked', async () => {
  const { claw, project, send } = await open();
  mkdirSync(join(project, 'sub'));
  await claw.op('workspace.trust', { path: project });
  expect(await send({ workspace: join(project, 'sub') })).toMatchObject({ status: 'done' });
  const { workspaces } = await claw.op('workspace.list', {});
  expect(workspaces).toMatchObject([{ path: project, state: 'trusted' }]);
  const { grants } = await claw.op('grant.list', {});
  expect(grants).toMatchObject([{ match: { kind: 'workspace', folder: project }, covers: `work in ${project} and below` }]);
  expect(await claw.op('workspace.forget', { path: project })).toEqual({ path: project, forgotten: 1 });
  expect(await send({ workspace: project })).toMatchObject({ status: 'waiting' });
  await expect(claw.op('workspace.forget', { path: project })).rejects.toMatchObject({ code: 'not_found' });
});

test('a folder that was replaced asks again, and nothing runs in it until then', async () => {
  const { claw, project, send } = await open();
  await claw.op('workspace.trust', { path: project });
  const { sessionId } = await send({ workspace: project });
  renameSync(project, `${project}-before`);
  mkdirSync(project);
  writeFileSync(join(project, 'notes.md'), 'planted');
  expect(await claw.op('workspace.look', { path: project })).toMatchObject({ state: 'replaced' });
  const call: OpParams<'tool.run'> = { tool: 'read_file', args: { path: 'notes.md' }, sessionId, wait: false };
  await expect(claw.op('tool.run', call)).rejects.toMatchObject({ code: 'denied' });
  const asked = await send({ sessionId });
  expect(asked).toMatchObject({ status: 'waiting', pending: [{ tool: 'open_workspace' }] });
  await claw.op('approval.decide', { approvalId: asked.pending?.[0]?.approvalId ?? '', decision: 'approve' });
  await claw.op('turn.wait', { turnId: asked.turnId });
  expect(await claw.op('tool.run', call)).toMatchObject({ outcome: 'ok' });
});

test('a trusted folder that becomes a link leads nowhere', async () => {
  const { claw, home, project, send } = await open();
  await claw.op('workspace.trust', { path: project });
  const { sessionId } = await send({ workspace: project });
  const other = home.project('other');
  await claw.op('workspace.trust', { path: other });
  rmSync(project, { recursive: true });
  symlinkSync(other, project);
  await expect(claw.op('tool.run', { tool: 'list_dir', args: {}, sessionId, wait: false })).rejects.toMatchObject({ code: 'denied' });
});

test('revoking trust during a turn stops its calls', async () => {
  const rig = await open([
    { results: 0, answer: read('/etc/hostname') },
    { results: 1, answer: read('notes.md') },
    { answer: { text: 'end' } },
  ]);
  const { claw, project, send } = rig;
  writeFileSync(join(project, 'notes.md'), 'milk');
  await claw.op('workspace.trust', { path: project });
  const asked = await send({ workspace: project });
  await claw.op('workspace.forget', { path: project });
  await claw.op('approval.decide', { approvalId: asked.pending?.[0]?.approvalId ?? '', decision: 'approve' });
  await claw.op('turn.wait', { turnId: asked.turnId });
  const { calls } = await claw.op('turn.get', { turnId: asked.turnId });
  expect(calls.map(({ outcome }) => outcome)).toEqual(['error', 'error']);
  expect(JSON.stringify(rig.model.requests.at(-1)?.body)).not.toContain('milk');
});

test('a link is resolved before the approval, which names the real folder', async () => {
  const { project, home, send } = await open();
  const link = join(home.path, '..', 'link');
  symlinkSync(project, link);
  expect(await send({ workspace: link })).toMatchObject({ pending: [{ summary: `Wants to work in ${project}` }] });
});

test.each([
  ['the root', () => '/'],
  ['the home folder', () => homedir()],
  ['the data folder', ({ home }: Rig) => home.path],
  ['a folder in the data folder', ({ home }: Rig) => join(home.path, 'artifacts')],
  ['the folder around the data folder', ({ home }: Rig) => realpathSync(join(home.path, '..'))],
  ['the temporary folder', () => '/tmp'],
  ['a system folder', () => '/etc'],
  ['a folder of the system below another', () => '/usr/share'],
  ['a folder of keys in a trusted one', ({ project }: Rig) => join(project, '.ssh')],
] satisfies [string, (rig: Rig) => string][])('%s is never a workspace', async (_name, pathOf) => {
  const rig = await open();
  await rig.claw.op('workspace.trust', { path: rig.project });
  mkdirSync(join(rig.project, '.ssh'));
  mkdirSync(join(rig.home.path, 'artifacts'), { recursive: true });
  const workspace = pathOf(rig);
  await expect(rig.claw.op('workspace.trust', { path: workspace })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(rig.claw.op('message.send', { text: 'look', workspace })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(rig.claw.op('session.create', { workspace })).rejects.toMatchObject({ code: 'invalid_params' });
});

test('the advice for a refused folder names one that can be a workspace', async () => {
  const { claw, home } = await open();
  const { configured } = await claw.op('workspace.list', {});
  const hintFor = async (path: string): Promise<string> => {
    const refused: unknown = await claw.op('workspace.trust', { path }).catch((cause: unknown) => cause);
    return isAppError(refused) ? (refused.hint ?? '') : '';
  };
  const artifacts = join(realpathSync(home.path), 'artifacts');
  mkdirSync(artifacts, { recursive: true });
  const inData = await hintFor(artifacts);
  expect(inData).toBe(`Choose a folder outside ${realpathSync(home.path)}, or the configured workspace, ${configured}.`);
  expect(await hintFor('/etc')).toBe('Choose a folder of one project somewhere else.');
  expect(await hintFor(homedir())).toBe('Choose a folder inside it, of one project.');
  await claw.op('session.create', { workspace: configured });
});

test('neither a model nor a client can make the call that asks for trust', async () => {
  const path = '/srv/elsewhere';
  const rig = await open([{ results: 0, answer: { calls: [{ tool: 'open_workspace', args: { path } }] } }, { answer: { text: 'end' } }]);
  const end = await rig.send({});
  expect(end).toMatchObject({ status: 'done' });
  expect(end.pending).toBeUndefined();
  expect(JSON.stringify(rig.model.requests.at(-1)?.body)).toContain('There is no tool called open_workspace');
  await expect(rig.claw.op('tool.run', { tool: 'open_workspace', args: { path: rig.project } })).rejects.toMatchObject({
    code: 'unknown_tool',
  });
  expect((await rig.claw.op('tool.list', {})).tools.map(({ name }) => name)).not.toContain('open_workspace');
  expect(JSON.stringify(rig.model.requests[0]?.body)).not.toContain('"open_workspace"');
});

test('rules, grants and explanations use the workspace of the session', async () => {
  const deny = { when: { paths: ['secret'] }, then: 'deny' as const };
  const { claw, home, project, send } = await open(undefined, { policy: { rules: [deny], mode: 'workspace-free' } });
  mkdirSync(join(project, 'secret'));
  await claw.op('workspace.trust', { path: project });
  const { sessionId } = await send({ workspace: project });
  const explain = async (tool: string, args: Record<string, unknown>) => {
    const { decision, ruleId } = await claw.op('policy.explain', { tool, args, sessionId });
    return `${decision} ${ruleId}`;
  };
  expect(await explain('write_file', { path: 'a.md', content: 'x' })).toBe('allow write.workspace');
  expect(await explain('exec', { command: 'ls' })).toBe('allow command.reads');
  expect(await explain('write_file', { path: 'secret/a.md', content: 'x' })).toBe('deny rule.deny');
  expect(await explain('read_file', { path: join(home.workspace, 'a.md') })).toBe('ask read.outside-workspace');
  expect(await explain('read_file', { path: join(home.path, 'config.yaml') })).toBe('deny path.own-data');
  expect(await explain('read_file', { path: '../other.md' })).toBe('ask read.outside-workspace');
});

test('files are written, undone and run in the folder of the session', async () => {
  const { claw, project, home, send } = await open(undefined, { policy: { mode: 'workspace-free' } });
  await claw.op('workspace.trust', { path: project });
  const { sessionId } = await send({ workspace: project });
  const wrote = await claw.op('tool.run', { tool: 'write_file', args: { path: 'a.md', content: 'x' }, sessionId });
  expect([wrote.outcome, existsSync(join(project, 'a.md')), existsSync(join(home.workspace, 'a.md'))]).toEqual(['ok', true, false]);
  const ran = await claw.op('tool.run', { tool: 'exec', args: { command: 'pwd' }, sessionId });
  expect([ran.outcome, ran.forModel.includes(project)]).toEqual(['ok', true]);
  await claw.op('checkpoint.restore', { callId: wrote.callId });
  expect(existsSync(join(project, 'a.md'))).toBe(false);
});

test('forks keep the folder, and a session cannot be moved to another', async () => {
  const { claw, home, project, send } = await open();
  await claw.op('workspace.trust', { path: project });
  const { sessionId, turnId } = await send({ workspace: project });
  expect((await claw.op('session.fork', { sessionId })).workspace).toBe(project);
  const branch = await claw.op('turn.branch', { turnId });
  await claw.op('turn.wait', { turnId: branch.turnId });
  expect((await claw.op('session.get', { sessionId: branch.sessionId })).session.workspace).toBe(project);
  await expect(send({ sessionId, workspace: home.project('other') })).rejects.toMatchObject({ code: 'conflict' });
  expect(await send({ sessionId, workspace: project })).toMatchObject({ status: 'done' });
  const { sessions } = await claw.op('session.list', { workspace: project });
  expect(sessions).toHaveLength(3);
  expect((await claw.op('session.list', { workspace: null })).sessions).toEqual([]);
});

test('approving a folder answers the other pending approvals about it', async () => {
  const { claw, project, send } = await open();
  const first = await send({ workspace: project });
  const second = await send({ workspace: project });
  await claw.op('approval.decide', { approvalId: first.pending?.[0]?.approvalId ?? '', decision: 'approve' });
  expect(await claw.op('turn.wait', { turnId: second.turnId })).toMatchObject({ status: 'done' });
  expect((await claw.op('grant.list', {})).grants).toHaveLength(1);
});

test('a restart keeps the approval, the trust and the folder', async () => {
  const { claw, model, home, project, send } = await open();
  const first = await send({ workspace: project });
  await home.close(claw);
  const again = await home.open({ config: model.config('openai') });
  const [approval] = (await again.op('approval.list', {})).approvals;
  expect(approval).toMatchObject({ tool: 'open_workspace', facts: { opens: { path: project } } });
  await again.op('approval.decide', { approvalId: approval?.approvalId ?? '', decision: 'approve' });
  expect(await again.op('turn.wait', { turnId: first.turnId })).toMatchObject({ status: 'done' });
  await home.close(again);
  const last = await home.open({ config: model.config('openai') });
  const { turnId } = await last.op('message.send', { text: 'again', sessionId: first.sessionId });
  expect(await last.op('turn.wait', { turnId })).toMatchObject({ status: 'done' });
});

test('a model named for a message is used for that message only, and logged', async () => {
  const { claw, model, send } = await open();
  const { sessionId, turnId } = await send({ model: 'lab/other-model' });
  expect(model.requests.at(-1)?.body['model']).toBe('other-model');
  await send({ sessionId });
  expect(model.requests.at(-1)?.body['model']).not.toBe('other-model');
  const { events } = await claw.op('session.get', { sessionId });
  expect(events.find(({ type, turnId: of }) => type === 'turn.started' && of === turnId)?.body).toMatchObject({ model: 'lab/other-model' });
  const refused = claw.op('message.send', { text: 'x', model: 'nowhere/model' });
  await expect(refused).rejects.toMatchObject({ code: 'model_unknown' });
  await expect(refused).rejects.toSatisfy((error: { hint?: string }) => error.hint?.includes('lab/') === true);
});

test('the command line works in its current folder once that is trusted', { timeout: 300_000 }, async () => {
  const model = await ScriptedModel.start([{ answer: { text: 'seen' } }]);
  const home = new TestHome();
  home.env['MODEL_KEY'] = 'a-key-of-some-length';
  home.configure(model.config('openai'));
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  const project = home.project();
  writeFileSync(join(project, 'notes.md'), 'buy milk');
  const at = (...args: string[]) => home.command(args, '', project);
  const asked = () => JSON.stringify(model.requests.at(-1)?.body);

  const apart = await at('ask', 'look');
  expect([apart.code, apart.json]).toMatchObject([0, { status: 'done' }]);
  expect(apart.stderr).toBe(`Working in ${home.workspace}. To work in ${project}, add --cwd .\n`);
  expect(asked()).toContain(`The workspace is ${home.workspace};`);

  const waits = await at('ask', 'look', '--cwd', '.');
  expect([waits.code, waits.json]).toMatchObject([3, { status: 'waiting', pending: [{ tool: 'open_workspace' }] }]);
  const { pending = [], sessionId } = waits.json as { pending?: { approvalId: string }[]; sessionId: string };
  const approved = await at('approvals', 'approve', pending[0]?.approvalId ?? '');
  expect(approved.code).toBe(0);
  expect(asked()).toContain(`The workspace is ${project};`);

  const inside = await at('ask', 'and now', '--continue', '--model', 'lab/other-model', '--file', 'notes.md');
  expect([inside.code, inside.stderr, inside.json]).toMatchObject([0, '', { status: 'done', sessionId }]);
  expect(model.requests.at(-1)?.body['model']).toBe('other-model');
  expect(asked()).toContain('buy milk');
});
