// The governor: signals of a turn, rules over them, and directives that tighten what the gate allows. The settings, the event, the
// operations.

import * as z from 'zod';
import { defineOps, id } from '../define-ops.ts';
import { modelRefSchema } from '../model-ref.ts';
import { decisionKindSchema } from '../policy.ts';

export const signalNames = [
  /** From 0 to 100, for the call: its class, the programs it runs, and the risks that its tool states. */
  'risk',
  /** Untrusted sources that the session has read. */
  'taint',
  /** Untrusted sources from which the call may derive. */
  'derived',
  /** Consecutive failed calls. */
  'failures',
  /** Consecutive failed calls of the same class as this call. */
  'classFailures',
  /** Denied calls of the turn. */
  'denials',
  /** Results that contradict earlier ones: a different answer to the same question, or a missing effect. */
  'contradictions',
  /** Words of doubt in the model's last text. */
  'hedging',
  /** The percentage spent of the tightest budget. */
  'budget',
  /** Hosts and commands of the call that the session has not used before. */
  'novelty',
  /** The age in days of the grant that allows the call. */
  'grantAge',
] as const;
export const signalNameSchema = z.enum(signalNames);
export type SignalName = z.infer<typeof signalNameSchema>;

export const directiveSchema = z.enum(['validate', 'second_opinion', 'escalate', 'cheaper', 'stop_class', 'ask_person']);
export type Directive = z.infer<typeof directiveSchema>;

export const findingSchema = z.object({
  signal: signalNameSchema,
  value: z.number(),
  ruleId: z.string(),
  directive: directiveSchema,
});
export type Finding = z.infer<typeof findingSchema>;

export const governorModeSchema = z.enum(['on', 'observe', 'off']);

export const governorConfigSchema = z
  .strictObject({
    /** on: directives take effect. observe: they are only recorded. off: nothing is assessed. */
    mode: governorModeSchema.default('off'),
    /** The model for the rest of a turn that a rule escalates. Without it, the turn keeps its model. */
    stronger: modelRefSchema.optional(),
    /** The model for the rest of a turn whose budget is nearly spent. */
    cheaper: modelRefSchema.optional(),
  })
  .prefault({});
export type GovernorConfig = z.infer<typeof governorConfigSchema>;

const governorEvents = {
  /** Rules that fired for a call, or without a call for the answer. Precedes the decision on the call. */
  'governor.assessed': z.object({
    callId: z.string().nullable(),
    mode: governorModeSchema.exclude(['off']),
    /** The gate's decision on the call. */
    decision: decisionKindSchema.optional(),
    class: z.string().optional(),
    findings: z.array(findingSchema).min(1),
    /** The directives that took effect; none in the mode observe. */
    applied: z.array(directiveSchema),
  }),
} as const;
export type Assessed = z.infer<(typeof governorEvents)['governor.assessed']>;

/** A finding with the call it is about; null for the answer of the turn. */
const explainedSchema = findingSchema.extend({ callId: z.string().nullable(), tool: z.string().nullable(), applied: z.boolean() });
export type ExplainedFinding = z.infer<typeof explainedSchema>;

export const governorOps = defineOps({
  /** The findings of the rules on a turn. `recorded` is false if the governor was off and the rules are applied to the log now. */
  'governor.explain': {
    params: z.strictObject({ turnId: id }),
    result: z.object({ turnId: z.string(), recorded: z.boolean(), findings: z.array(explainedSchema) }),
    about: 'show the rules of the governor that fired in a turn; with the governor off, those that would have',
    commands: { 'governor explain': { takes: ['turnId'], example: 'trn_01JD7Q' } },
  },
  /** Applies the rules to past turns. Reads the log; calls no model and asks no person. */
  'governor.try': {
    params: z.strictObject({ days: z.number().int().min(1).max(365).optional() }),
    result: z.object({
      turns: z.number().int(),
      calls: z.number().int(),
      /** Calls that the gate allowed and that the governor would have had approved, verified or denied. */
      tightened: z.number().int(),
      rules: z.array(
        z.object({
          ruleId: z.string(),
          directive: directiveSchema,
          findings: z.number().int(),
          turns: z.number().int(),
          lastTurnId: z.string(),
        }),
      ),
      /** The oldest event that was read; null if the whole period was read. */
      lookedBackToMs: z.number().int().nullable(),
    }),
    about: 'show what the governor would have said about past turns; asks no model and no person',
    commands: { 'governor try': { options: { days: 'how many days back; 30 by default' }, example: '--days 30' } },
  },
});

export const governorContract = {
  events: governorEvents,
  ops: governorOps,
  families: { governor: 'Second thoughts' },
  help: { governor: ['Look', 'more caution than the policy asks for: what its rules say'] },
} as const;
