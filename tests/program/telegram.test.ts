// Telegram in the whole program, over the Bot API double: pairing, conversation, files, approvals answered from either side, commands.

import { readFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Person } from '../doubles/telegram/person.ts';
import { TelegramRig, type TelegramRigOptions } from '../doubles/telegram/telegram-rig.ts';
import { countProcesses } from '../faults/panic-rig.ts';
import { ownNow } from '../own-clock.ts';
import { until } from '../until.ts';

async function open(options: TelegramRigOptions = {}): Promise<TelegramRig> {
  const rig = await TelegramRig.start(options);
  onTestFinished(() => rig.dispose());
  return rig;
}

const writes = (path: string) => [
  { user: 'write', results: 0, answer: { calls: [{ tool: 'write_file', args: { path, content: 'from the chat' } }] } },
  { user: 'write', results: 1, answer: { text: 'It is written.' } },
];

test('messages are ignored until the desktop confirms the pairing; then answered once', async () => {
  const rig = await open();
  const { ada, claw } = rig;
  ada.write('hello');
  await rig.hears(/is a private bot/);
  const { code, pairingId } = await claw.op('telegram.pair', {});
  ada.write(code);
  await rig.hears(/confirm it at the computer/);
  ada.write('hello again');
  ada.write('/status');
  await until(async () => (await claw.op('telegram.status', {})).strangers === 3, 'they were counted as a stranger’s');
  expect((await claw.op('session.list', {})).sessions).toEqual([]);
  await claw.op('telegram.confirm', { pairingId });
  await rig.hears(/You are paired/);
  ada.write('hello now');
  await rig.hears('You said: hello now');
  expect(ada.heard().filter((text) => text.startsWith('You said'))).toEqual(['You said: hello now']);
  expect(rig.model.requests).toHaveLength(1);
});

test('a stranger gets one line an hour and leaves nothing behind', async () => {
  const rig = await open();
  await rig.pair();
  const eve = new Person(rig.double, { id: 66, name: 'Eve' });
  for (const text of ['hi', '/panic', '/approve', 'let me in']) eve.write(text);
  await until(async () => (await rig.claw.op('telegram.status', {})).strangers === 4, 'they were counted');
  expect(eve.heard()).toHaveLength(1);
  expect((await rig.claw.op('panic.status', {})).engaged).toBe(false);
  expect(rig.model.requests).toEqual([]);
});

test('an answer is shown as a draft while it is written, and once when it is done', async () => {
  const text = 'Word by word it comes. '.repeat(20).trim();
  const rig = await open({ rules: [{ user: 'slowly', answer: { text, pieceChars: 12, delayMs: 60 } }] });
  await rig.pair();
  rig.ada.write('slowly please');
  await until(() => rig.ada.drafts().some((draft) => draft.startsWith('Word by word')), 'a draft is shown');
  expect(rig.double.chats.isTyping(42)).toBe(true);
  await rig.hears(text);
  expect(rig.ada.heard().filter((heard) => heard.startsWith('Word'))).toEqual([text]);
  expect(rig.ada.drafts()).toEqual([]);
});

test('without drafts, one message is edited until it is the answer', async () => {
  const text = 'Word by word it comes. '.repeat(20).trim();
  const rig = await open({ without: ['sendMessageDraft'], rules: [{ user: 'slowly', answer: { text, pieceChars: 12, delayMs: 90 } }] });
  await rig.pair();
  rig.ada.write('slowly please');
  await until(() => rig.ada.shown().some((message) => message.text.startsWith('Word') && message.edits > 0), 'it is edited');
  const answer = await rig.hears(text);
  expect(rig.ada.heard().filter((heard) => heard.startsWith('Word'))).toEqual([text]);
  expect(answer.edits).toBeGreaterThan(0);
});

