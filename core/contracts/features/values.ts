// The answer of a turn as a value of a JSON schema: the event and the operation.

import * as z from 'zod';
import { defineOps, id } from '../define-ops.ts';
import { usageSchema } from '../llm.ts';
import { modelRefSchema } from '../model-ref.ts';

const spent = { usage: usageSchema, costUsd: z.number().nullable() };

const valueEvents = {
  /** A model was asked for the answer of a turn as a value. `error` says why there is none. */
  'value.given': z.object({
    model: z.string(),
    by: z.string(),
    /** Any JSON; absent if there is an error. */
    value: z.unknown().optional(),
    error: z.string().optional(),
    ...spent,
    tookMs: z.number(),
  }),
} as const;

export const valueOps = defineOps({
  /**
   * Returns the answer of an ended turn as a value that matches the schema. If the answer already is such a value, it is returned
   * unchanged. Otherwise a model is asked for it, and once more if its answer is invalid. The default is the turn's model.
   */
  'turn.value': {
    params: z.strictObject({
      turnId: id,
      /** JSON Schema. Keywords that a model server does not support are checked here. */
      schema: z.record(z.string(), z.unknown()),
      model: modelRefSchema.optional(),
    }),
    result: z.object({
      turnId: z.string(),
      value: z.unknown(),
      /** The model that was asked; null if the answer already was the value. */
      model: z.string().nullable(),
      ...spent,
    }),
    about: 'return the answer of an ended turn as a value of a JSON schema, checked; asks a model unless it is one',
  },
});

export const valueContract = {
  events: valueEvents,
  ops: valueOps,
} as const;
