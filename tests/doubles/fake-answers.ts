// For tests only: what a fake instance answers to each operation, so that every command has something to show.

import { configSchema } from '../../core/contracts/config.ts';
import type { OpHandlers } from '../../core/contracts/ops.ts';
import type { TurnView } from '../../core/contracts/op-results.ts';
import type { BudgetState, Grant } from '../../core/contracts/policy.ts';
import type { FakeClaw } from './fake-claw.ts';

export const vaultStatus = { store: 'vault', locked: true, hasVault: true, detail: 'Kept in the vault.' } as const;
export const dayBudget: BudgetState = { scope: 'day', unit: 'usd', limit: 10, configured: 10, spent: 2, reserved: 0, unknownCost: false };

const grant: Omit<Grant, 'grantId'> = {
  scope: { kind: 'session' },
  match: { kind: 'folder', tool: 'write', folder: '/n' },
  covers: 'write in notes',
  sessionId: 's',
  approvalId: 'a',
  createdAtMs: 1,
  expiresAtMs: null,
  revokedAtMs: 2,
  spentAtMs: null,
};

export const turnView = (turnId: string): TurnView => ({
  turnId,
  sessionId: 's',
  status: 'done',
  text: '',
  error: null,
  startedAtMs: 1,
  finishedAtMs: 2,
  model: null,
  phases: [],
  calls: [],
  decisions: [],
  packs: [],
  usage: { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0 },
  costUsd: null,
  supersededBy: null,
});

export const answersOf = (claw: FakeClaw): Partial<OpHandlers> => {
  const usageRow = { key: 'all', turns: 0, modelCalls: 0, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };
  const panic = { engaged: true, sinceMs: 5, reason: null, killed: 2, tookMs: 30 };
  return {
    'turn.get': ({ turnId }) => turnView(turnId),
    'pack.get': ({ packId }) => ({
      packId,
      turnId: 't',
      tokens: 1,
      budgetTokens: 2,
      sections: [],
      dropped: [],
      truncated: [],
      messages: [],
    }),
    'config.get': () => ({ config: configSchema.parse({}), path: '/h/config.yaml', warnings: [] }),
    'config.set': ({ key }) => ({ key, path: '/h/config.yaml', warnings: [] }),
    'grant.revoke': ({ grantId }) => ({ ...grant, grantId }),
    'tool.list': () => ({ tools: [{ name: 'read', description: 'reads', class: 'read', schema: {} }] }),
    'grant.list': () => ({ grants: [] }),
    'grant.preview': () => ({ covered: [], asked: 0, total: 0, lookedBackToMs: null }),
    'outcome.list': () => ({ outcomes: [] }),
    'outcome.settle': ({ callId }) => ({ callId, turnId: null }),
    'policy.explain': () => ({
      decision: 'ask',
      ruleId: 'r',
      reason: 'why',
      class: 'exec',
      facts: { class: 'exec', paths: [], command: null, hosts: [] },
      mode: 'supervised',
      grantId: null,
      choices: [],
    }),
    'sandbox.explain': ({ command }) => ({
      mode: 'auto',
      backend: null,
      available: false,
      missing: [{ what: 'bwrap', install: 'Install it.' }],
      command: command === undefined ? null : { runs: 'outside', reason: 'none here' },
      files: { write: ['/w'], read: [], hidden: ['/home'], deny: [], protected: ['.env'] },
      network: { allowDomains: [] },
      environment: ['PATH'],
      limits: [{ name: 'fileMb', value: 1, how: 'not held', holds: false }],
    }),
    'safety.url': ({ url }) => ({ decision: 'deny', reason: 'private', url }),
    'safety.redact': ({ text }) => ({ text: text.replace('hunter2', '[redacted]'), found: ['password'] }),
    'panic.engage': () => panic,
    'panic.release': () => ({ ...panic, engaged: false }),
    'session.list': () => ({ sessions: [claw.sessionInfo('ses_1')], nextCursor: null }),
    'session.get': () => ({ session: claw.sessionInfo('ses_1'), events: [], earlierBefore: null }),
    'session.search': () => ({ hits: [] }),
    'session.fork': () => claw.sessionInfo('ses_2'),
    'session.rename': () => claw.sessionInfo('ses_1'),
    'session.archive': () => claw.sessionInfo('ses_1'),
    'session.pin': () => claw.sessionInfo('ses_1'),
    'session.seen': () => claw.sessionInfo('ses_1'),
    'session.configure': () => claw.sessionInfo('ses_1'),
    'session.export': ({ format }) => ({ text: `${format} text\n` }),
    'session.delete': ({ sessionId }) => ({ sessionId, events: 4 }),
    'audit.verify': () => ({ ok: false, events: 3, sessions: 1, firstBad: { seq: 2, sessionId: 's', sessionSeq: 2, reason: 'hash' } }),
    'replay.run': () => ({ identical: true, decisions: 4, differences: [] }),
    'health.check': () => ({ ok: true, checks: [{ id: 'store', ok: true, detail: 'fine' }] }),
    'usage.get': () => ({ rows: [], today: usageRow, budget: { perTurnUsd: null, perSessionUsd: null, perDayUsd: 10 } }),
    'budget.get': () => ({ budgets: [dayBudget] }),
    'budget.allow': () => ({ budgets: [{ ...dayBudget, limit: 11.5 }] }),
    'turn.retry': ({ turnId }) => claw.op('message.send', { text: `again ${turnId}` }),
    'turn.branch': ({ turnId }) => claw.op('message.send', { text: `branch ${turnId}` }),
    'turn.continue': ({ turnId }) => claw.op('message.send', { text: `go on with ${turnId}` }),
    'config.schema': () => ({ schema: { type: 'object' } }),
    'model.list': () => ({ models: [], defaultModel: null }),
    'model.presets': () => ({ presets: [] }),
    'model.test': ({ model }) => ({
      ok: true,
      model,
      tookMs: 5,
      firstTokenMs: 3,
      usage: { inputTokens: 1, outputTokens: 1, cachedInputTokens: 0 },
      costUsd: null,
      error: null,
    }),
    'secret.set': ({ name }) => ({ name }),
    'secret.list': () => ({ names: ['a', 'b'] }),
    'secret.delete': ({ name }) => ({ name, deleted: false }),
    'secret.status': () => vaultStatus,
    'secret.unlock': () => ({ ...vaultStatus, locked: false }),
    'artifact.list': () => ({ artifacts: [] }),
    'backup.create': () => ({ file: '/b', sizeBytes: 10, events: 2 }),
    'backup.list': () => ({ backups: [] }),
    'checkpoint.list': () => ({ checkpoints: [] }),
    'checkpoint.preview': () => ({ callIds: ['call_1'], files: [] }),
    'checkpoint.restore': () => ({
      restoreId: 'call_2',
      callIds: ['call_1'],
      restored: [{ path: '/ws/a' }],
      refused: [{ path: '/ws/b', reason: 'It was changed since.' }],
      unchanged: [],
    }),
    'backup.verify': () => ({ ok: true, events: 2, detail: 'fine' }),
  };
};
