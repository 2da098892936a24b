// For tests only: a real log with the rows of a chat service in a temporary folder, and an approval to ask about.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../../../doubles/manual-clock.ts';
import { silentLogger } from '../../../../../core/base/logger.ts';
import { systemSessionId } from '../../../../../core/contracts/events.ts';
import type { Approval } from '../../../../../core/contracts/policy.ts';
import { SessionLog, sessionMigrations } from '../../../../../core/store/session/session.ts';
import { Storage } from '../../../../../core/store/storage/storage.ts';
import { channelMigrations, ChannelRows } from '../../../../../core/features/channels/rows.ts';

const channel = 'telegram';
export const benchNames = { channel, title: 'Telegram' } as const;

/** `atEnd` receives the clean-up function. */
export function openBench(atEnd: (cleanUp: () => void) => void) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-channel-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...channelMigrations] });
  atEnd(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const clock = new ManualClock();
  const rows = new ChannelRows(storage.db);
  const store = rows.of(channel);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [rows] });
  log.append(systemSessionId, [{ type: 'session.created', body: { title: 'S', agentId: 's', channel: 'library', forkedFrom: null } }]);
  const pair = (userId: string, name: string): void => {
    log.append(systemSessionId, [
      { type: 'channel.paired', body: { channel, pairingId: `pair_${userId}`, userId, chatId: userId, name, by: 'cli' } },
    ]);
  };
  return { clock, store, log, pair };
}

export const approvalOf = (approvalId: string, change: Partial<Approval> = {}): Approval => ({
  approvalId,
  callId: `call_${approvalId}`,
  tool: 'exec',
  summary: 'Wants to run rm -rf *notes*',
  risk: 'It may change files.',
  reason: 'Commands are asked about.',
  ruleId: 'exec.ask',
  facts: { class: 'exec', paths: [], hosts: [], command: null } as unknown as Approval['facts'],
  args: '{"command":"rm -rf `x` ```notes```"}',
  widerScope: null,
  createdAtMs: 1,
  sessionId: 'ses_1',
  state: 'pending',
  decidedAtMs: null,
  decidedBy: null,
  scope: null,
  ...change,
});
