// For tests only: a session log over a real database in a temporary folder that can be closed and reopened.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ManualClock } from '../doubles/manual-clock.ts';
import type { Logger } from '../../core/base/logger.ts';
import type { AnyDraft, EventBodies } from '../../core/contracts/events.ts';
import { Storage } from '../../core/store/storage/storage.ts';
import { SessionLog, sessionMigrations, verifyLog, type AuditReport, type SessionLogDeps } from '../../core/store/session/session.ts';

export class LogBench {
  readonly home = mkdtempSync(join(tmpdir(), 'trayclaw-log-'));
  readonly clock = new ManualClock();
  readonly notes: string[] = [];
  readonly logger: Logger = { log: (_level, message) => void this.notes.push(message) };
  readonly #options: Pick<SessionLogDeps, 'scrub' | 'projections'>;
  storage!: Storage;
  log!: SessionLog;

  constructor(options: Pick<SessionLogDeps, 'scrub' | 'projections'> = {}) {
    this.#options = options;
    this.open();
  }

  open(): void {
    this.storage = Storage.open({ home: this.home, migrations: sessionMigrations });
    this.log = new SessionLog({ storage: this.storage, clock: this.clock, logger: this.logger, ...this.#options });
  }

  reopen(): void {
    this.storage.dispose();
    this.open();
  }

  verify(): Promise<AuditReport> {
    return verifyLog(this.storage.db, () => Promise.resolve());
  }

  run(sql: string, ...values: unknown[]): number {
    return this.storage.db.prepare(sql).run(...values).changes;
  }

  rows(sql: string, ...values: unknown[]): unknown[] {
    return this.storage.db.prepare(sql).all(...values);
  }

  dispose(): void {
    this.storage.dispose();
    rmSync(this.home, { recursive: true, force: true });
  }
}

export const created = (title = 'T'): AnyDraft => ({
  type: 'session.created',
  body: { title, agentId: 'main', channel: 'cli', forkedFrom: null },
});

export const said = (text: string, turnId: string | null = null): AnyDraft => ({
  type: 'user.message',
  turnId,
  phase: 'interpret',
  body: { text, channel: 'cli', sender: 'ada', dedupeKey: null },
});

export const answered = (text: string): AnyDraft => ({ type: 'assistant.message', phase: 'respond', body: { text } });

export const started = (turnId: string): AnyDraft => ({
  type: 'turn.started',
  turnId,
  body: { kind: 'chat', agentId: 'main', model: null, limits: { steps: 1, turnMs: 1, sameCall: 1, parallelReads: 1 }, calls: [] },
});

export const ended = (turnId: string): AnyDraft => ({
  type: 'turn.finished',
  turnId,
  body: {
    status: 'done',
    text: '',
    error: null,
    usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
    costUsd: null,
    modelCalls: 0,
    toolCalls: 0,
  },
});

export const requested = (callId: string, turnId: string | null = null): AnyDraft => ({
  type: 'tool.requested',
  turnId,
  body: { callId, tool: 'put', args: '{"a":1}', argsHash: 'h', idempotency: 'idempotent', idempotencyKey: callId, grantId: null },
});

export const finished = (callId: string, forModel = 'done'): AnyDraft => ({
  type: 'tool.finished',
  body: { ...resultOf(callId), forModel },
});

function resultOf(callId: string): EventBodies['tool.finished'] {
  return {
    callId,
    tool: 'put',
    outcome: 'ok',
    forModel: '',
    forUser: '',
    silent: false,
    isAsync: false,
    artifacts: [],
    tookMs: 1.4,
    resultHash: 'h',
  };
}
