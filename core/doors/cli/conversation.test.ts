// Asking from the command line: streamed answers, approvals in place and stored, tools, chat, hidden prompts.

import { expect, test } from 'vitest';
import { turnView } from '../../../tests/doubles/fake-answers.ts';
import { FakeClaw, type Step } from '../../../tests/doubles/fake-claw.ts';
import { FakeTerminal, atTerminal, fakeParts, foundInstance, runCommand } from '../../../tests/doubles/fake-terminal.ts';
import { AppError } from '../../contracts/errors.ts';
import { runCli } from './cli.ts';

const usage = { inputTokens: 10, outputTokens: 5, cachedInputTokens: 0, costUsd: 0 };
const pending = [{ approvalId: 'apr_1', tool: 'write', summary: 'Wants to write', risk: 'It can change files.' }];
const write: Step = { ask: { tool: 'write', args: '{"path":"notes.md"}' } };

function scripted(...steps: Step[]): FakeClaw {
  const claw = new FakeClaw();
  claw.scripts.push(steps);
  return claw;
}

test('ask --json prints one document in the documented format', async () => {
  const claw = scripted({ say: 'four' });
  await claw.op('message.send', { text: 'before', sessionId: 's' });
  claw.scripts.push([{ say: 'four' }]);
  const ran = await runCommand(['ask', 'what', 'is', 'it', '--session', 's', '--agent', 'a', '--json'], fakeParts(claw));
  expect(ran).toEqual({
    code: 0,
    out: JSON.stringify({ sessionId: 's', turnId: 'trn_2', status: 'done', text: 'four', usage }) + '\n',
    err: '',
  });
});

test('rejects a named session that does not exist and sends nothing', async () => {
  for (const argv of [
    ['ask', 'x', '--session', 'typo'],
    ['tool', 'read', '{}', '--session', 'typo'],
    ['chat', '--session', 'typo'],
  ]) {
    const claw = new FakeClaw();
    expect((await runCommand(argv, fakeParts(claw))).code).toBe(1);
    expect(claw.calls.map(({ name }) => name)).toEqual(['session.get']);
  }
});

test('a slash command works in ask as in chat', async () => {
  const claw = new FakeClaw();
  expect(await runCommand(['ask', '/calc 1+1'], fakeParts(claw))).toMatchObject({ code: 0, out: 'did /calc 1+1\n' });
});

test('a slash command whose turn answers later is followed to its answer', async () => {
  const claw = scripted({ say: 'The sum is 42.' });
  const { turnId, sessionId } = await claw.op('message.send', { text: 'add' });
  const ran = { command: 'prompt', text: 'Sent the prompt sum.', sessionId, turnId, waiting: false, follow: true, file: null };
  claw.answers = { 'command.run': () => ran };
  expect(await runCommand(['ask', '/prompt sum'], fakeParts(claw))).toMatchObject({ code: 0, out: 'The sum is 42.\n' });
});

test('ask - reads the text from standard input', async () => {
  const claw = scripted({ say: 'ok' });
  expect((await runCommand(['ask', '-'], fakeParts(claw), { stdin: 'from a pipe\n' })).code).toBe(0);
  expect(claw.calls.find(({ name }) => name === 'message.send')?.params).toEqual({ text: 'from a pipe\n' });
});

test.each([
  ['streamed in pieces', [{ say: 'one two three' }], 'one two three\n'],
  ['with all deltas lost', [{ say: 'one two three', lost: true }], 'one two three\n'],
  ['cut at its limit', [{ say: 'one two', after: '\n\n(It was cut off.)' }], 'one two\n\n(It was cut off.)\n'],
  ['cut, with all deltas lost', [{ say: 'one', lost: true, after: '\n\n(Cut.)' }], 'one\n\n(Cut.)\n'],
  ['in several stretches', [{ say: 'first' }, { say: 'second', lost: true }, { say: 'third' }], 'first\nsecond\nthird\n'],
] satisfies [string, Step[], string][])('prints an answer %s completely and once', async (_name, steps, out) => {
  expect(await runCommand(['ask', 'x'], fakeParts(scripted(...steps)))).toEqual({ code: 0, out, err: '' });
});

