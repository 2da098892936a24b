// The gate's vocabulary: requests, decisions with a rule id and a reason, approvals, grants, panic, budgets.

import * as z from 'zod';
import { callFactsSchema, commandBindingSchema, taintSourceSchema, toolClassSchema } from './tools.ts';

export const decisionKindSchema = z.enum(['allow', 'ask', 'deny']);
export type DecisionKind = z.infer<typeof decisionKindSchema>;

export const policyDecisionSchema = z.object({
  decision: decisionKindSchema,
  ruleId: z.string(),
  /** A sentence for people. */
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

/** The calls that a grant covers. Every form names the tool. None covers a protected path. */
export const grantMatchSchema = z.discriminatedUnion('kind', [
  /** Exactly the same arguments; with `factsHash` also exactly the same facts. */
  z.strictObject({ kind: z.literal('exact'), tool: z.string(), argsHash: z.string(), factsHash: z.string().optional() }),
  /** Writing in one folder and below. */
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
   * A plain command that begins with these words, with any arguments that do not change its effect, in the same folder with identical
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
  /** Requests to exactly one host. */
  z.strictObject({ kind: z.literal('host'), tool: z.string(), host: z.string() }),
  /** A folder, with everything below, that sessions may use as their workspace, as long as it is the same folder. Covers no call. */
  z.strictObject({ kind: z.literal('workspace'), tool: z.literal('open_workspace'), folder: z.string(), identity: z.string() }),
]);
export type GrantMatch = z.infer<typeof grantMatchSchema>;

export const grantSchema = z.object({
  grantId: z.string(),
  scope: grantScopeSchema,
  match: grantMatchSchema,
  /** Describes the scope, such as "write files in notes/". */
  covers: z.string(),
  sessionId: z.string(),
  approvalId: z.string(),
  createdAtMs: z.number().int(),
  expiresAtMs: z.number().int().nullable(),
  revokedAtMs: z.number().int().nullable(),
  spentAtMs: z.number().int().nullable(),
  /**
   * Keys (`kind:where`) of the untrusted sources that the person knew about when approving. The grant does not cover calls that derive from
   * other sources.
   */
  seenTaint: z.array(z.string()).optional(),
  /** The values from which the bindings hash of the match was computed, so that later changes can be named. */
  bindings: z.array(commandBindingSchema).optional(),
});
export type Grant = z.infer<typeof grantSchema>;

/** A grant with its use: the number of calls that ran on it, and the start of the last one. */
export const grantListingSchema = grantSchema.extend({ uses: z.number().int().nonnegative(), lastUsedAtMs: z.number().int().nullable() });
export type GrantListing = z.infer<typeof grantListingSchema>;

/** The `approvalId` of a grant without an approval: a command of policy.allowCommands that ran for the first time. */
export const configApprovalId = 'config';

/** The value of `by` for a denial by timeout. */
export const timedOut = 'timeout';

export const approvalStateSchema = z.enum(['pending', 'approved', 'denied', 'withdrawn']);

/** A scope wider than once that can be chosen for a call, with a description such as "`git status` in the workspace". */
export const grantChoiceSchema = z.object({ match: grantMatchSchema, covers: z.string() });
export type GrantChoice = z.infer<typeof grantChoiceSchema>;

/** The origin of a call: the channel of its turn, the agent, and the untrusted sources that it may be following. */
export const callOriginSchema = z.object({
  channel: z.string(),
  agentId: z.string(),
  taint: z.array(taintSourceSchema),
  /** Present if the agent is a subagent: a short form of its task, and the agent, session and turn that called it. */
  helper: z.object({ jobId: z.string(), label: z.string(), agentId: z.string(), sessionId: z.string(), turnId: z.string() }).optional(),
});
export type CallOrigin = z.infer<typeof callOriginSchema>;

export const approvalSchema = z.object({
  approvalId: z.string(),
  callId: z.string(),
  tool: z.string(),
  /** For example "Wants to write notes.md (1.2 kB)". */
  summary: z.string(),
  risk: z.string(),
  reason: z.string(),
  ruleId: z.string(),
  facts: callFactsSchema,
  /** The exact arguments as JSON text. The approval covers exactly these. */
  args: z.string(),
  /** Describes the calls that a scope wider than once would cover; null if only once is possible. */
  widerScope: z.string().nullable(),
  /** All wider scopes that can be chosen, narrowest first. `widerScope` describes the first of them. */
  choices: z.array(grantChoiceSchema).optional(),
  origin: callOriginSchema.optional(),
  createdAtMs: z.number().int(),
  /** For an unattended turn: an approval that is still open at this time is denied. */
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
  /** The number of processes that the stop ended. */
  killed: z.number().int().nonnegative(),
  /** From the operation to the end of the last process, in milliseconds; null if no process was running. */
  tookMs: z.number().nullable(),
});
export type PanicStatus = z.infer<typeof panicStatusSchema>;

export const budgetScopeSchema = z.enum(['turn', 'session', 'day']);
export type BudgetScope = z.infer<typeof budgetScopeSchema>;

/** The limits that a call may exceed. `call` has no accumulated sum, so nothing can be added to its limit. */
export const budgetLimitScopeSchema = z.enum(['call', ...budgetScopeSchema.options]);
export type BudgetLimitScope = z.infer<typeof budgetLimitScopeSchema>;

export const budgetUnitSchema = z.enum(['usd', 'tokens']);
export type BudgetUnit = z.infer<typeof budgetUnitSchema>;

/** One limit and its state. */
export const budgetStateSchema = z.object({
  scope: budgetScopeSchema,
  unit: budgetUnitSchema,
  /** The effective limit: `configured` plus the amount that a person added; null for no limit. */
  limit: z.number().nullable(),
  configured: z.number().nullable(),
  spent: z.number(),
  /** Reserved for model calls in progress. */
  reserved: z.number(),
  /** Some calls had no known price, so `spent` in US dollars is a lower bound. */
  unknownCost: z.boolean(),
});
export type BudgetState = z.infer<typeof budgetStateSchema>;
