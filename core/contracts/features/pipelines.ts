// Pipelines: graphs of agents declared in a file, their events and operations. Used by feature-events.ts and ops.ts.

import * as z from 'zod';
import { defineOps, id, most } from '../define-ops.ts';
import { errorBodySchema } from '../errors.ts';
import { usageSchema } from '../llm.ts';
import { modelRefSchema } from '../model-ref.ts';

const nodeName = z.string().regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be a short name in small letters, digits, _ and -');
const names = z.array(nodeName).max(30).default([]);
const path = z.string().min(1).max(4096);

const common = {
  /** Nodes that must end before this node begins. */
  after: names,
  /** The node is skipped unless the output of that node matches. */
  when: z
    .strictObject({ node: nodeName, contains: z.string().min(1).optional(), 'not-contains': z.string().min(1).optional() })
    .refine((one) => (one.contains === undefined) !== (one['not-contains'] === undefined), 'name either contains or not-contains')
    .optional(),
};

/** `{{input}}` and `{{node}}` in `ask` are replaced. The node waits for the nodes named this way. */
const askNodeSchema = z.strictObject({
  ...common,
  ask: z.string().min(1).max(50_000),
  agent: id.optional(),
  model: modelRefSchema.optional(),
  /** The only tools it may use; defaults to all tools of the agent. */
  tools: z.array(z.string().min(1).max(64)).max(100).optional(),
  steps: z.number().int().min(1).max(1000).optional(),
  minutes: z.number().positive().max(1440).optional(),
  /** How often a failed turn is retried. */
  retries: z.number().int().min(0).max(5).default(1),
});

/**
 * Judges the output of a node. If the score is below `least`, the nodes in `redo`, and the nodes that follow from them, run again with the
 * findings.
 */
const reviewNodeSchema = z.strictObject({
  ...common,
  review: nodeName,
  rubric: z.string().min(1).max(20_000).optional(),
  /** Checks that every address in the text was fetched, and that a quotation before an address is on that page. */
  citations: z.boolean().default(false),
  model: modelRefSchema.optional(),
  least: z.number().min(0).max(1).default(1),
  redo: names,
  /** The maximum number of repetitions. */
  times: z.number().int().min(0).max(5).default(1),
});

export const pipelineFileSchema = z.strictObject({
  description: z.string().max(2_000).optional(),
  /** For the whole run. */
  budget: z.strictObject({ usd: z.number().nonnegative().optional(), tokens: z.number().int().positive().optional() }).default({}),
  nodes: z.record(nodeName, z.union([askNodeSchema, reviewNodeSchema])),
  /** The node whose output is the output of the pipeline. */
  output: nodeName,
});
export type PipelineFile = z.infer<typeof pipelineFileSchema>;
export type PipelineNode = PipelineFile['nodes'][string];

const spot = { pipelineId: z.string(), node: z.string(), round: z.number().int() };
const nodeStatus = z.enum(['done', 'failed', 'skipped']);

export const pipelineEvents = {
  /** In the session of the run, like all of these events. */
  'pipeline.started': z.object({
    pipelineId: z.string(),
    name: z.string(),
    graph: pipelineFileSchema,
    input: z.string(),
    channel: z.string(),
    by: z.string(),
  }),
  'pipeline.node_started': z.object({ ...spot, attempt: z.number().int(), sessionId: z.string(), turnId: z.string() }),
  /** `score` is the score of a review, from 0 to 1. `error` says why the node failed; a turn that failed permanently ends the run. */
  'pipeline.node_finished': z.object({
    ...spot,
    status: nodeStatus,
    text: z.string(),
    turnId: z.string().nullable(),
    score: z.number().optional(),
    error: z.string().optional(),
    model: z.string().optional(),
    usage: usageSchema.optional(),
    costUsd: z.number().nullable().optional(),
    tookMs: z.number().optional(),
  }),
  'pipeline.finished': z.object({ pipelineId: z.string(), status: z.enum(['done', 'failed']), text: z.string(), reason: z.string() }),
} as const;

export const pipelineViewSchema = z.object({
  pipelineId: z.string(),
  sessionId: z.string(),
  name: z.string(),
  status: z.enum(['running', 'waiting', 'done', 'failed']),
  text: z.string(),
  reason: z.string(),
  /** Why the turn of a node was not done, if that ended the run. */
  error: errorBodySchema.optional(),
  /** The score of the last review; null if there was none. */
  quality: z.number().nullable(),
  nodes: z.array(
    z.object({
      node: z.string(),
      /** The nodes that it waits for. */
      follows: z.array(z.string()),
      /** The nodes that a review sends back. */
      redo: z.array(z.string()),
      status: z.enum(['open', 'running', 'done', 'failed', 'skipped']),
      rounds: z.number().int(),
      text: z.string(),
      sessionId: z.string().nullable(),
    }),
  ),
  waitsFor: z.array(z.object({ approvalId: z.string(), text: z.string() })),
  /** The tools that unfinished work names and does without, because they are not set up here. */
  lacks: z.array(z.string()).optional(),
  modelCalls: z.number().int(),
  toolCalls: z.number().int(),
  tokens: z.number().int(),
  costUsd: z.number().nullable(),
  startedAtMs: z.number().int(),
  finishedAtMs: z.number().int().nullable(),
});
export type PipelineView = z.infer<typeof pipelineViewSchema>;

