// The events of compaction: summaries of older messages, and rules that a person pinned.

import * as z from 'zod';
import { errorBodySchema } from './errors.ts';
import { usageSchema } from './llm.ts';

/** Positions in the session, both included. */
const coveredSchema = z.object({ fromSessionSeq: z.number().int(), toSessionSeq: z.number().int() });

/**
 * messages: there were too many messages without a summary. window: they filled their share of the context window. asked: a person
 * requested it.
 */
export const summaryReasonSchema = z.enum(['messages', 'window', 'asked']);
export type SummaryReason = z.infer<typeof summaryReasonSchema>;

export const ruleScopeSchema = z.enum(['session', 'agent']);
export type RuleScope = z.infer<typeof ruleScopeSchema>;

export const continuityEvents = {
  /** Stored durably before a model is called, so that a start after a crash resumes it. */
  'summary.started': z.object({ summaryId: z.string(), reason: summaryReasonSchema, model: z.string().nullable(), by: z.string() }),
  /** From now on the model sees the text instead of the messages it covers. The messages stay in the log. */
  'summary.written': z.object({
    summaryId: z.string(),
    text: z.string(),
    covers: coveredSchema,
    /** The earlier summary that this one includes and replaces. */
    replaces: z.string().nullable(),
    reason: summaryReasonSchema,
    /** model: a model wrote it. extract: it was assembled by rule, because no model could be called or none answered well. */
    method: z.enum(['model', 'extract']),
    /** Why it was assembled by rule. */
    fallback: z.string().optional(),
    model: z.string().nullable(),
    source: z.object({
      messages: z.number().int(),
      turns: z.number().int(),
      results: z.number().int(),
      tokens: z.number().int(),
      /** Messages that the summarizing model saw only in part. */
      shortened: z.number().int(),
    }),
    tokens: z.number().int(),
    keptMessages: z.number().int(),
    /** `missing`: facts of the last summary that the check did not find in this one. They are appended to it word for word. */
    quality: z.object({ ok: z.boolean(), checked: z.number().int(), missing: z.array(z.string()), repaired: z.boolean() }),
    modelCalls: z.number().int(),
    usage: usageSchema,
    costUsd: z.number().nullable(),
    tookMs: z.number(),
  }),
  'summary.failed': z.object({
    summaryId: z.string(),
    error: errorBodySchema,
    modelCalls: z.number().int(),
    model: z.string().nullable(),
    usage: usageSchema,
    costUsd: z.number().nullable(),
  }),

  /** Included word for word in every pack until it is unpinned. Rules of an agent are in the system session. */
  'rule.pinned': z.object({
    ruleId: z.string(),
    text: z.string(),
    scope: ruleScopeSchema,
    agentId: z.string().nullable(),
    by: z.string(),
  }),
  'rule.unpinned': z.object({ ruleId: z.string(), by: z.string() }),
} as const;
