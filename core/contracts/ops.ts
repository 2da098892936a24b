// One table of operations. IPC, HTTP, the local socket, the library and the CLI are derived from it.

import * as z from 'zod';
import { attachmentSchema } from './attachments.ts';
import { fileDiffSchema, refusedFileSchema } from './checkpoints.ts';
import type { DoorName } from './doors.ts';
import { configSchema, modelRefSchema, policyModeSchema } from './config.ts';
import { turnStatusSchema } from './events.ts';
import type { errorBodySchema } from './errors.ts';
import {
  approvalSchema,
  budgetScopeSchema,
  budgetStateSchema,
  grantChoiceSchema,
  grantListingSchema,
  grantMatchSchema,
  grantScopeSchema,
  grantSchema,
  panicStatusSchema,
  policyDecisionSchema,
} from './policy.ts';
import { toolListingSchema, toolRunResultSchema, toolShownSchema } from './tools.ts';
import {
  pendingSchema,
  askResultSchema,
  turnViewSchema,
  packViewSchema,
  unknownOutcomeSchema,
  artifactInfoSchema,
  usageRowSchema,
  secretStatusSchema,
  sandboxExplanationSchema,
  checkpointSchema,
} from './op-results.ts';
import { holdsSchema, id, messageTextMax, none } from './op-params.ts';
import { agentOps } from './features/helpers.ts';
import { activityOps } from './activity-ops.ts';
import { deadLetterOps } from './features/dead-letters.ts';
import { commandOps } from './command-ops.ts';
import { governorOps } from './features/governor.ts';
import { identityOps } from './features/identity.ts';
import { contextOps } from './context-ops.ts';
import { healthOps } from './features/health.ts';
import { memoryOps } from './features/memory.ts';
import { engineOps } from './features/engine.ts';
import { opinionOps } from './features/opinions.ts';
import { outboxOps } from './outbox-ops.ts';
import { providerOps } from './provider-ops.ts';
import { pluginOps } from './features/plugins.ts';
import { scheduleOps } from './features/schedule.ts';
import { sessionOps } from './session-ops.ts';
import { signalOps } from './features/signals.ts';
import { skillOps } from './features/skills.ts';
import { telegramOps } from './features/telegram.ts';
import { valueOps } from './features/values.ts';
import { workspaceOps, workspacePath } from './workspace-ops.ts';

/** One call, or all calls of one turn. */
const undoTarget = { callId: id.optional(), turnId: id.optional() };
const namesOne = (target: { callId?: string | undefined; turnId?: string | undefined }): boolean =>
  (target.callId === undefined) !== (target.turnId === undefined);
const namesOneWords = 'name either a callId or a turnId';