test.each([
  ['failed', { fail: { code: 'model_timeout', message: 'The model took too long.' } }, 1],
  ['denied', { fail: { code: 'denied', message: 'No.' } }, 3],
  ['refused as invalid', { fail: { code: 'invalid_params', message: 'No.' } }, 1],
  ['over budget', { fail: { code: 'over_budget', message: 'Too much.' }, status: 'over_budget' }, 4],
  ['stopped', { fail: { code: 'panic_engaged', message: 'Stopped.' }, status: 'stopped' }, 5],
] satisfies [string, Step, number][])('a turn that %s has its own exit code', async (_name, step, code) => {
  const human = await runCommand(['ask', 'x'], fakeParts(scripted(step)));
  expect([human.code, human.err]).toEqual([code, step.fail.message + '\n']);
  const json = await runCommand(['ask', 'x', '--json'], fakeParts(scripted(step)));
  expect([json.code, JSON.parse(json.out)]).toMatchObject([code, { error: step.fail }]);
});

test('without a terminal an approval stays stored, and the exit code is 3', async () => {
  const json = await runCommand(['ask', 'x', '--json'], fakeParts(scripted(write)));
  expect([json.code, JSON.parse(json.out), json.err]).toMatchObject([3, { status: 'waiting', pending }, '']);
  const claw = scripted(write);
  const human = await runCommand(['ask', 'x'], fakeParts(claw), { stdin: 'o\no\n' });
  expect(human.code).toBe(3);
  expect(human.err).toContain('trayclaw approvals approve apr_1 --scope once');
  expect(claw.approvals[0]?.state).toBe('pending');

  const elsewhere = await runCommand(['--home', '/data/my claw', 'ask', 'x'], fakeParts(scripted(write)));
  expect(elsewhere.err).toContain('trayclaw --home "/data/my claw" approvals deny apr_1\n');
});

test.each([
  ['o', { kind: 'once' }],
  ['15', { kind: 'minutes', minutes: 15 }],
  ['session', { kind: 'session' }],
  ['A', { kind: 'always' }],
])('typing %j approves with that scope', async (typed, scope) => {
  const claw = scripted(write, { say: 'written' });
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  expect(terminal.err).toContain('Exact arguments of write: {"path":"notes.md"}');
  terminal.type(typed);
  expect(await finish).toBe(0);
  expect(terminal.out.trim()).toBe('written');
  expect(claw.approvals[0]).toMatchObject({ state: 'approved', scope });
});

test('accepts a wider scope with the number of a choice, but no unknown number', async () => {
  const claw = scripted(write, { say: 'written' });
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  expect(terminal.err).toContain('  0  write for files in notes/\n  1  write files under notes/');
  expect(terminal.err).toContain('What led here includes words from: a.example');
  for (const typed of ['s 2', 'once 1', 'd 1', 's 1']) terminal.type(typed);
  expect(await finish).toBe(0);
  const decided = claw.calls.filter(({ name }) => name === 'approval.decide').map(({ params }) => params);
  expect(decided).toEqual([{ approvalId: 'apr_1', decision: 'approve', scope: { kind: 'session' }, choice: 1 }]);
});

test.each(['', 'd', 'no', '  '])('typing %j denies', async (typed) => {
  const claw = scripted(write, { say: 'written' });
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  terminal.type(typed);
  expect(await finish).toBe(0);
  expect([claw.approvals[0]?.state, terminal.out.includes('written')]).toEqual(['denied', false]);
});

test('asks again after an unknown answer; offers only wider scopes that exist', async () => {
  const claw = scripted({ ask: { tool: 'exec', args: '{}', onlyOnce: true } });
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  for (const typed of ['y', 'always', 'constructor', 'yes', 's']) {
    expect(claw.approvals[0]?.state).toBe('pending');
    terminal.type(typed);
  }
  expect(await finish).toBe(0);
  expect([claw.approvals[0]?.state, terminal.err.includes('[s]ession')]).toEqual(['denied', false]);
});

