import { onTestFinished, expect, test } from 'vitest';
import type { ChatAddress, SendOutcome } from '../../contracts/channels.ts';
import type { HookVerdict } from '../../contracts/features/hooks.ts';
import { home, OutboxBench, ScriptedPort } from '../../../tests/rigs/outbox-bench.ts';

const away: ChatAddress = { channel: 'loop', chatId: 'out' };
const broken: SendOutcome = { kind: 'refused', error: 'The network is down.', retryAfterMs: null, isRetryable: true };
const lost: SendOutcome = { kind: 'unknown', reason: 'The connection ended.' };

function open(port = new ScriptedPort()) {
  const bench = new OutboxBench();
  onTestFinished(() => bench.dispose());
  bench.outbox.start();
  const close = bench.outbox.open(port);
  return { bench, port, close };
}

test('queued messages leave in order, part by part, and each attempt is recorded', async () => {
  const { bench, port } = open();
  bench.queue('one\ntwo');
  bench.queue('three');
  await bench.rest();
  expect(port.delivered).toEqual(['home: one', 'home: two', 'home: three']);
  expect(bench.types()).toEqual([
    'queued',
    'queued',
    'sending',
    'part_sent',
    'sending',
    'part_sent',
    'sent',
    'sending',
    'part_sent',
    'sent',
  ]);
  expect(bench.outbox.list({ states: ['sent'], limit: 9 })).toMatchObject([
    { text: 'three', partsSent: 1, parts: 1 },
    { text: 'one\ntwo', partsSent: 2, parts: 2 },
  ]);
});

test('a message with a known key is not queued again', async () => {
  const { bench, port } = open();
  const first = bench.queue('hello', { idempotencyKey: 'k' });
  expect(bench.queue('hello again', { idempotencyKey: 'k' })).toBe(first);
  await bench.rest();
  expect(port.delivered).toEqual(['home: hello']);
});

test('a part refused with a time is retried exactly then, and later messages wait', async () => {
  const { bench, port } = open();
  port.script.push({ kind: 'refused', error: 'Too many requests.', retryAfterMs: 7_000, isRetryable: true });
  bench.queue('one');
  bench.queue('two');
  bench.queue('elsewhere', { to: away });
  await bench.rest();
  expect(port.delivered).toEqual(['out: elsewhere']);
  await bench.pass(6_999);
  expect(port.tried).toHaveLength(2);
  await bench.pass(1);
  expect(port.delivered).toEqual(['out: elsewhere', 'home: one', 'home: two']);
});

test('a wait ends on time even if the system clock was set back meanwhile', async () => {
  const { bench, port } = open();
  port.script.push(broken);
  bench.queue('one');
  await bench.rest();
  bench.clock.advance(-3_600_000);
  await bench.pass(3_601_000);
  expect(port.delivered).toEqual(['home: one']);
});

test('a temporary refusal is retried with growing delays, and given up in the end', async () => {
  const { bench, port } = open();
  for (let i = 0; i < 20; i += 1) port.script.push(broken);
  const outboundId = bench.queue('one');
  bench.queue('two');
  await bench.rest();
  const triedAt: number[] = [];
  for (let seconds = 1; bench.rows.row(outboundId)?.state === 'queued' && seconds < 3_600; seconds += 1) {
    const before = port.tried.length;
    await bench.pass(1_000);
    if (port.tried.length > before) triedAt.push(seconds);
  }
  expect(triedAt).toEqual([1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, 1_623]);
  expect(bench.outbox.list({ states: ['failed'], limit: 9 })).toMatchObject([{ outboundId, reason: 'The network is down.' }]);
  port.script.length = 0;
  await bench.pass(1_000_000);
  expect(port.delivered).toEqual(['home: two']);
});

test('a permanent refusal fails at once, and the next message is sent', async () => {
  const { bench, port } = open();
  port.script.push({ kind: 'refused', error: 'The chat is gone.', retryAfterMs: null, isRetryable: false });
  bench.queue('one');
  bench.queue('two');
  await bench.rest();
  expect(port.delivered).toEqual(['home: two']);
  expect(bench.outbox.list({ states: ['failed'], limit: 9 })).toMatchObject([{ text: 'one', reason: 'The chat is gone.' }]);
});

