// The operations on skills, a part of the table in ops.ts.

import * as z from 'zod';
import { none } from './op-params.ts';
import { refusedSkillSchema, skillFindingSchema, skillListingSchema, skillNameSchema, skillViewSchema } from './skills.ts';

const name = z.strictObject({ name: skillNameSchema });
const path = z.string().min(1).max(4096);

const importedSchema = z.object({
  name: z.string(),
  path: z.string(),
  sha256: z.string(),
  /** It had the shape of the layers project and was rewritten to the standard. */
  converted: z.boolean(),
  findings: z.array(skillFindingSchema),
});

export const skillOps = {
  /** All that were found; with `query` only those the model would be told of for this message, best first. */
  'skill.list': {
    params: z.strictObject({ query: z.string().min(1).max(10_000).optional() }),
    result: z.object({
      skills: z.array(skillListingSchema),
      /** Folders with a SKILL.md that could not be taken in. */
      refused: z.array(refusedSkillSchema),
      folders: z.array(z.object({ path: z.string(), origin: z.string(), isTrusted: z.boolean() })),
    }),
  },
  'skill.get': { params: name, result: skillViewSchema },
  /** A skill by name, or any folder with a SKILL.md, against the standard. Changes nothing. */
  'skill.lint': {
    params: z
      .strictObject({ name: skillNameSchema.optional(), path: path.optional() })
      .refine((target) => (target.name === undefined) !== (target.path === undefined), 'give either a name or a path'),
    result: z.object({ results: z.array(z.object({ name: z.string(), path: z.string(), findings: z.array(skillFindingSchema) })) }),
  },
  /** Copies a skill, or every skill below a folder, into the workspace. Trusts nothing. All or nothing. */
  'skill.import': {
    params: z.strictObject({
      path,
      /** What was published for it; another content is refused. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
      /** In place of one of the same name. */
      replace: z.boolean().optional(),
    }),
    result: z.object({ imported: z.array(importedSchema), skipped: z.array(refusedSkillSchema) }),
  },
  /** Takes a skill out of the workspace. A copy is kept: `checkpoint.restore` with the `callId` puts it back. */
  'skill.remove': { params: name, result: z.object({ name: z.string(), path: z.string(), callId: z.string() }) },
  /** A skill as its files are now (`sha256` as it was shown), or a folder outside of the workspace with all below. `trusted: false` takes it back. */
  'skill.trust': {
    params: z
      .strictObject({
        name: skillNameSchema.optional(),
        sha256: z.string().optional(),
        folder: path.optional(),
        trusted: z.boolean().optional(),
      })
      .refine((target) => (target.name === undefined) !== (target.folder === undefined), 'give either a name or a folder'),
    result: z.object({ skills: z.array(skillListingSchema) }),
  },
  'skill.configure': { params: z.strictObject({ name: skillNameSchema, enabled: z.boolean() }), result: skillListingSchema },
  /** Reads all folders anew at once; they are watched as well. */
  'skill.reload': {
    params: none,
    result: z.object({ skills: z.number().int(), added: z.array(z.string()), changed: z.array(z.string()), removed: z.array(z.string()) }),
  },
} as const;
