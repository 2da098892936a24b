// Routes to models: how config.yaml defines a route, the result of a choice among its candidates, and the operation that explains it. A
// route can be named as `route/NAME` wherever a model can be named.

import * as z from 'zod';
import { defineOps } from './define-ops.ts';
import { modelRefSchema } from './model-ref.ts';
import { isRouteRef } from './route-name.ts';

/**
 * When a candidate may be used. All given conditions must hold. If `contextOver` or `vision: true` holds, the candidate also comes first.
 */
export const routeWhenSchema = z.strictObject({
  /** Tokens of the request. */
  contextOver: z.number().int().nonnegative().optional(),
  contextUnder: z.number().int().positive().optional(),
  /** Whether the request offers tools. */
  tools: z.boolean().optional(),
  /** Whether the conversation contains pictures. */
  vision: z.boolean().optional(),
  /** The maximum cost of the request, in US dollars. */
  usdUnder: z.number().positive().optional(),
  /** Whether the request contains private data: memory, documents, attached files, results of tools that inspect this computer. */
  private: z.boolean().optional(),
});
export type RouteWhen = z.infer<typeof routeWhenSchema>;

const candidateRefSchema = modelRefSchema.refine((ref) => !isRouteRef(ref), 'must be provider/model; a route cannot lead to a route');

export const routeCandidateSchema = z.union([
  candidateRefSchema,
  z.strictObject({
    model: candidateRefSchema,
    when: routeWhenSchema.optional(),
    /** Its share of the turns, relative to the other weights; 1 by default. */
    weight: z.number().nonnegative().max(1000).optional(),
  }),
]);

export const routePreferences = ['order', 'cost', 'latency'] as const;

export const routeSchema = z.strictObject({
  candidates: z.array(routeCandidateSchema).min(1).max(20),
  /** Which of the allowed candidates is used: the first, the cheapest, or the one that starts to answer soonest. */
  prefer: z.enum(routePreferences).default('order'),
  /** Only models that run on this computer. */
  localOnly: z.boolean().default(false),
});
export type RouteConfig = z.infer<typeof routeSchema>;

export const routesSchema = z.record(z.string().regex(/^[A-Za-z0-9_-]{1,60}$/, 'must be 1 to 60 letters, digits, - or _'), routeSchema);

export const candidateHealths = ['ok', 'cooling', 'on trial'] as const;

/** `ok` also means that nothing is known. `on trial` means that a cool-down is over and no request has succeeded since. */
export const candidateVerdictSchema = z.object({
  model: z.string(),
  /** Whether the conditions of the route allow it for this request. */
  allowed: z.boolean(),
  reason: z.string(),
  health: z.enum(candidateHealths),
  /** The expected cost of this request in US dollars; null if the price is unknown. */
  expectedUsd: z.number().nullable(),
});
export type CandidateVerdict = z.infer<typeof candidateVerdictSchema>;

/** Why a model was chosen, as recorded in the log. */
export const routeNoteSchema = z.object({
  name: z.string(),
  reason: z.string(),
  /** Candidates that come before it, and why each was skipped. */
  passed: z.array(z.object({ model: z.string(), reason: z.string() })),
});
export type RouteNote = z.infer<typeof routeNoteSchema>;

export const routeOps = defineOps({
  /** The model that a message would use, and why. Contacts no model and no server. Without `model`, uses the default. */
  'model.route': {
    params: z.strictObject({ text: z.string().max(1_000_000), model: modelRefSchema.optional() }),
    result: z.object({
      /** The named route or model. */
      ref: z.string(),
      tokens: z.number().int(),
      candidates: z.array(
        candidateVerdictSchema.extend({ latencyMs: z.number().nullable(), coolingMs: z.number().int(), problem: z.string().nullable() }),
      ),
      chosen: z.string().nullable(),
      reason: z.string(),
    }),
    about: 'show which model a message would go to, and why; asks no model',
    commands: {
      'models route': {
        takes: ['text...'],
        options: { model: 'a route, such as route/everyday, or a model; the default unless given' },
        example: 'Sum up my notes',
      },
    },
  },
});
