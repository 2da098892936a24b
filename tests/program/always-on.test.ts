// Unattended automatic turns in the whole program: schedules, the heartbeat, signals and webhooks.

import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { systemSessionId, type AnyEvent, type EventOf, type EventType } from '../../core/contracts/events.ts';
import type { createTrayClaw, TrayClaw } from '../../core/index.ts';
import { ScriptedModel, type Rule } from '../doubles/scripted-model.ts';
import { TestHome } from '../faults/test-home.ts';

interface Rig {
  readonly home: TestHome;
  readonly model: ScriptedModel;
  readonly claw: TrayClaw;
}

async function open(rules: readonly Rule[], config: Parameters<typeof createTrayClaw>[0]['config'] = {}): Promise<Rig> {
  const home = new TestHome();
  const model = await ScriptedModel.start(rules);
  home.configure({ ...config, ...model.config('openai'), heartbeat: { everyMinutes: 0, ...config.heartbeat } });
  const claw = await home.open();
  onTestFinished(async () => {
    await home.dispose();
    await model.close();
  });
  return { home, model, claw };
}

async function eventsOf<T extends EventType>(claw: TrayClaw, sessionId: string, type: T): Promise<EventOf<T>[]> {
  const found: EventOf<T>[] = [];
  const lastSeq = await logLength(claw);
  const enough = new AbortController();
  for await (const event of claw.events({ after: 0, signal: enough.signal })) {
    if (event.type === type && event.sessionId === sessionId) found.push(event as EventOf<T>);
    if (event.seq >= lastSeq) enough.abort();
  }
  return found;
}

/** The number of log entries. Nothing is ever removed here, so this is also the position of the last one. */
async function logLength(claw: TrayClaw): Promise<number> {
  return (await claw.op('audit.verify', {})).events;
}

const until = <T>(check: () => Promise<T>): Promise<T> => vi.waitFor(check, { timeout: 15_000, interval: 50 });

const job = { name: 'Tidy', prompt: 'Tidy up.', spec: { kind: 'every', everyMs: 3_600_000 } } as const;

test('after the clock was set back, the next times shown are those that will run', async () => {
  await using home = new TestHome();
  home.configure({ models: { default: 'demo/offline' }, heartbeat: { everyMinutes: 0 } });
  let aheadMs = 0;
  const clock = { nowMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
  const claw = await home.open({ clock });
  const minute = 60_000;
  const { scheduleId } = await claw.op('schedule.create', { ...job, spec: { kind: 'every', everyMs: 15 * minute } });
  const ran = async (): Promise<number[]> => {
    const { last } = await claw.op('schedule.get', { scheduleId, limit: 50 });
    return last.filter(({ disposition, status }) => disposition === 'run' && status === 'done').map(({ dueMs }) => dueMs);
  };
  for (let count = 1; count <= 4; count++) {
    aheadMs += 15 * minute;
    await claw.op('schedule.update', { scheduleId, enabled: true });
    await until(async () => expect(await ran()).toHaveLength(count));
  }
  aheadMs -= 60 * minute;
  const shown = async (): Promise<readonly number[]> => (await claw.op('schedule.get', { scheduleId })).nextMs;
  const lastRun = Math.max(...(await ran()));
  const expected = [1, 2, 3, 4, 5].map((at) => lastRun + at * 15 * minute);
  expect(await shown()).toEqual(expected);
  // The next check notices the clock.
  await claw.op('schedule.update', { scheduleId, enabled: true });
  await until(async () => expect(await eventsOf(claw, systemSessionId, 'schedule.rewound')).toHaveLength(1));
  expect(await shown()).toEqual(expected);
  expect(new Set(await ran()).size).toBe(4);
});

test('a risky call of an unattended turn is denied after a timeout, and reported', async () => {
  const { home, claw } = await open([
    { results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'made.txt', content: 'x' } }] } },
    { answer: { text: 'I was not allowed to write made.txt.' } },
  ]);
  const { scheduleId } = await claw.op('schedule.create', { ...job, approvalMs: 1000 });
  const { sessionId, turnId } = await claw.op('schedule.run', { scheduleId });
  const { approvals } = await until(async () => {
    const pending = await claw.op('approval.list', {});
    expect(pending.approvals).toHaveLength(1);
    return pending;
  });
  expect(approvals[0]).toMatchObject({ tool: 'write_file', turnId, sessionId });

  const ended = await claw.op('turn.wait', { turnId });
  // The first wait ends with the approval; the timeout denies it.
  const done = ended.status === 'waiting' ? await until(() => finished(claw, turnId)) : await finished(claw, turnId);
  expect(done).toMatchObject({ status: 'done', text: 'I was not allowed to write made.txt.' });
  const decided = await eventsOf(claw, sessionId, 'approval.decided');
  expect(decided.map(({ body }) => [body.decision, body.by])).toEqual([['deny', 'timeout']]);
  expect(existsSync(join(home.workspace, 'made.txt'))).toBe(false);
  expect((await claw.op('approval.list', {})).approvals).toEqual([]);
  expect(await eventsOf(claw, sessionId, 'tool.requested')).toEqual([]);
  expect((await claw.op('session.get', { sessionId })).session.unread).toBeGreaterThan(0);
});

