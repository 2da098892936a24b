// Guided recovery: the ways back from trouble that change something. Each is planned, shown, and run only as it was planned.

import * as z from 'zod';

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

export const recoveryEvents = {
  /** In the system session. A repair of one finding of the health check, or a planned recovery. */
  'recovery.finished': z.object({
    planId: z.string(),
    kind: z.string(),
    target: z.string().nullable(),
    did: z.array(z.string()),
    by: z.string(),
  }),
} as const;