const message = z.string().trim().min(1).max(100_000);

export const pipelineOps = defineOps({
  /** Runs a graph of agents. Durable: a restart continues with the interrupted nodes. */
  'pipeline.run': {
    params: z.strictObject({
      /** A file, for callers on this computer, or the name of a built-in pipeline. */
      pipeline: path,
      text: message,
      wait: z.boolean().optional(),
    }),
    result: pipelineViewSchema,
    about: 'run a pipeline: a graph of agents from a file, or one that comes with TrayClaw',
    forPerson: true,
    live: true,
    commands: {
      'pipeline run': {
        takes: ['pipeline', 'text...'],
        words: { pipeline: 'a YAML file, or a name: research', text: 'what it works on' },
        options: { '--no-wait': { about: 'return at once; it continues while TrayClaw runs', sets: { wait: false } } },
        example: "research 'How tall is the Eiffel Tower?'",
      },
      research: {
        about: 'research a question: plan, search, calculate, write, review; with citations that were checked',
        takes: ['text...'],
        sets: { pipeline: 'research' },
        options: { '-o, --out <file>': 'write the answer into this file' },
        example: "'How tall is the Eiffel Tower in feet?'",
      },
    },
  },
  'pipeline.list': {
    params: z.strictObject({ limit: z.number().int().min(1).max(200).optional() }),
    result: z.object({ pipelines: z.array(pipelineViewSchema) }),
    about: 'list the runs of pipelines, the newest first',
    shows: {
      each: 'pipelines',
      columns: { RUN: 'pipelineId', STATUS: 'status', PIPELINE: 'name', AT: 'startedAtMs', TOKENS: 'tokens' },
      none: 'No pipeline has run yet.',
    },
    commands: { 'pipeline list': { options: { limit: most }, example: '--limit 5' } },
  },
  'pipeline.get': {
    params: z.strictObject({ pipelineId: id }),
    result: pipelineViewSchema,
    about: 'show the run of a pipeline, node by node',
    commands: { 'pipeline show': { takes: ['pipelineId'], example: 'pip_01JD7Q' } },
  },
  'pipeline.wait': {
    params: z.strictObject({ pipelineId: id }),
    result: pipelineViewSchema,
    about: 'continue an unfinished run and wait until it ends or waits for you',
    live: true,
    commands: { 'pipeline continue': { takes: ['pipelineId'], example: 'pip_01JD7Q' } },
  },
  /** Gives the same text to several configurations, one after the other, and judges every answer by the same rubric. */
  'pipeline.compare': {
    params: z.strictObject({
      text: message,
      /** A pipeline by name or file, a model (`provider/name`), or `agent:ID`. */
      with: z.array(path).min(1).max(8),
      rubric: z.string().min(1).max(20_000).optional(),
      judge: modelRefSchema.optional(),
    }),
    result: z.object({
      rows: z.array(
        z.object({
          name: z.string(),
          status: z.string(),
          steps: z.number().int(),
          calls: z.number().int(),
          tokens: z.number().int(),
          tookMs: z.number(),
          costUsd: z.number().nullable(),
          quality: z.number().nullable(),
          text: z.string(),
          /** Why it failed; empty if it did not. */
          reason: z.string(),
          /** Why its turn was not done. */
          error: errorBodySchema.optional(),
          sessionId: z.string(),
        }),
      ),
    }),
    about: 'give the same task to several pipelines, models or agents, and compare steps, calls, tokens, time, cost and quality',
    forPerson: true,
    live: true,
    commands: {
      compare: {
        takes: ['text...'],
        options: {
          with: 'what to compare: pipelines, models (provider/name), agent:ID; with spaces or commas between',
          rubric: 'what a good answer does; a list is judged point by point',
          judge: 'the model that judges',
        },
        example: "'How tall is the Eiffel Tower in feet?' --with research agent:main",
      },
    },
  },
});

export const pipelineContract = {
  events: pipelineEvents,
  ops: pipelineOps,
  families: { pipeline: 'Pipelines' },
  help: { pipeline: ['Talk', 'graphs of agents: run one, see how it stands'] },
} as const;
