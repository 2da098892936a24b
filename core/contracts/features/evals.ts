// Evals: cases that are run through the program in throwaway data folders and graded. The file format, the events and the operations. Used
// by feature-events.ts and ops.ts.

import * as z from 'zod';
import { defineOps, most, sessionName } from '../define-ops.ts';
import { usageSchema } from '../llm.ts';
import { modelRefSchema } from '../model-ref.ts';

export const assertTypes = [
  'contains',
  'not-contains',
  'icontains',
  'contains-any',
  'contains-all',
  'equals',
  'starts-with',
  'regex',
  'not-regex',
  'is-json',
  'tool',
  'not-tool',
  'calls',
  'file',
  'not-file',
  'ends',
  'cost',
  'latency',
  'llm-rubric',
] as const;

/** The same form as in promptfoo. `threshold` is the maximum for cost and latency, and the minimum score for a rubric. */
export const evalAssertSchema = z.strictObject({
  type: z.enum(assertTypes),
  value: z.unknown().optional(),
  threshold: z.number().nonnegative().optional(),
  /** The model that judges a rubric. */
  provider: modelRefSchema.optional(),
  metric: z.string().optional(),
});
export type EvalAssert = z.infer<typeof evalAssertSchema>;

/** A tool of a case. It replaces the program's tool of the same name, and its answers are predefined. */
const evalToolSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/),
  description: z.string().max(20_000).default(''),
  /** The JSON schema of its arguments. */
  parameters: z.record(z.string(), z.unknown()).default({ type: 'object', properties: {} }),
  /** The first entry whose `args` are among the arguments of the call is returned. A plain text answers every call. */
  returns: z
    .union([z.string(), z.array(z.strictObject({ args: z.record(z.string(), z.unknown()).optional(), text: z.string() }))])
    .default('Done.'),
  /** Whether its results count as untrusted content, like those of a web page. */
  untrusted: z.boolean().default(false),
});
export type EvalTool = z.infer<typeof evalToolSchema>;

const testFields = {
  description: z.string().max(500).optional(),
  input: z.string().min(1).max(200_000).optional(),
  vars: z.record(z.string(), z.unknown()).optional(),
  /** A folder to copy, relative to the file; or file contents keyed by path. */
  workspace: z.union([z.string().min(1), z.record(z.string(), z.string())]).optional(),
  assert: z.array(evalAssertSchema).max(100).default([]),
  /** Tools whose calls are approved in the throwaway folder. Every other approval is denied. */
  approve: z.array(z.string()).max(100).optional(),
  /** Messages that are sent first, each in a new session. */
  before: z.array(z.string().min(1).max(200_000)).max(20).optional(),
  tools: z.array(evalToolSchema).max(200).optional(),
  /** The budget of the throwaway program, as in config.yaml. */
  budget: z.strictObject({ perTurnUsd: z.number().nonnegative(), perTurnTokens: z.number().int().positive() }).partial().optional(),
};

export const evalFileSchema = z.strictObject({
  description: z.string().optional(),
  /** The first one is used. */
  providers: z.array(modelRefSchema).min(1).optional(),
  /** `{{name}}` is replaced by a variable of the test. */
  prompts: z.array(z.string().min(1)).min(1).optional(),
  judge: modelRefSchema.optional(),
  defaultTest: z
    .strictObject({ ...testFields, assert: testFields.assert.optional() })
    .partial()
    .optional(),
  tests: z.array(z.strictObject(testFields)).min(1).max(10_000),
});
export type EvalFile = z.infer<typeof evalFileSchema>;
/** The input form, as a program writes it. */
export type EvalCases = z.input<typeof evalFileSchema>;

export const evalSuites = ['tools', 'injection', 'long-context', 'recall', 'budget'] as const;

const checkSchema = z.object({ type: z.string(), pass: z.boolean(), reason: z.string(), score: z.number().optional() });
/** error: says nothing about the answer, for example if a model was unreachable or a judgement unusable. */
export const evalVerdictSchema = z.enum(['pass', 'fail', 'error']);

const evalCaseSchema = z.object({
  /** The same for the same input and assertions, in every run. */
  caseId: z.string(),
  name: z.string(),
  repeat: z.number().int(),
  verdict: evalVerdictSchema,
  checks: z.array(checkSchema),
  text: z.string(),
  calls: z.array(z.string()),
  /** Model requests that this run made for the case; 0 if everything was cached. */
  requests: z.number().int(),
  cached: z.boolean(),
  tookMs: z.number(),
  costUsd: z.number().nullable(),
  tokens: z.number().int(),
  error: z.string().optional(),
});
export type EvalCase = z.infer<typeof evalCaseSchema>;

const rateSchema = z.object({
  /** The share of single attempts that pass, with the 95 % Wilson interval. */
  rate: z.number(),
  low: z.number(),
  high: z.number(),
  /** The share of cases with at least one passing repeat, and with only passing repeats. */
  passAtK: z.number(),
  passHatK: z.number(),
  k: z.number().int(),
});
export type EvalRate = z.infer<typeof rateSchema>;

export const evalEvents = {
  /** In the session of the run, like all of these events. */
  'eval.started': z.object({
    runId: z.string(),
    path: z.string(),
    model: z.string(),
    cases: z.number().int(),
    repeat: z.number().int(),
    by: z.string(),
    /** The parts of a public set that are not cases, with the reasons. */
    leftOut: z.string().optional(),
  }),
  /** Model and figures are those of requests made in this run. Their throwaway folder no longer exists. */
  'eval.case_finished': z.object({
    runId: z.string(),
    model: z.string(),
    usage: usageSchema,
    paidUsd: z.number().nullable(),
    result: evalCaseSchema,
  }),
  'eval.finished': z.object({ runId: z.string(), passed: z.number().int(), failed: z.number().int(), errors: z.number().int() }),
} as const;