test('text typed before a question does not answer it', async () => {
  const claw = scripted({ hang: true });
  claw.scripts.length = 0;
  claw.scripts.push([write]);
  const terminal = new FakeTerminal({ isTty: true });
  const parts = fakeParts(claw);
  let hasTyped = (): void => undefined;
  const typed = new Promise<void>((resolve) => (hasTyped = resolve));
  claw.answers = {
    'approval.list': async () => {
      terminal.type('o');
      setImmediate(() => setImmediate(hasTyped));
      await typed;
      return { approvals: claw.approvals };
    },
  };
  const finish = runCli(['ask', 'x'], terminal.io, parts);
  await terminal.sees('(Enter denies)');
  expect(claw.approvals[0]?.state).toBe('pending');
  terminal.type('');
  await finish;
  expect(claw.approvals[0]?.state).toBe('denied');
});

test('an approval given elsewhere continues the turn', async () => {
  const claw = scripted(write, { say: 'written' });
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  await claw.op('approval.decide', { approvalId: 'apr_1', decision: 'approve' }, { channel: 'window', actor: 'window' });
  expect(await finish).toBe(0);
  expect(terminal.err).toContain('It was decided elsewhere.');
  expect([claw.approvals[0]?.decidedBy, terminal.out.trim()]).toEqual(['window', 'written']);
});

test('the end of input leaves the approval stored', async () => {
  const claw = scripted(write);
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  terminal.stdin.end();
  expect([await finish, claw.approvals[0]?.state]).toEqual([3, 'pending']);
});

test('tool: done at once, waiting without a terminal, approved in place', async () => {
  const read = await runCommand(['tool', 'read', '{"path":"a"}', '--json'], fakeParts(new FakeClaw()));
  const ids = { sessionId: expect.any(String) as string, turnId: 'trn_1' };
  const done = { ...ids, callId: 'call_trn_1', outcome: 'ok', forUser: 'read it', forModel: 'read it', artifacts: [] };
  expect([read.code, JSON.parse(read.out)]).toEqual([0, done]);

  const waits = await runCommand(['tool', 'write', '{}', '--json'], fakeParts(new FakeClaw()));
  expect([waits.code, JSON.parse(waits.out)]).toMatchObject([3, { callId: 'call_trn_1', outcome: 'waiting', artifacts: [] }]);

  const { terminal, finish } = atTerminal(new FakeClaw(), ['tool', 'write', '{}', '--json']);
  await terminal.sees('(Enter denies)');
  terminal.type('once');
  expect(await finish).toBe(0);
  expect(JSON.parse(terminal.out)).toEqual({
    ...ids,
    callId: 'call_trn_1',
    outcome: 'ok',
    forUser: 'write ran',
    forModel: 'model: write ran',
    artifacts: [],
  });

  const denied = atTerminal(new FakeClaw(), ['tool', 'write', '{}']);
  await denied.terminal.sees('(Enter denies)');
  denied.terminal.type('');
  expect(await denied.finish).toBe(3);
});

test('the prompt shows the change to each file, bounded and with every character visible; five wrong answers deny', async () => {
  const claw = new FakeClaw();
  const added = Array.from({ length: 200 }, (_, at) => `+line ${at}`);
  const diff = ['--- a', '+++ b', '@@ -1 +1,201 @@', '-old', '+\tnew\u202E\u001B[2J', ...added].join('\n');
  const file = { path: '/ws/a.md', change: 'changed', diff, addedLines: 201, removedLines: 1, note: null } as const;
  claw.answers = { 'approval.diff': () => ({ files: [file] }) };
  const { terminal, finish } = atTerminal(claw, ['tool', 'write', '{}']);
  await terminal.sees('(Enter denies)');
  expect(terminal.err).toContain('Changes /ws/a.md\n--- a\n+++ b\n@@ -1 +1,201 @@\n-old\n+\tnew\\u{202e}\\u{1b}[2J\n+line 0\n');
  expect(terminal.err).toContain('… and 86 more lines\n');
  for (let tries = 0; tries < 5; tries++) terminal.type('maybe');
  expect(await finish).toBe(3);
  expect(terminal.err).toContain('That is none of the choices either, so the call is denied.');

  const failing = new FakeClaw({ 'approval.diff': () => Promise.reject(new AppError('not_found', 'It is gone.')) });
  const asked = atTerminal(failing, ['tool', 'write', '{}']);
  await asked.terminal.sees('(Enter denies)');
  expect(asked.terminal.err).toContain('The change to files cannot be shown: It is gone.');
  asked.terminal.type('');
  expect(await asked.finish).toBe(3);

  const shown = await runCommand(['approvals', 'show', 'apr_1'], fakeParts(claw));
  expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('+line 199')]);
});

