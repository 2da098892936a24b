// Ctrl-C and a closed terminal while a turn runs, during an approval prompt, and in chat.

import { expect, test } from 'vitest';
import { FakeClaw, type Step } from '../../../tests/doubles/fake-claw.ts';
import { FakeTerminal, atTerminal, fakeParts } from '../../../tests/doubles/fake-terminal.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { runCli } from './cli.ts';

const write: Step = { ask: { tool: 'write', args: '{"path":"notes.md"}' } };

function scripted(...steps: Step[]): FakeClaw {
  const claw = new FakeClaw();
  claw.scripts.push(steps);
  return claw;
}

test.each([
  ['while it works', { hang: true }],
  ['at the question', write],
] satisfies [string, Step][])('Ctrl-C %s cancels the turn and exits with 130', async (name, step) => {
  const claw = scripted(step);
  const terminal = new FakeTerminal({ isTty: name === 'at the question' });
  const waits = new Promise<void>((resolve) => (claw.onWait = resolve));
  const finish = runCli(['ask', 'x', '--json'], terminal.io, fakeParts(claw));
  await (name === 'at the question' ? terminal.sees('(Enter denies)') : waits);
  terminal.interrupt();
  expect(await finish).toBe(130);
  expect(JSON.parse(terminal.out)).toMatchObject({ status: 'cancelled' });
  expect(claw.approvals.every((approval) => approval.state === 'pending')).toBe(true);
});

test('ask --timeout stops a turn that takes longer, prints what there is, and exits with 124', async () => {
  const claw = scripted({ say: 'The first half' }, { hang: true });
  const terminal = new FakeTerminal();
  expect(await runCli(['ask', 'x', '--timeout', '0.1'], terminal.io, fakeParts(claw))).toBe(124);
  expect([terminal.out, claw.calls.filter(({ name }) => name === 'turn.cancel').length]).toEqual(['The first half\n', 1]);
  expect(terminal.err).toContain('The time is up.');
  const inTime = new FakeTerminal();
  expect(await runCli(['ask', 'x', '--timeout', '60'], inTime.io, fakeParts(new FakeClaw()))).toBe(0);
  for (const wrong of ['soon', '0', '-1', '', '1e9']) {
    const refused = new FakeTerminal();
    expect(await runCli(['ask', 'x', '--timeout', wrong], refused.io, fakeParts(new FakeClaw()))).toBe(2);
    expect(refused.err).toContain(`--timeout takes a number of seconds from 0.001 to 86400, not ${JSON.stringify(wrong)}.`);
  }
});

test('a second Ctrl-C waits until the first one has reached the turn', async () => {
  const claw = scripted({ hang: true });
  const arrives = Promise.withResolvers<OpResult<'turn.cancel'>>();
  claw.answers = { 'turn.cancel': () => arrives.promise };
  const terminal = new FakeTerminal();
  const waits = new Promise<void>((resolve) => (claw.onWait = resolve));
  let isOver = false;
  const finish = runCli(['ask', 'x'], terminal.io, fakeParts(claw)).finally(() => (isOver = true));
  await waits;
  terminal.interrupt();
  terminal.interrupt();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(isOver).toBe(false);
  arrives.resolve({ turnId: 'trn_1', status: 'cancelled' });
  expect(await finish).toBe(130);
});

test('a closed terminal leaves the approval pending and stops no turn', async () => {
  const claw = scripted(write);
  const { terminal, finish } = atTerminal(claw, ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  terminal.close();
  expect(await finish).toBe(130);
  expect(claw.approvals[0]?.state).toBe('pending');
  expect(claw.calls.some(({ name }) => name === 'turn.cancel')).toBe(false);
});

test('at a terminal a note starts on a new line after the answer', async () => {
  const { terminal, finish } = atTerminal(scripted({ say: 'I write it.' }, write, { say: 'written' }), ['ask', 'x']);
  await terminal.sees('(Enter denies)');
  expect(terminal.err).toMatch(/^\n\nWants to write/m);
  terminal.type('o');
  expect(await finish).toBe(0);
});

test('a second Ctrl-C does not wait for a turn that will not end', async () => {
  const claw = scripted({ hang: true });
  claw.answers = { 'turn.cancel': () => new Promise(() => undefined), 'session.list': () => ({ sessions: [], nextCursor: null }) };
  const terminal = new FakeTerminal();
  const waits = new Promise<void>((resolve) => (claw.onWait = resolve));
  const finish = runCli(['ask', 'x'], terminal.io, fakeParts(claw));
  await waits;
  terminal.interrupt();
  terminal.interrupt();
  expect(await finish).toBe(130);
});

test('chat exits with 130 if the terminal closes, and stops no turn', async () => {
  const claw = scripted({ hang: true });
  const { terminal, finish } = atTerminal(claw, ['chat']);
  await terminal.sees('Type a message');
  const waits = new Promise<void>((resolve) => (claw.onWait = resolve));
  terminal.type('work');
  await waits;
  terminal.close();
  terminal.stdin.end();
  expect(await finish).toBe(130);
  expect(claw.calls.some(({ name }) => name === 'turn.cancel')).toBe(false);
});

test('Ctrl-C in chat stops the turn; at the prompt it leaves', async () => {
  const claw = scripted({ hang: true });
  const { terminal, finish } = atTerminal(claw, ['chat']);
  await terminal.sees('Type a message');
  const waits = new Promise<void>((resolve) => (claw.onWait = resolve));
  terminal.type('work');
  await waits;
  const before = terminal.err.length;
  terminal.interrupt();
  while (!terminal.err.slice(before).includes('> ')) await new Promise((resolve) => setImmediate(resolve));
  expect(claw.calls.some((call) => call.name === 'turn.cancel')).toBe(true);
  terminal.interrupt();
  expect(await finish).toBe(130);
});
