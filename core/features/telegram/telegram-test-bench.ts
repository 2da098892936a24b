// For tests only: a real log with the rows of the bot, in a temporary folder, and an approval to ask about.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/logger.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { Approval } from '../../contracts/policy.ts';
import { SessionLog, sessionMigrations } from '../../store/session/session.ts';
import { Storage } from '../../store/storage/storage.ts';
import { telegramMigrations, TelegramStore } from './rows.ts';

/** `atEnd` takes what puts everything away again. */
export function openBench(atEnd: (cleanUp: () => void) => void) {
  const home = mkdtempSync(join(tmpdir(), 'trayclaw-telegram-'));
  const storage = Storage.open({ home, migrations: [...sessionMigrations, ...telegramMigrations] });
  atEnd(() => {
    storage.dispose();
    rmSync(home, { recursive: true, force: true });
  });
  const clock = new ManualClock();
  const store = new TelegramStore(storage.db);
  const log = new SessionLog({ storage, clock, logger: silentLogger, projections: [store] });
  log.append(systemSessionId, [{ type: 'session.created', body: { title: 'S', agentId: 's', channel: 'library', forkedFrom: null } }]);
  const pair = (userId: string, name: string): void => {
    log.append(systemSessionId, [
      { type: 'telegram.paired', body: { pairingId: `pair_${userId}`, userId, chatId: userId, name, by: 'cli' } },
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
  facts: { class: 'exec', paths: [], hosts: [] } as unknown as Approval['facts'],
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
