// The list of views. Types require one for every operation that is a command; a file is loaded when one of its views is used.

import { AppError } from '../../../contracts/errors.ts';
import type { CommandOp } from '../../../contracts/op-forms.ts';
import type { OpName } from '../../../contracts/ops.ts';
import type { FamilyOf, View, ViewsOf } from '../kernel/view.ts';

const viewFiles: { readonly [F in FamilyOf<CommandOp>]: () => Promise<ViewsOf<F>> } = {
  turn: async () => (await import('./turns.ts')).turnViews,
  pack: async () => (await import('./turns.ts')).packViews,
  rule: async () => (await import('./rules.ts')).ruleViews,
  tool: async () => (await import('./tools.ts')).toolViews,
  artifact: async () => (await import('./tools.ts')).artifactViews,
  session: async () => (await import('./sessions.ts')).sessionViews,
  approval: async () => (await import('./gate.ts')).approvalViews,
  grant: async () => (await import('./gate.ts')).grantViews,
  outcome: async () => (await import('./gate.ts')).outcomeViews,
  policy: async () => (await import('./gate.ts')).policyViews,
  sandbox: async () => (await import('./gate.ts')).sandboxViews,
  safety: async () => (await import('./gate.ts')).safetyViews,
  workspace: async () => (await import('./gate.ts')).workspaceViews,
  budget: async () => (await import('./budget.ts')).budgetViews,
  memory: async () => (await import('./memory.ts')).memoryViews,
  knowledge: async () => (await import('./knowledge.ts')).knowledgeViews,
  skill: async () => (await import('./skills.ts')).skillViews,
  identity: async () => (await import('./identity.ts')).identityViews,
  prompt: async () => (await import('./identity.ts')).promptViews,
  agent: async () => (await import('./agents.ts')).agentViews,
  helper: async () => (await import('./agents.ts')).helperViews,
  schedule: async () => (await import('./schedules.ts')).scheduleViews,
  heartbeat: async () => (await import('./schedules.ts')).heartbeatViews,
  task: async () => (await import('./schedules.ts')).taskViews,
  signal: async () => (await import('./signals.ts')).signalViews,
  telegram: async () => (await import('./channels.ts')).telegramViews,
  chat: async () => (await import('./channels.ts')).chatViews,
  outbox: async () => (await import('./channels.ts')).outboxViews,
  engine: async () => (await import('./engine.ts')).engineViews,
  model: async () => (await import('./settings.ts')).modelViews,
  config: async () => (await import('./settings.ts')).configViews,
  secret: async () => (await import('./settings.ts')).secretViews,
  activity: async () => (await import('./care.ts')).activityViews,
  audit: async () => (await import('./care.ts')).auditViews,
  replay: async () => (await import('./care.ts')).replayViews,
  usage: async () => (await import('./care.ts')).usageViews,
  dlq: async () => (await import('./care.ts')).deadLetterViews,
  backup: async () => (await import('./care.ts')).backupViews,
  governor: async () => (await import('./caution.ts')).governorViews,
  opinion: async () => (await import('./caution.ts')).opinionViews,
  plugin: async () => (await import('./plugins.ts')).pluginViews,
};

export async function findView<N extends OpName>(op: N): Promise<View<N>> {
  const load = Object.entries(viewFiles).find(([family]) => op.startsWith(`${family}.`))?.[1];
  const view = ((await load?.()) as Readonly<Partial<Record<OpName, unknown>>> | undefined)?.[op];
  if (view === undefined) throw new AppError('internal', `The operation ${op} has no view.`);
  return view as View<N>;
}