test('a send that may have arrived is uncertain, not repeated, and blocks nothing', async () => {
  const { bench, port } = open();
  port.script.push(lost);
  const outboundId = bench.queue('one\nmore of one');
  bench.queue('two');
  await bench.pass(80_000_000);
  expect(port.tried.map(({ text }) => text)).toEqual(['one', 'two']);
  expect(bench.outbox.list({ states: ['uncertain'], limit: 9 })).toMatchObject([{ outboundId, reason: 'The connection ended.' }]);

  expect(bench.outbox.settle(outboundId, 'sent', 'ada')).toMatchObject({ state: 'queued', partsSent: 1 });
  await bench.rest();
  expect(port.delivered).toEqual(['home: two', 'home: more of one']);
  expect(() => bench.outbox.settle(outboundId, 'resend', 'ada')).toThrow(expect.objectContaining({ code: 'conflict' }) as Error);
});

test.each([
  ['resend', ['home: one'], 'sent'],
  ['drop', [], 'dropped'],
  ['sent', [], 'sent'],
] as const)('settled as %s', async (answer, delivered, state) => {
  const { bench, port } = open();
  port.script.push(lost);
  const outboundId = bench.queue('one');
  await bench.rest();
  bench.outbox.settle(outboundId, answer, 'ada');
  await bench.rest();
  expect([port.delivered, bench.rows.row(outboundId)?.state]).toEqual([delivered, state]);
});

test('a channel that throws or never answers makes the send uncertain', async () => {
  const { bench, port } = open();
  const hold = Promise.withResolvers<SendOutcome>();
  port.script.push(new Error('boom'), hold.promise);
  bench.queue('one');
  await bench.rest();
  bench.queue('two');
  await bench.rest();
  expect(bench.types()).toEqual(['queued', 'sending', 'uncertain', 'queued', 'sending']);
  await bench.pass(120_000);
  expect(bench.outbox.list({ states: ['uncertain'], limit: 9 }).map(({ reason }) => reason)).toEqual([
    'No answer within 120 seconds.',
    'The channel failed while sending.',
  ]);
  hold.resolve(lost);
});

