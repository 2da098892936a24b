// The skill store: the sources of skills, the content of an installation plan, and the installed skills with their approvals. The settings,
// the events and the operations.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';
import { modelRefSchema } from '../model-ref.ts';
import { skillFindingSchema, skillNameSchema } from '../skill-parts.ts';

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');
const version = z.string().max(256).nullable();

/** danger: it does harm, or appears to. warning: the person should judge it. note: good to know. */
export const riskLevels = ['danger', 'warning', 'note'] as const;
export const riskSchema = z.object({
  /** The stable name of the rule, such as `pipe-to-shell`. */
  rule: z.string(),
  level: z.enum(riskLevels),
  message: z.string(),
  /** Null if the risk concerns the whole skill. */
  file: z.string().nullable(),
  line: z.number().int().nullable(),
  /** The text in question, with hidden characters made visible. */
  excerpt: z.string().nullable(),
});
export type SkillRisk = z.infer<typeof riskSchema>;

export const effectKinds = ['tool', 'command', 'host', 'secret', 'folder', 'skill'] as const;
export const effectSchema = z.object({
  kind: z.enum(effectKinds),
  name: z.string(),
  isDeclared: z.boolean(),
  /** Whether the skill's files use it. */
  isFound: z.boolean(),
});
export type SkillEffect = z.infer<typeof effectSchema>;

const requirementSchema = z.object({ name: skillNameSchema, range: z.string() });
export const deprecationSchema = z.object({ replacedBy: z.string().nullable(), removeAfter: z.string().nullable() });
const fileSchema = z.object({ path: z.string(), sha256, sizeBytes: z.number().int() });

/** The signer's identity in the certificate, and the service that verified it. */
const signerSchema = z.object({ identity: z.string(), issuer: z.string() });
export type SkillSigner = z.infer<typeof signerSchema>;

/** The origin of a package. */
export const skillSourceSchema = z.object({
  /** `team/weather`, a folder or an address. Installs the package again. */
  ref: z.string(),
  kind: z.enum(['folder', 'archive', 'git', 'index', 'clawhub', 'well-known']),
  /** The market's name; null for a folder or an address that was given directly. */
  market: z.string().nullable(),
  /** The folder or address from which the files came. */
  from: z.string(),
  publisher: z.string().nullable(),
  commit: z.string().nullable(),
  archiveSha256: sha256.nullable(),
  /** How the content was verified, in a sentence. */
  verified: z.string(),
  /** Null if it is not signed. */
  signer: signerSchema.nullable().default(null),
});
export type SkillSource = z.infer<typeof skillSourceSchema>;

export const lockEntrySchema = z.object({
  name: skillNameSchema,
  version,
  /** The hash of all files as installed. The same content gives the same hash on every machine. */
  sha256,
  source: skillSourceSchema,
  files: z.array(fileSchema),
  requires: z.array(requirementSchema),
  /** Whether a person requested it; otherwise only another skill needs it. */
  isWanted: z.boolean(),
  /** Whether it stays at this version until a person unpins it. */
  isPinned: z.boolean(),
  /** The number of risks that the approval covers. */
  risks: z.object({ danger: z.number().int(), warning: z.number().int() }),
  approvedBy: z.string(),
  approvedAtMs: z.number(),
});
export type LockEntry = z.infer<typeof lockEntrySchema>;

const changeSchema = z.object({
  path: z.string(),
  kind: z.enum(['added', 'removed', 'changed']),
  /** The lines that differ, with some context; null for a file that is not text. */
  lines: z.array(z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() })).nullable(),
});
export type SkillFileChange = z.infer<typeof changeSchema>;

const plannedSchema = z.object({
  name: skillNameSchema,
  description: z.string(),
  version,
  /** The installed version; null for a new skill. */
  installed: z.object({ version, sha256, isChanged: z.boolean() }).nullable(),
  /** Why it is in the plan: the person requested it, or the chain of skills that need it. */
  because: z.array(z.string()),
  source: skillSourceSchema,
  sha256,
  license: z.string().nullable(),
  homepage: z.string().nullable(),
  isConverted: z.boolean(),
  deprecation: deprecationSchema.nullable(),
  requires: z.array(requirementSchema),
  effects: z.array(effectSchema),
  risks: z.array(riskSchema),
  findings: z.array(skillFindingSchema),
  files: z.array(fileSchema),
  /** Compared with the installed version. */
  changes: z.array(changeSchema),
  /** The instructions, with hidden characters made visible. */
  body: z.string(),
});
export type PlannedSkill = z.infer<typeof plannedSchema>;

export const planSchema = z.object({
  /** Identifies exactly these files in skill.install; null if there is nothing to do. */
  planId: z.string().nullable(),
  /** In installation order: skills that others need come first. */
  skills: z.array(plannedSchema),
  /** Skills that are already installed as requested. */
  unchanged: z.array(z.object({ name: skillNameSchema, version, reason: z.string() })),
  /** Whether any of them has a risk of the level danger. */
  isDangerous: z.boolean(),
});
export type SkillPlan = z.infer<typeof planSchema>;