async function finished(claw: TrayClaw, turnId: string) {
  const turn = await claw.op('turn.get', { turnId });
  expect(['done', 'failed', 'cancelled', 'over_budget', 'stopped']).toContain(turn.status);
  return turn;
}

test('a grant until revoked covers a scheduled turn only if the schedule says so', async () => {
  const { home, claw } = await open([
    { results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'made.txt', content: 'x' } }] } },
    { answer: { text: 'Done.' } },
  ]);
  const { turnId: asked } = await claw.op('message.send', { text: 'Tidy up.' });
  await claw.op('turn.wait', { turnId: asked });
  const [approval] = (await claw.op('approval.list', {})).approvals;
  await claw.op('approval.decide', { approvalId: approval?.approvalId ?? '', decision: 'approve', scope: { kind: 'always' } });
  await claw.op('turn.wait', { turnId: asked });
  expect(readFileSync(join(home.workspace, 'made.txt'), 'utf8')).toBe('x');

  const bounds = { tools: null, classes: null, folders: null, hosts: null, steps: null, turnMs: null, usd: null, tokens: null };
  const without = await claw.op('schedule.create', { ...job, approvalMs: 1000, bounds: { ...bounds, grants: false } });
  const first = await claw.op('schedule.run', { scheduleId: without.scheduleId });
  await until(async () => expect((await claw.op('approval.list', {})).approvals).toHaveLength(1));
  const also = await claw.op('schedule.create', { ...job, approvalMs: 1000, bounds: { ...bounds, grants: true } });
  const second = await claw.op('schedule.run', { scheduleId: also.scheduleId });
  expect((await until(() => finished(claw, second.turnId))).calls.map(({ outcome }) => outcome)).toEqual(['ok']);
  expect((await until(() => finished(claw, first.turnId))).calls.map(({ outcome }) => outcome)).toEqual(['denied']);
});

test('a due time runs once, also across a restart, and its result is listed', async () => {
  const { home, claw, model } = await open([{ answer: { text: 'Seen.' } }]);
  const { scheduleId } = await claw.op('schedule.create', { name: 'Once', prompt: 'Look.', spec: { kind: 'at', atMs: Date.now() + 700 } });
  await until(async () => {
    const view = await claw.op('schedule.get', { scheduleId });
    expect(view).toMatchObject({ nextMs: [], last: [{ disposition: 'run', status: 'done' }] });
  });
  await home.close(claw);
  const again = await home.open();
  const view = await again.op('schedule.get', { scheduleId });
  expect(view.last).toHaveLength(1);
  expect(model.requests).toHaveLength(1);
  expect((await again.op('audit.verify', {})).ok).toBe(true);
  await home.close(again);
});

test('under the panic stop nothing starts, which is recorded', async () => {
  const { claw, model } = await open([{ answer: { text: 'Seen.' } }]);
  await claw.op('panic.engage', {});
  const { scheduleId } = await claw.op('schedule.create', { name: 'Once', prompt: 'Look.', spec: { kind: 'at', atMs: Date.now() + 300 } });
  await until(async () => expect((await claw.op('schedule.get', { scheduleId })).last).toMatchObject([{ disposition: 'panic' }]));
  await expect(claw.op('schedule.run', { scheduleId })).rejects.toMatchObject({ code: 'panic_engaged' });
  await expect(claw.op('heartbeat.run', {})).rejects.toMatchObject({ code: 'panic_engaged' });
  expect(await claw.op('heartbeat.get', {})).toMatchObject({ idle: 1, lastOutcome: 'Everything is stopped by the panic stop.' });
  expect(model.requests).toEqual([]);
});

