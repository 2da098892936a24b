// Hooks in the whole program: a person's programs and hooks of the library, called before and after actions. They deny or require approval;
// they never allow, and a broken one denies.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ConfigInput } from '../../core/contracts/config.ts';
import type { AnyEvent, EventOf } from '../../core/contracts/events.ts';
import type { LibraryHook, TrayClaw } from '../../core/index.ts';
import { LoopbackChannel } from '../doubles/loopback-channel.ts';
import { freeTool } from '../doubles/free-tool.ts';
import { ScriptedModel } from '../doubles/scripted-model.ts';
import { until } from '../until.ts';
import { TestHome } from '../faults/test-home.ts';

let home: TestHome;
let model: ScriptedModel;
let effects: number;

beforeEach(async () => {
  home = new TestHome();
  model = await ScriptedModel.start();
  effects = 0;
  model.script([{ results: 0, answer: { calls: [{ tool: 'look', args: {} }] } }, { answer: { text: 'done' } }]);
});

afterEach(async () => {
  await home.dispose();
  await model.close();
});

/** Free by the rules, so only a hook can stop it. */
const look = freeTool('look', {
  idempotency: () => 'pure',
  run: () => {
    effects += 1;
    return Promise.resolve({ forModel: 'seen' });
  },
});

async function open(config: ConfigInput, hooks: readonly LibraryHook[] = []): Promise<TrayClaw> {
  return home.open({ config: { ...model.config('openai'), sandbox: { mode: 'off' }, ...config }, tools: [look], hooks });
}

/** A process that has exited but was not reaped yet counts as ended. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** The command of a Node program whose source gets its input in `text`. */
function program(source: string): string[] {
  const reading = `let text = ''; for await (const piece of process.stdin) text += piece;`;
  return [
    process.execPath,
    '--input-type=module',
    '-e',
    `${reading}
${source}`,
  ];
}

const say = (answer: unknown): string => `console.log(${JSON.stringify(JSON.stringify(answer))});`;

async function hooksRan(claw: TrayClaw, sessionId: string): Promise<EventOf<'hook.ran'>['body'][]> {
  const { events } = await claw.op('session.get', { sessionId, limit: 500 });
  return events.flatMap((event) => (event.type === 'hook.ran' ? [event.body as EventOf<'hook.ran'>['body']] : []));
}

async function gateOf(claw: TrayClaw, turnId: string) {
  const { calls } = await claw.op('turn.get', { turnId });
  return calls.map(({ decision, ruleId, outcome }) => ({ decision, ruleId, outcome }));
}

test('a program sees a call the rules would allow, denies it, and that is recorded', async () => {
  const told = join(home.path, 'told.json');
  const command = program(
    `const { writeFileSync } = await import('node:fs'); writeFileSync(${JSON.stringify(told)}, text); ${say({ decision: 'deny', reason: 'not today' })}`,
  );
  const claw = await open({ hooks: [{ on: 'before_tool', match: { tools: ['look'] }, command }] });
  const ended = await claw.ask('look around');
  expect([ended.status, effects]).toEqual(['done', 0]);
  expect(await gateOf(claw, ended.turnId)).toEqual([{ decision: 'deny', ruleId: 'hook.denied', outcome: 'denied' }]);
  expect(JSON.parse(readFileSync(told, 'utf8'))).toMatchObject({
    on: 'before_tool',
    sessionId: ended.sessionId,
    agentId: 'main',
    channel: 'library',
    tool: { name: 'look', class: 'read', args: '{}', decision: 'allow' },
  });
  expect(await hooksRan(claw, ended.sessionId)).toMatchObject([
    { on: 'before_tool', outcome: 'denied', reason: expect.stringContaining('not today') as string },
  ]);
  expect(await home.close(claw)).toMatchObject({ different: [] });
});

test('a hook that requires approval cannot be satisfied by an earlier grant', async () => {
  const command = program(say({ decision: 'ask', reason: 'look twice' }));
  const claw = await open({ hooks: [{ on: 'before_tool', command }] });
  const waiting = await claw.ask('look around');
  expect([waiting.status, effects]).toEqual(['waiting', 0]);
  const [approval] = (await claw.op('approval.list', {})).approvals;
  expect(approval).toMatchObject({ ruleId: 'hook.asked', widerScope: null });
  expect(approval?.reason).toMatch(/^The hook \S+ asks for your decision: “look twice”$/);
  await claw.op('approval.decide', { approvalId: approval?.approvalId ?? '', decision: 'approve' });
  expect(await claw.op('turn.wait', { turnId: waiting.turnId })).toMatchObject({ status: 'done' });
  expect(effects).toBe(1);
});