const foundSchema = z.object({
  name: z.string(),
  version,
  description: z.string(),
  market: z.string(),
  publisher: z.string().nullable(),
  /** The market's own verdict on it, if there is one. */
  verdict: z.string().nullable(),
  deprecation: deprecationSchema.nullable(),
  installed: version,
  isInstalled: z.boolean(),
});

export const skillStates = ['as-installed', 'changed', 'missing', 'not-from-store'] as const;
const outdatedSchema = z.object({
  name: z.string(),
  version,
  /** The newest version that the skills requiring it allow. Null if its source has nothing newer or cannot be asked. */
  newer: version,
  latest: version,
  state: z.enum(skillStates),
  isPinned: z.boolean(),
  deprecation: deprecationSchema.nullable(),
  /** Why the source withdrew this version; null if it did not. */
  revoked: z.string().nullable(),
  /** A dependency that no skill needs any more. */
  isUnneeded: z.boolean(),
  problem: z.string().nullable(),
});

const moveSchema = z.object({
  name: skillNameSchema,
  place: z.string(),
  /** The staging folder of the new files, and the folder that keeps the old files until the end. Both are next to `place`. */
  coming: z.string(),
  leaving: z.string(),
  before: sha256.nullable(),
  after: sha256,
});
export type SkillMove = z.infer<typeof moveSchema>;

export const skillStoreEvents = {
  /** In the system session. All files are staged. Without one of the next two events, the installation is undone. */
  'skill.installing': z.object({ installId: z.string(), moves: z.array(moveSchema), by: z.string() }),
  /** In the system session, together with the trust in exactly these files. */
  'skill.installed': z.object({ installId: z.string(), skills: z.array(lockEntrySchema), by: z.string() }),
  /** In the system session. The installation was undone, and the earlier state restored. */
  'skill.install_undone': z.object({ installId: z.string(), reason: z.string() }),
  /** In the system session. */
  'skill.pinned': z.object({ name: skillNameSchema, isPinned: z.boolean(), by: z.string() }),
} as const;

const ref = z.string().min(1).max(2000);