test('after a crash an interrupted send is uncertain unless the service deduplicates', async () => {
  const { bench, port } = open();
  const safe = new ScriptedPort('safe', true);
  bench.outbox.open(safe);
  const hold = Promise.withResolvers<SendOutcome>();
  port.script.push(hold.promise);
  safe.script.push(hold.promise);
  bench.queue('one');
  bench.queue('two', { to: { channel: 'safe', chatId: 'home' } });
  await bench.rest();
  bench.restart();
  bench.outbox.open(port);
  bench.outbox.open(safe);
  await bench.rest();
  expect(port.delivered).toEqual([]);
  expect(bench.outbox.list({ states: ['uncertain'], limit: 9 })).toMatchObject([{ text: 'one' }]);
  expect(safe.delivered).toEqual(['home: two']);
  expect(new Set(safe.tried.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  hold.resolve(lost);
});

test('a chat whose channel does not run keeps its messages for a day', async () => {
  const { bench, port, close } = open();
  close();
  bench.queue('old');
  await bench.pass(80_000_000);
  bench.queue('new');
  await bench.pass(10_000_000);
  bench.outbox.open(port);
  await bench.rest();
  expect(port.delivered).toEqual(['home: new']);
  expect(bench.outbox.list({ states: ['failed'], limit: 9 })).toMatchObject([
    { text: 'old', reason: 'It waited for 24 hours and could not be sent.' },
  ]);
});

test('a chat accepts a bounded number of messages', () => {
  const { bench, close } = open();
  close();
  for (let i = 0; i < 200; i += 1) bench.queue(`${i}`);
  expect(() => bench.queue('more')).toThrow(expect.objectContaining({ code: 'queue_full' }) as Error);
  expect(() => bench.queue('elsewhere', { to: away })).not.toThrow();
});

test('during the panic stop only messages about it are sent; the rest waits', async () => {
  const { bench, port } = open();
  bench.panic.engaged = true;
  bench.queue('an answer');
  bench.queue('Everything is stopped.', { aboutPanic: true });
  await bench.pass(100_000);
  expect(port.delivered).toEqual(['home: Everything is stopped.']);
  bench.panic.engaged = false;
  bench.append('system', { type: 'panic.released', body: { by: 'ada' } });
  await bench.rest();
  expect(port.delivered).toEqual(['home: Everything is stopped.', 'home: an answer']);
});

test('many chats are served in parallel, up to a limit', async () => {
  const { bench, port } = open();
  const hold = Promise.withResolvers<SendOutcome>();
  for (let i = 0; i < 30; i += 1) port.script.push(hold.promise);
  for (let i = 0; i < 30; i += 1) bench.queue('x', { to: { channel: 'loop', chatId: `c${i}` } });
  await bench.rest();
  expect(port.tried).toHaveLength(8);
  hold.resolve({ kind: 'sent', messageId: 'm' });
  await bench.rest();
  expect(port.delivered).toHaveLength(30);
});

test('a file that the channel does not accept is named in the text instead', async () => {
  const { bench, port } = open();
  const small = { sha256: 'a'.repeat(64), name: 'a.txt', mediaType: 'text/plain', sizeBytes: 5 };
  bench.queue('see', { files: [small, { ...small, name: 'big.bin', sizeBytes: 101 }] });
  await bench.rest();
  expect(port.tried.flatMap(({ files }) => files)).toEqual([small]);
  expect(port.tried.map(({ text }) => text).join('\n')).toContain('takes files of at most 100 bytes: big.bin (101 bytes)');
});

test('deleting a session deletes its queued messages', async () => {
  const { bench, port } = open();
  const hold = Promise.withResolvers<SendOutcome>();
  port.script.push(hold.promise);
  bench.queue('one');
  bench.queue('two');
  bench.queue('other', { sessionId: 'ses_2' });
  await bench.rest();
  bench.log.remove('ses_1', 'system');
  hold.resolve({ kind: 'sent', messageId: 'm1' });
  await bench.rest();
  expect(port.delivered).toEqual(['home: one', 'home: other']);
  expect(bench.log.reads.slice('ses_1', { limit: 9 })).toEqual([]);
});

test.each<[string, SendOutcome, string[], string]>([
  ['arrives', { kind: 'sent', messageId: 'm1' }, ['out: more', 'home: one'], 'dropped'],
  ['is refused for now', broken, ['out: more'], 'dropped'],
  ['may have arrived', lost, ['out: more'], 'uncertain'],
])('a chat whose pairing is ended gets nothing more; the part on its way %s', async (_what, outcome, delivered, state) => {
  const { bench, port } = open();
  const onItsWay = Promise.withResolvers<SendOutcome>();
  port.script.push(onItsWay.promise);
  const outboundId = bench.queue('one\nmore of one');
  const waiting = bench.queue('two');
  bench.bound('ses_1');
  bench.heard('trn_1');
  await bench.rest();
  bench.append('system', { type: 'channel.revoked', body: { channel: 'loop', userId: '42', chatId: 'home', by: 'cli' } });
  onItsWay.resolve(outcome);
  bench.ended('trn_1', 'the answer');
  bench.queue('more', { to: away });
  await bench.rest();
  await bench.pass(1_000_000);
  expect(port.delivered.toSorted()).toEqual(delivered.toSorted());
  expect([bench.rows.row(outboundId)?.state, bench.rows.row(waiting)?.state]).toEqual([state, 'dropped']);
  expect([bench.outbox.knows('loop:home'), bench.outbox.knows('last'), bench.chats.ofSession('ses_1')]).toEqual([false, false, null]);
});

test('a message that is dropped while its hook runs is not sent', async () => {
  const bench = new OutboxBench();
  onTestFinished(() => bench.dispose());
  const port = new ScriptedPort();
  const verdict = Promise.withResolvers<HookVerdict>();
  bench.outbox.start({ has: (on) => on === 'before_message', before: () => verdict.promise, after: () => undefined });
  bench.outbox.open(port);
  const outboundId = bench.queue('one');
  await bench.rest();
  bench.outbox.settle(outboundId, 'drop', 'ada');
  verdict.resolve({ decision: 'pass', reason: '' });
  await bench.rest();
  expect([port.tried, bench.rows.row(outboundId)?.state]).toEqual([[], 'dropped']);
});

test('a turn from a chat is answered there exactly once, also after a restart', async () => {
  const { bench, port } = open();
  bench.heard('trn_1', { ...home, messageId: '90' });
  bench.ended('trn_1', 'Done.');
  await bench.rest();
  bench.heard('trn_2');
  bench.ended('trn_2', 'half an', 'over_budget');
  bench.restart();
  bench.outbox.open(port);
  await bench.rest();
  expect(port.delivered).toEqual(['home: Done.', 'home: half an', 'home: ', 'home: It ended because the budget is used up.']);
  expect(port.tried[0]?.item).toMatchObject({ kind: 'reply', replyToMessageId: '90', idempotencyKey: 'reply:trn_1' });
});

test('a turn whose end cannot be read does not block the answers of others', async () => {
  const { bench, port } = open();
  bench.heard('trn_1');
  bench.heard('trn_2');
  bench.ended('trn_1', 'one');
  bench.storage.db.prepare("UPDATE events SET body = 'broken' WHERE turn_id = 'trn_1' AND type = 'turn.finished'").run();
  bench.ended('trn_2', 'two');
  await bench.rest();
  expect(port.delivered).toEqual(['home: two']);
  expect(bench.notes).toContain('error: the end of a turn could not be queued for its chat');
});

test('a turn that already wrote to its chat gets no second answer there', async () => {
  const { bench, port } = open();
  for (const [turnId, to] of [
    ['trn_1', home],
    ['trn_2', away],
    ['trn_3', { ...home, threadId: '7' }],
  ] as const) {
    bench.heard(turnId);
    bench.queue(`by ${turnId}`, { kind: 'message', turnId, to });
    bench.ended(turnId, `end of ${turnId}`);
  }
  bench.heard('trn_4');
  bench.queue('said something', { kind: 'message', turnId: 'trn_4' });
  bench.ended('trn_4', '', 'failed');
  await bench.rest();
  const answers = port.delivered.filter((line) => line.includes('end of') || line.includes('did not work'));
  expect(answers).toEqual(['home: end of trn_2', 'home: end of trn_3', 'home: That did not work.']);
});

test('a turn from the window is not reported to its chat, one begun by a subagent is', async () => {
  const { bench, port } = open();
  bench.bound('ses_1');
  const said = (turnId: string, channel: string) =>
    bench.append('ses_1', { type: 'user.message', turnId, body: { text: 'x', channel, sender: 's', dedupeKey: null } });
  said('trn_1', 'window');
  bench.ended('trn_1', 'in the window');
  said('trn_2', 'helper');
  bench.ended('trn_2', 'the helper is done');
  bench.bound('ses_2');
  said('trn_3', 'helper');
  bench.ended('trn_3', 'later');
  await bench.rest();
  expect(port.delivered).toEqual(['home: the helper is done', 'home: later']);
});

test('a turn that continues an ended one answers in its place', async () => {
  const { bench, port } = open();
  bench.heard('trn_1');
  bench.ended('trn_1', '', 'over_budget');
  const limits = { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 };
  const start = { kind: 'chat' as const, agentId: 'main', model: null, limits, calls: [], continues: { turnIds: ['trn_1'], by: 'ada' } };
  bench.append('ses_1', { type: 'turn.started', turnId: 'trn_2', body: start });
  bench.ended('trn_2', 'Now it is done.');
  await bench.rest();
  expect(port.delivered).toEqual(['home: It ended because the budget is used up.', 'home: Now it is done.']);
});

test('bound chats are listed, and the last used one had the latest message', async () => {
  const { bench } = open();
  expect(bench.chats.lastUsed()).toBeNull();
  bench.bound('ses_1');
  bench.clock.advance(10);
  bench.bound('ses_2', away);
  bench.clock.advance(10);
  bench.heard('trn_1');
  expect(bench.chats.lastUsed()).toMatchObject({ chatId: 'home', sessionId: 'ses_1', kind: 'private', title: 'Ada' });
  expect(bench.chats.ofSession('ses_2')).toEqual(away);
  bench.log.remove('ses_1', 'system');
  expect(bench.chats.chat(home)).toMatchObject({ sessionId: null });
  expect(bench.chats.ofTurn('trn_1')).toBeNull();
  await bench.rest();
});
