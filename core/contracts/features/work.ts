// Work with criteria: a goal and when it is done, checked by rule, by a judge model or by a person. The file format, the strategies, the
// events and the operations. Used by feature-events.ts and ops.ts.

import * as z from 'zod';
import { agentName, defineOps, id, most } from '../define-ops.ts';
import { errorBodySchema } from '../errors.ts';
import { usageSchema } from '../llm.ts';
import { modelRefSchema } from '../model-ref.ts';
import { ownSessions } from '../system-session.ts';
import { turnBoundsSchema } from '../turn-bounds.ts';

const path = z.string().min(1).max(4096);
const words = z.string().trim().min(1).max(20_000);

/** `in` names a file of the workspace that is checked instead of the answer. */
export const criterionSchema = z.union([
  z.strictObject({ file: path }),
  z.strictObject({ command: z.string().min(1).max(20_000) }),
  z.strictObject({ contains: z.string().min(1).max(20_000), in: path.optional() }),
  z.strictObject({ schema: z.record(z.string(), z.unknown()), in: path.optional() }),
  z.strictObject({ judge: words, model: modelRefSchema.optional() }),
  z.strictObject({ person: words }),
]);
export type Criterion = z.infer<typeof criterionSchema>;

/**
 * single: one attempt. evaluate: repeated with the findings, a limited number of times. candidates: several attempts in parallel.
 * human-gate: a person decides at the end. custom: a plugin decides.
 */
export const strategyNames = ['single', 'evaluate', 'candidates', 'human-gate', 'custom'] as const;
const strategyNameSchema = z.enum(strategyNames);

export const presetNames = ['sdk', 'long_running', 'supervised', 'autonomous', 'orchestrated', 'scheduled'] as const;
export const presetSchema = z.enum(presetNames);

export const candidatesMax = 5;
export const triesMax = 10;

export const strategySchema = z.union([
  strategyNameSchema,
  z.strictObject({
    kind: strategyNameSchema,
    /** The name of a custom strategy. */
    name: z.string().min(1).max(60).optional(),
    tries: z.number().int().min(1).max(triesMax).optional(),
    candidates: z.number().int().min(2).max(candidatesMax).optional(),
    /** Who chooses between candidates that meet every criterion. */
    choose: z.enum(['judge', 'person']).optional(),
    /** The models of the candidates, assigned in turn. */
    models: z.array(modelRefSchema).min(1).max(candidatesMax).optional(),
  }),
]);

export const workBudgetSchema = z.strictObject({
  usd: z.number().nonnegative().optional(),
  tokens: z.number().int().positive().optional(),
  /** For each attempt. */
  steps: z.number().int().min(1).max(1000).optional(),
  minutes: z.number().positive().max(1440).optional(),
});

export const workFileSchema = z.strictObject({
  goal: words,
  criteria: z.array(criterionSchema).max(50).default([]),
  input: z.unknown().optional(),
  /** Files of the workspace that must exist at the end. A judge reads them. */
  deliverables: z.array(path).max(50).default([]),
  budget: workBudgetSchema.optional(),
  strategy: strategySchema.optional(),
  preset: presetSchema.optional(),
  agent: agentName.optional(),
  model: modelRefSchema.optional(),
  /** The model that judges; defaults to the model of the task. */
  judge: modelRefSchema.optional(),
  /** The folder to work in; defaults to the configured workspace. */
  workspace: path.optional(),
});
export type WorkFile = z.infer<typeof workFileSchema>;

/** The strategy and the bounds of a task, resolved. */
export const workPlanSchema = z.object({
  kind: strategyNameSchema,
  /** The name of a custom strategy. */
  custom: z.string().optional(),
  tries: z.number().int(),
  candidates: z.number().int(),
  choose: z.enum(['judge', 'person']),
  models: z.array(z.string()),
  judge: z.string().nullable(),
  agentId: z.string(),
  model: z.string().nullable(),
  /** Real path; null for the configured workspace. */
  workspace: z.string().nullable(),
  bounds: turnBoundsSchema,
  /** For the whole task. */
  usd: z.number().nullable(),
  tokens: z.number().int().nullable(),
});
export type WorkPlan = z.infer<typeof workPlanSchema>;

export function workSessionOf(taskId: string): string {
  return ownSessions.work + taskId;
}

/** error: it could not be checked. waiting: a person decides. unchecked: not checked yet. */
export const workVerdictSchema = z.enum(['pass', 'fail', 'error', 'waiting', 'unchecked']);
const settledVerdict = z.enum(['pass', 'fail', 'error']);
const spot = { taskId: z.string(), attempt: z.number().int(), candidate: z.number().int().nullable() };

export const workEvents = {
  /** In the session of the work, like all of these events. `gate` means that a person must confirm at the end. */
  'work.started': z.object({
    taskId: z.string(),
    goal: z.string(),
    criteria: z.array(criterionSchema),
    input: z.string().nullable(),
    deliverables: z.array(z.string()),
    plan: workPlanSchema,
    channel: z.string(),
    by: z.string(),
  }),
  /** A candidate got its own copy of the workspace. */
  'work.copied': z.object({ taskId: z.string(), candidate: z.number().int(), folder: z.string(), grantId: z.string() }),
  /** The turn of an attempt has ended. */
  'work.attempted': z.object({ ...spot, sessionId: z.string(), turnId: z.string(), status: z.string(), text: z.string() }),
  /** A criterion was checked. `by` is `rule`, a model or a person. */
  'work.checked': z.object({
    ...spot,
    index: z.number().int(),
    text: z.string(),
    verdict: settledVerdict,
    evidence: z.string(),
    by: z.string(),
    usage: usageSchema.optional(),
    costUsd: z.number().nullable().optional(),
    tookMs: z.number().optional(),
  }),
  'work.chosen': z.object({ taskId: z.string(), candidate: z.number().int(), by: z.string(), reason: z.string() }),
  'work.finished': z.object({ taskId: z.string(), status: z.enum(['pass', 'fail']), reason: z.string() }),
} as const;