test('exits with 5 if a panic stop ended the call', async () => {
  const claw = new FakeClaw();
  claw.answers = { 'panic.status': () => ({ engaged: true, sinceMs: 1, reason: null, killed: 1, tookMs: 1 }) };
  const { terminal, finish } = atTerminal(claw, ['tool', 'write', '{}']);
  await terminal.sees('(Enter denies)');
  terminal.type('');
  expect(await finish).toBe(5);
});

test('approving follows the turn, here and with a running instance, unless disabled', async () => {
  const more: string[] = [];
  const approveIn = async (isHosted: boolean, ...rest: Step[]): Promise<{ code: number; json: unknown }> => {
    const claw = scripted(write, ...rest);
    claw.answers = { 'turn.get': ({ turnId }) => turnView(turnId) };
    await runCommand(['ask', 'x'], fakeParts(claw, { hostClaw: () => Promise.resolve(claw) }));
    claw.isClosed = false;
    const parts = fakeParts(claw, isHosted ? {} : { findInstance: () => Promise.resolve(foundInstance(claw)) });
    const ran = await runCommand(['approvals', 'approve', 'apr_1', '--scope', 'minutes:5', '--json', ...more], parts);
    return { code: ran.code, json: JSON.parse(ran.out) };
  };
  const approval = { approvalId: 'apr_1', state: 'approved', scope: { kind: 'minutes', minutes: 5 } };
  expect(await approveIn(true, { say: 'done' })).toMatchObject({
    code: 0,
    json: { ...approval, turn: { turnId: 'trn_1', status: 'done', text: 'done' } },
  });
  expect(await approveIn(true, write)).toMatchObject({ code: 3, json: { ...approval, turn: { status: 'waiting' } } });
  expect(await approveIn(false, { say: 'done' })).toMatchObject({ code: 0, json: { ...approval, turn: { status: 'done', text: 'done' } } });
  more.push('--no-wait');
  const there = await approveIn(false, { say: 'done' });
  expect(there).toMatchObject({ code: 0, json: approval });
  expect(there.json).not.toHaveProperty('turn');
});

test('shows the result of an approved direct call', async () => {
  const claw = new FakeClaw();
  await runCommand(['tool', 'write', '{}'], fakeParts(claw));
  claw.isClosed = false;
  const approved = await runCommand(['approvals', 'approve', 'apr_1'], fakeParts(claw));
  expect([approved.code, approved.out]).toEqual([0, 'Approved: Wants to write\nwrite ran\n']);
});

test('a denial carries its reason', async () => {
  const claw = scripted(write);
  await runCommand(['ask', 'x'], fakeParts(claw));
  claw.isClosed = false;
  expect(await runCommand(['approvals', 'deny', 'apr_1', '--reason', 'Use the queue.'], fakeParts(claw))).toMatchObject({ code: 0 });
  expect(claw.calls.find(({ name }) => name === 'approval.decide')).toMatchObject({
    params: { approvalId: 'apr_1', decision: 'deny', reason: 'Use the queue.' },
  });
});

test('denying exits at once; denying twice is a conflict', async () => {
  const claw = scripted(write);
  await runCommand(['ask', 'x'], fakeParts(claw));
  claw.isClosed = false;
  expect(await runCommand(['approvals', 'deny', 'apr_1', '--json'], fakeParts(claw))).toMatchObject({ code: 0 });
  claw.isClosed = false;
  const again = await runCommand(['approvals', 'deny', 'apr_1', '--json'], fakeParts(claw));
  expect([again.code, JSON.parse(again.out)]).toMatchObject([1, { error: { code: 'approval_not_pending' } }]);
});