export const skillStoreOps = defineOps({
  'skill.search': {
    params: z.strictObject({ query: z.string().max(200).optional(), market: z.string().max(40).optional() }),
    result: z.object({ skills: z.array(foundSchema), problems: z.array(z.object({ market: z.string(), problem: z.string() })) }),
    about: 'search the markets for skills',
    forPerson: true,
    commands: {
      'skills search': { takes: ['query?'], options: { market: 'only this one' }, example: 'error' },
    },
  },
  /** Downloads, verifies and scans skills and their requirements. Installs nothing. */
  'skill.plan': {
    params: z.strictObject({
      /**
       * `NAME`, `MARKET/NAME`, each with `@RANGE`; a folder or an archive; `https://…`; `https://…/REPO.git#FOLDER@REF`;
       * `github:OWNER/REPO/FOLDER@REF`.
       */
      wants: z.array(ref).max(50).default([]),
      /** Updates to the newest allowed versions: of the named skills, or of all installed ones. */
      update: z.boolean().optional(),
      /** The published hash of the named skill. */
      sha256: sha256.optional(),
      /** A lock file: exactly these contents, from the cache if available. */
      lock: z.string().min(1).max(4096).optional(),
    }),
    result: planSchema,
    about: 'show what installing skills would bring; with --yes, install them',
    forPerson: true,
    commands: {
      'skills install': {
        takes: ['wants...?'],
        words: { wants: 'a name, a folder, an archive or an address' },
        options: {
          sha256: 'the digest that was published for it',
          lock: 'install what this lock file lists',
          '--yes': 'install without asking',
          '--despite-dangers': 'with --yes: although it looks dangerous',
          '--pin': 'keep it at this version',
        },
        paths: ['lock'],
        example: './my-skill --yes',
      },
      'skills update': {
        about: 'show what is newer and how it differs; with --yes, install it',
        takes: ['wants...?'],
        words: { wants: 'names; all without one' },
        options: { '--yes': 'install without asking', '--despite-dangers': 'with --yes: although it looks dangerous' },
        sets: { update: true },
        example: '',
      },
    },
  },
  /** Installs a plan as it was shown, and trusts exactly these files. All or nothing. */
  'skill.install': {
    params: z.strictObject({ planId: z.string().min(1).max(100), despiteDangers: z.boolean().optional(), pin: z.boolean().optional() }),
    result: z.object({
      installed: z.array(z.object({ name: skillNameSchema, version, path: z.string(), sha256 })),
      lockFile: z.string(),
    }),
    about: 'install skills as they were shown',
    forPerson: true,
  },
  'skill.outdated': {
    params: none,
    result: z.object({ skills: z.array(outdatedSchema) }),
    about: 'list installed skills that have a newer version, are deprecated, changed or unneeded',
    forPerson: true,
    shows: {
      each: 'skills',
      columns: {
        SKILL: 'name',
        VERSION: 'version',
        NEWER: 'newer',
        LATEST: 'latest',
        STATE: 'state',
        UNNEEDED: 'isUnneeded',
        '': 'problem',
      },
      none: 'No skill is installed from a market, a folder or an address.',
    },
    commands: { 'skills outdated': { example: '' } },
  },
  'skill.info': {
    params: z.strictObject({ name: z.string().min(1).max(200) }),
    result: z.object({
      name: z.string(),
      state: z.enum(skillStates),
      lock: lockEntrySchema.nullable(),
      usedBy: z.array(z.string()),
      effects: z.array(effectSchema),
      risks: z.array(riskSchema),
    }),
    about: 'show where an installed skill comes from, what was approved, and what it can do',
    commands: { 'skills info': { takes: ['name'], example: 'my-skill' } },
  },
  'skill.pin': {
    params: z.strictObject({ name: skillNameSchema, pinned: z.boolean() }),
    result: z.object({ name: skillNameSchema, isPinned: z.boolean() }),
    about: 'keep an installed skill at its version',
    forPerson: true,
    commands: {
      'skills pin': { takes: ['name'], sets: { pinned: true }, example: 'my-skill' },
      'skills unpin': { about: 'let an installed skill be updated again', takes: ['name'], sets: { pinned: false }, example: 'my-skill' },
    },
  },
  'skill.new': {
    params: z.strictObject({ name: skillNameSchema, into: z.string().min(1).max(4096), description: z.string().max(1000).optional() }),
    result: z.object({ path: z.string(), files: z.array(z.string()) }),
    about: 'create a skill to start from, with a case that tests it',
    forPerson: true,
    shows: 'Made {path}. Write its SKILL.md, then check it with: trayclaw skills test "{path}"',
    commands: {
      'skills new': {
        takes: ['name', 'into'],
        words: { into: 'the folder to make it in' },
        options: { description: 'what it does and when to use it' },
        paths: ['into'],
        example: 'note-taker ./made',
      },
    },
  },
  /** Checks a skill against the standard, for risks, and with its own cases in the folder `evals`. */
  'skill.test': {
    params: z.strictObject({ path: z.string().min(1).max(4096), model: modelRefSchema.optional() }),
    result: z.object({
      name: skillNameSchema,
      /** True if there is no error, no danger and no failed case. */
      isGood: z.boolean(),
      findings: z.array(skillFindingSchema),
      risks: z.array(riskSchema),
      effects: z.array(effectSchema),
      /** Null if there are no cases. */
      run: z
        .object({
          runId: z.string(),
          passed: z.number().int(),
          failed: z.number().int(),
          errors: z.number().int(),
          cases: z.array(z.object({ name: z.string(), verdict: z.string(), reason: z.string() })),
        })
        .nullable(),
    }),
    about: 'check a skill and run its cases in throwaway data folders',
    forPerson: true,
    live: true,
    commands: {
      'skills test': {
        takes: ['path'],
        words: { path: 'the name of a skill, or its folder; cases lie in its evals folder' },
        options: { model: 'the model to run the cases with' },
        paths: ['path'],
        example: './my-skill',
      },
    },
  },
  /** Packs one archive. The same files give the same bytes. */
  'skill.pack': {
    params: z.strictObject({ path: z.string().min(1).max(4096), out: z.string().min(1).max(4096).optional() }),
    result: z.object({ name: skillNameSchema, version, archive: z.string(), sizeBytes: z.number().int(), sha256, contentSha256: sha256 }),
    about: 'pack a skill into one archive',
    forPerson: true,
    shows: '{archive}, sha256 {sha256}',
    commands: {
      'skills pack': {
        takes: ['path'],
        words: { path: 'the folder of the skill' },
        options: { out: 'the folder to write it to; the current one by default' },
        sets: { out: '.' },
        paths: ['path', 'out'],
        example: './my-skill --out .',
      },
    },
  },
  /** Adds the archive and its hashes to the author's market, a folder that any web server can serve. */
  'skill.publish': {
    params: z.strictObject({
      path: z.string().min(1).max(4096),
      to: z.string().min(1).max(4096),
      name: z.string().max(40).optional(),
      /** Why this version is withdrawn. */
      revoke: z.string().max(500).optional(),
    }),
    /** `change` says what happened to this version in the market. */
    result: z.object({
      name: skillNameSchema,
      version: z.string(),
      change: z.enum(['published', 'withdrawn']),
      index: z.string(),
      archive: z.string(),
      sha256,
    }),
    about: 'publish a skill in a market of your own',
    forPerson: true,
    shows: '{name} {version} is {change} in {index}, sha256 {sha256}',
    commands: {
      'skills publish': {
        takes: ['path', 'to'],
        words: { path: 'the folder of the skill', to: 'the folder of the market' },
        options: { name: 'what the market is called', revoke: { flag: 'revoke <reason>', about: 'withdraw this version, and say why' } },
        paths: ['path', 'to'],
        example: './my-skill ./market',
      },
    },
  },
});

export const skillStoreContract = {
  events: skillStoreEvents,
  ops: skillStoreOps,
} as const;
