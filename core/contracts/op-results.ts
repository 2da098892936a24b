// The results of operations that have more than a few fields.

import * as z from 'zod';
import { fileChangeSchema } from './checkpoints.ts';
import { packPartSchema, phaseSchema, turnStatusSchema } from './events.ts';
import { errorBodySchema } from './errors.ts';
import { usageSchema } from './llm.ts';
import { artifactRefSchema, callFactsSchema, toolOutcomeSchema } from './tools.ts';
import { planModeSchema } from './turn-bounds.ts';

export const sessionInfoSchema = z.object({
  sessionId: z.string(),
  title: z.string(),
  agentId: z.string(),
  channel: z.string(),
  archived: z.boolean(),
  createdAtMs: z.number().int(),
  updatedAtMs: z.number().int(),
  lastText: z.string(),
  events: z.number().int(),
  /** Status of the newest turn; null if there is none. */
  status: turnStatusSchema.nullable(),
  pendingApprovals: z.number().int(),
  pinned: z.boolean(),
  /** The number of ends and approvals of turns since a person last read or wrote. */
  unread: z.number().int(),
  /** The global log position up to which a person has seen the session. */
  seenSeq: z.number().int(),
  /** The model chosen for this session; null for the default model. */
  model: z.string().nullable(),
  /** The folder that it works in; null for the configured workspace. */
  workspace: z.string().nullable(),
  /** Its turns may only read until a plan is approved; null for ordinary turns. */
  planFirst: planModeSchema.nullable(),
});
export type SessionInfo = z.infer<typeof sessionInfoSchema>;

/** An open approval of a turn: the exact call with its facts, and texts for people. */
export const pendingSchema = z.object({
  approvalId: z.string(),
  tool: z.string(),
  /** JSON. */
  args: z.string(),
  facts: callFactsSchema,
  summary: z.string(),
  risk: z.string(),
});

export const askResultSchema = z.object({
  sessionId: z.string(),
  turnId: z.string(),
  status: turnStatusSchema,
  text: z.string(),
  usage: usageSchema.extend({ costUsd: z.number().nullable() }),
  error: errorBodySchema.optional(),
  pending: z.array(pendingSchema).optional(),
  /** The earlier turn of the session whose approvals are `pending`, if this one comes after it. */
  behind: z.string().optional(),
});
export type AskResult = z.infer<typeof askResultSchema>;

export const turnCallSchema = z.object({
  callId: z.string(),
  tool: z.string(),
  args: z.string(),
  summary: z.string(),
  decision: z.string().nullable(),
  ruleId: z.string().nullable(),
  reason: z.string().nullable(),
  outcome: z.union([toolOutcomeSchema, z.enum(['waiting', 'running', 'proposed'])]),
  forUser: z.string(),
  forModel: z.string(),
  tookMs: z.number().nullable(),
  artifacts: z.array(artifactRefSchema),
});
export type TurnCall = z.infer<typeof turnCallSchema>;

export const turnViewSchema = z.object({
  turnId: z.string(),
  sessionId: z.string(),
  status: turnStatusSchema,
  text: z.string(),
  error: errorBodySchema.nullable(),
  startedAtMs: z.number().int(),
  finishedAtMs: z.number().int().nullable(),
  model: z.string().nullable(),
  phases: z.array(z.object({ phase: phaseSchema, atMs: z.number().int(), events: z.number().int() })),
  calls: z.array(turnCallSchema),
  decisions: z.array(z.object({ step: z.number().int(), phase: phaseSchema.nullable(), intent: z.string(), reason: z.string() })),
  packs: z.array(z.string()),
  /** The models that were called, in order. `reason` is present if a route chose the model, `error` if it gave no answer. */
  requests: z
    .array(
      z.object({
        requestId: z.string(),
        model: z.string(),
        route: z.string().nullable(),
        reason: z.string().nullable(),
        passed: z.array(z.object({ model: z.string(), reason: z.string() })),
        error: z.string().nullable(),
      }),
    )
    .optional(),
  usage: usageSchema,
  costUsd: z.number().nullable(),
  /** The turn that ran the same message again. This turn is then no longer part of the conversation. */
  supersededBy: z.string().nullable(),
});
export type TurnDetails = z.infer<typeof turnViewSchema>;

