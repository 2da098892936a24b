import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import { channelRulesSchema, type ChannelInbound, type ChatService, type OutboundItem } from '../../contracts/channels.ts';
import { openBench } from '../../../tests/rigs/core/features/channels/channel-bench.ts';
import { Reception, type ReceptionDeps } from './reception.ts';

const service: ChatService = {
  name: 'telegram',
  title: 'Telegram',
  rules: channelRulesSchema.parse({}),
  answers: 'buttons',
  answersStrangers: true,
  run: () => Promise.resolve(),
};

function open(more: Partial<ReceptionDeps> = {}) {
  const bench = openBench(onTestFinished);
  bench.pair('42', 'Ada');
  const received: ChannelInbound[] = [];
  const commands: string[] = [];
  const met: string[] = [];
  const told: Omit<OutboundItem, 'outboundId'>[] = [];
  const said: string[] = [];
  const deps: ReceptionDeps = {
    ...bench,
    rows: bench.store,
    service,
    logger: silentLogger,
    pairing: { claim: () => ({ result: 'wrong', drafts: [] }) },
    questions: { answerByCode: () => Promise.resolve(null) },
    strangers: { count: 0, meet: (userId, tell) => (met.push(userId), tell('This is a private bot.')) },
    link: {
      receive: (message) => {
        received.push(message);
        return { kind: 'accepted', sessionId: 's', turnId: 't' };
      },
    },
    queue: (item) => `out_${told.push(item)}`,
    command: ({ name }) => {
      commands.push(name);
      return Promise.resolve({ text: 'done' });
    },
    me: () => '@agent_bot',
    heard: () => undefined,
    began: () => undefined,
    wakeHeld: () => undefined,
    say: () => (_chatId, text) => void said.push(text),
    ...more,
  };
  return { ...bench, deps, reception: new Reception(deps), received, commands, met, told, said };
}

const message = (id: number, text: string, more: Partial<ChannelInbound> = {}): ChannelInbound => ({
  channel: 'telegram',
  chatId: '42',
  kind: 'private',
  senderId: '42',
  senderName: 'Ada',
  dedupeKey: `7:${id}`,
  messageId: String(id),
  text,
  attachments: [],
  mentioned: false,
  atMs: 0,
  ...more,
});
const eve = { senderId: '13', senderName: 'eve', chatId: '13' };
const file = { ref: 'f', name: 'a.txt', mediaType: null, sizeBytes: 1 };

test('a message of an unpaired person is counted and reaches no agent', async () => {
  const { reception, received, met, said, told, log } = open();
  const before = log.lastSeq;
  await reception.take(message(1, 'let me in', eve));
  expect([received, met, said, told, log.lastSeq]).toEqual([[], ['13'], ['This is a private bot.'], [], before]);
});

test('answers and counts a wrong code; queues the answer if it cannot be said at once', async () => {
  const { reception, deps, told, said } = open();
  await reception.take(message(1, '23456789', eve));
  expect([deps.strangers.count, said, told]).toEqual([1, [expect.stringContaining('is not valid')], []]);
  const silent = open({ say: () => null });
  await silent.reception.take(message(1, '23456789', eve));
  expect(silent.told).toMatchObject([{ text: expect.stringContaining('is not valid') as string }]);
  const mute = open({ service: { ...service, answersStrangers: false } });
  await mute.reception.take(message(1, '23456789', eve));
  expect([mute.said, mute.told]).toEqual([[], []]);
});

test('performs a panic stop among waiting messages first, and again in its turn', async () => {
  const { reception, commands, received } = open();
  const waiting = [message(1, 'hello'), message(2, '/panic'), message(3, '/panic', { forwardedFrom: 'Eve' }), message(4, '/panic', eve)];
  expect([reception.stopFirst(waiting), commands, received]).toEqual([true, ['panic'], []]);
  expect([reception.stopFirst(waiting), commands]).toEqual([false, ['panic']]);
  for (const one of waiting.slice(0, 3)) await reception.take(one);
  expect([commands, received.map(({ text }) => text)]).toEqual([
    ['panic', 'panic'],
    ['hello', '/panic'],
  ]);
  expect(reception.stopFirst(waiting)).toBe(false);
});

test('holds a message with a file and those behind it, but not other chats', async () => {
  const { reception, received, store, pair } = open();
  pair('43', 'Bob');
  await reception.take(message(1, 'look', { files: [file] }));
  await reception.take(message(1, 'look', { files: [file] }));
  await reception.take(message(2, 'and then?'));
  await reception.take(message(3, 'hi', { senderId: '43', chatId: '43' }));
  expect(store.held().map(({ key, message: { text, files } }) => [key, text, files])).toEqual([
    ['7:1', 'look', [file]],
    ['7:2', 'and then?', []],
  ]);
  expect(received.map(({ text }) => text)).toEqual(['hi']);
});

test.each([
  [{ atMs: 0 }, 600_000],
  [{ atMs: 0, waitedMs: 5 }, 600_000],
  [{ atMs: 3_600_000, waitedMs: 5 }, 5],
  [{ atMs: 3_600_000 }, Number.MAX_SAFE_INTEGER],
])('the age of a command is that of its timestamp, unless it is in the future: %j', async (times, expected) => {
  const ages: number[] = [];
  const { reception, clock } = open({ command: ({ waitedMs }) => (ages.push(waitedMs), Promise.resolve({ text: 'done' })) });
  clock.advance(600_000 - clock.nowMs());
  await reception.take(message(1, '/approve', times));
  expect(ages).toEqual([expected]);
});

const waiting = new Promise<never>(() => undefined);

test.each([
  ['/help', 'done'],
  ['/sessions', 'done'],
  ['/dance', 'done'],
  ['/new', expect.stringContaining('may be done or not')],
  ['/approve 1', expect.stringContaining('may be done or not')],
  ['/sessions 2', expect.stringContaining('may be done or not')],
  ['/panic', 'done'],
])('the next run answers an interrupted %s, and repeats it only if harmless', async (text, answer) => {
  const rig = open({ command: () => waiting });
  await rig.reception.take(message(1, text));
  expect([rig.store.isTaken('7:1'), rig.store.leftCommands().length]).toEqual([true, 1]);
  const asked: string[] = [];
  const next = new Reception({ ...rig.deps, command: ({ name }) => (asked.push(name), Promise.resolve({ text: 'done' })) });
  await next.answerLeft();
  expect(rig.told).toMatchObject([{ text: answer, replyToMessageId: '1', idempotencyKey: 'telegram-answer:7:1' }]);
  expect(asked).not.toContain('panic');
  expect(asked).not.toContain('new');
  expect(rig.store.leftCommands()).toEqual([]);
});