test('a heartbeat with nothing to do calls no model and records nothing', async () => {
  const { home, claw, model } = await open([{ answer: { text: 'HEARTBEAT_OK' } }], { heartbeat: { everyMinutes: 30 } });
  await claw.op('heartbeat.run', {});
  const file = join(home.workspace, 'HEARTBEAT.md');
  expect(readFileSync(file, 'utf8')).toContain('below this line');
  const before = await logLength(claw);
  writeFileSync(file, `${readFileSync(file, 'utf8')}\n# only a remark\n<!-- and another -->\n`);
  for (let i = 0; i < 50; i++) await claw.op('heartbeat.run', {});
  expect(await claw.op('heartbeat.get', {})).toMatchObject({ idle: 51, lastTurnId: null, lastOutcome: 'HEARTBEAT.md asks for nothing.' });
  expect(model.requests).toEqual([]);
  expect(await logLength(claw)).toBe(before);
});

test('a heartbeat with a task reports once, and one without reports nothing', async () => {
  const answers = ['HEARTBEAT_OK', 'The backup is two days old.', 'The backup is two days old.', '**HEARTBEAT_OK**'];
  const { home, claw, model } = await open([{ answer: () => ({ text: answers.shift() ?? '' }) }]);
  writeFileSync(join(home.workspace, 'HEARTBEAT.md'), 'Tell me when a backup is old.');
  const outcomes: string[] = [];
  const unread: number[] = [];
  for (let beats = 1; beats <= 4; beats++) {
    await claw.op('heartbeat.run', {});
    await until(async () => expect(await eventsOf(claw, systemSessionId, 'heartbeat.ended')).toHaveLength(beats));
    const ended = await eventsOf(claw, systemSessionId, 'heartbeat.ended');
    outcomes.push(ended.at(-1)?.body.outcome ?? '');
    const [session] = (await claw.op('session.list', {})).sessions;
    unread.push(session?.unread ?? -1);
    if (session !== undefined) await claw.op('session.seen', { sessionId: session.sessionId });
  }
  expect(outcomes).toEqual(['quiet', 'told', 'repeated', 'quiet']);
  expect(unread).toEqual([0, 1, 0, 0]);
  expect(model.requests).toHaveLength(4);
  expect((await claw.op('session.list', {})).sessions.map(({ sessionId }) => sessionId)).toEqual([
    expect.stringMatching(/^heartbeat-\d{4}-\d\d-\d\d$/),
  ]);
});

test('signals are observed, given to the next turn, run, or given to the running turn', async () => {
  const { claw, model } = await open([
    { user: 'Wait', results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'a', content: 'b' } }] } },
    { answer: { text: 'Fine.' } },
  ]);
  const { sessionId, turnId } = await claw.op('message.send', { text: 'Hello.' });
  await claw.op('turn.wait', { turnId });
  const base = { name: 'build', text: 'Build 7 failed', data: { build: 7 } };

  expect(await claw.op('signal.send', { ...base, sessionId })).toMatchObject({ disposition: 'recorded' });
  expect(await claw.op('signal.send', { ...base, sessionId, attention: 'queue', dedupeKey: 'k' })).toMatchObject({ disposition: 'queued' });
  expect(await claw.op('signal.send', { ...base, sessionId, attention: 'queue', dedupeKey: 'k' })).toMatchObject({ repeated: true });
  const next = await claw.op('message.send', { text: 'Wait, what is new?', sessionId });
  await claw.op('turn.wait', { turnId: next.turnId });
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('Build 7 failed');
  expect(await eventsOf(claw, systemSessionId, 'signal.delivered')).toMatchObject([{ body: { turnId: next.turnId } }]);
  expect(await eventsOf(claw, sessionId, 'taint.marked')).toMatchObject([{ turnId: next.turnId, body: { attached: true } }]);

  const steered = await claw.op('signal.send', { ...base, sessionId, attention: 'interrupt' });
  expect(steered).toMatchObject({ disposition: 'steered', turnId: next.turnId });
  const [steer] = (await eventsOf(claw, sessionId, 'turn.steered')).slice(-1);
  expect(steer?.body.untrusted).toEqual([{ kind: 'message', where: 'app build' }]);
  await claw.op('turn.cancel', { turnId: next.turnId });

  const run = await claw.op('signal.send', { ...base, attention: 'run' });
  expect(run).toMatchObject({ disposition: 'run', sessionId: 'signal-build' });
  await until(() => finished(claw, run.turnId ?? ''));
  expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('did not write it');
  expect((await claw.op('signal.list', {})).signals.map((signal) => signal.disposition)).toEqual(['run', 'steered', 'queued', 'recorded']);
});

