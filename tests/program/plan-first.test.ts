// Plan-first in the whole program: in such a session only reads run until a person approves a plan, whatever the model, the rules and the
// grants say; optionally step by step; unchanged by a restart and in every subagent. Also recurring jobs that an agent proposes.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent } from '../../core/contracts/events.ts';
import type { TrayClaw } from '../../core/index.ts';
import type { Rule, ScriptedModel } from '../doubles/scripted-model.ts';
import { eachTest } from '../faults/home-and-model.ts';
import type { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let model: ScriptedModel;

eachTest((made) => ({ home, model } = made));

/** Rules allow everything, so only the plan holds calls back. */
const free: ConfigInput = {
  policy: { rules: [{ when: { tools: ['write_file', 'exec', 'plan', 'schedule', 'message'] }, then: 'allow' }] },
  sandbox: { mode: 'off' },
};
const call = (tool: string, args: Readonly<Record<string, unknown>>) => ({ tool, args });
const write = (path: string) => call('write_file', { path, content: 'x' });
const propose = (...steps: string[]) => call('plan', { action: 'propose', steps });
const next = (step: number, text: string) => call('plan', { action: 'next', step, text });
const has = (name: string): boolean => existsSync(join(home.path, 'workspace', name));

async function open(answers: readonly object[], config: ConfigInput = free): Promise<TrayClaw> {
  const rules = answers.map((said): Rule => ({ times: 1, answer: Array.isArray(said) ? { calls: said } : said }));
  model.script([...rules, { answer: { text: 'Done.' } }]);
  return home.open({ config: { ...config, ...model.config('openai') } });
}

async function begin(claw: TrayClaw, mode: 'whole' | 'steps'): Promise<string> {
  mkdirSync(join(home.path, 'workspace'), { recursive: true });
  writeFileSync(join(home.path, 'workspace', 'notes.txt'), 'notes');
  const { sessionId } = await claw.op('session.create', {});
  expect((await claw.op('session.configure', { sessionId, planFirst: mode })).planFirst).toBe(mode);
  return sessionId;
}

async function ask(claw: TrayClaw, sessionId?: string): Promise<{ readonly sessionId: string; readonly status: string }> {
  const sent = await claw.op('message.send', { text: 'Do it', ...(sessionId === undefined ? {} : { sessionId }) });
  return { sessionId: sent.sessionId, status: (await claw.op('turn.wait', { turnId: sent.turnId })).status };
}

async function answer(claw: TrayClaw, decision: 'approve' | 'deny'): Promise<string> {
  const [asked] = (await claw.op('approval.list', {})).approvals;
  if (asked === undefined) return 'nothing is asked';
  await claw.op('approval.decide', { approvalId: asked.approvalId, decision });
  await claw.op('turn.wait', { turnId: asked.turnId ?? '' });
  return asked.summary;
}

async function decisions(claw: TrayClaw, sessionId: string): Promise<string[]> {
  const events = (await claw.op('session.get', { sessionId, limit: 500 })).events as readonly AnyEvent[];
  return events.flatMap((event) => (event.type === 'policy.decided' ? [`${event.body.tool} ${event.body.ruleId}`] : []));
}

test('before the plan only reads run despite rules; after approval everything does', async () => {
  const claw = await open([
    [write('early.txt'), call('exec', { action: 'run', command: 'touch early-too.txt' }), call('read_file', { path: 'notes.txt' })],
    [propose('Read notes.txt', 'Write late.txt'), write('beside.txt')],
    [write('late.txt')],
  ]);
  const sessionId = await begin(claw, 'whole');
  expect((await ask(claw, sessionId)).status).toBe('waiting');
  expect(await answer(claw, 'approve')).toBe('Wants to carry out this plan: 1. Read notes.txt 2. Write late.txt');
  expect([has('early.txt'), has('early-too.txt'), has('beside.txt'), has('late.txt')]).toEqual([false, false, false, true]);
  expect(await decisions(claw, sessionId)).toEqual([
    'write_file bounds.plan',
    'exec bounds.plan',
    'read_file read.workspace',
    'plan ask.plan',
    'write_file bounds.plan',
    'write_file rule.allow',
  ]);
  expect((await claw.op('session.get', { sessionId })).session.planFirst).toBeNull();
  const first = JSON.stringify(model.requests[0]);
  expect([first.includes('"plan"'), first.includes('The person wants a plan first')]).toEqual([true, true]);
  await home.close(claw);
});

test('a denied plan still holds, also after a restart; other sessions are not affected', async () => {
  let claw = await open([[propose('Write a.txt')], { text: 'As you wish.' }, [write('b.txt')]]);
  const sessionId = await begin(claw, 'whole');
  await ask(claw, sessionId);
  await answer(claw, 'deny');
  await home.close(claw);
  claw = await home.open({ config: { ...free, ...model.config('openai') } });
  await ask(claw, sessionId);
  expect([has('a.txt'), has('b.txt'), (await claw.op('session.get', { sessionId })).session.planFirst]).toEqual([false, false, 'whole']);
  model.script([{ times: 1, answer: { calls: [write('free.txt'), propose('x')] } }, { answer: { text: 'Done.' } }]);
  const other = await ask(claw);
  expect([other.status, has('free.txt'), (await decisions(claw, other.sessionId)).at(-1)]).toEqual(['done', true, 'plan address.refused']);
  expect(JSON.stringify(model.requests.at(-1)?.body['tools'])).not.toContain('"plan"');
  await home.close(claw);
});

test('step by step: each needs approval in order, and between them only reads run', async () => {
  const claw = await open([
    [propose('Write 1.txt', 'Write 2.txt', 'Write 3.txt')],
    [write('1.txt')],
    [next(3, 'Write 3.txt'), next(2, 'Write everything')],
    [next(2, 'Write 2.txt'), write('between.txt')],
    [write('2.txt')],
    { text: 'Two are done.' },
    [write('later.txt')],
    [next(3, 'Write 3.txt')],
    [write('3.txt')],
  ]);
  const sessionId = await begin(claw, 'steps');
  await ask(claw, sessionId);
  await answer(claw, 'approve');
  expect([has('1.txt'), has('2.txt')]).toEqual([true, false]);
  expect(await answer(claw, 'approve')).toBe('Wants to begin step 2 of its plan: Write 2.txt');
  expect([has('2.txt'), has('between.txt')]).toEqual([true, false]);
  await ask(claw, sessionId);
  expect([has('later.txt'), has('3.txt')]).toEqual([false, false]);
  await answer(claw, 'approve');
  expect([has('3.txt'), (await claw.op('session.get', { sessionId })).session.planFirst]).toEqual([true, null]);
  await home.close(claw);
});

test('a subagent is held like the turn that called it, and released with it', async () => {
  const claw = await open([
    [call('subagent', { task: 'Help' })],
    [write('helped-early.txt')],
    { text: 'I may not.' },
    [propose('Let a subagent write')],
    [call('subagent', { task: 'Help again' })],
    [write('helped.txt')],
  ]);
  await ask(claw, await begin(claw, 'whole'));
  await answer(claw, 'approve');
  expect([has('helped-early.txt'), has('helped.txt')]).toEqual([false, true]);
  await home.close(claw);
});

test('every door: /plan in a chat, and the command line', async () => {
  const claw = await open([]);
  const { sessionId } = await claw.op('command.run', { line: '/plan steps' });
  expect((await claw.op('session.get', { sessionId: sessionId ?? '' })).session.planFirst).toBe('steps');
  expect((await claw.op('command.run', { line: '/plan off', sessionId: sessionId ?? '' })).text).toContain('as usual again');
  expect((await claw.op('session.get', { sessionId: sessionId ?? '' })).session.planFirst).toBeNull();
  await home.close(claw);
  const ended = await home.command(['sessions', 'configure', sessionId ?? '', '--plan-first', 'whole']);
  expect([ended.code, ended.json]).toMatchObject([0, { planFirst: 'whole' }]);
});

test('a recurring job is shown with times and limits, and kept only after approval', async () => {
  const job = { action: 'repeat', prompt: 'Sum up notes/', cron: '30 7 * * *', zone: 'UTC', usd: 0.1, tools: ['read_file'] };
  const claw = await open(
    [[call('schedule', { ...job, cron: '* * * * *' }), call('schedule', { ...job, everyMinutes: 60 })], [call('schedule', job)]],
    {},
  );
  const { sessionId } = await ask(claw);
  const [asked] = (await claw.op('approval.list', {})).approvals;
  expect(asked?.risk).toMatch(/Next: \d{4}-\d\d-\d\d 07:30 UTC, .* 07:30 UTC, .* 07:30 UTC\./);
  expect(asked?.risk).toContain('at most 0.1 US dollars; only read_file; your grants do not count');
  // The call with two times is wrong in itself, so it is not judged.
  expect(await decisions(claw, sessionId)).toEqual(['schedule address.refused', 'schedule ask.write']);
  expect((await claw.op('schedule.list', {})).schedules).toEqual([]);
  await answer(claw, 'approve');
  const [made] = (await claw.op('schedule.list', {})).schedules;
  expect(made).toMatchObject({ spec: { kind: 'cron', zone: 'UTC' }, bounds: { usd: 0.1, tools: ['read_file'], grants: false }, depth: 1 });
  // Its own turn may read, but may not create a further job.
  model.script([
    { times: 1, answer: { calls: [call('schedule', job), call('calc', { expression: '1' })] } },
    { answer: { text: 'Done.' } },
  ]);
  const { turnId } = await claw.op('schedule.run', { scheduleId: made?.scheduleId ?? '' });
  await claw.op('turn.wait', { turnId });
  expect((await decisions(claw, sessionId)).slice(-2)).toEqual(['schedule address.refused', 'calc bounds.tool']);
  await home.close(claw);
});
