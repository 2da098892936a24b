// The operations on the log, usage and backups; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, id, none } from './define-ops.ts';
import { usageRowSchema } from './op-results.ts';

export const careOps = defineOps({
  'audit.verify': {
    params: none,
    result: z.object({
      ok: z.boolean(),
      events: z.number().int(),
      sessions: z.number().int(),
      firstBad: z.object({ seq: z.number().int(), sessionId: z.string(), sessionSeq: z.number().int(), reason: z.string() }).optional(),
      /** Problems outside the chain: the end of the log is missing, the database file is damaged, or a row permits what no event does. */
      faults: z.array(z.object({ kind: z.enum(['gap', 'database', 'permission']), detail: z.string(), hint: z.string() })).optional(),
    }),
    about: 'verify the hash chain of the log and the database',
    doneWhen: 'ok',
    commands: { 'audit verify': { example: '' } },
  },
  /** A person accepts the log as it is, after events were found missing. */
  'audit.accept': {
    params: none,
    result: z.object({ accepted: z.number().int() }),
    about: 'accept a log with missing events and continue from it',
    forPerson: true,
    commands: { 'audit accept': { example: '' } },
  },
  'replay.run': {
    params: z.strictObject({ turnId: id }),
    result: z.object({
      identical: z.boolean(),
      decisions: z.number().int(),
      differences: z.array(z.object({ step: z.number().int(), recorded: z.string(), decided: z.string() })),
    }),
    about: 'decide a recorded turn again and compare',
    doneWhen: 'identical',
    commands: { replay: { takes: ['turnId'], example: 'last' } },
  },
  'usage.get': {
    params: z.strictObject({
      by: z.enum(['day', 'model', 'session']).optional(),
      days: z.number().int().min(1).max(366).optional(),
      /** The newest days, or the models or sessions with the most tokens. All by default. */
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    result: z.object({
      rows: z.array(usageRowSchema),
      today: usageRowSchema,
      budget: z.object({ perTurnUsd: z.number().nullable(), perSessionUsd: z.number().nullable(), perDayUsd: z.number().nullable() }),
    }),
    about: 'show tokens and money by day, model or session',
    commands: {
      usage: {
        options: { by: 'what the rows are', days: 'how far to look back', limit: 'how many rows at most' },
        example: '--by model --days 30',
      },
    },
  },
  'backup.create': {
    params: none,
    result: z.object({ file: z.string(), sizeBytes: z.number().int(), events: z.number().int() }),
    about: 'make a backup now',
    shows: '{file} ({sizeBytes}, {events} events)',
    commands: { 'backup create': { example: '' } },
  },
  'backup.list': {
    params: none,
    result: z.object({ backups: z.array(z.object({ file: z.string(), sizeBytes: z.number().int(), createdAtMs: z.number().int() })) }),
    about: 'list the backups',
    shows: { each: 'backups', columns: { MADE: 'createdAtMs', SIZE: 'sizeBytes', FILE: 'file' }, none: 'No backups.' },
    commands: { 'backup list': { example: '' } },
  },
  'backup.verify': {
    params: z.strictObject({ file: z.string().min(1) }),
    result: z.object({ ok: z.boolean(), events: z.number().int(), detail: z.string() }),
    about: 'check a backup; last is the newest',
    doneWhen: 'ok',
    commands: { 'backup verify': { takes: ['file'], paths: ['file'], example: 'last' } },
  },
});
