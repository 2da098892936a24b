// Skills: what the agent can do, where each skill comes from and why it is trusted. The settings, the events and the operations. Used by
// events.ts, ops.ts and config.ts.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';
import { skillFindingSchema, skillMarketsSchema, skillNameSchema } from '../skill-parts.ts';

export { skillNameSchema, type SkillFinding } from '../skill-parts.ts';

export const requirementKinds = ['os', 'bin', 'any-bin', 'env', 'config', 'tool', 'skill'] as const;

export const skillRequirementSchema = z.object({
  kind: z.enum(requirementKinds),
  /** A program, an environment variable, a key of config.yaml, a tool or a skill. For `os` and `any-bin`, all alternatives. */
  name: z.string(),
  isMet: z.boolean(),
  /** How to get it, if the skill says so. */
  hint: z.string().nullable(),
});
export type SkillRequirement = z.infer<typeof skillRequirementSchema>;

/**
 * bundled: comes with the program. workspace, person, folder: where it was found. Among skills with equal trust, the earlier one in this
 * list wins.
 */
export const skillOrigins = ['workspace', 'person', 'folder', 'bundled'] as const;
export const skillOriginSchema = z.enum(skillOrigins);
export type SkillOrigin = z.infer<typeof skillOriginSchema>;

/**
 * Why its text counts as the person's own. bundled: included in the program. folder: the person trusts the whole folder. content: the
 * person trusts exactly these files. changed: the trusted files have changed. none: not trusted.
 */
export const skillTrustSchema = z.enum(['bundled', 'folder', 'content', 'changed', 'none']);
export type SkillTrust = z.infer<typeof skillTrustSchema>;

/** sunset: deprecated, and the date of removal has passed. */
export const skillStatusSchema = z.enum(['active', 'deprecated', 'sunset']);

export const skillListingSchema = z.object({
  name: z.string(),
  description: z.string(),
  version: z.string().nullable(),
  status: skillStatusSchema,
  replacedBy: z.string().nullable(),
  /** For example `2026-12-31`. */
  removeAfter: z.string().nullable(),
  origin: skillOriginSchema,
  /** The path of its folder. */
  path: z.string(),
  trust: skillTrustSchema,
  isEnabled: z.boolean(),
  requirements: z.array(skillRequirementSchema),
  tools: z.array(z.string()),
  /** Whether it is offered to the model; if not, `whyNot` gives the reason. */
  isOffered: z.boolean(),
  whyNot: z.string().nullable(),
  errors: z.number().int(),
  warnings: z.number().int(),
  /** Skills of the same name over which this one takes precedence. */
  shadowed: z.array(z.string()),
});
export type SkillListing = z.infer<typeof skillListingSchema>;

export const refusedSkillSchema = z.object({ path: z.string(), reason: z.string(), hint: z.string() });
export type RefusedSkill = z.infer<typeof refusedSkillSchema>;

export const skillViewSchema = skillListingSchema.extend({
  /** The instructions, without the front matter. */
  body: z.string(),
  license: z.string().nullable(),
  compatibility: z.string().nullable(),
  homepage: z.string().nullable(),
  findings: z.array(skillFindingSchema),
  /** The other files in its folder, relative to it. */
  files: z.array(z.object({ path: z.string(), sizeBytes: z.number().int() })),
  /** The hash of all its files. Trust applies to exactly this content. */
  sha256: z.string(),
});
export type SkillView = z.infer<typeof skillViewSchema>;

/** Trust in the content of one skill, or in a folder with everything below it, including files added later. */
export const skillTrustTargetSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('content'), path: z.string(), sha256: z.string() }),
  z.object({ kind: z.literal('folder'), path: z.string() }),
]);
export type SkillTrustTarget = z.infer<typeof skillTrustTargetSchema>;

/** The section of config.yaml about skills. */
export const skillsConfigSchema = z
  .strictObject({
    /** Additional folders with skills; absolute, or relative to the workspace. */
    folders: z.array(z.string().min(1).max(1000)).max(50).default([]),
    /** The maximum number of skill cards that the model sees for a message. */
    shortlist: z.number().int().min(0).max(50).default(5),
    /** How many levels deep skills may lead to other skills. */
    depth: z.number().int().min(1).max(10).default(3),
    /** The maximum number of skills opened in one turn. */
    perTurn: z.number().int().min(1).max(50).default(8),
    /** Where skills are found and installed from. */
    markets: skillMarketsSchema.meta({
      title: 'Markets of skills',
      description:
        'Where skills are searched and installed from: a name, and the address or path of an index.json, of a ClawHub registry, or of a site that publishes skills.',
    }),
    trustRoots: z.array(z.string().min(1).max(4096)).max(10).default([]).meta({
      title: 'Further signers of skills',
      description: 'Files (trusted_root.json) of Sigstore services to trust besides the public ones.',
    }),
  })
  .prefault({});
export type SkillsConfig = z.infer<typeof skillsConfigSchema>;

