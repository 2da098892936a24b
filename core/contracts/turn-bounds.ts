// The bounds of a turn, in addition to the policy rules: tools, places, steps, money, time. A bound only restricts and never allows a call.
// A turn cannot pass on more than it has.

import * as z from 'zod';
import { isInside } from '../base/inside-folder.ts';
import { naming } from './named-things.ts';
import { narrowOutsider, outsiderSchema } from './outsider.ts';
import { toolClassSchema } from './tools.ts';

const hostPattern = /^(\*\.)?(\[[0-9a-fA-F:.]+\]|[^:/@?#\s*[\]]+)$/;
export const toolName = naming('tool', z.string().min(1).max(64));
const entries = <T extends z.ZodType>(entry: T) => z.array(entry).max(1000).nullable();

export const planModeSchema = z.enum(['whole', 'steps']);
export type PlanMode = z.infer<typeof planModeSchema>;
/** The choice of a person for a session. */
export const planChoiceSchema = z.enum(['off', ...planModeSchema.options]);

/** The configuration of a session for its next turns. `planFirst` is absent if it does not change. */
export const configuredSchema = z.object({
  agentId: z.string(),
  model: z.string().nullable(),
  by: z.string(),
  planFirst: planChoiceSchema.optional(),
});

/** null means no bound of that kind; an empty list excludes everything. */
export const turnBoundsSchema = z.strictObject({
  tools: entries(toolName),
  classes: entries(toolClassSchema),
  /** Absolute real paths of folders in which and below which files may be written. */
  folders: entries(z.string().min(1)),
  /** Domains: `example.org` includes its subdomains, `*.example.org` means only the subdomains, an address or `localhost` means itself. */
  hosts: entries(z.string().regex(hostPattern, 'must be a domain such as example.org or *.example.org; no scheme, port or path')),
  steps: z.number().int().min(1).nullable(),
  turnMs: z.number().int().min(1).nullable(),
  usd: z.number().nonnegative().nullable(),
  tokens: z.number().int().nonnegative().nullable(),
  /** How many levels of subagents may be called; 0 for none. */
  depth: z.number().int().min(0).max(10),
  /** Whether grants and allow rules cover its calls. If not, every call that is not free needs an approval. */
  grants: z.boolean(),
  /** For an unattended turn: an approval that is still open after this time is denied. */
  unattended: z.strictObject({ approvalMs: z.number().int().min(1) }).nullable(),
  /** Only reads run until a person has approved a plan. With `steps`, each step needs an approval too. */
  planFirst: planModeSchema.optional(),
  /** Absent for a turn of the owner. */
  outsider: outsiderSchema.optional(),
});
export type TurnBounds = z.infer<typeof turnBoundsSchema>;

/** Excludes nothing; used as a starting point. */
export const wholeBounds: TurnBounds = {
  tools: null,
  classes: null,
  folders: null,
  hosts: null,
  steps: null,
  turnMs: null,
  usd: null,
  tokens: null,
  depth: 10,
  grants: true,
  unattended: null,
};

/** The declared bounds of an automatically started turn. They only restrict and approve nothing. */
export const jobBoundsSchema = z.strictObject({
  tools: z
    .array(naming('tool', z.string().min(1).max(100)))
    .max(200)
    .nullable()
    .default(null),
  classes: z.array(toolClassSchema).nullable().default(null),
  /** Folders that may be written. */
  folders: z.array(z.string().min(1).max(4096)).max(100).nullable().default(null),
  hosts: z.array(z.string().min(1).max(300)).max(200).nullable().default(null),
  steps: z.number().int().min(1).max(1000).nullable().default(null),
  turnMs: z.number().int().min(1000).max(86_400_000).nullable().default(null),
  usd: z.number().nonnegative().nullable().default(null),
  tokens: z.number().int().positive().nullable().default(null),
  /** Whether grants that hold until revoked also apply. */
  grants: z.boolean().default(false),
});
export type JobBounds = z.infer<typeof jobBoundsSchema>;

/** The bounds in config.yaml of automatically started turns. They can only narrow the usual bounds. */
export const narrowedSettings = {
  /** The only tools that it may use. */
  tools: z.array(toolName).max(200).optional(),
  /** The maximum for each turn. */
  perTurnUsd: z.number().nonnegative().optional(),
};

/** Parses the bounds in config.yaml. */
export function jobBoundsOf(given: {
  readonly tools?: readonly string[] | undefined;
  readonly perTurnUsd?: number | undefined;
}): JobBounds {
  return jobBoundsSchema.parse({ tools: given.tools ?? null, usd: given.perTurnUsd ?? null });
}

/** The maximum depth of subagents called by an unattended turn. */
const UNATTENDED_DEPTH = 1;

/** Converts declared bounds to the bounds of an unattended turn. */
export function unattendedBounds(job: JobBounds, approvalMs: number): TurnBounds {
  return { ...wholeBounds, ...job, depth: UNATTENDED_DEPTH, unattended: { approvalMs } };
}

/** The intersection of two bounds. No field exceeds either of them. */
export function narrow(parent: TurnBounds, wanted: TurnBounds): TurnBounds {
  return {
    tools: common(parent.tools, wanted.tools, isSame),
    classes: common(parent.classes, wanted.classes, isSame),
    folders: common(parent.folders, wanted.folders, isInside),
    hosts: common(parent.hosts, wanted.hosts, isWithinHost),
    steps: least(parent.steps, wanted.steps),
    turnMs: least(parent.turnMs, wanted.turnMs),
    usd: least(parent.usd, wanted.usd),
    tokens: least(parent.tokens, wanted.tokens),
    depth: Math.min(parent.depth, wanted.depth),
    grants: parent.grants && wanted.grants,
    unattended: soonest(parent.unattended, wanted.unattended),
    ...withPlanMode(parent.planFirst === 'steps' ? 'steps' : (wanted.planFirst ?? parent.planFirst)),
    ...narrowOutsider(parent.outsider, wanted.outsider),
  };
}

export function withoutPlan({ planFirst: _plan, ...bounds }: TurnBounds): TurnBounds {
  return bounds;
}

function withPlanMode(mode: PlanMode | null | undefined): Pick<TurnBounds, 'planFirst'> {
  return mode === undefined || mode === null ? {} : { planFirst: mode };
}

/** The entries of either list that the other list contains as well. Two entries are either nested or disjoint. */
function common<T>(a: readonly T[] | null, b: readonly T[] | null, isWithin: (one: T, other: T) => boolean): T[] | null {
  if (a === null || b === null) return a === null ? (b === null ? null : [...b]) : [...a];
  const inner = [
    ...a.filter((one) => b.some((other) => isWithin(one, other))),
    ...b.filter((one) => a.some((other) => isWithin(one, other))),
  ];
  return [...new Set(inner)];
}

function isSame<T>(one: T, other: T): boolean {
  return one === other;
}

function isWithinHost(one: string, other: string): boolean {
  const [inner, outer] = [parseHost(one), parseHost(other)];
  if (inner.name === outer.name) return inner.onlyBelow || !outer.onlyBelow;
  return !outer.isLiteral && inner.name.endsWith(`.${outer.name}`);
}

function parseHost(pattern: string): { readonly name: string; readonly onlyBelow: boolean; readonly isLiteral: boolean } {
  const onlyBelow = pattern.startsWith('*.');
  const name = (onlyBelow ? pattern.slice(2) : pattern).toLowerCase();
  return { name, onlyBelow, isLiteral: name === 'localhost' || name.startsWith('[') || /^\d+(?:\.\d+){3}$/.test(name) };
}

function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}

function soonest(a: TurnBounds['unattended'], b: TurnBounds['unattended']): TurnBounds['unattended'] {
  if (a === null || b === null) return a ?? b;
  return { approvalMs: Math.min(a.approvalMs, b.approvalMs) };
}