test('chat keeps its session, asks in place, runs its commands and quits', async () => {
  const claw = scripted({ say: 'hello' });
  claw.scripts.push([write, { say: 'written' }], [{ say: 'fresh' }]);
  const { terminal, finish } = atTerminal(claw, ['chat']);
  await terminal.sees('Type a message');
  terminal.type('hi');
  await terminal.sees('hello');
  terminal.type('write it');
  await terminal.sees('(Enter denies)');
  terminal.type('o');
  await terminal.sees('written');
  for (const [typed, seen] of [
    ['/panic', 'did /panic'],
    ['/release', 'did /release'],
    ['/sessions words', 'did /sessions words'],
    ['/help', '/quit'],
    ['/new', 'A new session starts'],
    ['go', 'fresh'],
  ] as const) {
    terminal.type(typed);
    await terminal.sees(seen);
  }
  terminal.type('/quit');
  expect(await finish).toBe(0);
  expect(claw.calls.filter((call) => call.name === 'message.send').map((call) => call.params)).toEqual([
    { text: 'hi' },
    { text: 'write it', sessionId: 'ses_1' },
    { text: 'go' },
  ]);
});

const overDay: Step = {
  fail: {
    code: 'over_budget',
    message: 'The budget of this day is used up.',
    data: { scope: 'day', unit: 'usd', limit: 10, spent: 10, suggested: 1 },
  },
  status: 'over_budget',
};

test('chat asks in place for more budget and continues; Enter allows nothing', async () => {
  const claw = scripted(overDay);
  claw.scripts.push([overDay], [overDay], [{ say: 'finished' }], [overDay]);
  claw.answers = {
    'budget.allow': () => ({ budgets: [] }),
    'turn.continue': ({ turnId }) => claw.op('message.send', { text: `after ${turnId}`, sessionId: 'ses_1' }),
  };
  const question = 'Allow $1.00 more for this day and continue?';
  const { terminal, finish } = atTerminal(claw, ['chat']);
  await terminal.sees('Type a message');
  for (const [typed, seen] of [
    ['work', question],
    ['y', 'The budget of this day is used up.'],
    ['lots', 'is not an amount in US dollars'],
    ['$2.50', question],
    ['yes', 'finished'],
    ['more work', question],
    ['', '> '],
    ['exit', ''],
  ] as const) {
    terminal.err = '';
    terminal.type(typed);
    await terminal.sees(seen);
  }
  expect(await finish).toBe(0);
  const asked = claw.calls
    .filter(({ name }) => name === 'budget.allow' || name === 'turn.continue')
    .map(({ name, params }) => [name, params]);
  expect(asked).toEqual([
    ['budget.allow', { scope: 'day', usd: 1 }],
    ['turn.continue', { turnId: 'trn_1' }],
    ['budget.allow', { scope: 'day', usd: 2.5 }],
    ['turn.continue', { turnId: 'trn_2' }],
    ['budget.allow', { scope: 'day', usd: 1 }],
    ['turn.continue', { turnId: 'trn_3' }],
  ]);
});

test('ask says how to continue, keeps its exit code and asks nothing', async () => {
  const ran = await runCommand(['ask', 'x'], fakeParts(scripted(overDay)));
  expect(ran.code).toBe(4);
  expect(ran.err.split('\n').slice(1)).toEqual([
    'To allow more and continue:',
    expect.stringMatching(/^ {2}trayclaw .*budget allow 1 --day$/),
    expect.stringMatching(/^ {2}trayclaw .*turns continue trn_1$/),
    '',
  ]);
});

test('an answer cannot control the terminal, and is unchanged in a pipe', async () => {
  const text = 'a\u001B]0;title\u0007b\u202Ec';
  const { terminal, finish } = atTerminal(scripted({ say: text }), ['ask', 'x']);
  await finish;
  expect(terminal.out.trim()).toBe('a\\u{1b}]0;title\\u{7}b\\u{202e}c');
  expect((await runCommand(['ask', 'x'], fakeParts(scripted({ say: text })))).out).toBe(text + '\n');
});
