// The operations that stop, bound and undo; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, id, none, sessionName, turnName } from './define-ops.ts';
import { fileDiffSchema, refusedFileSchema, reviewedFileSchema } from './checkpoints.ts';
import { budgetScopeSchema, budgetStateSchema, panicStatusSchema } from './policy.ts';
import { checkpointSchema } from './op-results.ts';

/** One call, or all calls of one turn. */
const undoTarget = { callId: id.optional(), turnId: id.optional() };
const namesOne = (target: { callId?: string | undefined; turnId?: string | undefined }): boolean =>
  (target.callId === undefined) !== (target.turnId === undefined);
const namesOneWords = 'name either a callId or a turnId';

/** One turn, or a session with the sessions of its subagents, optionally from a position in the log on. */
const reviewed = { turnId: id.optional(), sessionId: id.optional(), fromSeq: z.number().int().min(0).optional() };
const reviewsOne = (target: { turnId?: string | undefined; sessionId?: string | undefined; fromSeq?: number | undefined }): boolean =>
  (target.turnId === undefined) !== (target.sessionId === undefined) && (target.fromSeq === undefined || target.sessionId !== undefined);
const reviewsOneWords = 'name either a turnId, or a sessionId with or without fromSeq';

const restoredSchema = z.object({
  restoreId: z.string().nullable(),
  callIds: z.array(z.string()),
  restored: z.array(z.object({ path: z.string() })),
  refused: z.array(refusedFileSchema),
  /** Files that were already in the earlier state. */
  unchanged: z.array(z.object({ path: z.string() })),
});

export const boundOps = defineOps({
  'panic.engage': {
    params: z.strictObject({ reason: z.string().max(500).optional() }),
    result: panicStatusSchema,
    about: 'end processes, turns and queued messages, and refuse every call',
  },
  'panic.release': { params: none, result: panicStatusSchema, about: 'release the panic stop', forPerson: true },
  'panic.status': { params: none, result: panicStatusSchema, about: 'say whether the panic stop is engaged' },
  'budget.get': {
    params: z.strictObject({ turnId: id.optional(), sessionId: id.optional() }),
    result: z.object({ budgets: z.array(budgetStateSchema) }),
    about: 'show the limits and what is used',
    commands: {
      'budget show': {
        options: { turnId: 'also the limits of this turn and its session', sessionId: 'also the limits of this session' },
        example: '--session last',
      },
    },
  },
  /** Raises the limit of one turn (`turnId`), one session (`sessionId`, or the session of `turnId`) or this day. */
  'budget.allow': {
    params: z.strictObject({
      scope: budgetScopeSchema,
      usd: z.number().positive().max(1_000_000).optional(),
      tokens: z.number().int().positive().max(1_000_000_000_000).optional(),
      turnId: id.optional(),
      sessionId: id.optional(),
    }),
    result: z.object({ budgets: z.array(budgetStateSchema) }),
    about: 'allow more for a turn, a session or, with none named, this day',
    forPerson: true,
    commands: {
      'budget allow': {
        takes: [':amount'],
        words: { amount: 'US dollars, such as 1.50' },
        options: {
          '--tokens': 'the amount is tokens, not dollars',
          turnId: 'for this turn and those that take up its work',
          sessionId: 'for this session',
          '--day': 'until the day ends',
        },
        example: '1.50 --day',
      },
    },
  },
  /** Newest first. */
  'checkpoint.list': {
    params: z.strictObject({
      sessionId: sessionName.optional(),
      turnId: turnName.optional(),
      limit: z.number().int().min(1).max(1000).optional(),
    }),
    result: z.object({ checkpoints: z.array(checkpointSchema) }),
    about: 'list what can be undone, the newest first',
  },
  /**
   * Previews `checkpoint.restore`: for each file, the difference between its current and its earlier content, or why it cannot be restored.
   * Changes nothing.
   */
  'checkpoint.preview': {
    params: z.strictObject({ ...undoTarget, force: z.boolean().optional() }).refine(namesOne, namesOneWords),
    result: z.object({ callIds: z.array(z.string()), files: z.array(fileDiffSchema.extend({ refused: z.string().nullable() })) }),
    about: 'show what a restore would do to each file; changes nothing',
  },
  /**
   * Restores the earlier state. All or nothing: one refused file refuses the others as well, unless `keepGoing` is set. `force` also
   * restores files that were changed since; their current content is kept, like everything that an undo replaces. To redo, undo
   * `restoreId`.
   */
  'checkpoint.restore': {
    params: z
      .strictObject({ ...undoTarget, keepGoing: z.boolean().optional(), force: z.boolean().optional() })
      .refine(namesOne, namesOneWords),
    result: restoredSchema,
    about: 'put files back as they were before a call or a turn',
  },
  'checkpoint.diff': {
    params: z.strictObject({ callId: id }),
    result: z.object({ files: z.array(fileDiffSchema) }),
    about: 'show what a call changed in files',
  },
  /** Lists each file once, with the changes of several calls combined. Undone changes are left out. */
  'checkpoint.review': {
    params: z.strictObject(reviewed).refine(reviewsOne, reviewsOneWords),
    result: z.object({ files: z.array(reviewedFileSchema) }),
    about: 'show every file that a turn or a session changed',
    commands: {
      review: { takes: [':id'], words: { id: 'of a turn, or of a session with those of its subagents' }, example: 'trn_01JD7Q' },
    },
  },
  /**
   * Restores what a review shows: all of it, one file (`path`), or some hunks of that file, numbered from 0 in the difference of this
   * `version`. A hunk can be restored only while its lines are as the change left them. Otherwise like `checkpoint.restore`.
   */
  'checkpoint.undo': {
    params: z
      .strictObject({
        ...reviewed,
        path: z.string().min(1).max(4096).optional(),
        hunks: z.array(z.number().int().min(0)).min(1).max(1000).optional(),
        version: z.string().max(64).optional(),
        keepGoing: z.boolean().optional(),
        force: z.boolean().optional(),
      })
      .refine(reviewsOne, reviewsOneWords)
      .refine(({ path, hunks, version }) => hunks === undefined || (path !== undefined && version !== undefined), {
        message: 'hunks need the path and the version of the difference they are counted in',
      }),
    result: restoredSchema,
    about: 'put back what a turn or a session changed: all of it, one file, or parts of a file',
  },
});
