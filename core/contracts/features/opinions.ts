// Second opinions: other models answer the message of a turn again, and a judge compares the answers. Panels, the events and the
// operations.

import * as z from 'zod';
import { defineOps, id } from '../define-ops.ts';
import { usageSchema } from '../llm.ts';
import { modelRefSchema } from '../model-ref.ts';

const panelNameSchema = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be up to 64 letters, digits, - and _');

export const panelsSchema = z
  .record(
    panelNameSchema,
    z.strictObject({
      members: z.array(modelRefSchema).min(1).max(7),
      /** The model that compares the answers; defaults to the first member. */
      judge: modelRefSchema.optional(),
    }),
  )
  .default({});
export type Panels = z.infer<typeof panelsSchema>;

/**
 * accept: the answer stands. revise: a better answer is in `text`. ask: the models disagree, or there is no judgement, and the person
 * decides.
 */
export const opinionVerdictSchema = z.enum(['accept', 'revise', 'ask']);

const spent = { usage: usageSchema, costUsd: z.number().nullable(), tookMs: z.number() };

const opinionEvents = {
  /** Recorded in the turn it concerns, after the turn has ended. */
  'opinion.requested': z.object({
    opinionId: z.string(),
    /** Null if one other model is asked. */
    panel: z.string().nullable(),
    members: z.array(z.string()),
    judge: z.string(),
    by: z.string(),
  }),
  /** The answer of one model; `error` says why there is none. */
  'opinion.given': z.object({
    opinionId: z.string(),
    model: z.string(),
    text: z.string(),
    error: z.string().optional(),
    ...spent,
  }),
  /** The outcome. With `error` there is no judgement, and the verdict is ask. */
  'opinion.judged': z.object({
    opinionId: z.string(),
    model: z.string(),
    verdict: opinionVerdictSchema,
    /** 0: all answers agree; 1: they contradict each other. */
    disagreement: z.number().min(0).max(1),
    /** The models in the order of the letters under which the judge saw their answers. `best` is the preferred letter. */
    order: z.array(z.string()),
    best: z.string().nullable(),
    /** The merged answer of the judge; empty if it wrote none. */
    text: z.string(),
    reason: z.string(),
    error: z.string().optional(),
    ...spent,
  }),
} as const;

export const opinionSchema = z.object({
  opinionId: z.string(),
  turnId: z.string(),
  panel: z.string().nullable(),
  judge: z.string(),
  by: z.string(),
  atMs: z.number().int(),
  /** False while models are being asked. */
  finished: z.boolean(),
  verdict: opinionVerdictSchema,
  opinions: z.array(z.object({ model: z.string(), text: z.string(), error: z.string().optional() })),
  disagreement: z.number(),
  best: z.string().nullable(),
  text: z.string(),
  reason: z.string(),
  /** Why it ended early. Answers given before that are kept. */
  stopped: z.string().optional(),
  costUsd: z.number().nullable(),
});
export type Opinion = z.infer<typeof opinionSchema>;

export const opinionOps = defineOps({
  /** Another model, or a panel of config.yaml, answers the message of an ended turn, and a judge compares the answers. */
  'model.opinion': {
    params: z.strictObject({ turnId: id, panel: panelNameSchema.optional() }),
    result: opinionSchema,
    about: 'ask another model, or a panel, about the answer of a turn; a judge compares',
    forPerson: true,
    live: true,
    commands: {
      'model opinion': {
        takes: ['turnId'],
        options: { panel: 'a panel of models.panels; the first one, or another model, when left out' },
        example: 'trn_01JD7Q --panel careful',
      },
    },
  },
  /** The opinions on a turn, read from the log; asks no model. */
  'opinion.list': {
    params: z.strictObject({ turnId: id }),
    result: z.object({ opinions: z.array(opinionSchema) }),
    about: 'list the second opinions on a turn',
    commands: { 'model opinions': { takes: ['turnId'], example: 'trn_01JD7Q' } },
  },
});

export const opinionContract = {
  events: opinionEvents,
  ops: opinionOps,
  families: { opinion: 'Second thoughts' },
} as const;
