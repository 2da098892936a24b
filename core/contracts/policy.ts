// The gate's vocabulary: requests, decisions with a rule id and a reason, approvals, grants, panic, budgets.

import * as z from 'zod';
import { callFactsSchema, toolClassSchema } from './tools.ts';

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

/** What a grant covers. Every form names the tool; none covers a protected path. */
export const grantMatchSchema = z.discriminatedUnion('kind', [
  /** The very same arguments; with `factsHash` also touching the very same things. */
  z.strictObject({ kind: z.literal('exact'), tool: z.string(), argsHash: z.string(), factsHash: z.string().optional() }),
  /** Writing inside one folder and below. */
  z.strictObject({ kind: z.literal('folder'), tool: z.string(), folder: z.string() }),
  /** The very same command line in the same folder. */
  z.strictObject({ kind: z.literal('command'), tool: z.string(), line: z.string(), cwd: z.string() }),
]);
export type GrantMatch = z.infer<typeof grantMatchSchema>;

export const grantSchema = z.object({
  grantId: z.string(),
  scope: grantScopeSchema,
  match: grantMatchSchema,
  /** The scope in words: "write files in notes/". */
  covers: z.string(),
  sessionId: z.string(),
  approvalId: z.string(),
  createdAtMs: z.number().int(),
  expiresAtMs: z.number().int().nullable(),
  revokedAtMs: z.number().int().nullable(),
  spentAtMs: z.number().int().nullable(),
});
export type Grant = z.infer<typeof grantSchema>;

export const approvalStateSchema = z.enum(['pending', 'approved', 'denied', 'withdrawn']);

export const approvalSchema = z.object({
  approvalId: z.string(),
  callId: z.string(),
  tool: z.string(),
  /** "Wants to write notes.md (1.2 KB)". */
  summary: z.string(),
  /** The risk in words. */
  risk: z.string(),
  reason: z.string(),
  ruleId: z.string(),
  facts: callFactsSchema,
  /** The exact arguments as JSON text; what is approved is exactly this. */
  args: z.string(),
  /** What a wider scope than once would cover, in words; null where only once can be given. */
  widerScope: z.string().nullable(),
  createdAtMs: z.number().int(),
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
  /** From the op to the last death, milliseconds; null when nothing ran. */
  tookMs: z.number().nullable(),
});
export type PanicStatus = z.infer<typeof panicStatusSchema>;

export const budgetScopeSchema = z.enum(['turn', 'session', 'day']);
export type BudgetScope = z.infer<typeof budgetScopeSchema>;
