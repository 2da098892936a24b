// The gate's vocabulary: requests, decisions with a rule id and a reason, approvals, grants, panic, budgets.

import * as z from 'zod';
import { callFactsSchema, commandBindingSchema, taintSourceSchema, toolClassSchema } from './tools.ts';

export const decisionKindSchema = z.enum(['allow', 'ask', 'deny']);
export type DecisionKind = z.infer<typeof decisionKindSchema>;

export const policyDecisionSchema = z.object({
  decision: decisionKindSchema,
  ruleId: z.string(),
  /** A sentence a person understands. */
  reason: z.string(),
  class: toolClassSchema,
  facts: callFactsSchema,
});
export type PolicyDecision = z.infer<typeof policyDecisionSchema>;

export const grantScopeSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('once') }),
  z.strictObject({ kind: z.literal('minutes'), minutes: z.number().int().min(1).max(1440) }),
  z.strictObject({ kind: z.literal('session') }),
  z.strictObject({ kind: z.literal('always') }),
]);
export type GrantScope = z.infer<typeof grantScopeSchema>;

/** The calls a grant covers. Every form names the tool; none covers a protected path. */
export const grantMatchSchema = z.discriminatedUnion('kind', [
  /** The very same arguments; with `factsHash` also touching the very same things. */
  z.strictObject({ kind: z.literal('exact'), tool: z.string(), argsHash: z.string(), factsHash: z.string().optional() }),
  /** Writing inside one folder and below. */
  z.strictObject({ kind: z.literal('folder'), tool: z.string(), folder: z.string() }),
  /** Changing files anywhere in one folder and below, with any tool. */
  z.strictObject({ kind: z.literal('writes'), tool: z.literal('*'), folder: z.string() }),
  /** The identical command line in the same folder; with `bindingsHash` also with identical bindings. */
  z.strictObject({
    kind: z.literal('command'),
    tool: z.string(),
    line: z.string(),
    cwd: z.string(),
    bindingsHash: z.string().optional(),
  }),
  /**
   * A plain command that begins with these words, with any arguments that do not change what it does, in the same folder with identical
   * bindings.
   */
  z.strictObject({
    kind: z.literal('family'),
    tool: z.string(),
    family: z.array(z.string()).min(1),
    cwd: z.string(),
    bindingsHash: z.string(),
  }),
  /** Read-only git commands (status, diff, log, show and similar), in the same folder with identical bindings. */
  z.strictObject({ kind: z.literal('git-reads'), tool: z.string(), cwd: z.string(), bindingsHash: z.string() }),
  /** Requests to one host and no other. */
  z.strictObject({ kind: z.literal('host'), tool: z.string(), host: z.string() }),
  /** A folder, with everything below, that sessions may use as their workspace, as long as it is the same folder. Covers no call. */
  z.strictObject({ kind: z.literal('workspace'), tool: z.literal('open_workspace'), folder: z.string(), identity: z.string() }),
]);
export type GrantMatch = z.infer<typeof grantMatchSchema>;

export const grantSchema = z.object({
  grantId: z.string(),
  scope: grantScopeSchema,
  match: grantMatchSchema,
  /** Describes the scope: "write files in notes/". */
  covers: z.string(),
  sessionId: z.string(),
  approvalId: z.string(),
  createdAtMs: z.number().int(),
  expiresAtMs: z.number().int().nullable(),
  revokedAtMs: z.number().int().nullable(),
  spentAtMs: z.number().int().nullable(),
  /** Keys (`kind:where`) of the untrusted sources the person knew of when saying yes. The grant covers nothing that came from another. */
  seenTaint: z.array(z.string()).optional(),
  /** The values that the bindings hash of the match was made of, so that changes since then can be named. */
  bindings: z.array(commandBindingSchema).optional(),
});
export type Grant = z.infer<typeof grantSchema>;

/** A grant with its use: how many calls ran on it, and when the last of them began. */
export const grantListingSchema = grantSchema.extend({ uses: z.number().int().nonnegative(), lastUsedAtMs: z.number().int().nullable() });
export type GrantListing = z.infer<typeof grantListingSchema>;

