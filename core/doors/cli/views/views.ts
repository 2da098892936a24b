// The list of handwritten views. The types require one for every operation that is a command and whose form does not show its result. A
// file is loaded when one of its views is used.

import type { CommandOp, ViewedOp } from '../../../contracts/op-forms.ts';
import type { OpName } from '../../../contracts/ops.ts';
import type { FamilyOf, View, ViewsOf } from '../kernel/view.ts';

type Load<Family extends string> = () => Promise<ViewsOf<Family>>;

const viewFiles: { readonly [F in FamilyOf<ViewedOp>]: Load<F> } & { readonly [F in FamilyOf<CommandOp>]?: Load<F> } = {
  turn: async () => (await import('./turns.ts')).turnViews,
  pack: async () => (await import('./turns.ts')).packViews,
  rule: async () => (await import('./turns.ts')).ruleViews,
  artifact: async () => (await import('./tools.ts')).artifactViews,
  session: async () => (await import('./sessions.ts')).sessionViews,
  approval: async () => (await import('./gate.ts')).approvalViews,
  grant: async () => (await import('./gate.ts')).grantViews,
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
  eval: async () => (await import('./evals.ts')).evalViews,
  pipeline: async () => (await import('./pipelines.ts')).pipelineViews,
  work: async () => (await import('./work.ts')).workViews,
  schedule: async () => (await import('./schedules.ts')).scheduleViews,
  heartbeat: async () => (await import('./schedules.ts')).heartbeatViews,
  signal: async () => (await import('./doors.ts')).signalViews,
  telegram: async () => (await import('./channels.ts')).telegramViews,
  chat: async () => (await import('./channels.ts')).chatViews,
  outbox: async () => (await import('./channels.ts')).outboxViews,
  engine: async () => (await import('./settings.ts')).engineViews,
  prices: async () => (await import('./settings.ts')).pricesViews,
  model: async () => (await import('./settings.ts')).modelViews,
  config: async () => (await import('./settings.ts')).configViews,
  secret: async () => (await import('./settings.ts')).secretViews,
  audit: async () => (await import('./care.ts')).auditViews,
  replay: async () => (await import('./care.ts')).replayViews,
  running: async () => (await import('./care.ts')).runningViews,
  checkpoint: async () => (await import('./care.ts')).checkpointViews,
  usage: async () => (await import('./care.ts')).usageViews,
  dlq: async () => (await import('./care.ts')).deadLetterViews,
  backup: async () => (await import('./care.ts')).backupViews,
  governor: async () => (await import('./caution.ts')).governorViews,
  opinion: async () => (await import('./caution.ts')).opinionViews,
  door: async () => (await import('./doors.ts')).doorViews,
  telemetry: async () => (await import('./care.ts')).telemetryViews,
  plugin: async () => (await import('./doors.ts')).pluginViews,
  a2a: async () => (await import('./doors.ts')).a2aViews,
  report: async () => (await import('./care.ts')).reportViews,
  project: async () => (await import('./project.ts')).projectViews,
  worktree: async () => (await import('./project.ts')).worktreeViews,
  mcp: async () => (await import('./mcp.ts')).mcpViews,
};

/** Null if the operation has no view. */
export async function findView<N extends OpName>(op: N): Promise<View<N> | null> {
  const load = Object.entries(viewFiles).find(([family]) => op.startsWith(`${family}.`))?.[1];
  const views = (await load?.()) as Readonly<Partial<Record<OpName, unknown>>> | undefined;
  return (views?.[op] as View<N> | undefined) ?? null;
}