test("the reason of each hook that asks is quoted in the approval, after the rules'", async () => {
  const rules = [{ when: { tools: ['look'] }, then: 'ask' as const, reason: 'It looks.' }];
  const asks = (name: string, reason: string): LibraryHook => ({ on: 'before_tool', name, run: () => ({ decision: 'ask', reason }) });
  const claw = await open({ policy: { rules } }, [asks('first', 'a “quiet”\nday'), asks('second', 'look twice')]);
  await claw.ask('look around');
  const [approval] = (await claw.op('approval.list', {})).approvals;
  expect(approval).toMatchObject({ ruleId: 'rule.ask', widerScope: null });
  expect(approval?.reason).toBe(
    'Rule 1 of policy.rules requires your approval: It looks. ' +
      'The hook first asks for your decision: “a "quiet" day” The hook second asks for your decision: “look twice”',
  );
});

test('a hook cannot allow anything', async () => {
  const command = program(say({ decision: 'allow' }));
  const claw = await open({ policy: { denyTools: ['look'] }, hooks: [{ on: 'before_tool', command }] });
  const ended = await claw.ask('look around');
  expect((await gateOf(claw, ended.turnId))[0]).toMatchObject({ decision: 'deny', ruleId: 'tool.denied' });
  await claw.close();
  const second = await home.open({
    config: { ...model.config('openai'), sandbox: { mode: 'off' }, hooks: [{ on: 'before_tool', command }] },
    tools: [look],
  });
  const refused = await second.ask('look around');
  expect([(await gateOf(second, refused.turnId))[0]?.ruleId, effects]).toEqual(['hook.denied', 0]);
});

test.each([
  ['ends with an error', 'process.exit(3);', 10_000, /ended with code 3\.$/],
  ['is not found', 'process.exit(127);', 10_000, /code 127: .* was not found.*PATH.*sandbox\.files\.read\.$/],
  ['hangs', 'setInterval(() => undefined, 1000); await new Promise(() => undefined);', 300, /took too long/],
  ['prints rubbish', "console.log('yes, go ahead');", 10_000, /not one JSON document/],
  ['floods', "process.stdout.write('x'.repeat(5_000_000)); setInterval(() => undefined, 1000);", 10_000, /printed too much/],
] as const)('a hook that %s refuses the call, unless it was set up to ask or to be ignored', async (_name, source, timeoutMs, why) => {
  const command = program(source);
  const outcomes: unknown[] = [];
  for (const onFailure of [undefined, 'ask', 'ignore'] as const) {
    const claw = await open({ hooks: [{ on: 'before_tool', command, timeoutMs, ...(onFailure === undefined ? {} : { onFailure }) }] });
    const ended = await claw.ask('look around');
    const [ran] = await hooksRan(claw, ended.sessionId);
    expect([ran?.outcome, ran?.reason]).toEqual(['failed', expect.stringMatching(why)]);
    outcomes.push([ended.status, (await gateOf(claw, ended.turnId))[0]?.decision]);
    await claw.close();
  }
  expect(outcomes).toEqual([
    ['done', 'deny'],
    ['waiting', 'ask'],
    ['done', 'allow'],
  ]);
  expect(effects).toBe(1);
});

test('a missing program denies, and is named', async () => {
  const claw = await open({ hooks: [{ on: 'before_tool', command: ['/nowhere/check'] }] });
  const ended = await claw.ask('look around');
  expect((await hooksRan(claw, ended.sessionId))[0]?.reason).toMatch(/check|nowhere/);
  expect(effects).toBe(0);
});

test('the panic stop kills a running hook with its children, and the call is not made', async () => {
  const pidFile = join(home.path, 'pid');
  const command = program(`const { spawn } = await import('node:child_process'); const { writeFileSync } = await import('node:fs');
     const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'], { stdio: 'ignore' });
     writeFileSync(${JSON.stringify(pidFile)}, process.pid + ' ' + child.pid); await new Promise(() => undefined);`);
  const claw = await open({ hooks: [{ on: 'before_tool', command, timeoutMs: 60_000 }] });
  const { turnId } = await claw.op('message.send', { text: 'look around' });
  await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').includes(' '), 'the hook runs');
  await claw.op('panic.engage', {});
  const pids = readFileSync(pidFile, 'utf8').split(' ').map(Number);
  expect(pids.filter(runs)).toEqual([]);
  expect((await claw.op('turn.get', { turnId })).status).toBe('stopped');
  expect(effects).toBe(0);
});

test('a denial before a turn or a model call ends the turn with a clear error', async () => {
  for (const on of ['before_run', 'before_model'] as const) {
    const asked = model.requests.length;
    const seen: unknown[] = [];
    const hook: LibraryHook = {
      on,
      name: 'office hours',
      run: (subject) => {
        seen.push(subject.run ?? subject.model);
        return { decision: 'deny', reason: 'come back on Monday' };
      },
    };
    const claw = await open({}, [hook]);
    const ended = await claw.ask('look around');
    expect(ended).toMatchObject({ status: 'failed', error: { code: 'denied' } });
    expect(ended.error?.message).toBe('The hook office hours refuses it: come back on Monday');
    expect(model.requests.length).toBe(asked);
    expect(seen).toEqual([on === 'before_run' ? { text: 'look around' } : { ref: 'lab/scripted', tokens: expect.any(Number) }]);
    expect(await home.close(claw)).toMatchObject({ different: [] });
  }
});

