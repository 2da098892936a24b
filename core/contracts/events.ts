// The event families of the session log. Each event is a past fact, in the past tense. The log is the source of truth of everything else.

import * as z from 'zod';
import { chatAddressSchema } from './channels.ts';
import { continuityEvents } from './continuity-events.ts';
import { afterFileSchema, beforeFileSchema, refusedFileSchema } from './checkpoints.ts';
import { deadLetterEvents } from './features/dead-letters.ts';
import { errorBodySchema } from './errors.ts';
import { featureEvents } from './features.ts';
import { hookEvents } from './features/hooks.ts';
import { helperEvents, helperOriginSchema } from './features/helpers.ts';
import { finishReasonSchema, replyPhaseSchema, requestedCallSchema, usageSchema } from './llm.ts';
import { memoryEvents } from './features/memory.ts';
import { outboxEvents } from './outbox-events.ts';
import {
  approvalSchema,
  budgetLimitScopeSchema,
  budgetScopeSchema,
  budgetUnitSchema,
  decisionKindSchema,
  grantScopeSchema,
  grantSchema,
} from './policy.ts';
import { identityEvents } from './features/identity.ts';
import { scheduleEvents } from './features/schedule.ts';
import { signalEvents } from './features/signals.ts';
import { skillEvents } from './features/skills.ts';
import { telegramEvents } from './features/telegram.ts';
import { routeNoteSchema } from './model-routes.ts';
import { configuredSchema, turnBoundsSchema } from './turn-bounds.ts';
import { logGapEvents } from './log-gap.ts';
import { healthEvents } from './features/health.ts';
import { artifactRefSchema, callFactsSchema, idempotencySchema, lostCallSchema, taintSourceSchema, toolOutcomeSchema } from './tools.ts';

export const phases = ['interpret', 'plan', 'policy-gate', 'act', 'observe', 'verify', 'reflect', 'respond'] as const;
export const phaseSchema = z.enum(phases);
export type Phase = z.infer<typeof phaseSchema>;

export const turnStatusSchema = z.enum(['running', 'waiting', 'done', 'failed', 'cancelled', 'over_budget', 'stopped']);
export type TurnStatus = z.infer<typeof turnStatusSchema>;

export const turnLimitsSchema = z.object({
  steps: z.number().int(),
  turnMs: z.number().int(),
  sameCall: z.number().int(),
  parallelReads: z.number().int(),
});
export type TurnLimits = z.infer<typeof turnLimitsSchema>;

export const packSectionSchema = z.object({
  name: z.string(),
  tokens: z.number().int(),
  items: z.number().int(),
});

export const packPartSchema = z.object({
  section: z.string(),
  id: z.string(),
  title: z.string(),
  source: z.string(),
  tokens: z.number().int(),
  score: z.number().optional(),
  tainted: z.array(taintSourceSchema).optional(),
});
export type ShownPackPart = z.infer<typeof packPartSchema>;