test('a webhook needs its secret, runs a repetition once, and its text is untrusted', async () => {
  const { home, model } = await open([]);
  model.script([{ answer: { text: 'Noted.' } }]);
  home.env['HOOK_SECRET'] = 'a-long-secret-of-a-hook';
  home.configure({
    ...model.config('openai'),
    heartbeat: { everyMinutes: 0 },
    signals: {
      webhooks: {
        build: { secret: 'env:HOOK_SECRET', attention: 'run', tools: ['read_file'] },
        signed: { secret: 'env:HOOK_SECRET', signature: 'standard' },
        pushed: { secret: 'env:HOOK_SECRET', signature: 'github' },
        seen: { secret: 'env:HOOK_SECRET' },
      },
    },
  });
  const other = new TestHome();
  onTestFinished(() => other.dispose());
  other.env['HOOK_SECRET'] = 'a-long-secret-of-a-hook';
  other.configure(readFileSync(join(home.path, 'config.yaml'), 'utf8'));
  const serving = await other.serve();
  const post = async (path: string, headers: Record<string, string>, body: string): Promise<{ status: number; json: unknown }> => {
    const response = await fetch(`${serving.url}${path}`, { method: 'POST', headers, body });
    return { status: response.status, json: await response.json() };
  };
  const right = { 'x-trayclaw-secret': 'a-long-secret-of-a-hook' };
  expect((await post('/hooks/build', {}, 'x')).status).toBe(401);
  expect((await post('/hooks/build', { 'x-trayclaw-secret': 'wrong' }, 'x')).status).toBe(401);
  expect((await post('/hooks/other', right, 'x')).status).toBe(401);
  expect(await post('/hooks/build', right, 'x'.repeat(256 * 1024 + 1))).toMatchObject({
    status: 413,
    json: { error: { message: expect.stringContaining('up to 256 KB') as string } },
  });
  expect((await post('/hooks/build', { ...right, origin: 'http://evil.example' }, 'x')).status).toBe(403);
  const got = await fetch(`${serving.url}/hooks/build`, { headers: right });
  expect([got.status, await got.json()]).toMatchObject([405, { ok: false }]);

  const first = await post('/hooks/build', { ...right, 'idempotency-key': 'd1' }, '{"text":"Build 7 failed"}');
  const second = await post('/hooks/build', { ...right, 'idempotency-key': 'd1' }, '{"text":"Build 7 failed"}');
  expect([first, second]).toMatchObject([
    { status: 200, json: { result: { repeated: false } } },
    { status: 200, json: { result: { repeated: true } } },
  ]);
  const hmac = (form: 'base64' | 'hex', text: string): string => createHmac('sha256', right['x-trayclaw-secret']).update(text).digest(form);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signed = { 'webhook-id': 'm1', 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${hmac('base64', `m1.${timestamp}.ü`)}` };
  const pushed = { 'x-hub-signature-256': `sha256=${hmac('hex', 'ü')}`, 'x-github-delivery': '1' };
  expect((await post('/hooks/signed', signed, 'ü')).json).toMatchObject({ result: { repeated: false } });
  expect((await post('/hooks/signed', signed, 'ü')).json).toMatchObject({ result: { repeated: true } });
  expect((await post('/hooks/pushed', pushed, 'ü')).json).toMatchObject({ result: { repeated: false } });
  expect((await post('/hooks/pushed', { ...pushed, 'x-github-delivery': '2' }, 'ü')).json).toMatchObject({ result: { repeated: true } });
  const svix = {
    'svix-id': 'm2',
    'svix-timestamp': timestamp,
    'svix-signature': `v1a,AAAA v1,${hmac('base64', `m2.${timestamp}.ü`)}`,
  };
  expect((await post('/hooks/signed', svix, 'ü')).json).toMatchObject({ result: { repeated: false } });
  expect((await post('/hooks/signed', svix, 'ü')).json).toMatchObject({ result: { repeated: true } });
  const gitlab = { 'x-gitlab-token': right['x-trayclaw-secret'], 'x-gitlab-event-uuid': 'u1' };
  expect((await post('/hooks/seen', gitlab, '{"object_kind":"push"}')).json).toMatchObject({ result: { repeated: false } });
  expect((await post('/hooks/seen', gitlab, '{"object_kind":"push"}')).json).toMatchObject({ result: { repeated: true } });
  const form = `payload=${encodeURIComponent('{"title":"Größe & more"}')}`;
  const asForm = { 'content-type': 'application/x-www-form-urlencoded', 'x-hub-signature-256': `sha256=${hmac('hex', form)}` };
  expect((await post('/hooks/pushed', asForm, form)).status).toBe(200);
  expect((await post('/hooks/seen', right, '€'.repeat(87_381))).status).toBe(200);
  for (const [path, headers] of [
    ['/hooks/signed', { ...signed, ...right }],
    ['/hooks/signed', { ...svix, 'svix-id': 'm3' }],
    ['/hooks/signed', { ...svix, 'webhook-id': 'm3' }],
    ['/hooks/signed', gitlab],
    ['/hooks/seen', { 'x-gitlab-token': 'wrong' }],
    ['/hooks/pushed', right],
  ] as const)
    expect((await post(path, headers, 'u')).status).toBe(401);
  const op = async (name: string, params: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${serving.token}`, 'content-type': 'application/json' };
    const response = await fetch(`${serving.url}/api/ops/${name}`, { method: 'POST', headers, body: JSON.stringify(params) });
    return ((await response.json()) as { result: unknown }).result;
  };
  const { signals } = (await op('signal.list', {})) as { signals: { name: string; turnId: string; sessionId: string }[] };
  expect(signals.find(({ name }) => name === 'pushed')).toMatchObject({ text: 'Größe & more', data: '{"title":"Größe & more"}' });
  expect(signals.filter(({ name }) => name === 'build')).toMatchObject([
    { source: 'webhook', disposition: 'run', sessionId: 'signal-build' },
  ]);
  const { events } = (await op('session.get', { sessionId: 'signal-build', limit: 100 })) as { events: AnyEvent[] };
  expect(events.find(({ type }) => type === 'taint.marked')?.body).toMatchObject({ callId: null, sources: [{ where: 'webhook build' }] });
  const started = events.find((event) => event.type === 'turn.started');
  expect(started?.type === 'turn.started' ? started.body.bounds : null).toMatchObject({ tools: ['read_file'], grants: false });
  for (let i = 0; i < 20; i++) await post('/hooks/build', { 'x-trayclaw-secret': `guess ${i}` }, 'x');
  expect((await post('/hooks/build', { 'x-trayclaw-secret': 'one more' }, 'x')).status).toBe(429);
  expect((await post('/hooks/build', right, 'another')).status).toBe(200);
  await serving.end('SIGTERM');
});