test('a long answer arrives in formatted parts; an invalid one arrives plain', async () => {
  const long = `Look:\n\n\`\`\`py\n${'print("line")\n'.repeat(500)}\`\`\`\n\n**Done.**`;
  const rig = await open({
    rules: [
      { user: 'long', answer: { text: long } },
      { user: 'plain', answer: { text: '**bold** words' } },
    ],
  });
  await rig.pair();
  rig.ada.write('long');
  await rig.hears(/Done\.$/);
  const parts = rig.ada.shown().filter(({ text }) => text.includes('print'));
  expect(parts.length).toBe(2);
  for (const { text, entities } of parts) {
    expect(text.length).toBeLessThanOrEqual(4096);
    expect(entities.some(({ type }) => type === 'pre')).toBe(true);
  }
  rig.double.fault({
    method: 'sendMessage',
    kind: 'refuse',
    status: 400,
    description: "Bad Request: can't parse entities: Unexpected end tag at byte offset 3",
  });
  rig.ada.write('plain');
  expect(await rig.hears('bold words')).toMatchObject({ entities: [] });
});

test('photos and files arrive with their message; a too large one is explained', async () => {
  const rig = await open({ rules: [{ user: 'look', answer: { text: 'Seen.' } }] });
  await rig.pair();
  rig.ada.sendDocument('notes.txt', Buffer.from('the content of the notes'), 'look at this');
  rig.ada.write('and then?');
  await rig.hears('Seen.');
  await rig.hears('You said: and then?');
  // In the order in which they were sent.
  expect(rig.ada.heard().slice(-2)).toEqual(['Seen.', 'You said: and then?']);
  const { sessions } = await rig.claw.op('session.list', {});
  const { events } = await rig.claw.op('session.get', { sessionId: sessions[0]?.sessionId ?? '', types: ['user.message', 'taint.marked'] });
  expect(events.find(({ type }) => type === 'user.message')?.body).toMatchObject({
    text: 'look at this',
    attachments: [{ name: 'notes.txt' }],
  });
  expect(events.some(({ type }) => type === 'taint.marked')).toBe(true);
  rig.ada.sendDocument('huge.bin', Buffer.alloc(6_000_000), 'look at that');
  await rig.hears(/"huge\.bin" is larger than 5 MB/);
});

test('an approval of a call started at the desktop is answered on Telegram, once', async () => {
  const rig = await open({ rules: writes('a.md') });
  await rig.pair();
  const { turnId } = await rig.claw.op('message.send', { text: 'write it' });
  const question = await rig.hears(/Wants to write a\.md/);
  expect(question.buttons.flat().map(({ text }) => text)).toEqual(['Approve once', 'Deny', 'Approve for 15 min']);
  const query = rig.ada.press('Approve once');
  await until(() => rig.ada.toldAfterPress(query) === 'Answered here: approved.', 'the button was answered');
  const end = await rig.claw.op('turn.wait', { turnId, timeoutMs: 20_000 });
  expect([end.status, end.text]).toEqual(['done', 'It is written.']);
  expect(readFileSync(join(rig.home.workspace, 'a.md'), 'utf8')).toBe('from the chat');
  await until(() => rig.ada.toldAfterPress(query) === 'Answered here: approved.', 'the button was answered');
  await until(
    () => question.buttons.length === 0 && question.text.endsWith('Answered here: approved.'),
    'the question says how it was answered',
  );
  const again = rig.ada.pressData(rig.double.calls('sendMessage').flatMap((call) => buttonData(call))[1] ?? '', question.messageId);
  await until(() => rig.ada.toldAfterPress(again) === 'Answered here: approved.', 'the second press changed nothing');
  const { approvals } = await rig.claw.op('approval.list', { all: true });
  expect(approvals).toMatchObject([{ state: 'approved', decidedBy: 'telegram:42' }]);
});

function buttonData(call: Record<string, unknown>): string[] {
  const markup = call['reply_markup'] as { inline_keyboard?: { callback_data: string }[][] } | undefined;
  return (markup?.inline_keyboard ?? []).flat().map((button) => button.callback_data);
}

