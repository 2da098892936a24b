// The migration of a bot's rows to the rows of all chat services: everything is found under the same keys afterwards.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { HeldMessage } from '../../contracts/features/telegram.ts';
import { sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { channels } from '../channels/channels.ts';
import { PollPlace } from './poll-place.ts';
import { PollLeases, telegramMigrations } from './rows.ts';

const held = (updateId: number, more: Partial<HeldMessage> = {}): HeldMessage => ({
  botId: '7',
  updateId,
  chatId: '42',
  kind: 'private',
  senderId: '42',
  senderName: 'Ada',
  messageId: `m${updateId}`,
  text: 'look',
  files: [],
  replyTo: null,
  forwardedFrom: null,
  mentioned: false,
  atMs: 5,
  ...more,
});
const photo = held(100, {
  files: [{ fileId: 'f1', name: 'photo.jpg', mediaType: 'image/jpeg', sizeBytes: 1000 }],
  replyTo: { text: 'earlier', fromAgent: true, messageId: '4' },
  forwardedFrom: 'Eve (66)',
  albumId: 'a1',
});
const quoting = held(101, { replyTo: { text: 'elsewhere', fromAgent: false, messageId: null } });
const command = held(102, { text: '/new', command: true });

function openEarlier(isPaused: 0 | 1) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-telegram-'));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const before = Storage.open({
    home,
    migrations: [...sessionMigrations, ...channels.migrations.slice(0, 1), ...telegramMigrations.slice(0, 1)],
  });
  before.db.exec(`
    INSERT INTO telegram_people VALUES ('42', '42', 'Ada', 3);
    INSERT INTO telegram_pairings VALUES ('pair_1', 'hash', 9000, '43', '43', 'Bob'), ('pair_2', 'hash2', 9001, NULL, NULL, NULL);
    INSERT INTO telegram_offsets VALUES ('7', 103, 1000);
    INSERT INTO telegram_leases VALUES ('token', 'holder', 990);
    INSERT INTO telegram_questions (approval_id, user_id, chat_id, nonce, outbound_id, asked_at_ms, message_id, closed, asks, lost)
      VALUES ('apr_1', '42', '42', 'nonce-1', 'out_1', 7, '55', 0, 2, 1), ('apr_0', '42', '42', 'nonce-0', 'out_0', 6, '54', 1, 1, 0);
    INSERT INTO telegram_previews VALUES ('trn_1', '42', '77');
    INSERT INTO telegram_pause VALUES (1, ${isPaused});
  `);
  const put = before.db.prepare('INSERT INTO telegram_held VALUES (?, ?, ?)');
  for (const one of [photo, quoting, command]) put.run(one.botId, one.updateId, JSON.stringify(one));
  before.dispose();
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...channels.migrations, ...telegramMigrations] });
  onTestFinished(() => storage.dispose());
  return { storage, rows: channels.rows(storage).of('telegram'), leases: new PollLeases(storage.db) };
}

test('people, codes, place, questions and messages of an earlier bot are kept', () => {
  const { storage, rows, leases } = openEarlier(1);
  expect(rows.people()).toEqual([{ userId: '42', chatId: '42', name: 'Ada', pairedAtMs: 3 }]);
  expect(rows.pairings()).toEqual([
    { pairingId: 'pair_1', codeHash: 'hash', expiresAtMs: 9000, userId: '43', chatId: '43', name: 'Bob' },
    { pairingId: 'pair_2', codeHash: 'hash2', expiresAtMs: 9001, userId: null, chatId: null, name: null },
  ]);
  const place = new PollPlace({ note: (key) => rows.note(key), setNote: () => undefined }, '7');
  expect([place.askFrom(1001), place.askFrom(1000 + 7 * 86_400_000), leases.lease('token')?.polledAtMs]).toEqual([103, 0, 990]);
  const question = {
    approvalId: 'apr_1',
    userId: '42',
    chatId: '42',
    nonce: 'nonce-1',
    outboundId: 'out_1',
    askedAtMs: 7,
    messageId: '55',
  };
  expect(rows.openQuestions()).toEqual([{ ...question, closed: false, asks: 2, lost: true }]);
  expect(rows.questionByNonce('nonce-0')).toMatchObject({ approvalId: 'apr_0', closed: true });
  expect([rows.preview('trn_1'), rows.isPaused]).toEqual([{ chatId: '42', messageId: '77' }, true]);
  const plain = { chatId: '42', kind: 'private', senderId: '42', senderName: 'Ada', text: 'look', mentioned: false, atMs: 5 };
  expect(rows.held()).toEqual([
    {
      key: '7:100',
      message: {
        ...plain,
        messageId: 'm100',
        files: [{ ref: 'f1', name: 'photo.jpg', mediaType: 'image/jpeg', sizeBytes: 1000 }],
        replyTo: { text: 'earlier', fromAgent: true, messageId: '4' },
        forwardedFrom: 'Eve (66)',
        albumId: 'a1',
      },
    },
    { key: '7:101', message: { ...plain, messageId: 'm101', files: [], replyTo: { text: 'elsewhere', fromAgent: false } } },
  ]);
  expect(rows.leftCommands()).toEqual([{ key: '7:102', command: { userId: '42', chatId: '42', messageId: 'm102', text: '/new' } }]);
  expect(['7:100', '7:101', '7:102', '7:103'].map((key) => rows.isTaken(key))).toEqual([true, true, true, false]);
  const tables = storage.db.prepare("SELECT name FROM sqlite_master WHERE name LIKE 'telegram%'").all();
  expect(tables).toEqual([{ name: 'telegram_leases' }]);
});

test('a bot that was not paused is not paused afterwards', () => {
  expect(openEarlier(0).rows.isPaused).toBe(false);
});