export const packViewSchema = z.object({
  packId: z.string(),
  turnId: z.string(),
  tokens: z.number().int(),
  budgetTokens: z.number().int(),
  sections: z.array(z.object({ name: z.string(), tokens: z.number().int(), items: z.number().int() })),
  dropped: z.array(z.object({ what: z.string(), count: z.number().int(), tokens: z.number().int(), reason: z.string() })),
  truncated: z.array(z.object({ what: z.string(), fromTokens: z.number().int(), toTokens: z.number().int(), reason: z.string() })),
  messages: z.array(z.object({ role: z.string(), text: z.string() })),
  /** Parts from memory, documents, skills and identity. */
  parts: z.array(packPartSchema).optional(),
  /** The server's count of the request, and its cached part; null until reported. */
  reported: z.object({ inputTokens: z.number().int(), cachedInputTokens: z.number().int() }).nullable().optional(),
  /** The texts of its sections. then: word for word, from the log. now: the current text, because the log contains only its size. */
  texts: z.array(z.object({ section: z.string(), text: z.string(), asOf: z.enum(['then', 'now']) })).optional(),
  /** The summary at its beginning, and the messages that this summary covers, including earlier summaries; null if there is none. */
  summary: z
    .object({
      summaryId: z.string(),
      text: z.string(),
      method: z.enum(['model', 'extract']),
      tokens: z.number().int(),
      messages: z.number().int(),
      atMs: z.number().int(),
      fromAtMs: z.number().int(),
      toAtMs: z.number().int(),
    })
    .nullable()
    .optional(),
});

/** A pack that is not sent. */
export const packPreviewSchema = packViewSchema
  .omit({ packId: true, turnId: true, reported: true, summary: true })
  .extend({ model: z.string() });

export const unknownOutcomeSchema = z.object({
  callId: z.string(),
  tool: z.string(),
  args: z.string(),
  reason: z.string(),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  atMs: z.number().int(),
  /** The tool itself said so; the call can then not be run again. */
  reported: z.boolean(),
});

export const artifactInfoSchema = artifactRefSchema.extend({
  aliases: z.array(z.string()),
  createdAtMs: z.number().int(),
  sessionId: z.string().nullable(),
  /** The turn whose call produced it; null if it has another origin. */
  turnId: z.string().nullable(),
});

const percentilesSchema = z.object({ p50: z.number(), p95: z.number() });

export const usageRowSchema = z.object({
  key: z.string(),
  turns: z.number().int(),
  modelCalls: z.number().int(),
  inputTokens: z.number().int(),
  outputTokens: z.number().int(),
  cachedInputTokens: z.number().int(),
  /** Sum of the known costs. Null if no cost is known although some calls had one. */
  costUsd: z.number().nullable(),
  unknownCostCalls: z.number().int(),
  /** For the calls that finished, accurate to 5 %: total time, and time to the first token. */
  tookMs: percentilesSchema.nullable(),
  firstTokenMs: percentilesSchema.nullable(),
});

export const modelListingSchema = z.object({
  ref: z.string(),
  provider: z.string(),
  kind: z.string(),
  isDefault: z.boolean(),
  /** "configured", or how it was found. */
  source: z.string(),
  contextTokens: z.number().int(),
  /** US dollars; null if unknown. */
  inputUsdPerMillion: z.number().nullable(),
  outputUsdPerMillion: z.number().nullable(),
  /** Named in config.yaml, but not among the models that its server offers. */
  missing: z.boolean().optional(),
});

/** The store of secrets; `none` if neither a keychain nor a vault is available. */
export const secretStatusSchema = z.object({
  store: z.enum(['keychain', 'vault', 'none']),
  locked: z.boolean(),
  /** Whether a vault exists, whether it is used or not. The first `secret.unlock` creates it. */
  hasVault: z.boolean(),
  detail: z.string(),
});

export const sandboxExplanationSchema = z.object({
  mode: z.enum(['off', 'auto', 'required']),
  backend: z.object({ name: z.string(), how: z.string() }).nullable(),
  available: z.boolean(),
  missing: z.array(z.object({ what: z.string(), install: z.string() })),
  /** How the command would run; null if none was named. */
  command: z.object({ runs: z.enum(['inside', 'outside', 'refused']), reason: z.string() }).nullable(),
  files: z.object({
    write: z.array(z.string()),
    /** Parts of hidden folders that are still readable. The rest of the machine is readable anyway. */
    read: z.array(z.string()),
    hidden: z.array(z.string()),
    deny: z.array(z.string()),
    /** Describes the protected places below the writable folders. */
    protected: z.array(z.string()),
  }),
  network: z.object({ allowDomains: z.array(z.string()) }),
  /** Names of the variables that it sees, besides HOME, TMPDIR and the marker by which the panic stop finds it. */
  environment: z.array(z.string()),
  limits: z.array(z.object({ name: z.string(), value: z.number(), how: z.string(), holds: z.boolean() })),
});

export const checkpointSchema = z.object({
  callId: z.string(),
  sessionId: z.string(),
  turnId: z.string().nullable(),
  atMs: z.number().int(),
  /** The calls that this undo reverted; empty for a call of a tool. */
  undoes: z.array(z.string()),
  /** False if the program ended while the call ran, or the call still runs. */
  closed: z.boolean(),
  files: z.array(z.object({ path: z.string(), change: fileChangeSchema, note: z.string().nullable() })),
});