test('after-hooks run in the order of events, are recorded, and block nothing', async () => {
  const seen: string[] = [];
  const later = (on: LibraryHook['on']): LibraryHook => ({
    on,
    name: 'watch',
    run: ({ tool, run, model: asked }) => {
      seen.push(`${on} ${tool?.outcome ?? run?.status ?? asked?.outcome ?? ''}`);
      return { decision: 'deny', reason: 'too late' };
    },
  });
  const claw = await open({}, [later('after_run'), later('after_model'), later('after_tool')]);
  const ended = await claw.ask('look around');
  expect([ended.status, effects]).toEqual(['done', 1]);
  const recorded: AnyEvent[] = [];
  void (async () => {
    for await (const event of claw.events({ after: 0, sessionId: 'system' })) if (event.type === 'hook.ran') recorded.push(event);
  })();
  await until(() => recorded.length === 4, 'all hooks are recorded');
  expect(seen).toEqual(['after_model ok', 'after_tool ok', 'after_model ok', 'after_run done']);
  expect(recorded.map(({ body }) => body)).toMatchObject(
    seen.map((text) => ({ on: text.split(' ')[0], outcome: 'passed', turnId: ended.turnId })),
  );
});

test('an after-hook receives the class and summary of the call, and matches on them', async () => {
  const seen: unknown[] = [];
  const after = (classes: readonly ('read' | 'write')[]): LibraryHook => ({
    on: 'after_tool',
    name: classes.join(),
    match: { classes: [...classes] },
    run: ({ tool }) => void seen.push([classes.join(), tool?.class, tool?.summary]),
  });
  model.script([
    { results: 0, answer: { calls: [{ tool: 'write_file', args: { path: 'notes.md', content: 'x' } }] } },
    { answer: { text: 'done' } },
  ]);
  const claw = await open({ policy: { mode: 'workspace-free' } }, [after(['write']), after(['read'])]);
  expect((await claw.ask('look around')).status).toBe('done');
  await until(() => seen.length > 0, 'the hook ran');
  expect(seen).toEqual([['write', 'write', expect.stringContaining('notes.md') as string]]);
});

test('a hook is called only for matching actions', async () => {
  const asked: string[] = [];
  const hook = (match: LibraryHook['match']): LibraryHook => ({
    on: 'before_tool',
    name: 'n',
    ...(match === undefined ? {} : { match }),
    run: ({ tool }) => {
      asked.push(`${JSON.stringify(match)} ${tool?.name ?? ''}`);
      return undefined;
    },
  });
  const matches = [
    { tools: ['look'], classes: ['read' as const], agents: ['main'], channels: ['library'] },
    { channels: ['telegram'] },
    { classes: ['exec' as const] },
  ];
  const claw = await open({}, matches.map(hook));
  await claw.ask('look around');
  expect(asked).toEqual([`${JSON.stringify(matches[0])} look`]);
});

test('a message held by a hook is sent after approval; after-hooks see it', async () => {
  const told: unknown[] = [];
  const hooks: LibraryHook[] = [
    {
      on: 'before_message',
      name: 'quiet hours',
      run: ({ message }) => (message?.text === 'done' ? { decision: 'deny', reason: 'it is night' } : undefined),
    },
    { on: 'after_message', name: 'note', run: ({ channel, message }) => void told.push([channel, message?.to, message?.outcome]) },
  ];
  const channel = new LoopbackChannel();
  const claw = await home.open({
    config: { ...model.config('openai'), sandbox: { mode: 'off' } },
    tools: [look],
    hooks,
    channels: [channel],
  });
  channel.write('look around');
  await until(async () => (await claw.op('outbox.list', { state: 'failed' })).items.length === 1, 'it is kept back');
  const [item] = (await claw.op('outbox.list', { state: 'failed' })).items;
  expect(item).toMatchObject({ text: 'done', reason: 'The hook quiet hours refuses it: it is night' });
  expect([channel.shown.length, told]).toEqual([0, []]);
  expect(await hooksRan(claw, item?.sessionId ?? '')).toMatchObject([{ on: 'before_message', name: 'quiet hours', outcome: 'denied' }]);
  await claw.op('outbox.settle', { outboundId: item?.outboundId ?? '', answer: 'resend' });
  await until(() => told.length === 1, 'it has left');
  expect(channel.shown.map(({ text }) => text)).toEqual(['done']);
  expect(told).toEqual([['loopback', '7', 'sent']]);
});