test('an approval of a Telegram call is answered at the desktop and shown in the chat', async () => {
  const rig = await open({ rules: writes('b.md') });
  await rig.pair();
  rig.ada.write('write it');
  const question = await rig.hears(/Wants to write b\.md/);
  const { approvals } = await rig.claw.op('approval.list', {});
  await rig.claw.op(
    'approval.decide',
    { approvalId: approvals[0]?.approvalId ?? '', decision: 'deny' },
    { channel: 'window', actor: 'window' },
  );
  await until(
    () => question.buttons.length === 0 && question.text.endsWith('Answered in the window: denied.'),
    'the chat says how it was answered',
  );
  await rig.hears('It is written.');
  expect(existsSync(join(rig.home.workspace, 'b.md'))).toBe(false);
});

test("only the asked person, in the same chat, with that approval's button, decides", async () => {
  const rig = await open({ rules: writes('c.md') });
  await rig.pair();
  const bob = new Person(rig.double, { id: 43, name: 'Bob' });
  await rig.pair(bob);
  await rig.claw.op('message.send', { text: 'write it' });
  const asked = await rig.hears(/Wants to write c\.md/);
  await rig.hears(/Wants to write c\.md/, bob);
  const data = asked.buttons[0]?.[0]?.callback_data ?? '';
  const eve = new Person(rig.double, { id: 66, name: 'Eve' });
  const group = new Person(rig.double, { id: 42, name: 'Ada', groupId: -500 });
  const presses = [
    [bob, bob.pressData(data, 1), 'This question was not asked of you.'],
    [eve, eve.pressData(data, 1), 'This question was not asked of you.'],
    [group, group.pressData(data, 1), 'This question was not asked of you.'],
    [
      rig.ada,
      rig.ada.pressData(data.replace(/:[A-Za-z0-9_-]+:/, ':AAAAAAAAAAAAAAAAAAAA:'), asked.messageId),
      'This button belongs to nothing that is asked.',
    ],
    [rig.ada, rig.ada.pressData('ap:x:y', asked.messageId), 'This button belongs to nothing that is asked.'],
  ] as const;
  for (const [person, query, words] of presses) await until(() => person.toldAfterPress(query) === words, words);
  expect((await rig.claw.op('approval.list', {})).approvals).toMatchObject([{ state: 'pending' }]);
  await rig.claw.op('telegram.revoke', { userId: '42' });
  const revoked = rig.ada.pressData(data, asked.messageId);
  await until(
    () => rig.ada.toldAfterPress(revoked) === 'This question was not asked of you.',
    'a person who is no longer paired decides nothing',
  );
  expect((await rig.claw.op('approval.list', {})).approvals).toHaveLength(1);
});

test('panic from Telegram works at once during a turn; only the computer releases it', async () => {
  const rig = await open({
    rules: [{ user: 'long', results: 0, answer: { calls: [{ tool: 'exec', args: { command: 'sleep 300' } }] } }],
  });
  await rig.pair();
  rig.ada.write('long work');
  await rig.hears(/sleep 300/);
  rig.ada.write('/panic');
  await rig.hears(/Everything is stopped/);
  expect((await rig.claw.op('panic.status', {})).engaged).toBe(true);
  rig.ada.write('/panic release');
  rig.ada.write('go on');
  await until(() => rig.double.updates.unconfirmed.length === 0, 'all was taken');
  expect((await rig.claw.op('panic.status', {})).engaged).toBe(true);
});

test('panic from Telegram ends every process at once, whatever was said before it', async () => {
  const mark = `8${process.pid}77`;
  const command = `(setsid bash -c 'sleep ${mark}; true' >/dev/null 2>&1 &); sleep ${mark}; true`;
  const rig = await open({ rules: [{ user: 'long', results: 0, answer: { calls: [{ tool: 'exec', args: { command } }] } }] });
  await rig.pair();
  rig.ada.write('long work');
  await rig.hears(/setsid/);
  rig.ada.press('Approve once');
  await until(() => countProcesses(mark) >= 3, 'the processes run');
  // Earlier messages waiting in the chat do not delay the stop.
  for (let at = 0; at < 10; at++) rig.ada.write(`and then number ${at}`);
  const startedMs = ownNow();
  rig.ada.write('/panic');
  await until(() => countProcesses(mark) === 0, 'nothing is left');
  const tookMs = ownNow() - startedMs;
  process.stdout.write(`panic from Telegram: ${Math.round(tookMs)} ms to 0 survivors\n`);
  expect(tookMs).toBeLessThan(1_000);
  await rig.hears(/Everything is stopped/);
});