/** `approvalId` of a grant that no question led to: a command of policy.allowCommands that ran for the first time. */
export const configApprovalId = 'config';

/** `by` of a denial by timeout. */
export const timedOut = 'timeout';

export const approvalStateSchema = z.enum(['pending', 'approved', 'denied', 'withdrawn']);

/** A scope wider than once that can be chosen for a call, with a description: "`git status` in the workspace". */
export const grantChoiceSchema = z.object({ match: grantMatchSchema, covers: z.string() });
export type GrantChoice = z.infer<typeof grantChoiceSchema>;

/** The origin of a call: the channel of its turn, the agent, and the untrusted sources it may be following. */
export const callOriginSchema = z.object({
  channel: z.string(),
  agentId: z.string(),
  taint: z.array(taintSourceSchema),
  /** The agent is a helper: its task in short, and the agent, session and turn that called it. */
  helper: z.object({ jobId: z.string(), label: z.string(), agentId: z.string(), sessionId: z.string(), turnId: z.string() }).optional(),
});
export type CallOrigin = z.infer<typeof callOriginSchema>;

export const approvalSchema = z.object({
  approvalId: z.string(),
  callId: z.string(),
  tool: z.string(),
  /** "Wants to write notes.md (1.2 KB)". */
  summary: z.string(),
  /** Describes the risk. */
  risk: z.string(),
  reason: z.string(),
  ruleId: z.string(),
  facts: callFactsSchema,
  /** The exact arguments as JSON text; the approval covers exactly these. */
  args: z.string(),
  /** Describes what a wider scope than once would cover; null if only once can be given. */
  widerScope: z.string().nullable(),
  /** All wider scopes that can be chosen, narrowest first; `widerScope` is the first of them. */
  choices: z.array(grantChoiceSchema).optional(),
  origin: callOriginSchema.optional(),
  createdAtMs: z.number().int(),
  /** The turn is unattended: if still open by then, it is denied. */
  dueAtMs: z.number().int().optional(),
  sessionId: z.string(),
  turnId: z.string().optional(),
  state: approvalStateSchema,
  decidedAtMs: z.number().int().nullable(),
  decidedBy: z.string().nullable(),
  scope: grantScopeSchema.nullable(),
});
export type Approval = z.infer<typeof approvalSchema>;

export const panicStatusSchema = z.object({
  engaged: z.boolean(),
  sinceMs: z.number().int().nullable(),
  reason: z.string().nullable(),
  /** Processes ended by the stop. */
  killed: z.number().int().nonnegative(),
  /** From the operation to the end of the last process, milliseconds; null when nothing ran. */
  tookMs: z.number().nullable(),
});
export type PanicStatus = z.infer<typeof panicStatusSchema>;

export const budgetScopeSchema = z.enum(['turn', 'session', 'day']);
export type BudgetScope = z.infer<typeof budgetScopeSchema>;

/** Limits that may be in the way: of one model call there is no sum, and nothing to allow on top. */
export const budgetLimitScopeSchema = z.enum(['call', ...budgetScopeSchema.options]);
export type BudgetLimitScope = z.infer<typeof budgetLimitScopeSchema>;

export const budgetUnitSchema = z.enum(['usd', 'tokens']);
export type BudgetUnit = z.infer<typeof budgetUnitSchema>;

/** One limit and its state. */
export const budgetStateSchema = z.object({
  scope: budgetScopeSchema,
  unit: budgetUnitSchema,
  /** The effective limit: `configured` and what a person added; null for no limit. */
  limit: z.number().nullable(),
  configured: z.number().nullable(),
  spent: z.number(),
  /** Kept aside for model calls under way. */
  reserved: z.number(),
  /** Some calls had no known price: `spent` in US dollars is a lower bound. */
  unknownCost: z.boolean(),
});
export type BudgetState = z.infer<typeof budgetStateSchema>;