test('the agent keeps tasks freely, but needs approval for an automatic start', async () => {
  const { claw } = await open([
    { user: 'Plan', results: 0, answer: { calls: [{ tool: 'tasks', args: { action: 'add', text: 'Ask for the invoice' } }] } },
    {
      user: 'Plan',
      results: 1,
      answer: { calls: [{ tool: 'schedule', args: { action: 'follow_up', prompt: 'Did it come?', inMinutes: 30 } }] },
    },
    { answer: { text: 'Planned.' } },
  ]);
  const { sessionId, turnId } = await claw.op('message.send', { text: 'Plan it.' });
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'waiting' });
  expect((await claw.op('task.list', {})).tasks).toMatchObject([{ text: 'Ask for the invoice', by: 'agent main', sessionId }]);
  const [approval] = (await claw.op('approval.list', {})).approvals;
  expect(approval).toMatchObject({ tool: 'schedule', risk: expect.stringContaining('on its own') });
  expect((await claw.op('schedule.list', {})).schedules).toEqual([]);
  await claw.op('approval.decide', { approvalId: approval?.approvalId ?? '', decision: 'approve' });
  expect(await claw.op('turn.wait', { turnId })).toMatchObject({ status: 'done' });
  expect((await claw.op('schedule.list', {})).schedules).toMatchObject([
    { prompt: 'Did it come?', session: sessionId, depth: 1, createdBy: 'agent main', bounds: { grants: false } },
  ]);
});

test('a schedule for an unknown agent is refused at once, not when it is due', async () => {
  const { claw } = await open([]);
  await expect(claw.op('schedule.create', { ...job, agentId: 'nobody' })).rejects.toMatchObject({
    code: 'not_found',
    message: 'There is no agent nobody.',
    hint: 'Those in config.yaml are: main.',
  });
  expect((await claw.op('schedule.list', {})).schedules).toEqual([]);
});