export const opTable = {
  'message.send': {
    params: z.strictObject({
      text: z.string().min(1).max(messageTextMax),
      sessionId: id.optional(),
      agentId: id.optional(),
      dedupeKey: z.string().min(1).max(200).optional(),
      attachments: z.array(attachmentSchema).max(50).optional(),
      /** The original author of forwarded text. It can request actions but approves nothing. */
      forwardedFrom: z.string().min(1).max(200).optional(),
      /** Absolute path of the folder a new session works in; for a session that is there, the folder it has. Asks a person unless trusted. */
      workspace: workspacePath.optional(),
      /** The model of this message's turn only. */
      model: modelRefSchema.optional(),
    }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
  },
  'turn.wait': {
    params: z.strictObject({ turnId: id, timeoutMs: z.number().int().min(0).max(86_400_000).optional() }),
    result: askResultSchema,
  },
  'turn.cancel': { params: z.strictObject({ turnId: id }), result: z.object({ turnId: z.string(), status: turnStatusSchema }) },
  'turn.steer': {
    params: z.strictObject({ turnId: id, text: z.string().min(1).max(messageTextMax) }),
    result: z.object({ turnId: z.string() }),
  },
  'turn.get': { params: z.strictObject({ turnId: id }), result: turnViewSchema },
  /** The message of a conversation's last turn again, once it has ended; with other words in a new session, see `turn.branch`. */
  'turn.retry': {
    params: z.strictObject({ turnId: id, model: modelRefSchema.optional() }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
  },
  /** Creates a session with everything before a turn's message, followed by this text; by default the same text. */
  'turn.branch': {
    params: z.strictObject({ turnId: id, text: z.string().min(1).max(messageTextMax).optional() }),
    result: z.object({ sessionId: z.string(), turnId: z.string() }),
  },
  /** A new turn continues the work of one that a budget or a limit ended. */
  'turn.continue': { params: z.strictObject({ turnId: id }), result: z.object({ sessionId: z.string(), turnId: z.string() }) },
  'pack.get': { params: z.strictObject({ packId: id }), result: packViewSchema },

  'tool.run': {
    params: z.strictObject({ tool: z.string().min(1), args: z.unknown(), sessionId: id.optional(), wait: z.boolean().optional() }),
    result: toolRunResultSchema.extend({ turnId: z.string(), sessionId: z.string(), pending: z.array(pendingSchema).optional() }),
  },
  /** The available tools; `shows` describes calls in one line, for all tools that may appear in the log. */
  'tool.list': {
    params: none,
    result: z.object({ tools: z.array(toolListingSchema), shows: z.record(z.string(), toolShownSchema).optional() }),
  },

  'approval.list': { params: z.strictObject({ all: z.boolean().optional() }), result: z.object({ approvals: z.array(approvalSchema) }) },
  'approval.decide': {
    params: z.strictObject({
      approvalId: id,
      decision: z.enum(['approve', 'deny']),
      scope: grantScopeSchema.optional(),
      /** Index into the approval's `choices` for a scope wider than once; 0, the narrowest, by default. */
      choice: z.number().int().min(0).max(20).optional(),
      /** With a denial: the reason for the agent. */
      reason: z.string().trim().min(1).max(2000).optional(),
    }),
    result: approvalSchema,
  },
  'grant.list': { params: z.strictObject({ all: z.boolean().optional() }), result: z.object({ grants: z.array(grantListingSchema) }) },
  'grant.revoke': { params: z.strictObject({ grantId: id }), result: grantSchema },
  'grant.preview': {
    params: z.strictObject({
      match: grantMatchSchema,
      days: z.number().int().min(1).max(365).optional(),
      /** The call that is being asked about does not count. */
      exceptCallId: id.optional(),
    }),
    result: z.object({
      covered: z.array(
        z.object({ callId: z.string(), tool: z.string(), summary: z.string(), atMs: z.number().int(), outcome: z.string() }),
      ),
      asked: z.number().int(),
      /** All that it would have covered; `covered` shows the newest of them. */
      total: z.number().int(),
      /** The oldest call that was searched; null if the whole log was searched. */
      lookedBackToMs: z.number().int().nullable(),
    }),
  },
  'outcome.list': { params: none, result: z.object({ outcomes: z.array(unknownOutcomeSchema) }) },
  'outcome.settle': {
    params: z.strictObject({ callId: id, answer: z.enum(['done', 'retry', 'abandon']) }),
    result: z.object({ callId: z.string(), turnId: z.string().nullable() }),
  },

  'panic.engage': { params: z.strictObject({ reason: z.string().max(500).optional() }), result: panicStatusSchema },
  'panic.release': { params: none, result: panicStatusSchema },
  'panic.status': { params: none, result: panicStatusSchema },

  'policy.explain': {
    params: z.strictObject({
      tool: z.string().min(1),
      args: z.unknown(),
      cwd: z.string().optional(),
      /** As in this session, with its folder as the workspace. */
      sessionId: id.optional(),
    }),
    result: policyDecisionSchema.extend({
      mode: policyModeSchema,
      /** The grant that covers it. */
      grantId: z.string().nullable(),
      /** Wider scopes that could be given if it asked. */
      choices: z.array(grantChoiceSchema),
    }),
  },
  'sandbox.explain': {
    params: z.strictObject({ command: z.string().min(1).max(100_000).optional(), cwd: z.string().optional() }),
    result: sandboxExplanationSchema,
  },
  'safety.url': {
    params: z.strictObject({ url: z.string().max(8192) }),
    result: z.object({ decision: z.enum(['allow', 'deny']), reason: z.string(), url: z.string() }),
  },
  'safety.redact': {
    params: z.strictObject({ text: z.string().max(messageTextMax) }),
    result: z.object({ text: z.string(), found: z.array(z.string()) }),
  },

  ...contextOps,
  ...sessionOps,
  ...agentOps,
  ...activityOps,
  ...scheduleOps,
  ...signalOps,
  ...commandOps,
  ...deadLetterOps,
  ...telegramOps,
  ...outboxOps,
  ...memoryOps,
  ...skillOps,
  ...identityOps,
  ...workspaceOps,
  ...providerOps,
  ...engineOps,
  ...pluginOps,
  ...governorOps,
  ...opinionOps,
  ...valueOps,

  'audit.verify': {
    params: none,
    result: z.object({
      ok: z.boolean(),
      events: z.number().int(),
      sessions: z.number().int(),
      firstBad: z.object({ seq: z.number().int(), sessionId: z.string(), sessionSeq: z.number().int(), reason: z.string() }).optional(),
      /** Problems outside the chain: the end of the log is missing, or the database file is damaged. */
      faults: z.array(z.object({ kind: z.enum(['gap', 'database']), detail: z.string(), hint: z.string() })).optional(),
    }),
  },
  /** A person continues with the log as it is, after events of it were found missing. */
  'audit.accept': { params: none, result: z.object({ accepted: z.number().int() }) },
  'replay.run': {
    params: z.strictObject({ turnId: id }),
    result: z.object({
      identical: z.boolean(),
      decisions: z.number().int(),
      differences: z.array(z.object({ step: z.number().int(), recorded: z.string(), decided: z.string() })),
    }),
  },
  ...healthOps,
  'usage.get': {
    params: z.strictObject({
      by: z.enum(['day', 'model', 'session']).optional(),
      days: z.number().int().min(1).max(366).optional(),
      /** The newest days, or the models or sessions with the most tokens; all by default. */
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    result: z.object({
      rows: z.array(usageRowSchema),
      today: usageRowSchema,
      budget: z.object({ perTurnUsd: z.number().nullable(), perSessionUsd: z.number().nullable(), perDayUsd: z.number().nullable() }),
    }),
  },
  'budget.get': {
    params: z.strictObject({ turnId: id.optional(), sessionId: id.optional() }),
    result: z.object({ budgets: z.array(budgetStateSchema) }),
  },
  /** Allows more for one turn (`turnId`), one session (`sessionId`, or that of `turnId`) or this day. */
  'budget.allow': {
    params: z.strictObject({
      scope: budgetScopeSchema,
      usd: z.number().positive().max(1_000_000).optional(),
      tokens: z.number().int().positive().max(1_000_000_000_000).optional(),
      turnId: id.optional(),
      sessionId: id.optional(),
    }),
    result: z.object({ budgets: z.array(budgetStateSchema) }),
  },
  /** `config` is in effect since the start; `file` is the file as it is written now, or null and the reason. */
  'config.get': {
    params: none,
    result: z.object({
      config: configSchema,
      path: z.string(),
      warnings: z.array(z.string()),
      file: z.record(z.string(), z.unknown()).nullable(),
      problem: z.string().nullable(),
    }),
  },
  /**
   * `key` is a dotted path such as models.default; null removes it. Models, providers and document sources take effect at once, everything
   * else at the next start.
   */
  'config.set': {
    params: z.strictObject({ key: z.string().regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/), value: z.unknown() }),
    result: z.object({ key: z.string(), path: z.string(), warnings: z.array(z.string()), holds: holdsSchema }),
  },
  'config.schema': { params: none, result: z.object({ schema: z.record(z.string(), z.unknown()) }) },
  'secret.set': {
    params: z.strictObject({ name: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/), value: z.string().min(1).max(10_000) }),
    result: z.object({ name: z.string(), warning: z.string().optional() }),
  },
  'secret.list': { params: none, result: z.object({ names: z.array(z.string()) }) },
  'secret.delete': { params: z.strictObject({ name: z.string().min(1) }), result: z.object({ name: z.string(), deleted: z.boolean() }) },
  'secret.status': { params: none, result: secretStatusSchema },
  /** Opens the encrypted vault, or creates it. The passphrase is never recorded. */
  'secret.unlock': { params: z.strictObject({ passphrase: z.string().min(1).max(1000) }), result: secretStatusSchema },
  'artifact.list': {
    params: z.strictObject({ sessionId: id.optional(), limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ artifacts: z.array(artifactInfoSchema) }),
  },
  'artifact.get': {
    params: z.strictObject({
      artifact: z.string().min(1),
      offset: z.number().int().min(0).optional(),
      length: z.number().int().min(1).max(1_000_000).optional(),
    }),
    result: z.object({
      artifact: artifactInfoSchema,
      text: z.string().nullable(),
      base64: z.string().nullable(),
      nextOffset: z.number().int().nullable(),
    }),
  },
  /** Newest first. */
  'checkpoint.list': {
    params: z.strictObject({ sessionId: id.optional(), turnId: id.optional(), limit: z.number().int().min(1).max(1000).optional() }),
    result: z.object({ checkpoints: z.array(checkpointSchema) }),
  },
  /** Previews `checkpoint.restore`: per file the difference from now to then, or why it cannot be restored. Changes nothing. */
  'checkpoint.preview': {
    params: z.strictObject({ ...undoTarget, force: z.boolean().optional() }).refine(namesOne, namesOneWords),
    result: z.object({ callIds: z.array(z.string()), files: z.array(fileDiffSchema.extend({ refused: z.string().nullable() })) }),
  },
  /**
   * Restores the state before. All or nothing: one refused file refuses the others as well, unless `keepGoing`. `force` also restores files
   * that were changed since; their current content is kept like everything an undo replaces. Undo `restoreId` to redo.
   */
  'checkpoint.restore': {
    params: z
      .strictObject({ ...undoTarget, keepGoing: z.boolean().optional(), force: z.boolean().optional() })
      .refine(namesOne, namesOneWords),
    result: z.object({
      restoreId: z.string().nullable(),
      callIds: z.array(z.string()),
      restored: z.array(z.object({ path: z.string() })),
      refused: z.array(refusedFileSchema),
      /** Already in the earlier state. */
      unchanged: z.array(z.object({ path: z.string() })),
    }),
  },
  /** The files a call changed. */
  'checkpoint.diff': { params: z.strictObject({ callId: id }), result: z.object({ files: z.array(fileDiffSchema) }) },
  /** The files a pending call would change, if its tool can tell; otherwise none. */
  'approval.diff': { params: z.strictObject({ approvalId: id }), result: z.object({ files: z.array(fileDiffSchema) }) },
  'backup.create': { params: none, result: z.object({ file: z.string(), sizeBytes: z.number().int(), events: z.number().int() }) },
  'backup.list': {
    params: none,
    result: z.object({ backups: z.array(z.object({ file: z.string(), sizeBytes: z.number().int(), createdAtMs: z.number().int() })) }),
  },
  'backup.verify': {
    params: z.strictObject({ file: z.string().min(1) }),
    result: z.object({ ok: z.boolean(), events: z.number().int(), detail: z.string() }),
  },
} as const;

export type OpName = keyof typeof opTable;
export type OpParams<N extends OpName> = z.input<(typeof opTable)[N]['params']>;
export type OpParsed<N extends OpName> = z.infer<(typeof opTable)[N]['params']>;
export type OpResult<N extends OpName> = z.infer<(typeof opTable)[N]['result']>;

export type OpHandlers = { readonly [N in OpName]: (params: OpParsed<N>, caller: Caller) => OpResult<N> | Promise<OpResult<N>> };

/** The caller: its door and a stable name for the audit trail. */
export interface Caller {
  readonly channel: DoorName;
  readonly actor: string;
  readonly signal?: AbortSignal;
}

export type OpReply =
  { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: z.infer<typeof errorBodySchema> };

export function isOpName(name: string): name is OpName {
  return Object.hasOwn(opTable, name);
}
