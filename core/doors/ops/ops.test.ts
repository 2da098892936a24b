// The operations over a whole runtime with the offline demo model: calls each once, as a door would.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTrayClaw, type TrayClaw } from '../../index.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { until } from '../../../tests/until.ts';

let home: string;
let claw: TrayClaw;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'trayclaw-ops-'));
  claw = await createTrayClaw({ home, config: { models: { default: 'demo/offline' } }, environment: {} });
});

afterAll(async () => {
  await claw.close();
  rmSync(home, { recursive: true, force: true });
});

async function take(events: AsyncIterable<AnyEvent>, count: number): Promise<AnyEvent[]> {
  const taken: AnyEvent[] = [];
  for await (const event of events) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

test('names wrong parameters and unknown ids', async () => {
  await expect(claw.op('turn.get', { turnId: 7, extra: 1 } as never)).rejects.toMatchObject({
    code: 'invalid_params',
    message: expect.stringMatching(/turnId .*is not a known key/) as string,
  });
  await expect(claw.op('turn.fly' as never, {} as never)).rejects.toMatchObject({ code: 'unknown_op' });
  await expect(claw.op('turn.get', { turnId: 'trn_x' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('pack.get', { packId: 'trn_x-p1' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('message.send', { text: 'hi', sessionId: 'system' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('approval.decide', { approvalId: 'apr_x', decision: 'deny' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('outcome.settle', { callId: 'call_x', answer: 'done' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('grant.revoke', { grantId: 'grt_x' })).rejects.toMatchObject({ code: 'not_found' });
});

test('a message asks, is approved for the session, writes, and is fully traceable', async () => {
  const streamed: string[] = [];
  const asked = await claw.ask('list this folder and write notes.md about it', {
    sessionId: 'work',
    onText: (text) => streamed.push(text),
  });
  expect(asked).toMatchObject({ sessionId: 'work', status: 'waiting', pending: [{ tool: 'write_file' }] });
  const [pending] = (await claw.op('approval.list', {})).approvals;
  const approvalId = pending?.approvalId ?? '';
  expect(await claw.op('approval.decide', { approvalId, decision: 'approve', scope: { kind: 'session' } })).toMatchObject({
    state: 'approved',
  });
  await expect(claw.op('approval.decide', { approvalId, decision: 'deny' })).rejects.toMatchObject({ code: 'approval_not_pending' });
  const done = await claw.op('turn.wait', { turnId: asked.turnId });
  expect(done).toMatchObject({ status: 'done', text: expect.stringContaining('notes.md') as string });
  expect(existsSync(join(home, 'workspace', 'notes.md'))).toBe(true);

  const view = await claw.op('turn.get', { turnId: asked.turnId });
  expect(view.calls.map(({ tool, outcome }) => [tool, outcome])).toEqual([
    ['list_dir', 'ok'],
    ['write_file', 'ok'],
  ]);
  expect([streamed.join('') === '', done.text.startsWith('[Offline demo')]).toEqual([false, true]);
  const page = await claw.op('turn.events', { turnId: asked.turnId, limit: 5 });
  expect([page.sessionId, page.events.map(({ type }) => type)[0], page.hasMore]).toEqual(['work', 'user.message', true]);
  const rest = await claw.op('turn.events', { turnId: asked.turnId, after: page.events.at(-1)?.seq ?? 0 });
  expect([rest.events.at(-1)?.type, rest.hasMore]).toEqual(['turn.finished', false]);
  expect((await claw.op('turn.export', { turnId: asked.turnId, format: 'markdown' })).text).toContain('### Called `write_file`');
  const found = await claw.op('activity.search', { query: 'write notes.md', kinds: ['approval'], limit: 1 });
  expect(found).toMatchObject({ hits: [{ turnId: asked.turnId, tool: 'write_file', outcome: 'asked' }], nextBefore: null });
  await expect(claw.op('turn.events', { turnId: 'trn_x' })).rejects.toMatchObject({ code: 'not_found' });
  const pack = await claw.op('pack.get', { packId: view.packs.at(-1) ?? '' });
  expect(pack.messages.map((message) => message.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant', 'tool', 'note']);
  // The last message contains the skills that could help with this request.
  expect(pack.messages.at(-1)?.text).toContain('skill');
  expect(await claw.op('replay.run', { turnId: asked.turnId })).toMatchObject({ identical: true, differences: [] });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
  const [grant] = (await claw.op('grant.list', {})).grants;
  if (grant === undefined) throw new Error('a grant is expected');
  expect(await claw.op('grant.preview', { match: grant.match })).toMatchObject({
    asked: 1,
    covered: [{ tool: 'write_file', outcome: 'asked' }],
  });
  const callId = view.calls.find(({ tool }) => tool === 'write_file')?.callId ?? '';
  expect(await claw.op('grant.preview', { match: grant.match, exceptCallId: callId })).toMatchObject({ total: 0, covered: [] });
  expect(grant).toMatchObject({ uses: 1, lastUsedAtMs: expect.any(Number) as number });
  expect((await claw.op('grant.revoke', { grantId: grant.grantId })).revokedAtMs).not.toBeNull();
  expect((await claw.op('grant.list', {})).grants).toEqual([]);
});

test('an approval with changed arguments is validated and runs as changed', async () => {
  const waiting = await claw.op('tool.run', { tool: 'write_file', args: { path: 'x.md', content: 'x' }, wait: false });
  const approvalId = waiting.pending?.[0]?.approvalId ?? '';
  const change = (args: Record<string, unknown>, more: object = {}) =>
    claw.op('approval.decide', { approvalId, decision: 'approve', args, ...more });
  await expect(change({ path: 'y.md' })).rejects.toMatchObject({ code: 'invalid_arguments' });
  const whole = { path: 'y.md', content: 'changed' };
  await expect(change({ ...whole, content: 'AKIAIOSFODNN7EXAMPLE' })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(change(whole, { scope: { kind: 'session' } })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(change(whole, { decision: 'deny' })).rejects.toMatchObject({ code: 'invalid_params' });
  await expect(change({ ...whole, path: join(home, 'config.yaml') })).rejects.toMatchObject({ code: 'denied' });
  expect(await change(whole)).toMatchObject({ state: 'approved', scope: { kind: 'once' } });
  expect(await claw.op('turn.wait', { turnId: waiting.turnId })).toMatchObject({ status: 'done' });
  expect([existsSync(join(home, 'workspace', 'x.md')), readFileSync(join(home, 'workspace', 'y.md'), 'utf8')]).toEqual([false, 'changed']);
  expect((await claw.op('turn.export', { turnId: waiting.turnId, format: 'markdown' })).text).toContain('Changed and approved by');
  expect(await claw.op('turn.get', { turnId: waiting.turnId })).toMatchObject({ calls: [{ args: JSON.stringify(whole), summary: '' }] });
});

test('sessions: create, rename, read, search, fork, export, archive, delete', async () => {
  const { sessionId } = await claw.op('session.create', { title: 'Plans' });
  await claw.ask('Calculate (3 + 4) * 12', { sessionId });
  expect(await claw.op('session.rename', { sessionId, title: 'Sums' })).toMatchObject({ title: 'Sums', status: 'done' });
  const { events } = await claw.op('session.get', { sessionId, limit: 3 });
  expect(events.map((event) => event.type).at(-1)).toBe('session.renamed');
  expect((await claw.op('session.search', { query: 'calcul' })).hits).toContainEqual(expect.objectContaining({ sessionId, title: 'Sums' }));
  const fork = await claw.op('session.fork', { sessionId });
  expect(await claw.ask('Calculate 1 + 1', { sessionId: fork.sessionId })).toMatchObject({ status: 'done' });
  expect((await claw.op('session.export', { sessionId, format: 'markdown' })).text).toContain('# Sums');
  expect((await claw.op('session.export', { sessionId, format: 'jsonl' })).text.trim().split('\n').length).toBeGreaterThan(5);
  expect(await claw.op('session.archive', { sessionId })).toMatchObject({ archived: true });
  expect((await claw.op('session.list', {})).sessions.map((one) => one.sessionId)).not.toContain(sessionId);
  expect((await claw.op('session.delete', { sessionId })).events).toBeGreaterThan(5);
  await expect(claw.op('session.get', { sessionId })).rejects.toMatchObject({ code: 'not_found' });
  await expect(claw.op('session.delete', { sessionId: 'system' })).rejects.toMatchObject({ code: 'not_found' });
  expect(await claw.op('audit.verify', {})).toMatchObject({ ok: true });
});

test('direct calls, artifacts, policy, safety, usage, config, models, health', async () => {
  expect(await claw.op('tool.run', { tool: 'calc', args: { expression: '2*(3+4)' } })).toMatchObject({
    outcome: 'ok',
    forModel: expect.stringContaining('14') as string,
  });
  await expect(claw.op('tool.run', { tool: 'clac', args: {} })).rejects.toMatchObject({ code: 'unknown_tool' });
  const waiting = await claw.op('tool.run', { tool: 'write_file', args: { path: 'x.md', content: 'x' }, wait: false });
  expect(waiting).toMatchObject({ outcome: 'waiting', pending: [{ tool: 'write_file' }] });
  expect(await claw.op('turn.cancel', { turnId: waiting.turnId })).toMatchObject({ status: 'cancelled' });
  expect(await claw.op('policy.explain', { tool: 'write_file', args: { path: 'y.md', content: '' } })).toMatchObject({
    decision: 'ask',
    ruleId: 'ask.write',
    mode: 'supervised',
    grantId: null,
    choices: [
      { covers: 'write_file for files under the workspace' },
      { covers: 'any tool or command that only changes files under the workspace' },
    ],
  });
  expect(await claw.op('safety.url', { url: 'http://127.0.0.1/' })).toMatchObject({ decision: 'deny' });
  expect((await claw.op('safety.redact', { text: 'AKIAIOSFODNN7EXAMPLE' })).text).not.toContain('AKIAIOSFODNN7EXAMPLE');
  writeFileSync(join(home, 'workspace', 'big.txt'), 'line\n'.repeat(30_000));
  await claw.ask('Read big.txt');
  const { artifacts } = await claw.op('artifact.list', {});
  for (const { sha256 } of artifacts.slice(0, 1))
    expect((await claw.op('artifact.get', { artifact: sha256, length: 10 })).artifact.sha256).toBe(sha256);
  await expect(claw.op('artifact.get', { artifact: 'nothing' })).rejects.toMatchObject({
    code: expect.stringMatching(/not_found|artifact_missing/) as string,
  });
  expect((await claw.op('usage.get', {})).today.turns).toBeGreaterThan(0);
  expect(await claw.op('config.get', {})).toMatchObject({ config: { models: { default: 'demo/offline' } } });
  expect((await claw.op('config.schema', {})).schema).toMatchObject({ type: 'object' });
  expect((await claw.op('model.list', {})).defaultModel).toBe('demo/offline');
  expect((await claw.op('tool.list', {})).tools.map((tool) => tool.name)).toContain('write_file');
  expect((await claw.op('health.check', {})).checks.map((check) => check.id)).toEqual(
    expect.arrayContaining(['storage', 'events', 'disk', 'workspace', 'model', 'panic']),
  );
  expect((await claw.op('outcome.list', {})).outcomes).toEqual([]);
});

test('no wider grant for a grave call; a denial reaches the agent with its reason', async () => {
  const waiting = await claw.op('tool.run', { tool: 'exec', args: { command: 'rm -rf build' }, wait: false });
  const approvalId = waiting.pending?.[0]?.approvalId ?? '';
  for (const channel of ['http', 'cli', 'tray', 'telegram'] as const) {
    for (const scope of [{ kind: 'minutes', minutes: 15 }, { kind: 'session' }, { kind: 'always' }] as const)
      await expect(
        claw.op('approval.decide', { approvalId, decision: 'approve', scope }, { channel, actor: channel }),
      ).rejects.toMatchObject({ code: 'invalid_params', message: expect.stringContaining('for this one call only') as string });
  }
  await expect(claw.op('approval.decide', { approvalId, decision: 'approve', reason: 'x' })).rejects.toMatchObject({
    code: 'invalid_params',
  });
  expect((await claw.op('approval.list', {})).approvals.map((one) => [one.approvalId, one.state])).toContainEqual([approvalId, 'pending']);
  await claw.op('approval.decide', { approvalId, decision: 'deny', reason: ' Keep it for the release. ' });
  const { calls } = await claw.op('turn.get', { turnId: waiting.turnId });
  expect(calls[0]).toMatchObject({ outcome: 'denied', forUser: expect.stringContaining('Keep it for the release.') as string });
});

test('creates, lists and verifies backups', async () => {
  const { file, events } = await claw.op('backup.create', {});
  expect(await claw.op('backup.verify', { file })).toEqual({ ok: true, events, detail: 'ok' });
  expect((await claw.op('backup.list', {})).backups.map((backup) => backup.file)).toEqual([file]);
  expect(readFileSync(file).subarray(0, 15).toString()).toBe('SQLite format 3');
});

test("'latest' is the moment of the call, 'after' any position; follows one session", async () => {
  const following = claw.events({ after: 'latest' });
  const { sessionId } = await claw.op('session.create', { title: 'Heard' });
  const other = await claw.op('session.create', { title: 'Elsewhere' });
  const heard = await take(following, 2);
  expect(heard.map((event) => event.sessionId)).toEqual([sessionId, other.sessionId]);
  const alone = take(claw.events({ after: 0, sessionId }), 2);
  await claw.op('session.rename', { sessionId: other.sessionId, title: 'x' });
  await claw.op('session.rename', { sessionId, title: 'Followed' });
  expect((await alone).map((event) => event.type)).toEqual(['session.created', 'session.renamed']);
  const cut = new AbortController();
  const never = take(claw.events({ after: 'latest', signal: cut.signal }), 1);
  cut.abort();
  expect(await never).toEqual([]);
});

test('the panic stop accepts and approves nothing until it is released', async () => {
  const waiting = await claw.op('tool.run', { tool: 'write_file', args: { path: 'z.md', content: 'z' }, wait: false });
  const approvalId = waiting.pending?.[0]?.approvalId ?? '';
  const first = await claw.op('panic.engage', { reason: 'smoke' });
  expect([first, await claw.op('panic.engage', { reason: 'fire' })]).toMatchObject([
    { engaged: true, reason: 'smoke' },
    { reason: 'smoke', sinceMs: first.sinceMs },
  ]);
  await expect(claw.op('message.send', { text: 'hi' })).rejects.toMatchObject({ code: 'panic_engaged' });
  await expect(claw.op('approval.decide', { approvalId, decision: 'approve' })).rejects.toMatchObject({ code: 'panic_engaged' });
  expect(await claw.op('panic.release', {})).toMatchObject({ engaged: false });
  expect(await claw.op('approval.decide', { approvalId, decision: 'deny' })).toMatchObject({ state: 'denied' });
  expect(await claw.op('turn.wait', { turnId: waiting.turnId })).toMatchObject({ status: 'done' });
  expect(await claw.op('panic.status', {})).toMatchObject({ engaged: false });
});

test('a denied direct call says why to the program that made it', async () => {
  const running = claw.op('tool.run', { tool: 'write_file', args: { path: 'no.md', content: 'x' } });
  const asked = async (): Promise<string | undefined> => (await claw.op('approval.list', {})).approvals.at(-1)?.approvalId;
  await until(async () => (await asked()) !== undefined, 'it is asked');
  await claw.op('approval.decide', { approvalId: (await asked()) ?? '', decision: 'deny', reason: 'not today' });
  const { outcome, forModel, forUser } = await running;
  expect([outcome, forModel]).toEqual(['denied', expect.stringContaining('not today')]);
  expect(forUser).toBe(forModel);
});

test('arguments that JSON cannot express are refused', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  for (const args of [5n, cyclic, () => 1]) {
    for (const name of ['tool.run', 'policy.explain'] as const)
      await expect(claw.op(name, { tool: 'calc', args })).rejects.toMatchObject({ code: 'invalid_params' });
  }
});

test('after closing, operations are refused and followers end', async () => {
  const following = take(claw.events({ after: 'latest' }), 1);
  await claw.close();
  await expect(claw.op('session.list', {})).rejects.toMatchObject({ code: 'shutting_down' });
  expect(await following).toEqual([]);
});
