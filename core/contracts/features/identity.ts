// The identity of an agent: the capsule, its versions, and the prompt files that it names. The schemas, the events and the operations.

import * as z from 'zod';
import { defineOps, id, most } from '../define-ops.ts';

/**
 * How cautious the agent is. careful: announces changes and asks in words first. balanced: the default. read-only: changes nothing, which
 * the gate enforces.
 */
export const riskPostures = ['careful', 'balanced', 'read-only'] as const;
export const riskPostureSchema = z.enum(riskPostures);
export type RiskPosture = z.infer<typeof riskPostureSchema>;

const line = (max: number) => z.string().trim().min(1).max(max);
/** For example `house-style`, or `house-style@2` for a specific version. */
export const promptRefSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}(@[1-9]\d{0,5})?$/, 'must be the name of a prompt, or name@version');

export const capsuleSchema = z.strictObject({
  /** The agent's purpose, such as "You keep the books of a small shop." */
  role: line(4000).optional(),
  /** The agent's style of writing. */
  style: line(2000).optional(),
  /** Things that it must not do or must always do, one sentence each. */
  constraints: z.array(line(500)).max(50).default([]),
  risk: riskPostureSchema.default('balanced'),
  /** Prompt files that are added to its text, in this order. */
  prompts: z.array(promptRefSchema).max(10).default([]),
});
export type Capsule = z.infer<typeof capsuleSchema>;

export const capsuleVersionSchema = z.object({
  agentId: z.string(),
  /** From 1; 0 for an agent without an identity. */
  version: z.number().int(),
  capsule: capsuleSchema,
  atMs: z.number().int(),
  by: z.string(),
  note: z.string().nullable(),
  /** The earlier version that this one restores. */
  reverts: z.number().int().nullable(),
});
export type CapsuleVersion = z.infer<typeof capsuleVersionSchema>;

export const promptListingSchema = z.object({
  name: z.string(),
  /** The version in use. Null if there is none, 0 for the built-in text. */
  version: z.number().int().nullable(),
  /** The purpose of the prompt; only for TrayClaw's own prompts. */
  about: z.string().optional(),
  versions: z.array(z.number().int()),
  url: z.string().nullable(),
  /** A text from the remote source that waits for a person's approval: its beginning and its hash. */
  incoming: z.object({ sha256: z.string(), text: z.string() }).nullable(),
  /** Why the last check of the remote source failed. The local version is used in that case. */
  problem: z.string().nullable(),
});
export type PromptListing = z.infer<typeof promptListingSchema>;

/** A version of a prompt file and its origin. `by` and `atMs` are null for a file that was added outside the program. */
export const promptVersionSchema = z.object({
  version: z.number().int(),
  by: z.string().nullable(),
  atMs: z.number().int().nullable(),
  /** The remote source; null for a version written locally. */
  url: z.string().nullable(),
});
export type PromptVersion = z.infer<typeof promptVersionSchema>;

/** A line of a difference: `same`, `added` or `removed`. */
const diffLineSchema = z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() });
export type VersionDiffLine = z.infer<typeof diffLineSchema>;
const diffSchema = z.object({ from: z.number().int(), to: z.number().int(), lines: z.array(diffLineSchema) });

/** The section of config.yaml about prompt files. */
export const promptsConfigSchema = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'must be a short name in small letters'),
    z
      .strictObject({
        /** The source of new versions: an address, or a prompt in Langfuse on the server of telemetry.langfuse. */
        url: z.url({ protocol: /^https?$/ }).optional(),
        langfuse: z.string().min(1).max(200).optional().meta({
          title: 'Langfuse prompt',
          description: 'The name of a text prompt on the server of telemetry.langfuse. Used instead of an address.',
        }),
        label: z.string().min(1).max(100).optional().meta({
          title: 'Langfuse label',
          description: 'The label of the version to take. Defaults to `production`.',
        }),
        /** Accepts only this content, without asking a person. */
        sha256: z
          .string()
          .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex')
          .optional(),
      })
      .refine(({ url, langfuse }) => (url === undefined) !== (langfuse === undefined), 'needs either url or langfuse')
      .refine(({ langfuse, label }) => label === undefined || langfuse !== undefined, 'label goes with langfuse'),
  )
  .default({});
export type PromptsConfig = z.infer<typeof promptsConfigSchema>;

export const identityEvents = {
  /** In the system session: the agent's new identity. */
  'identity.changed': capsuleVersionSchema.omit({ atMs: true }),
  /** In the system session: a text was accepted as a version of a prompt file. */
  'prompt.accepted': z.object({
    name: z.string(),
    version: z.number().int(),
    sha256: z.string(),
    /** Null for a version written locally. */
    url: z.string().nullable(),
    by: z.string(),
  }),
} as const;

const agent = { agentId: id.optional() };
const agentWords = 'the agent; main by default';
const promptName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'must be up to 60 small letters, digits and dashes');