const bodies = {
  'session.created': z.object({
    title: z.string(),
    agentId: z.string(),
    channel: z.string(),
    forkedFrom: z.object({ sessionId: z.string(), sessionSeq: z.number().int() }).nullable(),
    /** Real path of the folder that the session works in; absent for the configured workspace. */
    workspace: z.string().optional(),
  }),
  'session.renamed': z.object({ title: z.string() }),
  'session.archived': z.object({ archived: z.boolean() }),
  'session.pinned': z.object({ pinned: z.boolean() }),
  /** A person has seen the session up to this global position in the log. */
  'session.seen': z.object({ seq: z.number().int().min(0) }),
  /** The settings of turns that start from now on. A null model means the default model. */
  'session.configured': configuredSchema,
  /** In the system session: the last position and hash of the deleted session's chain. */
  'session.deleted': z.object({ sessionId: z.string(), headSeq: z.number().int(), headHash: z.string() }),

  'user.message': z.object({
    text: z.string(),
    channel: z.string(),
    sender: z.string(),
    dedupeKey: z.string().nullable(),
    /** Files that the person sent with the message, kept as artifacts. Their content is not the person's own text. */
    attachments: z.array(artifactRefSchema).optional(),
    bounds: turnBoundsSchema.optional(),
    /** The chat of the message, and its id there. The answer of the turn goes back to it. */
    chat: chatAddressSchema.extend({ messageId: z.string().optional() }).optional(),
    /** Present if a turn of another agent requested this one. */
    helper: helperOriginSchema.optional(),
    /** The model that the person chose for this message. */
    model: z.string().optional(),
  }),
  'assistant.message': z.object({ text: z.string() }),

  'turn.started': z.object({
    kind: z.enum(['chat', 'tool']),
    agentId: z.string(),
    model: z.string().nullable(),
    limits: turnLimitsSchema,
    /** Calls that a person made directly, without a model (`kind: tool`); in a chat, the request to trust its folder. */
    calls: z.array(requestedCallSchema),
    /** The turns whose unfinished work this turn continues, oldest first, and who requested it. All of them share one budget. */
    continues: z.object({ turnIds: z.array(z.string()).min(1), by: z.string() }).optional(),
    /** The turn whose message this turn runs again. */
    retries: z.string().optional(),
    /** The door of a direct call. The channel of a chat is in its message. */
    channel: z.string().optional(),
    /** The bounds of the turn, in addition to the policy rules. The limits above are within them. */
    bounds: turnBoundsSchema.optional(),
    helper: helperOriginSchema.optional(),
    /** Real path of the session's folder; absent for the configured workspace. */
    workspace: z.string().optional(),
  }),
  /** The same message runs again as another turn, and the conversation drops this one. Recorded in the earlier turn. */
  'turn.superseded': z.object({ byTurnId: z.string(), by: z.string() }),
  'turn.steered': z.object({
    text: z.string(),
    sender: z.string(),
    /** The untrusted sources of the text if the sender did not write it, as for a signal. */
    untrusted: z.array(taintSourceSchema).optional(),
  }),
  'turn.cancel_requested': z.object({ reason: z.string(), by: z.enum(['person', 'panic', 'shutdown']) }),
  'turn.waiting': z.object({ approvalIds: z.array(z.string()), callIds: z.array(z.string()) }),
  /** `restedMs`: how long the turn waited for a person, the program was off, or the machine slept. The time limit does not count it. */
  'turn.resumed': z.object({ reason: z.string(), restedMs: z.number().int().nonnegative().optional() }),
  'turn.finished': z.object({
    status: z.enum(['done', 'failed', 'cancelled', 'over_budget', 'stopped']),
    text: z.string(),
    error: errorBodySchema.nullable(),
    usage: usageSchema,
    /** US dollars; null if a price was unknown. */
    costUsd: z.number().nullable(),
    modelCalls: z.number().int(),
    toolCalls: z.number().int(),
  }),

  /** The brain's decision and its reason. `replay` makes the decision again and compares. */
  'brain.decided': z.object({ intent: z.string(), reason: z.string(), callIds: z.array(z.string()) }),
  'plan.drafted': z.object({ text: z.string(), calls: z.array(z.object({ callId: z.string(), tool: z.string() })) }),
  'observation.recorded': z.object({ callIds: z.array(z.string()), failed: z.number().int(), repeated: z.number().int() }),
  'verification.finished': z.object({ callId: z.string(), ok: z.boolean(), detail: z.string() }),
  'reflection.recorded': z.object({ why: z.string(), note: z.string() }),

  'pack.built': z.object({
    packId: z.string(),
    tokens: z.number().int(),
    budgetTokens: z.number().int(),
    sections: z.array(packSectionSchema),
    dropped: z.array(z.object({ what: z.string(), count: z.number().int(), tokens: z.number().int(), reason: z.string() })),
    truncated: z.array(z.object({ what: z.string(), fromTokens: z.number().int(), toTokens: z.number().int(), reason: z.string() })),
    /** Session sequence number of the first message that the model saw. */
    fromSessionSeq: z.number().int(),
    /** Our own count, before it is scaled by the counts that servers reported for this model. */
    counted: z.object({ fixed: z.number().int(), flow: z.number().int(), messages: z.number().int() }).optional(),
    /** The summary at the beginning of the pack. */
    summaryId: z.string().optional(),
    /** Parts from memory, documents, skills and identity. */
    parts: z.array(packPartSchema).optional(),
    /** The text after the messages, in this request only. Absent if it equals the tail of the pack named by `tailOf`. */
    tail: z.string().optional(),
    tailOf: z.string().optional(),
  }),
  'model.requested': z.object({
    requestId: z.string(),
    packId: z.string(),
    model: z.string(),
    /** If a route was requested: why this model was chosen. */
    route: routeNoteSchema.optional(),
  }),
  'model.retried': z.object({ requestId: z.string(), attempt: z.number().int(), waitMs: z.number().int(), error: errorBodySchema }),
  'model.finished': z.object({
    requestId: z.string(),
    text: z.string(),
    reasoning: z.string(),
    calls: z.array(requestedCallSchema),
    usage: usageSchema,
    usageReported: z.boolean(),
    costUsd: z.number().nullable(),
    finishReason: finishReasonSchema,
    phase: replyPhaseSchema.optional(),
    tookMs: z.number(),
    firstTokenMs: z.number().nullable(),
  }),
  'model.failed': z.object({
    requestId: z.string(),
    error: errorBodySchema,
    partialText: z.string(),
    tookMs: z.number(),
    /** An estimate, if an answer had begun: that much was most likely billed. */
    usage: usageSchema.optional(),
    costUsd: z.number().nullable().optional(),
    /** The answer broke off and is requested again with the same pack. */
    again: z.literal(true).optional(),
    /** The route tries this model next, after this delay. The turn continues. */
    failover: z.object({ to: z.string(), waitMs: z.number().int() }).optional(),
  }),
  'budget.exceeded': z.object({
    scope: budgetLimitScopeSchema,
    unit: budgetUnitSchema,
    limit: z.number(),
    spent: z.number(),
    /** The minimum cost of the next call, if that and not `spent` exceeds the limit. */
    needed: z.number().optional(),
  }),
  /** In the system session. A person allowed more. `limit` holds from now on; the limit of a day holds until the day ends. */
  'budget.extended': z.object({
    scope: budgetScopeSchema,
    unit: budgetUnitSchema,
    /** The additional amount, counted from the limit, or from the spending if that was higher. */
    amount: z.number(),
    /** The resulting increase of the limit. */
    raisedBy: z.number(),
    limit: z.number(),
    turnId: z.string().nullable(),
    sessionId: z.string().nullable(),
    /** Local day, for example `2026-01-31`. */
    day: z.string().nullable(),
    by: z.string(),
  }),
  /** Once per session: limits in US dollars cannot be enforced, because the price of the model is unknown. */
  'budget.unpriced': z.object({ model: z.string(), scopes: z.array(budgetScopeSchema) }),

  'policy.decided': z.object({
    callId: z.string(),
    tool: z.string(),
    decision: decisionKindSchema,
    ruleId: z.string(),
    reason: z.string(),
    facts: callFactsSchema,
    idempotency: idempotencySchema,
    verifies: z.boolean(),
    /** Whether the tool declares its results private. */
    isPrivate: z.literal(true).optional(),
    grantId: z.string().nullable(),
    approvalId: z.string().nullable(),
  }),
  /** The call never reached the gate: the tool is unknown or the arguments are invalid. */
  'tool.rejected': z.object({ callId: z.string(), tool: z.string(), error: errorBodySchema }),
  'approval.requested': z.object({ approval: approvalSchema }),
  'approval.decided': z.object({
    approvalId: z.string(),
    callId: z.string(),
    decision: z.enum(['approve', 'deny', 'withdraw']),
    scope: grantScopeSchema.nullable(),
    by: z.string(),
    grantId: z.string().nullable(),
    /** For a denial: the person's reason, for the agent. */
    reason: z.string().optional(),
    /**
     * The person changed the arguments to these, and the gate judges the call again: with `approve` using the new grant, with `withdraw` as
     * a call without a grant.
     */
    edited: z.object({ args: z.string() }).optional(),
  }),
  'grant.created': z.object({ grant: grantSchema }),
  'grant.spent': z.object({ grantId: z.string(), callId: z.string() }),
  'grant.revoked': z.object({ grantId: z.string(), by: z.string() }),

  'tool.requested': z.object({
    callId: z.string(),
    tool: z.string(),
    args: z.string(),
    argsHash: z.string(),
    idempotency: idempotencySchema,
    idempotencyKey: z.string(),
    grantId: z.string().nullable(),
  }),
  'tool.spawned': z.object({ callId: z.string(), pid: z.number().int(), startTime: z.string() }),
  'tool.finished': z.object({
    callId: z.string(),
    tool: z.string(),
    outcome: toolOutcomeSchema,
    forModel: z.string(),
    forUser: z.string(),
    silent: z.boolean(),
    isAsync: z.boolean(),
    artifacts: z.array(artifactRefSchema),
    tookMs: z.number(),
    /** Digest of outcome and text. Equal calls with equal results indicate a loop. */
    resultHash: z.string(),
  }),
  /**
   * From here on the session contains untrusted content; `paths` are the files to which it was written. Precedes the result of the call it
   * names. Without a call it precedes the message of the same turn, whose text is then not the person's own.
   */
  'taint.marked': z.object({
    callId: z.string().nullable(),
    sources: z.array(taintSourceSchema),
    paths: z.array(z.string()),
    /** Without a call: only the attached files are untrusted, and the message is the person's own text. */
    attached: z.literal(true).optional(),
    /** Files that contained untrusted content and were rewritten from trusted content. */
    cleaned: z.array(z.string()).optional(),
  }),
  'tool.outcome_unknown': lostCallSchema,
  'tool.outcome_settled': z.object({ callId: z.string(), answer: z.enum(['done', 'retry', 'abandon']), by: z.string() }),

  /** The state of the paths that a call is about to write, kept for undo. `undoes` are the calls that an undo is about to revert. */
  'checkpoint.taken': z.object({ callId: z.string(), files: z.array(beforeFileSchema), undoes: z.array(z.string()).optional() }),
  /**
   * The state of the paths after the call. A path without an entry in `checkpoint.taken` did not exist before: it appeared in a folder that
   * was captured as a whole.
   */
  'checkpoint.closed': z.object({ callId: z.string(), files: z.array(afterFileSchema) }),
  /** A person restored files. `restoreId` identifies the undo itself, which can be undone like a call; null if nothing was changed. */
  'checkpoint.restored': z.object({
    restoreId: z.string().nullable(),
    callIds: z.array(z.string()),
    files: z.array(z.object({ path: z.string() })),
    refused: z.array(refusedFileSchema),
    by: z.string(),
  }),

  'panic.engaged': z.object({ reason: z.string(), by: z.string() }),
  'panic.measured': z.object({ killed: z.number().int(), tookMs: z.number() }),
  'panic.released': z.object({ by: z.string() }),
  'instance.started': z.object({
    version: z.string(),
    recoveredTurns: z.number().int(),
    unknownOutcomes: z.number().int(),
    reaped: z.number().int(),
  }),
  ...logGapEvents,
  'config.changed': z.object({ keys: z.array(z.string()), by: z.string() }),

  ...telegramEvents,
  ...outboxEvents,
  ...scheduleEvents,
  ...signalEvents,
  ...deadLetterEvents,
  ...hookEvents,
  ...healthEvents,
  ...helperEvents,
  ...memoryEvents,
  ...skillEvents,
  ...identityEvents,
  ...continuityEvents,
  ...featureEvents,
} as const;

