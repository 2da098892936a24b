// Operations on the model's context: packs, pinned rules, summaries. Used by ops.ts.

import * as z from 'zod';
import { ruleScopeSchema } from './continuity-events.ts';
import { id } from './op-params.ts';
import { ruleTextMax } from './rule-form.ts';

export const ruleSchema = z.object({
  ruleId: z.string(),
  text: z.string(),
  scope: ruleScopeSchema,
  /** The session or the agent it holds for. */
  owner: z.string(),
  by: z.string(),
  atMs: z.number().int(),
});
export type PinnedRule = z.infer<typeof ruleSchema>;

const packRowSchema = z.object({
  packId: z.string(),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  atMs: z.number().int(),
  tokens: z.number().int(),
  budgetTokens: z.number().int(),
  dropped: z.number().int(),
  truncated: z.number().int(),
  model: z.string().nullable(),
  /** The server's own count; null if it was not asked or gave none. */
  inputTokens: z.number().int().nullable(),
  cachedInputTokens: z.number().int().nullable(),
});

export const contextOps = {
  /** Newest first. */
  'pack.list': {
    params: z.strictObject({ sessionId: id.optional(), limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ packs: z.array(packRowSchema) }),
  },
  /** For one session, or for all work of an agent; exactly one of them. Effective from the next model request. */
  'rule.pin': {
    params: z
      .strictObject({
        text: z.string().trim().min(1).max(ruleTextMax),
        sessionId: id.optional(),
        agentId: id.optional(),
        /** A rule of the same session or agent whose place it takes, in one step. */
        replaces: id.optional(),
      })
      .refine((target) => (target.sessionId === undefined) !== (target.agentId === undefined), 'name either a sessionId or an agentId'),
    result: ruleSchema,
  },
  /** A fork takes rules along under their ids: `sessionId` says where it is to go. */
  'rule.unpin': { params: z.strictObject({ ruleId: id, sessionId: id.optional() }), result: ruleSchema },
  /** All rules, or the rules of a session and its agent. Oldest first, as the model sees them. */
  'rule.list': { params: z.strictObject({ sessionId: id.optional() }), result: z.object({ rules: z.array(ruleSchema) }) },
  /** Summarises the messages before the last exchanges now. `summaryId` is null if there is nothing to summarise yet. */
  'session.compact': {
    params: z.strictObject({ sessionId: id }),
    result: z.object({
      summaryId: z.string().nullable(),
      text: z.string(),
      method: z.enum(['model', 'extract']).nullable(),
      messages: z.number().int(),
      tokens: z.number().int(),
    }),
  },
} as const;