/** queued: its turn has not begun. waiting: a person must act. checking: the attempt has ended. */
export const workStateSchema = z.enum(['queued', 'working', 'checking', 'waiting', 'pass', 'fail']);

const criterionResultSchema = z.object({ text: z.string(), verdict: workVerdictSchema, evidence: z.string() });

export const workViewSchema = z.object({
  taskId: z.string(),
  sessionId: z.string(),
  goal: z.string(),
  status: workStateSchema,
  strategy: strategyNameSchema,
  attempts: z.number().int(),
  candidates: z.array(z.object({ candidate: z.number().int(), sessionId: z.string().nullable(), status: z.string() })),
  chosen: z.number().int().nullable(),
  criteria: z.array(criterionResultSchema),
  /** The answer of the last attempt, or of the chosen candidate. */
  text: z.string(),
  reason: z.string(),
  /** Why its last turn was not done, if that ended the work. */
  error: errorBodySchema.optional(),
  /** The approvals and questions that it waits for. */
  waitsFor: z.array(z.object({ approvalId: z.string().nullable(), text: z.string() })),
  costUsd: z.number().nullable(),
  tokens: z.number().int(),
  startedAtMs: z.number().int(),
  finishedAtMs: z.number().int().nullable(),
});
export type WorkView = z.infer<typeof workViewSchema>;

export const workOps = defineOps({
  /** Works on a task until its criteria are met, its tries are used up, or a person must decide. Durable: a restart continues it. */
  'work.run': {
    params: z.strictObject({
      /** A task file, for callers on this computer. */
      file: path.optional(),
      task: workFileSchema.optional(),
      strategy: strategyNameSchema.optional(),
      preset: presetSchema.optional(),
      /** False returns at once. */
      wait: z.boolean().optional(),
    }),
    result: workViewSchema,
    about: 'work on a task file until its criteria are met, with the evidence',
    forPerson: true,
    live: true,
    commands: {
      run: {
        takes: ['file'],
        words: { file: 'a YAML file with goal and criteria' },
        paths: ['file'],
        options: {
          strategy: 'in place of the one in the file',
          preset: 'bounds for a kind of use',
          '--no-wait': { about: 'return at once; it continues while TrayClaw runs', sets: { wait: false } },
        },
        example: 'task.yaml --strategy evaluate',
      },
    },
  },
  'work.list': {
    params: z.strictObject({ limit: z.number().int().min(1).max(500).optional() }),
    result: z.object({ work: z.array(workViewSchema) }),
    about: 'list work with criteria, the newest first',
    shows: {
      each: 'work',
      columns: { TASK: 'taskId', STATUS: 'status', STRATEGY: 'strategy', ATTEMPTS: 'attempts', SINCE: 'startedAtMs', GOAL: 'goal' },
      none: 'There is no work with criteria yet.',
    },
    commands: { 'work list': { options: { limit: most }, example: '--limit 5' } },
  },
  'work.get': {
    params: z.strictObject({ taskId: id }),
    result: workViewSchema,
    about: 'show work with criteria and the evidence for each',
    commands: { 'work show': { takes: ['taskId'], example: 'wrk_01JD7Q' } },
  },
  /** Waits until it has ended or waits for a person. */
  'work.wait': {
    params: z.strictObject({ taskId: id }),
    result: workViewSchema,
    about: 'continue unfinished work and wait until it ends or waits for you',
    live: true,
    commands: { 'work continue': { takes: ['taskId'], example: 'wrk_01JD8R' } },
  },
  /** A person's verdict on the criterion that waits, or the choice of a candidate. */
  'work.decide': {
    params: z.strictObject({
      taskId: id,
      verdict: z.enum(['pass', 'fail']).optional(),
      candidate: z.number().int().min(1).max(candidatesMax).optional(),
      note: z.string().max(2_000).optional(),
    }),
    result: workViewSchema,
    about: 'decide what waits for a person: a criterion, or which candidate is taken',
    forPerson: true,
    live: true,
    commands: {
      'work accept': {
        about: 'say that the criterion that waits for you is met',
        takes: ['taskId'],
        sets: { verdict: 'pass' },
        options: { note: 'why' },
        example: 'wrk_01JD7Q',
      },
      'work reject': {
        about: 'say that the criterion that waits for you is not met',
        takes: ['taskId'],
        sets: { verdict: 'fail' },
        options: { note: 'what is wrong' },
        example: "wrk_01JD7Q --note 'The title is missing.'",
      },
      'work choose': {
        about: 'choose one of the candidates, as work show numbers them',
        takes: ['taskId', 'candidate'],
        example: 'wrk_01JD7Q 2',
      },
    },
  },
  'work.cancel': {
    params: z.strictObject({ taskId: id }),
    result: workViewSchema,
    about: 'end unfinished work; what was done stays',
    live: true,
    commands: { 'work cancel': { takes: ['taskId'], example: 'wrk_01JD7Q' } },
  },
});

export const workContract = {
  events: workEvents,
  ops: workOps,
  families: { work: 'Work with criteria' },
  help: { work: ['Talk', 'work with criteria: how it stands, what it waits for, the evidence'] },
} as const;
