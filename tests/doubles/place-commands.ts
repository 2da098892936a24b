// For tests only: commands about TrayClaw's folders, backups and chats, each with the operation it calls.

import { expect } from 'vitest';
import type { OpName } from '../../core/contracts/ops.ts';
import { channelPeople, channelStatus, telegramPeople, trustedFolder } from './fake-answers.ts';

export const placeCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown }[] = [
  { argv: ['folders', 'list'], op: 'workspace.list', params: {}, json: [trustedFolder] },
  { argv: ['folders', 'trust', 'project'], op: 'workspace.trust', params: { path: '/work-folder/project' }, json: trustedFolder },
  {
    argv: ['folders', 'forget', 'project'],
    op: 'workspace.forget',
    params: { path: '/work-folder/project' },
    json: { path: '/work-folder/project', forgotten: 1 },
  },
  { argv: ['backup', 'create'], op: 'backup.create', params: {}, json: { file: '/b', sizeBytes: 10, events: 2 } },
  { argv: ['backup', 'list'], op: 'backup.list', params: {}, json: [] },
  {
    argv: ['backup', 'verify', 'b.db'],
    op: 'backup.verify',
    params: { file: '/work-folder/b.db' },
    json: { ok: true, events: 2, detail: 'fine' },
  },
  { argv: ['channels', 'list'], op: 'channel.list', params: {}, json: [channelStatus] },
  { argv: ['channels', 'people'], op: 'channel.people', params: {}, json: channelPeople },
  {
    argv: ['channels', 'pair', 'discord'],
    op: 'channel.pair',
    params: { channel: 'discord' },
    json: expect.objectContaining({ code: 'ABCD2345' }),
  },
  { argv: ['channels', 'confirm', 'pair_1'], op: 'channel.confirm', params: { pairingId: 'pair_1' }, json: channelPeople },
  { argv: ['channels', 'refuse', 'pair_1'], op: 'channel.refuse', params: { pairingId: 'pair_1' }, json: channelPeople },
  {
    argv: ['channels', 'revoke', 'discord', '42'],
    op: 'channel.revoke',
    params: { channel: 'discord', userId: '42' },
    json: channelPeople,
  },
  { argv: ['channels', 'pause', 'discord'], op: 'channel.pause', params: { channel: 'discord' }, json: [channelStatus] },
  { argv: ['channels', 'resume', 'discord'], op: 'channel.resume', params: { channel: 'discord' }, json: [channelStatus] },
  { argv: ['telegram', 'status'], op: 'telegram.status', params: {}, json: expect.objectContaining({ state: 'running' }) },
  { argv: ['telegram', 'pause'], op: 'telegram.pause', params: {}, json: expect.objectContaining({ state: 'paused' }) },
  { argv: ['telegram', 'resume'], op: 'telegram.resume', params: {}, json: expect.objectContaining({ state: 'running' }) },
  { argv: ['telegram', 'pair'], op: 'telegram.pair', params: {}, json: expect.objectContaining({ code: 'ABCD2345' }) },
  { argv: ['telegram', 'list'], op: 'telegram.list', params: {}, json: telegramPeople },
  { argv: ['telegram', 'confirm', 'pair_1'], op: 'telegram.confirm', params: { pairingId: 'pair_1' }, json: telegramPeople },
  { argv: ['telegram', 'refuse', 'pair_1'], op: 'telegram.refuse', params: { pairingId: 'pair_1' }, json: telegramPeople },
  { argv: ['telegram', 'revoke', '42'], op: 'telegram.revoke', params: { userId: '42' }, json: telegramPeople },
];
