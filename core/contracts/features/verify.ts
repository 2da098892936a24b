// Verification: a second check of a risky call before it runs, by a model, a Cortensor router or a command. It can only make the gate's
// decision stricter. The settings and the event.

import * as z from 'zod';
import { usageSchema } from '../llm.ts';
import { toolClassSchema } from '../tools.ts';

export const verdictSchema = z.enum(['VALID', 'INVALID', 'RETRY', 'NEEDS_SPEC']);
export type Verdict = z.infer<typeof verdictSchema>;

/** The effect on the call. `pass` leaves the gate's decision unchanged. */
export const verifyOutcomeSchema = z.enum(['pass', 'ask', 'deny']);
export type VerifyOutcome = z.infer<typeof verifyOutcomeSchema>;

const name = /^[A-Za-z0-9_-]{1,64}$/;
const verifierPattern = /^((cortensor|command):[A-Za-z0-9_-]{1,64}|[A-Za-z0-9_-]+\/.+)$/;

export const verifyConfigSchema = z
  .strictObject({
    /** Calls of these classes are verified before they run, or before a person is asked. */
    classes: z.array(toolClassSchema).min(1),
    /** A model (`provider/model`), `cortensor:PROVIDER`, or `command:NAME` for one of `commands`. */
    by: z.string().regex(verifierPattern, 'must be provider/model, cortensor:PROVIDER or command:NAME'),
    /** The decision on a call if there is no usable answer. */
    whenUnavailable: z.enum(['deny', 'ask']).default('deny'),
    timeoutMs: z.number().int().min(100).max(600_000).default(60_000),
    /** The API operation of a Cortensor router. */
    api: z.enum(['v1', 'v2', 'v3', 'factcheck']).default('v2'),
    /** For v3 and factcheck: the number of nodes that judge the call. */
    replicas: z.union([z.literal(1), z.literal(3), z.literal(5)]).default(3),
    /**
     * Programs and their arguments by name; no shell is used. The call is JSON on standard input, the verdict is JSON on standard output.
     */
    commands: z
      .record(z.string().regex(name, 'must be up to 64 letters, digits, - and _'), z.array(z.string().min(1).max(4096)).min(1).max(100))
      .default({}),
  })
  .refine(({ by, commands }) => !by.startsWith('command:') || Object.hasOwn(commands, by.slice('command:'.length)), {
    path: ['by'],
    message: 'names a command that is not in verify.commands',
  })
  .optional();
export type VerifyConfig = NonNullable<z.infer<typeof verifyConfigSchema>>;

const verifyEvents = {
  /** A call was checked before the gate's decision took effect. UNAVAILABLE: there was no usable answer. */
  'call.verified': z.object({
    callId: z.string(),
    by: z.string(),
    verdict: z.enum([...verdictSchema.options, 'UNAVAILABLE']),
    reason: z.string(),
    outcome: verifyOutcomeSchema,
    /** The rule of the governor that requested the check; absent if the class of the call did. */
    ruleId: z.string().optional(),
    tookMs: z.number(),
    /** For a model. */
    usage: usageSchema.optional(),
    costUsd: z.number().nullable().optional(),
  }),
} as const;

/** The call as a verifier sees it, with secrets redacted. */
export interface VerifySubject {
  readonly tool: string;
  readonly class: string;
  /** As JSON. */
  readonly args: string;
  readonly summary: string;
  /** The gate's decision; `reason` explains it. */
  readonly decision: string;
  readonly reason: string;
  /** The last message of the person. */
  readonly request: string;
  /** Untrusted sources from which the call may derive. */
  readonly untrusted: readonly string[];
}

/** The answer of a verifying command or model. */
export const verifierAnswerSchema = z.object({ verdict: verdictSchema, reason: z.string().max(4000).default('') });

export const verifyContract = {
  events: verifyEvents,
} as const;
