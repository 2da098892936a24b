// Writes finished turns of an earlier session into a folder's log, through the store itself, before the server starts.

import { systemClock } from '../../../core/base/clock.ts';
import { silentLogger } from '../../../core/base/logger.ts';
import type { AnyDraft } from '../../../core/contracts/events.ts';
import { artifactMigrations } from '../../../core/store/artifact/artifact.ts';
import { SessionLog, sessionMigrations } from '../../../core/store/session/session.ts';
import { Storage } from '../../../core/store/storage/storage.ts';
import { usageMigrations } from '../../../core/features/usage/usage.ts';
import { policyMigrations, PolicyStore } from '../../../core/guard/policy/policy.ts';

export const earlierSessionId = 'ses_earlier';
const turnMs = 60_000;

export function writeEarlierTurns(home: string, turns: number): void {
  const migrations = [...sessionMigrations, ...policyMigrations, ...artifactMigrations, ...usageMigrations];
  const storage = Storage.open({ home, migrations });
  try {
    const projections = [new PolicyStore(storage.db)];
    const log = new SessionLog({ storage, clock: systemClock, logger: silentLogger, projections });
    const startMs = Date.now() - (turns + 2) * turnMs;
    const created = { title: 'Earlier work', agentId: 'main', channel: 'window', forkedFrom: null };
    log.transact(() => {
      log.append(earlierSessionId, [{ type: 'session.created', atMs: startMs, body: created }]);
      for (let index = 1; index <= turns; index++) log.append(earlierSessionId, turnDrafts(index, startMs + index * turnMs));
    }, true);
  } finally {
    storage.dispose();
  }
}

function turnDrafts(index: number, atMs: number): AnyDraft[] {
  const turnId = `trn_earlier_${index}`;
  const text = `Answer ${index}.\n\n- first point\n- second point with \`code\`\n`;
  const usage = { inputTokens: 900, outputTokens: 80, cachedInputTokens: 0 };
  const limits = { steps: 50, turnMs: 3_600_000, sameCall: 3, parallelReads: 8 };
  return [
    {
      type: 'user.message',
      turnId,
      atMs,
      body: { text: `Question ${index}`, channel: 'window', sender: 'window', dedupeKey: null },
    },
    {
      type: 'turn.started',
      turnId,
      phase: 'interpret',
      atMs,
      body: { kind: 'chat', agentId: 'main', model: 'lab/scripted', limits, calls: [] },
    },
    { type: 'assistant.message', turnId, phase: 'respond', atMs: atMs + 900, body: { text } },
    {
      type: 'turn.finished',
      turnId,
      phase: 'respond',
      atMs: atMs + 1000,
      body: { status: 'done', text, error: null, usage, costUsd: 0.001, modelCalls: 1, toolCalls: 0 },
    },
  ];
}