test('a flood of messages being accepted does not delay the panic stop', async () => {
  const mark = `7${process.pid}78`;
  const args = { command: `sleep ${mark}; true` };
  const rig = await open({ rules: [{ user: 'long', results: 0, answer: { calls: [{ tool: 'exec', args }] } }] });
  await rig.pair();
  rig.ada.write('long work');
  await rig.hears(/sleep/);
  rig.ada.press('Approve once');
  await until(() => countProcesses(mark) > 0, 'it runs');
  for (let at = 0; at < 80; at++) rig.ada.write(`number ${at}`);
  // The first messages are being accepted: no fetched batch contains the stop.
  await until(() => rig.double.updates.unconfirmed.length < 80, 'some are taken');
  const startedMs = ownNow();
  rig.ada.write('/panic');
  await until(() => countProcesses(mark) === 0, 'nothing is left');
  const tookMs = ownNow() - startedMs;
  process.stdout.write(`panic from Telegram in a flood: ${Math.round(tookMs)} ms to 0 survivors\n`);
  expect(tookMs).toBeLessThan(1_000);
  await rig.hears(/Everything is stopped/);
});

test('commands: status, new, sessions, plan, budget, help for the unknown, deny by number', async () => {
  const rig = await open({ rules: writes('d.md'), config: { budget: { perSessionUsd: 1 } } });
  await rig.pair();
  rig.ada.write('first words');
  await rig.hears('You said: first words');
  rig.ada.write('/new');
  await rig.hears(/new conversation begins/);
  rig.ada.write('write it');
  await rig.hears(/Wants to write d\.md/);
  rig.ada.write('/status');
  await rig.hears(/1 approval waiting/);
  rig.ada.write('/deny');
  await rig.hears(/Answered here: denied/);
  await rig.hears('It is written.');
  rig.ada.write('/sessions');
  await rig.hears(/1\. write it\n2\. first words/);
  rig.ada.write('/sessions 2');
  await rig.hears(/continues: first words/);
  rig.ada.write('/plan');
  await rig.hears(/Only reads run until you approve a plan/);
  rig.ada.write('/budget 2');
  await rig.hears(/2 US dollars more for this session/);
  rig.ada.write('/dance');
  await rig.hears(/There is no command \/dance/);
  const { sessions } = await rig.claw.op('session.list', {});
  expect(sessions).toHaveLength(2);
  expect(sessions.find(({ title }) => title === 'first words')).toMatchObject({ planFirst: 'whole' });
  expect(existsSync(join(rig.home.workspace, 'd.md'))).toBe(false);
});

test('a plan is chosen before the first message, for the agent of the chat', async () => {
  const agents = { main: {}, scout: { routes: [{ channel: 'telegram' }] } };
  const rig = await open({ rules: writes('p.md'), config: { agents } });
  await rig.pair();
  rig.ada.write('/plan sideways');
  await rig.hears(/There is no session yet|whole, steps/);
  rig.ada.write('/plan steps');
  await rig.hears(/Only reads run until you approve the plan/);
  rig.ada.write('first words');
  await rig.hears('You said: first words');
  const { sessions } = await rig.claw.op('session.list', {});
  expect(sessions).toMatchObject([{ title: 'first words', agentId: 'scout', planFirst: 'steps' }]);
});

test('while paused it receives and sends nothing, also after a restart, without loss', async () => {
  const rig = await open();
  await rig.pair();
  await rig.claw.op('telegram.pause', {});
  await rig.state('paused');
  rig.ada.write('while paused');
  await rig.close();
  await rig.home.open({ config: rig.config }).then(async (claw) => {
    expect((await claw.op('telegram.status', {})).state).toBe('paused');
    expect(rig.double.updates.unconfirmed).toHaveLength(1);
    await claw.op('telegram.resume', {});
    await rig.hears('You said: while paused');
  });
});