export const identityOps = defineOps({
  /** `text` is the text that the model receives. */
  'identity.get': {
    params: z.strictObject({ ...agent, version: z.number().int().min(0).optional() }),
    result: capsuleVersionSchema.extend({ text: z.string() }),
    about: 'show the identity, or an earlier version of it',
    commands: { 'identity show': { takes: ['version?'], options: { agentId: agentWords }, example: '--agent main' } },
  },
  /** Omitted fields keep their value. An empty text or list removes the value. */
  'identity.set': {
    params: z.strictObject({
      ...agent,
      role: z.string().trim().max(4000).optional(),
      style: z.string().trim().max(2000).optional(),
      constraints: capsuleSchema.shape.constraints.unwrap().optional(),
      risk: riskPostureSchema.optional(),
      prompts: capsuleSchema.shape.prompts.unwrap().optional(),
      note: line(300).optional(),
      /** The version on which this one is based. Fails with conflict if another version is current. */
      basedOn: z.number().int().min(0).optional(),
    }),
    result: capsuleVersionSchema,
    about: 'change the given fields; an empty text removes a field',
    forPerson: true,
    commands: {
      'identity set': {
        options: {
          agentId: agentWords,
          role: 'what the agent is for',
          style: 'how the agent speaks',
          constraints: { flag: 'constraint', about: 'its constraints; they replace all earlier ones' },
          risk: 'how careful it is',
          prompts: { flag: 'prompt', about: 'prompt files whose text belongs to it' },
          note: 'why',
          basedOn: 'refuse if another version than this is the newest',
        },
        example: "--style 'Brief and friendly.' --note 'Answers were too long'",
      },
    },
  },
  /** Newest first. */
  'identity.versions': {
    params: z.strictObject({ ...agent, limit: z.number().int().min(1).max(500).optional() }),
    result: z.object({ versions: z.array(capsuleVersionSchema) }),
    about: 'list the versions, newest first',
    commands: { 'identity versions': { options: { agentId: agentWords, limit: most }, example: '' } },
  },
  /** Compares two versions as the model receives them; the newest two by default. */
  'identity.diff': {
    params: z.strictObject({ ...agent, from: z.number().int().min(0).optional(), to: z.number().int().min(0).optional() }),
    result: diffSchema,
    about: 'show what changed between two versions; between the newest two when none is named',
    commands: { 'identity diff': { takes: ['from?', 'to?'], options: { agentId: agentWords }, example: '' } },
  },
  /** An earlier version becomes the newest one. */
  'identity.revert': {
    params: z.strictObject({ ...agent, version: z.number().int().min(0) }),
    result: capsuleVersionSchema,
    about: 'go back to an earlier version',
    forPerson: true,
    commands: { 'identity revert': { takes: ['version'], options: { agentId: agentWords }, example: '1' } },
  },
  /** With `own`, also lists TrayClaw's own prompts that no file replaces. */
  'prompt.list': {
    params: z.strictObject({ own: z.boolean().optional() }),
    result: z.object({ prompts: z.array(promptListingSchema) }),
    about: 'list the prompt files and the built-in prompts',
    commands: { 'prompts list': { sets: { own: true }, example: '' } },
  },
  'prompt.get': {
    params: z.strictObject({ name: promptName, version: z.number().int().min(0).optional() }),
    result: z.object({ name: z.string(), version: z.number().int(), text: z.string() }),
    about: 'show the newest version, or an earlier one',
    shows: '{text}',
    commands: { 'prompts show': { takes: ['name', 'version?'], example: 'style' } },
  },
  /** Newest first. */
  'prompt.versions': {
    params: z.strictObject({ name: promptName }),
    result: z.object({ versions: z.array(promptVersionSchema) }),
    about: 'list the versions, newest first',
    commands: { 'prompts versions': { takes: ['name'], example: 'style' } },
  },
  /** Compares two versions; the newest two by default. The first version is compared with an empty text. */
  'prompt.diff': {
    params: z.strictObject({ name: promptName, from: z.number().int().min(0).optional(), to: z.number().int().min(1).optional() }),
    result: diffSchema,
    about: 'show what changed between two versions; between the newest two when none is named',
    commands: { 'prompts diff': { takes: ['name', 'from?', 'to?'], example: 'style' } },
  },
  /** Adds a new version, written locally. */
  'prompt.set': {
    params: z.strictObject({ name: promptName, text: z.string().min(1).max(20_000) }),
    result: promptListingSchema,
    about: 'save a new version from a file or from standard input',
    forPerson: true,
    commands: { 'prompts set': { takes: ['name', ':file?'], paths: [':file'], example: 'style style.md' } },
  },
  /** Checks the remote source of one prompt, or of all. A source that does not answer is not an error. */
  'prompt.refresh': {
    params: z.strictObject({ name: promptName.optional() }),
    result: z.object({ prompts: z.array(promptListingSchema) }),
    about: 'check the remote source of one prompt, or of all',
    commands: { 'prompts refresh': { alias: 'sync', takes: ['name?'], example: '' } },
  },
  /** A person accepts the text from the remote source, as it was shown. */
  'prompt.accept': {
    params: z.strictObject({ name: promptName, sha256: z.string() }),
    result: promptListingSchema,
    about: 'accept the text from the remote source, as it was shown',
    forPerson: true,
    commands: {
      'prompts accept': { takes: ['name', 'sha256'], example: 'style b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' },
    },
  },
});
