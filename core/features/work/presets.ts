// Resolves a task file, a strategy and a preset to the plan of the work, with its bounds. A preset only limits; it grants nothing. Pure.

import type { WorkFile, WorkPlan, presetNames } from '../../contracts/features/work.ts';
import { wholeBounds, type TurnBounds } from '../../contracts/turn-bounds.ts';

type Preset = (typeof presetNames)[number];

const MINUTE_MS = 60_000;
const TRIES = 3;
const CANDIDATES = 3;

interface PresetBounds {
  readonly kind: WorkPlan['kind'];
  readonly tries: number;
  readonly bounds: Partial<TurnBounds>;
  readonly usd?: number;
}

/** docs/guide/tasks.md contains the same table. */
export const presets: Readonly<Record<Preset, PresetBounds>> = {
  sdk: { kind: 'single', tries: 1, bounds: { turnMs: 10 * MINUTE_MS, depth: 0 } },
  long_running: { kind: 'evaluate', tries: 5, bounds: { turnMs: 120 * MINUTE_MS, depth: 1 } },
  supervised: { kind: 'human-gate', tries: 2, bounds: { grants: false, depth: 1 } },
  autonomous: { kind: 'evaluate', tries: 3, bounds: { depth: 1, unattended: { approvalMs: 30 * MINUTE_MS } } },
  orchestrated: { kind: 'evaluate', tries: 3, bounds: { depth: 3 } },
  scheduled: { kind: 'single', tries: 1, bounds: { grants: false, depth: 1, unattended: { approvalMs: 30 * MINUTE_MS } }, usd: 0.5 },
};

const usual: PresetBounds = { kind: 'evaluate', tries: TRIES, bounds: {} };

export interface PlanChoices {
  readonly strategy: WorkPlan['kind'] | undefined;
  readonly preset: Preset | undefined;
  readonly workspace: string | null;
}

export function planOf(task: WorkFile, { strategy: chosen, preset: named, workspace }: PlanChoices): WorkPlan {
  const preset = named ?? task.preset;
  const basis = preset === undefined ? usual : presets[preset];
  const given = typeof task.strategy === 'string' ? { kind: task.strategy } : (task.strategy ?? {});
  const wanted = { candidates: CANDIDATES, choose: 'judge' as const, models: [], ...basis, ...given };
  const kind = chosen ?? wanted.kind;
  return {
    kind,
    ...(kind === 'custom' && typeof task.strategy === 'object' ? { custom: task.strategy.name ?? '' } : {}),
    tries: kind === 'single' ? 1 : wanted.tries,
    candidates: kind === 'candidates' ? wanted.candidates : 0,
    choose: wanted.choose,
    models: wanted.models,
    judge: task.judge ?? null,
    agentId: task.agent ?? 'main',
    model: task.model ?? null,
    workspace,
    ...limitsOf(task.budget ?? {}, basis),
  };
}

function limitsOf(
  { usd, tokens, steps, minutes }: NonNullable<WorkFile['budget']>,
  { bounds, usd: most }: PresetBounds,
): Pick<WorkPlan, 'usd' | 'tokens' | 'bounds'> {
  const turnMs = least(minutes === undefined ? undefined : Math.round(minutes * MINUTE_MS), bounds.turnMs ?? undefined);
  return { usd: least(usd, most), tokens: tokens ?? null, bounds: { ...wholeBounds, ...bounds, steps: steps ?? null, turnMs } };
}

function least(one: number | undefined, other: number | undefined): number | null {
  if (one === undefined || other === undefined) return one ?? other ?? null;
  return Math.min(one, other);
}
