// Traces for other tools: where finished turns are sent as OpenTelemetry spans; the settings and the operations.

import * as z from 'zod';
import { defineOps } from '../command-form.ts';
import { id, none } from '../op-params.ts';
import { namedValuesSchema } from '../named-values.ts';
import { secretRefSchema } from '../secret-ref.ts';

const addressSchema = z.url({ protocol: /^https?$/ }).max(2000);
const contentSchema = z.boolean().default(false);

const plainSchema = z.string().max(8000);
const referenceOrPlain = z.union([secretRefSchema, plainSchema]);

export const telemetryConfigSchema = z
  .strictObject({
    /** A receiver that speaks OTLP over HTTP with JSON. */
    otlp: z
      .strictObject({
        endpoint: addressSchema,
        /** Where counts of tokens, costs and durations go; none are sent without it. */
        metricsEndpoint: addressSchema.optional(),
        headers: namedValuesSchema(referenceOrPlain).default({}),
        /** Also sends messages, arguments and results, without the secrets that are known. */
        content: contentSchema,
      })
      .optional(),
    langfuse: z
      .strictObject({ baseUrl: addressSchema, publicKey: referenceOrPlain, secretKey: secretRefSchema, content: contentSchema })
      .optional(),
  })
  .prefault({});
export type TelemetryConfig = z.infer<typeof telemetryConfigSchema>;

export const telemetryTargets = ['otlp', 'langfuse'] as const;
export type TelemetryTarget = (typeof telemetryTargets)[number];

export const telemetryOps = defineOps({
  /** Sends what waits, to every target. Turns that finish from now on follow on their own. */
  'telemetry.flush': {
    params: none,
    result: z.object({
      sent: z.number().int(),
      /** Finished turns that no receiver has confirmed yet, over all targets. */
      pending: z.number().int(),
      /** Why something still waits. */
      problem: z.string().nullable(),
    }),
    about: 'send the traces of finished turns that wait, and say how many were sent',
    forPerson: true,
    shows: '{sent} sent, {pending} pending',
    commands: { 'telemetry flush': { example: '' } },
  },
  /** With content only if asked for; ids are derived from the turn, so that sending it twice names the same spans. */
  'telemetry.export': {
    params: z.strictObject({ turnId: id, content: z.boolean().optional() }),
    result: z.object({ resourceSpans: z.array(z.record(z.string(), z.unknown())) }),
    about: 'print the spans of one turn as OTLP JSON',
    commands: {
      'telemetry export': {
        takes: ['turnId'],
        options: { content: 'with messages, arguments and results, without the secrets that are known' },
        example: 'last',
      },
    },
  },
});

export const telemetryContract = {
  ops: telemetryOps,
  families: { telemetry: 'Activity, health, recovery' },
  help: { telemetry: ['Repair', 'traces of turns for other tools'] },
} as const;
