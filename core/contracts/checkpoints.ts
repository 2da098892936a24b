// The state of a file before and after a call, and how a change of it is shown. Schemas only.

import * as z from 'zod';

/** The content of a `file` is stored under its hash; `mode` contains the permission bits. */
export const fileImageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('absent') }),
  z.object({
    kind: z.literal('file'),
    sha256: z.string(),
    sizeBytes: z.number().int().nonnegative(),
    mode: z.number().int(),
  }),
  z.object({ kind: z.literal('link'), target: z.string() }),
  z.object({ kind: z.literal('folder'), mode: z.number().int() }),
  /** There is no copy; `reason` completes the sentence "nothing was kept because …". */
  z.object({ kind: z.literal('unknown'), reason: z.string() }),
]);
export type FileImage = z.infer<typeof fileImageSchema>;

export const beforeFileSchema = z.object({
  /** Absolute real path. */
  path: z.string(),
  before: fileImageSchema,
  /** Folders above an absent path that were missing as well, deepest first. */
  folders: z.array(z.string()).optional(),
});
export type BeforeFile = z.infer<typeof beforeFileSchema>;

export const afterFileSchema = z.object({
  path: z.string(),
  after: fileImageSchema,
  /** The folders above it that were missing before and exist now. `identity` distinguishes each from a later folder of the same name. */
  made: z.array(z.object({ path: z.string(), identity: z.string(), mode: z.number().int() })).optional(),
});
export type AfterFile = z.infer<typeof afterFileSchema>;

export const refusedFileSchema = z.object({ path: z.string(), reason: z.string() });
export type RefusedFile = z.infer<typeof refusedFileSchema>;

export const fileChangeSchema = z.enum(['created', 'changed', 'removed', 'none', 'unknown']);

/** A change of one file as shown to people. `diff` is a unified diff; it is null if there is none to show, and `note` says why. */
export const fileDiffSchema = z.object({
  path: z.string(),
  change: fileChangeSchema,
  diff: z.string().nullable(),
  addedLines: z.number().int().nonnegative(),
  removedLines: z.number().int().nonnegative(),
  note: z.string().nullable(),
});
export type FileDiff = z.infer<typeof fileDiffSchema>;

/** One file of a review. `version` identifies the difference whose hunks are numbered; `refused` says why it cannot be undone. */
export const reviewedFileSchema = fileDiffSchema.extend({ version: z.string(), refused: z.string().nullable() });
export type ReviewedFile = z.infer<typeof reviewedFileSchema>;