export const evalRunSchema = z.object({
  runId: z.string(),
  path: z.string(),
  leftOut: z.string().optional(),
  model: z.string(),
  startedAtMs: z.number().int(),
  /** False for an interrupted run, and for a running one. */
  finished: z.boolean(),
  running: z.boolean(),
  /** Cases times repeats. */
  planned: z.number().int(),
  passed: z.number().int(),
  failed: z.number().int(),
  errors: z.number().int(),
  requests: z.number().int(),
  cached: z.number().int(),
  costUsd: z.number().nullable(),
  rate: rateSchema,
  cases: z.array(evalCaseSchema),
});
export type EvalRun = z.infer<typeof evalRunSchema>;

/** `exported` is the run as text. */
const exportedRunSchema = evalRunSchema.extend({ exported: z.string() });

const evalRef = z.string().min(1).max(100);

export const evalOps = defineOps({
  /** Runs the cases of a file or folder. Unchanged cases are taken from the cache and make no request. */
  'eval.run': {
    params: z.strictObject({
      path: z.string().min(1).max(4096).optional(),
      suite: z.enum(evalSuites).optional(),
      /** The content of a file, supplied by a program. */
      cases: evalFileSchema.optional(),
      repeat: z.number().int().min(1).max(50).optional(),
      model: modelRefSchema.optional(),
      cache: z.boolean().optional(),
      /** Takes answers and judgements from earlier runs only. A missing one is an error. */
      replay: z.boolean().optional(),
      parallel: z.number().int().min(1).max(16).optional(),
      /** Whether to answer when the run has ended; true by default. */
      wait: z.boolean().optional(),
    }),
    result: exportedRunSchema,
    about: 'run eval cases through the program in throwaway data folders, and grade them',
    forPerson: true,
    live: true,
    commands: {
      'eval run': {
        takes: ['path'],
        words: { path: 'a file of cases (YAML or TypeScript), a folder of them, or the folder of a public set' },
        paths: ['path'],
        options: {
          repeat: 'how many times each case runs',
          model: 'the model to run the cases with',
          '--no-cache': { about: 'ask again what is in the cache', sets: { cache: false } },
          replay: 'ask no model: take every answer from earlier runs',
          parallel: 'how many cases at once',
        },
        example: 'cases.yaml --repeat 3',
      },
      'eval suite': {
        about: 'run a suite that comes with the program',
        takes: ['suite'],
        options: { repeat: 'how many times each case runs', model: 'the model to run the cases with' },
        example: 'tools --repeat 3',
      },
    },
  },
  /** Finished cases are kept, so a new run takes them from the cache. */
  'eval.stop': {
    params: z.strictObject({ runId: evalRef }),
    /** `stopped` is false if the run was not in progress. */
    result: z.object({ runId: z.string(), stopped: z.boolean() }),
    about: 'stop a run that is under way; finished cases are kept',
    forPerson: true,
    live: true,
    commands: { 'eval stop': { takes: ['runId'], example: 'evl_01JD7Q' } },
  },
  'eval.list': {
    params: z.strictObject({ limit: z.number().int().min(1).max(200).optional() }),
    result: z.object({ runs: z.array(evalRunSchema.omit({ cases: true })) }),
    about: 'list the runs, the newest first',
    shows: {
      each: 'runs',
      columns: {
        RUN: 'runId',
        AT: 'startedAtMs',
        MODEL: 'model',
        PASSED: 'passed',
        FAILED: 'failed',
        ERRORS: 'errors',
        REQUESTS: 'requests',
        FILE: 'path',
      },
      none: 'There is no run yet.',
    },
    commands: { 'eval list': { options: { limit: most }, example: '--limit 5' } },
  },
  'eval.get': {
    params: z.strictObject({ runId: evalRef, format: z.enum(['text', 'json', 'junit', 'markdown']).optional() }),
    result: exportedRunSchema,
    about: 'show a run; also as JSON, JUnit or Markdown',
    commands: {
      'eval show': { takes: ['runId'], options: { format: 'text, json, junit or markdown' }, example: 'evl_01JD7Q --format junit' },
    },
  },
  'eval.compare': {
    params: z.strictObject({ a: evalRef, b: evalRef }),
    result: z.object({
      a: z.string(),
      b: z.string(),
      better: z.array(z.string()),
      worse: z.array(z.string()),
      same: z.number().int(),
      onlyOne: z.array(z.string()),
      figures: z.array(z.object({ figure: z.string(), a: z.number().nullable(), b: z.number().nullable() })),
    }),
    about: 'compare two runs: what got better, what got worse',
    commands: { 'eval compare': { takes: ['a', 'b'], example: 'evl_01JD7Q evl_01JD8R' } },
  },
  /** Drafts cases from the messages of a session, with the calls that were made as assertions. A person has to read and correct them. */
  'eval.draft': {
    params: z.strictObject({ sessionId: sessionName }),
    result: z.object({ yaml: z.string(), cases: z.number().int() }),
    about: 'print the messages of a session as eval cases',
    shows: '{yaml}',
    commands: { 'eval from-session': { takes: ['sessionId'], example: 'last > cases.yaml' } },
  },
});

export const evalContract = {
  events: evalEvents,
  ops: evalOps,
  families: { eval: 'Evals' },
  help: { eval: ['Talk', 'cases that are run and graded, and what changed between two runs'] },
} as const;
