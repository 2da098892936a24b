// Skills as every part tells of them: where one comes from, what it needs, who trusts it, what is wrong with it.

import * as z from 'zod';

/** As the Agent Skills standard has it. */
export const skillNameSchema = z
  .string()
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be small letters, digits and single hyphens')
  .max(64);

/** error: against the standard. warning: it loads, but somebody should look. note: good to know. */
export const lintSeverities = ['error', 'warning', 'note'] as const;

export const skillFindingSchema = z.object({
  /** Stable name of the rule: `name-form`. */
  rule: z.string(),
  severity: z.enum(lintSeverities),
  /** What is wrong, and what to do. */
  message: z.string(),
  /** Line of SKILL.md, from 1; null where it is about the whole. */
  line: z.number().int().nullable(),
});
export type SkillFinding = z.infer<typeof skillFindingSchema>;

export const requirementKinds = ['os', 'bin', 'any-bin', 'env', 'config', 'tool', 'skill'] as const;

export const skillRequirementSchema = z.object({
  kind: z.enum(requirementKinds),
  /** A program, a variable, a key of the configuration, a tool, a skill; of `os` and `any-bin` all that would do. */
  name: z.string(),
  isMet: z.boolean(),
  /** How to get it, where the skill says so. */
  hint: z.string().nullable(),
});
export type SkillRequirement = z.infer<typeof skillRequirementSchema>;

/** bundled: comes with the program. workspace, person, folder: where it was found. The earlier beats the later among equals in trust. */
export const skillOrigins = ['workspace', 'person', 'folder', 'bundled'] as const;
export const skillOriginSchema = z.enum(skillOrigins);
export type SkillOrigin = z.infer<typeof skillOriginSchema>;

/**
 * Why its text counts as the person's own. bundled: it came with the program. folder: the person trusts all of a folder.
 * content: the person trusts exactly these files. changed: they did, and the files are others now. none: nobody said so.
 */
export const skillTrustSchema = z.enum(['bundled', 'folder', 'content', 'changed', 'none']);
export type SkillTrust = z.infer<typeof skillTrustSchema>;

/** sunset: deprecated, and the day after which it goes has passed. */
export const skillStatusSchema = z.enum(['active', 'deprecated', 'sunset']);

export const skillListingSchema = z.object({
  name: z.string(),
  description: z.string(),
  version: z.string().nullable(),
  status: skillStatusSchema,
  replacedBy: z.string().nullable(),
  /** `2026-12-31`. */
  removeAfter: z.string().nullable(),
  origin: skillOriginSchema,
  /** Of its folder. */
  path: z.string(),
  trust: skillTrustSchema,
  isEnabled: z.boolean(),
  requirements: z.array(skillRequirementSchema),
  /** Tools it says it works with. */
  tools: z.array(z.string()),
  /** The model is told of it; `whyNot` says why it is not. */
  isOffered: z.boolean(),
  whyNot: z.string().nullable(),
  errors: z.number().int(),
  warnings: z.number().int(),
  /** Others of its name that this one stands in front of. */
  shadowed: z.array(z.string()),
});
export type SkillListing = z.infer<typeof skillListingSchema>;

export const refusedSkillSchema = z.object({ path: z.string(), reason: z.string(), hint: z.string() });
export type RefusedSkill = z.infer<typeof refusedSkillSchema>;

export const skillViewSchema = skillListingSchema.extend({
  /** The instructions, without the head of the file. */
  body: z.string(),
  license: z.string().nullable(),
  compatibility: z.string().nullable(),
  homepage: z.string().nullable(),
  findings: z.array(skillFindingSchema),
  /** What else lies in its folder, relative to it. */
  files: z.array(z.object({ path: z.string(), sizeBytes: z.number().int() })),
  /** Of all its files together; what is trusted is exactly this. */
  sha256: z.string(),
});
export type SkillView = z.infer<typeof skillViewSchema>;

/** A trust of one skill's content, or of a folder with all below, also what comes into it later. */
export const skillTrustTargetSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('content'), path: z.string(), sha256: z.string() }),
  z.object({ kind: z.literal('folder'), path: z.string() }),
]);
export type SkillTrustTarget = z.infer<typeof skillTrustTargetSchema>;

/** The part of config.yaml about skills. */
export const skillsConfigSchema = z
  .strictObject({
    /** Further folders with skills; absolute, or relative to the workspace. */
    folders: z.array(z.string().min(1).max(1000)).max(50).default([]),
    /** Cards the model is shown for a message, at most. */
    shortlist: z.number().int().min(0).max(50).default(5),
    /** How many levels skills may lead to skills. */
    depth: z.number().int().min(1).max(10).default(3),
    /** Skills opened in one turn, at most. */
    perTurn: z.number().int().min(1).max(50).default(8),
  })
  .prefault({});
export type SkillsConfig = z.infer<typeof skillsConfigSchema>;