export type EventBodies = { readonly [T in keyof typeof bodies]: z.infer<(typeof bodies)[T]> };
export type EventType = keyof EventBodies;

export const eventTypes = Object.keys(bodies) as EventType[];

export const eventBodySchemas: { readonly [T in EventType]: (typeof bodies)[T] } = bodies;
/** For code that validates events of any type, like `opSchemas`. */
export const anyBodySchemas: Readonly<Record<EventType, z.core.$ZodType>> = bodies;

/** The envelope. `seq` is global and ascending; `sessionSeq` counts from 1 within its session, without gaps. */
export const eventEnvelopeSchema = z.object({
  seq: z.number().int().positive(),
  sessionId: z.string(),
  sessionSeq: z.number().int().positive(),
  turnId: z.string().nullable(),
  step: z.number().int(),
  phase: phaseSchema.nullable(),
  type: z.string(),
  /** The version of the body's form. */
  v: z.number().int().positive(),
  atMs: z.number().int(),
  body: z.unknown(),
});
export type EventEnvelope = Readonly<z.infer<typeof eventEnvelopeSchema>>;

export interface EventOf<T extends EventType> extends Omit<EventEnvelope, 'type' | 'body'> {
  readonly type: T;
  readonly body: EventBodies[T];
}

export type AnyEvent = { [T in EventType]: EventOf<T> }[EventType];

/** An event before the log assigns its position. */
export interface DraftOf<T extends EventType> {
  readonly type: T;
  readonly turnId?: string | null;
  readonly step?: number;
  readonly phase?: Phase | null;
  /** When it happened, if that is not the moment of the append. */
  readonly atMs?: number;
  readonly body: EventBodies[T];
}

export type AnyDraft = { [T in EventType]: DraftOf<T> }[EventType];

export type { DeltaNotice } from './delta-notice.ts';
export { systemSessionId } from './system-session.ts';