export const skillEvents = {
  /** The model saw cards of these skills for a message, best first. In the session of the message. */
  'skill.selected': z.object({
    agentId: z.string(),
    skills: z.array(z.object({ name: z.string(), version: z.string().nullable(), score: z.number() })),
    /** Skills whose instructions were partly included: named by the person (`$name`), or clearly the best match. */
    excerpts: z.array(z.string()),
  }),
  /** The instructions of a skill, or one of its files, were sent to the model. */
  'skill.expanded': z.object({
    name: z.string(),
    version: z.string().nullable(),
    sha256: z.string(),
    /** A file of the skill; null for its instructions. */
    file: z.string().nullable(),
    /** 1 for a skill that no other skill led to. */
    depth: z.number().int(),
    /** The skill whose instructions led to it. */
    from: z.string().nullable(),
    trusted: z.boolean(),
    callId: z.string().nullable(),
  }),
  /** In the system session. A person trusts a skill or a folder, or withdraws the trust. */
  'skill.trusted': z.object({ name: z.string().nullable(), target: skillTrustTargetSchema, trusted: z.boolean(), by: z.string() }),
  /** In the system session. */
  'skill.configured': z.object({ name: z.string(), enabled: z.boolean(), by: z.string() }),
  /** In the system session: the origin of an imported skill, and its new form. */
  'skill.imported': z.object({ name: z.string(), from: z.string(), path: z.string(), sha256: z.string(), by: z.string() }),
  /** In the system session: its folder was removed from the workspace. `callId` names the checkpoint that restores it. */
  'skill.removed': z.object({ name: z.string(), path: z.string(), sha256: z.string(), callId: z.string(), by: z.string() }),
} as const;

const name = z.strictObject({ name: skillNameSchema });
const path = z.string().min(1).max(4096);

const importedSchema = z.object({
  name: z.string(),
  path: z.string(),
  sha256: z.string(),
  /** Whether it was converted from the format of the layers project to the standard. */
  converted: z.boolean(),
  findings: z.array(skillFindingSchema),
});

export const skillOps = defineOps({
  /** All skills; with `query` only those that would be offered to the model for this message, best first. */
  'skill.list': {
    params: z.strictObject({ query: z.string().min(1).max(10_000).optional() }),
    result: z.object({
      skills: z.array(skillListingSchema),
      /** Folders with a SKILL.md that could not be read as a skill. */
      refused: z.array(refusedSkillSchema),
      folders: z.array(z.object({ path: z.string(), origin: z.string(), isTrusted: z.boolean() })),
    }),
    about: 'list the skills, or those that fit a task',
    commands: { 'skills list': { takes: ['query...?'], words: { query: 'words of a task' }, example: 'summarize a table' } },
  },
  'skill.get': {
    params: name,
    result: skillViewSchema,
    about: 'show a skill with its instructions, what it needs and what is missing',
    commands: { 'skills show': { takes: ['name'], example: 'csv-summary' } },
  },
  /** Checks a skill by name, or any folder with a SKILL.md, against the standard. Changes nothing. */
  'skill.lint': {
    params: z
      .strictObject({ name: skillNameSchema.optional(), path: path.optional() })
      .refine((target) => (target.name === undefined) !== (target.path === undefined), 'give either a name or a path'),
    result: z.object({ results: z.array(z.object({ name: z.string(), path: z.string(), findings: z.array(skillFindingSchema) })) }),
    about: 'check a skill or a folder of skills; exit code 1 for an error',
    commands: { 'skills lint': { alias: 'verify', takes: [':name-or-folder'], paths: [':name-or-folder'], example: './my-skill' } },
  },
  /** Copies a skill, or every skill below a folder, into the workspace. Trusts nothing. All or nothing. */
  'skill.import': {
    params: z.strictObject({
      path,
      /** The published hash. Other content is refused. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
        .optional(),
      /** Replaces a skill of the same name. */
      replace: z.boolean().optional(),
    }),
    result: z.object({ imported: z.array(importedSchema), skipped: z.array(refusedSkillSchema) }),
    about: 'copy a skill, or all below a folder, into the workspace; trusts nothing',
    forPerson: true,
    commands: {
      'skills import': {
        takes: ['path'],
        words: { path: 'the folder of the skill' },
        options: { sha256: 'the digest that was published for it', replace: 'in place of one of the same name' },
        paths: ['path'],
        example: './my-skill',
      },
    },
  },
  /** Removes a skill from the workspace. A copy is kept: `checkpoint.restore` with the `callId` restores it. */
  'skill.remove': {
    params: name,
    result: z.object({
      name: z.string(),
      path: z.string(),
      callId: z.string(),
      /** Skills that were installed only because other skills needed them, and that no skill needs now. */
      unneeded: z.array(z.string()),
    }),
    about: 'remove a skill from the workspace; undo puts it back',
    forPerson: true,
    commands: {
      'skills remove': {
        takes: ['name'],
        options: { '--unneeded': 'also remove what only it needed, without asking' },
        example: 'my-skill',
      },
    },
  },
  /**
   * Trusts a skill with its current files (`sha256` as shown), or a folder outside the workspace with everything below it. `trusted: false`
   * withdraws the trust.
   */
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
    about: 'trust the text of a skill as it is now',
    forPerson: true,
    commands: {
      'skills trust': {
        takes: ['name?'],
        options: {
          folder: 'all skills of a folder outside the workspace, also later ones',
          sha256: 'only if this is still its content',
          '--revoke': { about: 'no longer trust it', sets: { trusted: false } },
        },
        paths: ['folder'],
        example: 'my-skill',
      },
    },
  },
  'skill.configure': {
    params: z.strictObject({ name: skillNameSchema, enabled: z.boolean() }),
    result: skillListingSchema,
    about: 'enable or disable a skill',
    forPerson: true,
    commands: {
      'skills enable': { about: 'let the agent use a skill again', takes: ['name'], sets: { enabled: true }, example: 'csv-summary' },
      'skills disable': { about: 'keep the agent from using a skill', takes: ['name'], sets: { enabled: false }, example: 'csv-summary' },
    },
  },
  /** Reloads all folders at once. They are also watched. */
  'skill.reload': {
    params: none,
    result: z.object({ skills: z.number().int(), added: z.array(z.string()), changed: z.array(z.string()), removed: z.array(z.string()) }),
    about: 'read all skill folders again',
    commands: { 'skills reload': { example: '' } },
  },
});
