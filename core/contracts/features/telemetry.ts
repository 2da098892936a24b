// Traces for other tools: the receivers of finished turns as OpenTelemetry spans. The settings and the operations.

import * as z from 'zod';
import { defineOps, id, none } from '../define-ops.ts';
import { namedValuesSchema, secretRefSchema } from '../secret-ref.ts';

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
        /** The receiver of token counts, costs and durations. None are sent without it. */
        metricsEndpoint: addressSchema.optional(),
        headers: namedValuesSchema(referenceOrPlain).default({}),
        /** Whether messages, arguments and results are sent too, with known secrets redacted. */
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
  /** Sends everything pending to every receiver. Turns that finish later are sent automatically. */
  'telemetry.flush': {
    params: none,
    result: z.object({
      sent: z.number().int(),
      /** Finished turns that no receiver has confirmed yet, over all receivers. */
      pending: z.number().int(),
      /** Why something is still pending. */
      problem: z.string().nullable(),
    }),
    about: 'send the traces of finished turns that wait, and say how many were sent',
    forPerson: true,
    shows: '{sent} sent, {pending} pending',
    commands: { 'telemetry flush': { example: '' } },
  },
  /** Includes content only on request. Ids are derived from the turn, so that sending it twice names the same spans. */
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
