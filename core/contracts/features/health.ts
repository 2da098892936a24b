// Health checks and guided recovery: the findings, and the recoveries. Each recovery is planned, shown, and run only as planned. A part of
// the tables in events.ts and ops.ts.

import * as z from 'zod';
import { defineOps, id, none } from '../define-ops.ts';

const recoveryKinds = [
  'reset-agent',
  'clear-session-cache',
  'rebuild-index',
  'restore-backup',
  'quarantine-artifacts',
  'finish-undo',
] as const;
export const recoveryKindSchema = z.enum(recoveryKinds);
export type RecoveryKind = z.infer<typeof recoveryKindSchema>;

export const healthEvents = {
  /** In the system session. A repair of one finding of the health check, or a planned recovery. */
  'recovery.finished': z.object({
    planId: z.string(),
    kind: z.string(),
    target: z.string().nullable(),
    did: z.array(z.string()),
    by: z.string(),
  }),
} as const;

const checkSchema = z.object({
  id: z.string(),
  ok: z.boolean(),
  detail: z.string(),
  fix: z.string().optional(),
  /** The automatic repair, run by `health.fix`. If harmless, it loses nothing that cannot be recreated. */
  repair: z.object({ will: z.array(z.string()), harmless: z.boolean() }).optional(),
});

export const healthOps = defineOps({
  /** `full` includes slow checks: the whole chain, every artifact, every index, and a short request to the default model. */
  'health.check': {
    params: none.extend({ full: z.boolean().optional() }),
    result: z.object({ ok: z.boolean(), checks: z.array(checkSchema) }),
    about: 'check that everything works',
  },
  /** The repair of one finding; runs only with `run`. `check` is the state afterwards. */
  'health.fix': {
    params: z.strictObject({ checkId: id, run: z.boolean().optional() }),
    result: z.object({
      checkId: z.string(),
      harmless: z.boolean(),
      will: z.array(z.string()),
      did: z.array(z.string()),
      check: checkSchema.nullable(),
    }),
    about: 'show the repair of one finding, and run it with `run`',
    forPerson: true,
  },
  'recovery.list': {
    params: none,
    result: z.object({
      kinds: z.array(z.object({ kind: recoveryKindSchema, title: z.string(), when: z.string(), target: z.string().nullable() })),
    }),
    about: 'list the guided recoveries',
  },
  /** The changes that the recovery would make, and what is lost. Changes nothing. The plan can be run once within ten minutes. */
  'recovery.plan': {
    params: z.strictObject({ kind: recoveryKindSchema, target: z.string().min(1).max(4096).optional() }),
    result: z.object({
      planId: z.string(),
      kind: recoveryKindSchema,
      target: z.string().nullable(),
      will: z.array(z.string()),
      lost: z.array(z.string()),
      keeps: z.array(z.string()),
      /** False for manual steps, which `will` lists. */
      runs: z.boolean(),
    }),
    about: 'show what a recovery would change and lose; changes nothing',
  },
  'recovery.run': {
    params: z.strictObject({ planId: id }),
    result: z.object({ planId: z.string(), kind: recoveryKindSchema, did: z.array(z.string()) }),
    about: 'run a recovery that was planned',
    forPerson: true,
  },
});