test('groups: a mention by a paired person is answered; other talk and people are not', async () => {
  const rig = await open({ telegram: { groups: 'mention' } });
  await rig.pair();
  const ada = new Person(rig.double, { id: 42, name: 'Ada', groupId: -900 });
  const eve = new Person(rig.double, { id: 66, name: 'Eve', groupId: -900 });
  eve.write('@double_bot hi');
  ada.write('just talking');
  ada.write('@double_bot_too are you there?');
  ada.write('/panic@double_bot');
  ada.write('@double_bot what is new?');
  const answer = await rig.hears(/^You said: @double_bot what is new/, ada);
  ada.write('tell me more', { replyTo: answer.messageId });
  await rig.hears(/tell me more/, ada);
  expect(ada.heard()).toHaveLength(2);
  expect(rig.ada.heard().filter((text) => text.startsWith('You said'))).toEqual([]);
  expect(rig.model.requests).toHaveLength(2);
  expect((await rig.claw.op('panic.status', {})).engaged).toBe(false);
  // The group is a separate conversation.
  rig.ada.write('only us');
  await rig.hears('You said: only us');
  const { sessions } = await rig.claw.op('session.list', {});
  expect(sessions).toHaveLength(2);
});

test('in a forum the whole answer is in its topic, and each topic is a conversation', async () => {
  const long = { user: 'at length', answer: { text: 'word '.repeat(1_500) } };
  const rig = await open({ telegram: { groups: 'mention' }, rules: [long] });
  await rig.pair();
  const ada = new Person(rig.double, { id: 42, name: 'Ada', groupId: -900 });
  ada.write('@double_bot at length', { topic: 7 });
  ada.write('@double_bot hello', { topic: 8 });
  await rig.hears(/You said/, ada);
  const said = () => ada.shown().filter(({ from }) => from.is_bot);
  await expect
    .poll(() =>
      said()
        .map(({ topic = 0 }) => topic)
        .toSorted((one, other) => one - other),
    )
    .toEqual([7, 7, 8]);
  const { sessions } = await rig.claw.op('session.list', { limit: 100 });
  expect(sessions.filter(({ channel }) => channel === 'telegram')).toHaveLength(2);
});

test('a group that becomes a supergroup during an answer gets it there', async () => {
  const rig = await open({ telegram: { groups: 'mention' } });
  await rig.pair();
  const before = new Person(rig.double, { id: 42, name: 'Ada', groupId: -900 });
  const after = new Person(rig.double, { id: 42, name: 'Ada', groupId: -1_000_900 });
  rig.double.chats.chat(-900).movedTo = -1_000_900;
  before.write('@double_bot are you there?');
  await rig.hears(/You said: .*are you there/, after);
  expect(after.heard()).toHaveLength(1);
});

test('if groups are not allowed a mention is ignored', async () => {
  const rig = await open();
  await rig.pair();
  const ada = new Person(rig.double, { id: 42, name: 'Ada', groupId: -900 });
  ada.write('@double_bot hi');
  rig.ada.write('only us');
  await rig.hears('You said: only us');
  expect([rig.model.requests.length, ada.heard()]).toEqual([1, []]);
});

test('an edited message does nothing, a forwarded one is untrusted', async () => {
  const rig = await open();
  await rig.pair();
  const id = rig.ada.write('hello');
  await rig.hears('You said: hello');
  rig.ada.edit(id, 'hello, and delete everything');
  rig.ada.write('/panic', { forwardedFrom: 'Eve' });
  await rig.hears('You said: /panic');
  expect((await rig.claw.op('panic.status', {})).engaged).toBe(false);
  const { sessions } = await rig.claw.op('session.list', {});
  const { events } = await rig.claw.op('session.get', { sessionId: sessions[0]?.sessionId ?? '', types: ['taint.marked'] });
  expect(events).toMatchObject([{ body: { sources: [{ kind: 'message', where: 'telegram:Eve' }] } }]);
  expect(rig.model.requests).toHaveLength(2);
});
