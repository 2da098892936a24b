import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../base/logger.ts';
import { type ChannelInbound, channelRulesSchema } from '../../contracts/channels.ts';
import type { Update } from './bot-api.ts';
import { Intake, type IntakeDeps } from './intake.ts';
import { openBench } from './telegram-test-bench.ts';

type OutboundDraft = Parameters<IntakeDeps['queue']>[0];

const bot = { botId: '7', username: 'double_bot' };
const nothing = (): void => undefined;

function open(more: Partial<IntakeDeps> = {}) {
  const bench = openBench(onTestFinished);
  bench.pair('42', 'Ada');
  const received: ChannelInbound[] = [];
  const commands: string[] = [];
  const deps: IntakeDeps = {
    ...bench,
    logger: silentLogger,
    bot,
    rules: channelRulesSchema.parse({}),
    pairing: { claim: () => ({ result: 'wrong', drafts: [] }) },
    questions: { press: () => Promise.resolve('') },
    strangers: { meet: nothing },
    link: {
      receive: (message) => {
        received.push(message);
        message.alongside?.();
        return { kind: 'accepted', sessionId: 's', turnId: `t${received.length}` };
      },
    },
    queue: () => 'out',
    command: ({ name }) => {
      commands.push(name);
      return Promise.resolve({ text: 'done' });
    },
    wakeFiles: nothing,
    began: nothing,
    say: nothing,
    answerPress: nothing,
    ...more,
  };
  return { ...bench, deps, intake: new Intake(deps), received, commands };
}

const said = (update_id: number, text: string): Update => ({
  update_id,
  message: {
    message_id: update_id,
    date: 1,
    text,
    chat: { id: 42, type: 'private', first_name: 'Ada' },
    from: { id: 42, is_bot: false, first_name: 'Ada' },
  },
});

test('intake takes a bounded time: the rest comes again with newer updates', () => {
  const rig = open();
  const slow = open({
    link: {
      receive: (message) => {
        slow.clock.advance(25);
        message.alongside?.();
        return { kind: 'accepted', sessionId: 's', turnId: 't' };
      },
    },
  });
  const updates = [1, 2, 3, 4].map((id) => said(id, `number ${id}`));
  expect([rig.intake.take(updates, 0), rig.store.askFrom('7', 0)]).toEqual(['taken', 5]);
  expect([slow.intake.take(updates, 0), slow.store.askFrom('7', 0)]).toEqual(['partly', 3]);
  // One at least, however slow.
  expect([slow.intake.take(updates.slice(3), 0), slow.store.askFrom('7', 0)]).toEqual(['taken', 5]);
});

test('a panic stop behind other messages is pressed before they are taken', () => {
  const { intake, commands, received, store } = open();
  const updates = [said(1, 'hello'), said(2, '/panic')];
  expect(intake.take(updates, 0)).toBe('later');
  expect([commands, received, store.askFrom('7', 0)]).toEqual([['panic'], [], 0]);
  expect(intake.take(updates, 0)).toBe('taken');
  expect([commands, received.map(({ text }) => text), store.askFrom('7', 0)]).toEqual([['panic', 'panic'], ['hello'], 3]);
});

const waiting = new Promise<never>(nothing);

test.each([
  ['/help', 'done'],
  ['/sessions', 'done'],
  ['/dance', 'done'],
  ['/new', expect.stringContaining('may be done or not')],
  ['/approve 1', expect.stringContaining('may be done or not')],
  ['/sessions 2', expect.stringContaining('may be done or not')],
  ['/panic', 'done'],
])(
  '%s of which the program ended before its answer is answered by the next run, and done twice only where that does nothing',
  async (text, answer) => {
    const rig = open({ command: () => waiting });
    expect(rig.intake.take([said(1, text)], 0)).toBe('taken');
    expect([rig.store.askFrom('7', 0), rig.store.held().length]).toEqual([2, 1]);
    const asked: string[] = [];
    const told: OutboundDraft[] = [];
    const queued = new Promise<void>((resolve) => {
      const next = new Intake({
        ...rig.deps,
        command: ({ name }) => (asked.push(name), Promise.resolve({ text: 'done' })),
        queue: (item) => (told.push(item), resolve(), 'out'),
      });
      next.answerLeft();
    });
    await queued;
    expect(told).toMatchObject([{ text: answer, replyToMessageId: '1', idempotencyKey: 'telegram-answer:7:1' }]);
    expect(asked).not.toContain('panic');
    expect(asked).not.toContain('new');
    expect(rig.store.held()).toEqual([]);
  },
);
