import { expect, test } from 'vitest';
import { ManualClock } from '../../../tests/doubles/manual-clock.ts';
import { silentLogger } from '../../base/logger.ts';
import type { ChannelInbound } from '../../contracts/channels.ts';
import { AppError } from '../../contracts/errors.ts';
import type { Update } from './bot-api.ts';
import { Intake, type IntakeDeps } from './intake.ts';
import { PollPlace } from './poll-place.ts';

/** `eachMs` is how long each message takes. */
function open({ eachMs = 0, ...more }: Partial<IntakeDeps['desk']> & { eachMs?: number } = {}) {
  const clock = new ManualClock();
  const notes = new Map<string, string>();
  const place = new PollPlace({ note: (key) => notes.get(key) ?? null, setNote: (key, value) => void notes.set(key, value) }, '7');
  const received: ChannelInbound[] = [];
  const desk = {
    take: (message: ChannelInbound) => {
      clock.advance(eachMs);
      received.push(message);
      return Promise.resolve();
    },
    press: () => Promise.resolve(''),
    stopFirst: () => false,
    ...more,
  };
  const bot = { botId: '7', username: 'double_bot' };
  const intake = new Intake({ desk, place, clock, logger: silentLogger, bot, answerPress: () => Promise.resolve() });
  return { intake, received, askFrom: () => place.askFrom(clock.nowMs()) };
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

test('intake is limited in time; the rest is fetched again with newer updates', async () => {
  const rig = open();
  const slow = open({ eachMs: 25 });
  const updates = [1, 2, 3, 4].map((id) => said(id, `number ${id}`));
  expect([await rig.intake.take(updates, 0), rig.askFrom()]).toEqual(['taken', 5]);
  expect([await slow.intake.take(updates, 0), slow.askFrom()]).toEqual(['partly', 3]);
  // At least one update is taken, however slow it is.
  expect([await slow.intake.take(updates.slice(3), 0), slow.askFrom()]).toEqual(['taken', 5]);
});

test('a panic stop behind other messages is executed before they are taken', async () => {
  const stopped: string[] = [];
  const { intake, received, askFrom } = open({
    stopFirst: (messages) => messages.some(({ text }) => text === '/panic' && stopped.length === 0 && stopped.push(text) > 0),
  });
  const updates = [said(1, 'hello'), said(2, '/panic')];
  expect([await intake.take(updates, 0), received, askFrom(), stopped]).toEqual(['later', [], 0, ['/panic']]);
  expect([await intake.take(updates, 0), received.map(({ text }) => text), askFrom()]).toEqual(['taken', ['hello', '/panic'], 3]);
});

test('an update that cannot be stored is repeated; an invalid one is skipped', async () => {
  const failing = (cause: Error) => open({ take: () => Promise.reject(cause) });
  const full = failing(new AppError('store_full', 'The disk is full.'));
  await expect(full.intake.take([said(1, 'hello')], 0)).rejects.toThrow('The disk is full.');
  expect(full.askFrom()).toBe(0);
  const odd = failing(new Error('odd'));
  expect([await odd.intake.take([said(1, 'hello')], 0), odd.askFrom()]).toEqual(['taken', 2]);
});
