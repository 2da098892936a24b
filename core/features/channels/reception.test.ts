import { expect, test } from 'vitest';
import { ManualClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { channelRulesSchema, type ChannelInbound, type ChatService } from '../../contracts/channels.ts';
import { Reception } from './reception.ts';

const service: ChatService = {
  name: 'discord',
  title: 'Discord',
  rules: channelRulesSchema.parse({}),
  answers: 'buttons',
  answersStrangers: true,
  run: () => Promise.resolve(),
};

test('a message of an unpaired person reaches no agent and is counted', async () => {
  const received: ChannelInbound[] = [];
  const met: string[] = [];
  const reception = new Reception({
    service,
    log: { transact: (work) => work(), append: () => [] },
    rows: { person: () => null, isTaken: () => false, leftCommands: () => [] },
    clock: new ManualClock(0),
    logger: silentLogger,
    pairing: { claim: () => ({ result: 'wrong', drafts: [] }) },
    questions: { answerByCode: () => Promise.resolve(null) },
    strangers: { meet: (userId) => met.push(userId) },
    link: {
      receive: (message) => {
        received.push(message);
        return { kind: 'accepted', sessionId: 's', turnId: 't' };
      },
    },
    queue: () => 'out',
    command: () => Promise.resolve({ text: 'done' }),
    me: () => 'agent',
    heard: () => undefined,
    began: () => undefined,
  });
  await reception.take({
    channel: 'discord',
    chatId: '9',
    kind: 'private',
    senderId: '13',
    senderName: 'eve',
    dedupeKey: 'discord:1',
    text: 'let me in',
    attachments: [],
    mentioned: false,
    atMs: 0,
  });
  expect([received, met]).toEqual([[], ['13']]);
});
