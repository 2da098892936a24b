// Typing at a real terminal: messages of several lines, completion, earlier messages, drafts, and what is shown meanwhile.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { FakeClaw, type Step } from '../../../tests/doubles/fake-claw.ts';
import { atTerminal, FakeTerminal } from '../../../tests/doubles/fake-terminal.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { LineReader } from './line-reader.ts';

const enter = '\r';
const up = '\u001B[A';
const altEnter = '\u001B\r';
const ctrlC = '\u0003';
const pasted = (text: string): string => `\u001B[200~${text}\u001B[201~`;

interface Chatting {
  readonly claw: FakeClaw;
  readonly terminal: FakeTerminal;
  readonly finish: Promise<number>;
}

async function chatting({
  answers = {},
  scripts = [],
  ...options
}: Partial<Parameters<typeof atTerminal>[2]> & {
  readonly answers?: FakeClaw['answers'];
  readonly scripts?: readonly Step[][];
} = {}): Promise<Chatting> {
  const claw = new FakeClaw(answers);
  claw.scripts.push(...scripts);
  const { terminal, finish } = atTerminal(claw, ['chat'], { isRaw: true, ...options });
  await terminal.sees('Type a message');
  return { claw, terminal, finish };
}

/** Presses keys that send a message or an answer, and waits until the turn has ended. */
async function send({ claw, terminal }: Chatting, keys: string): Promise<void> {
  const before = seen(claw);
  terminal.press(keys);
  await vi.waitUntil(() => seen(claw) > before);
}

function seen(claw: FakeClaw): number {
  return claw.calls.filter(({ name }) => name === 'session.seen').length;
}

function sent({ claw }: Chatting): string[] {
  return claw.calls.flatMap(({ name, params }) => (name === 'message.send' ? [(params as { text: string }).text] : []));
}

async function leave({ terminal, finish }: Chatting): Promise<void> {
  terminal.press(`/quit${enter}`);
  expect(await finish).toBe(0);
}

test('pasted lines are one message, sent by Enter', async () => {
  const chat = await chatting();
  expect(chat.terminal.err).toContain('\u001B[?2004h');
  chat.terminal.press(pasted('Why?\nError: one\r\n  at two'));
  chat.terminal.press(' Thanks');
  await send(chat, enter);
  expect(sent(chat)).toEqual(['Why?\nError: one\n  at two Thanks']);
  await leave(chat);
  expect(chat.terminal.err).toContain('\u001B[?2004l');
});

test('a backslash before Enter and Alt-Enter begin another line', async () => {
  const chat = await chatting();
  chat.terminal.press(`one\\${enter}`);
  await chat.terminal.sees('… ');
  chat.terminal.press(`two${altEnter}`);
  chat.terminal.press('three');
  await send(chat, enter);
  expect(sent(chat)).toEqual(['one\ntwo\nthree']);
  await leave(chat);
});

test('a pasted answer with several lines approves nothing', async () => {
  const chat = await chatting({ scripts: [[{ ask: { tool: 'write', args: '{}' } }, { say: 'ended' }]] });
  chat.terminal.press(`write${enter}`);
  await chat.terminal.sees('(Enter denies)');
  chat.terminal.press(pasted('o\no\n') + enter);
  await chat.terminal.sees('That is none of the choices.');
  expect(chat.claw.approvals[0]?.state).toBe('pending');
  await send(chat, `d${enter}`);
  expect(chat.claw.approvals[0]?.state).toBe('denied');
  await leave(chat);
});

test('an answer that was pasted with its line break is that answer', async () => {
  const terminal = new FakeTerminal({ isTty: true, isRaw: true });
  const lines = await LineReader.open(terminal.io);
  const answer = lines.ask('Address: ');
  terminal.press(pasted('http://127.0.0.1:1/v1\n') + enter);
  expect(await answer).toBe('http://127.0.0.1:1/v1');
  lines.close();
});

