// Operations on the model's context: packs, pinned rules, summaries. Used by ops.ts.

import * as z from 'zod';
import { defineOps, id, most, sessionName } from './define-ops.ts';
import { ruleScopeSchema } from './continuity-events.ts';
import { ruleTextMax } from './rule-form.ts';

export const ruleSchema = z.object({
  ruleId: z.string(),
  text: z.string(),
  scope: ruleScopeSchema,
  /** The session or the agent for which the rule holds. */
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
  /** The count reported by the server; null if there was no request or no count. */
  inputTokens: z.number().int().nullable(),
  cachedInputTokens: z.number().int().nullable(),
});

export const contextOps = defineOps({
  /** Newest first. */
  'pack.list': {
    params: z.strictObject({ sessionId: sessionName.optional(), limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ packs: z.array(packRowSchema) }),
    about: 'list the requests to models, newest first',
    shows: {
      each: 'packs',
      columns: {
        PACK: 'packId',
        WHEN: 'atMs',
        MODEL: 'model',
        TOKENS: 'tokens',
        OF: 'budgetTokens',
        REPORTED: 'inputTokens',
        CACHED: 'cachedInputTokens',
        'LEFT OUT': 'dropped',
        SHORTENED: 'truncated',
      },
      none: 'No packs.',
    },
    commands: { 'packs list': { options: { sessionId: 'those of this session', limit: most }, example: '--limit 5' } },
  },
  /** For one session, or for all work of an agent; exactly one of the two. Effective from the next model request. */
  'rule.pin': {
    params: z
      .strictObject({
        text: z.string().trim().min(1).max(ruleTextMax),
        sessionId: id.optional(),
        agentId: id.optional(),
        /** A rule of the same session or agent that this one replaces in one step. */
        replaces: id.optional(),
      })
      .refine((target) => (target.sessionId === undefined) !== (target.agentId === undefined), 'name either a sessionId or an agentId'),
    result: ruleSchema,
    about: 'pin a rule for an agent (main by default) or for one session; the model sees it in every request',
    shows: 'Pinned as {ruleId}.',
    commands: {
      'rules pin': {
        takes: ['text...'],
        options: {
          sessionId: 'for this session',
          agentId: 'for this agent; main by default',
          replaces: { flag: 'replace <id>', about: 'in place of this rule of the same session or agent' },
        },
        example: 'Answer in metric units.',
      },
    },
  },
  /** A fork copies rules with their ids, so `sessionId` says where the rule is unpinned. */
  'rule.unpin': {
    params: z.strictObject({ ruleId: id, sessionId: id.optional() }),
    result: ruleSchema,
    about: 'unpin a rule',
    shows: 'No longer pinned: {text}',
    commands: {
      'rules unpin': {
        takes: ['ruleId'],
        options: { sessionId: 'only in this session, a fork that took the rule along' },
        example: 'rul_01JD7Q',
      },
    },
  },
  /** All rules, or the rules of a session and its agent. Oldest first, as the model sees them. */
  'rule.list': {
    params: z.strictObject({ sessionId: id.optional() }),
    result: z.object({ rules: z.array(ruleSchema) }),
    about: 'list the pinned rules, oldest first',
    shows: {
      each: 'rules',
      columns: { RULE: 'ruleId', FOR: '{scope} {owner}', BY: 'by', SINCE: 'atMs', TEXT: 'text' },
      none: 'No rules are pinned.',
    },
    commands: { 'rules list': { options: { sessionId: 'those that hold in this session' }, example: '' } },
  },
  /** Summarizes the messages before the most recent exchanges now. `summaryId` is null if there is nothing to summarize yet. */
  'session.compact': {
    params: z.strictObject({ sessionId: id }),
    result: z.object({
      summaryId: z.string().nullable(),
      text: z.string(),
      method: z.enum(['model', 'extract']).nullable(),
      messages: z.number().int(),
      tokens: z.number().int(),
    }),
    about: 'summarize the older messages now',
    commands: { 'sessions compact': { takes: ['sessionId'], example: 'last' } },
  },
});