test('what was typed before an approval answers nothing, and is there again for the next message', async () => {
  const chat = await chatting({ scripts: [[{ ask: { tool: 'write', args: '{}' } }, { say: 'ended' }]] });
  chat.terminal.press(`write${enter}o`);
  await chat.terminal.sees('(Enter denies)');
  await send(chat, enter);
  expect(chat.claw.approvals[0]?.state).toBe('denied');
  await send(chat, `nly this${enter}`);
  expect(sent(chat)).toEqual(['write', 'only this']);
  await leave(chat);
});

test('the arrow keys bring back messages of the last session and of this one, but no answers', async () => {
  const claw = new FakeClaw();
  const place = { sessionId: 's', turnId: null, step: 0, phase: null, v: 1, atMs: 1, type: 'user.message' };
  const earlier = ['oldest', 'two\nlines', 'newest'].map((text, at) => {
    return { ...place, seq: at + 1, sessionSeq: at + 1, body: { text, channel: 'cli', sender: 'cli', dedupeKey: null } };
  });
  const chat = await chatting({
    scripts: [[{ ask: { tool: 'write', args: '{}' } }, { say: 'ended' }]],
    answers: {
      'session.list': () => ({ sessions: [claw.sessionInfo('s')], nextCursor: null }),
      'session.get': () => ({ session: claw.sessionInfo('s'), events: earlier, earlierBefore: null }),
    },
  });
  chat.terminal.press(`now${enter}`);
  await chat.terminal.sees('(Enter denies)');
  await send(chat, `d${enter}`);
  await send(chat, up + enter);
  await send(chat, up + up + enter);
  await send(chat, up + up + up + enter);
  expect(sent(chat)).toEqual(['now', 'now', 'newest', 'oldest']);
  await leave(chat);
});

test('Tab completes commands and files below the folder, and nothing in an approval', async () => {
  const cwd = mkdtempSync(join(tmpdir(), 'trayclaw-typing-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  mkdirSync(join(cwd, 'notes'));
  for (const name of ['notes/plan.md', 'todo.txt', 'with blank.txt', '.hidden']) writeFileSync(join(cwd, name), '');
  const complete = ({ line }: { line: string }): OpResult<'command.complete'> => ({
    completions: line === '/und' ? [{ line: '/undo', label: '/undo', about: '' }] : [],
  });
  const chat = await chatting({
    cwd,
    answers: { 'command.complete': complete },
    scripts: [[], [{ ask: { tool: 'write', args: '{}' } }, { say: 'ended' }]],
  });
  const tab = async (keys: string, shows: string): Promise<void> => {
    const before = chat.terminal.err.length;
    chat.terminal.press(`${keys}\t`);
    await vi.waitUntil(() => chat.terminal.err.slice(before).includes(shows));
  };
  await tab('look at @to', 'do.txt');
  await tab(' and @no', 'tes/');
  await tab('', 'plan.md');
  await tab(' @../', '@../');
  await send(chat, enter);
  expect(sent(chat)).toEqual(['look at @todo.txt and @notes/plan.md @../']);
  await tab('/und', 'o');
  await tab('\u0015/op', 'en ');
  chat.terminal.press(`\u0015write${enter}`);
  await chat.terminal.sees('(Enter denies)');
  chat.terminal.press('\to');
  await send(chat, enter);
  expect(chat.claw.approvals[0]?.state).toBe('approved');
  await leave(chat);
});

test('Ctrl-C drops what is typed, and leaves at an empty prompt', async () => {
  const chat = await chatting();
  chat.terminal.press(`never${altEnter}mind${ctrlC}`);
  await send(chat, `this${enter}`);
  expect(sent(chat)).toEqual(['this']);
  chat.terminal.press(ctrlC);
  expect(await chat.finish).toBe(130);
});

test('an answer that was shown at a terminal is read; one in a script is not', async () => {
  const chat = await chatting();
  await send(chat, `hello${enter}`);
  expect(seen(chat.claw)).toBe(1);
  await leave(chat);
  const script = new FakeClaw();
  expect(await atTerminal(script, ['ask', 'hello'], { isTty: false }).finish).toBe(0);
  expect(seen(script)).toBe(0);
});
