// Who an agent is: the capsule, its versions and the prompt files it names. The forms, the events and the operations.

import * as z from 'zod';
import { id } from '../op-params.ts';

/**
 * How cautious the agent is. careful: announces what it is about to change and asks in words first. balanced: the default. read-only: it
 * changes nothing, which the gate enforces.
 */
export const riskPostures = ['careful', 'balanced', 'read-only'] as const;
export const riskPostureSchema = z.enum(riskPostures);
export type RiskPosture = z.infer<typeof riskPostureSchema>;

const line = (max: number) => z.string().trim().min(1).max(max);
/** `house-style`, or `house-style@2` for one version of it. */
export const promptRefSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,59}(@[1-9]\d{0,5})?$/, 'must be the name of a prompt, or name@version');

export const capsuleSchema = z.strictObject({
  /** Its purpose: "You keep the books of a small shop." */
  role: line(4000).optional(),
  /** Its style of writing. */
  style: line(2000).optional(),
  /** Things it must not do or must always do; one sentence each. */
  constraints: z.array(line(500)).max(50).default([]),
  risk: riskPostureSchema.default('balanced'),
  /** Prompt files added to its text, in this order. */
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
  /** It is this earlier version again. */
  reverts: z.number().int().nullable(),
});
export type CapsuleVersion = z.infer<typeof capsuleVersionSchema>;

export const promptListingSchema = z.object({
  name: z.string(),
  /** The version in use; null for none, 0 for the built-in text. */
  version: z.number().int().nullable(),
  /** The purpose of the prompt; only on TrayClaw's own prompts. */
  about: z.string().optional(),
  versions: z.array(z.number().int()),
  url: z.string().nullable(),
  /** A text that came from the remote source and waits for a person's yes: its beginning and its hash. */
  incoming: z.object({ sha256: z.string(), text: z.string() }).nullable(),
  /** Why the last check of the remote source failed; the local version is used then. */
  problem: z.string().nullable(),
});
export type PromptListing = z.infer<typeof promptListingSchema>;

/** A version of a prompt file and its origin; `by` and `atMs` are null for a file that was added outside the program. */
export const promptVersionSchema = z.object({
  version: z.number().int(),
  by: z.string().nullable(),
  atMs: z.number().int().nullable(),
  /** The remote source; null for a version written here. */
  url: z.string().nullable(),
});
export type PromptVersion = z.infer<typeof promptVersionSchema>;

/** A line of a difference: `same`, `added` or `removed`. */
const diffLineSchema = z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() });
export type VersionDiffLine = z.infer<typeof diffLineSchema>;
const diffSchema = z.object({ from: z.number().int(), to: z.number().int(), lines: z.array(diffLineSchema) });

/** The part of config.yaml about prompt files. */
export const promptsConfigSchema = z
  .record(
    z.string().regex(/^[a-z0-9][a-z0-9-]{0,59}$/, 'must be a short name in small letters'),
    z.strictObject({
      /** The source of new versions. */
      url: z.url({ protocol: /^https?$/ }),
      /** Accepts only this content, without asking a person. */
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/)
        .optional(),
    }),
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
    /** null for a version written here. */
    url: z.string().nullable(),
    by: z.string(),
  }),
} as const;

const agent = { agentId: id.optional() };
const promptName = z.string().regex(/^[a-z0-9][a-z0-9-]{0,59}$/);

export const identityOps = {
  /** `text` is the text the model receives. */
  'identity.get': {
    params: z.strictObject({ ...agent, version: z.number().int().min(0).optional() }),
    result: capsuleVersionSchema.extend({ text: z.string() }),
  },
  /** Fields that are left out keep their value; an empty text or list removes it. */
  'identity.set': {
    params: z.strictObject({
      ...agent,
      role: z.string().trim().max(4000).optional(),
      style: z.string().trim().max(2000).optional(),
      constraints: capsuleSchema.shape.constraints.unwrap().optional(),
      risk: riskPostureSchema.optional(),
      prompts: capsuleSchema.shape.prompts.unwrap().optional(),
      note: line(300).optional(),
      /** The version this was made from; another one by now is a conflict. */
      basedOn: z.number().int().min(0).optional(),
    }),
    result: capsuleVersionSchema,
  },
  /** Newest first. */
  'identity.versions': {
    params: z.strictObject({ ...agent, limit: z.number().int().min(1).max(500).optional() }),
    result: z.object({ versions: z.array(capsuleVersionSchema) }),
  },
  /** Compares two versions as the model receives them; the newest two by default. */
  'identity.diff': {
    params: z.strictObject({ ...agent, from: z.number().int().min(0).optional(), to: z.number().int().min(0).optional() }),
    result: diffSchema,
  },
  /** An earlier version becomes the newest one. */
  'identity.revert': { params: z.strictObject({ ...agent, version: z.number().int().min(0) }), result: capsuleVersionSchema },
  /** With `own`, also TrayClaw's own prompts that no file replaces. */
  'prompt.list': { params: z.strictObject({ own: z.boolean().optional() }), result: z.object({ prompts: z.array(promptListingSchema) }) },
  'prompt.get': {
    params: z.strictObject({ name: promptName, version: z.number().int().min(0).optional() }),
    result: z.object({ name: z.string(), version: z.number().int(), text: z.string() }),
  },
  /** Newest first. */
  'prompt.versions': {
    params: z.strictObject({ name: promptName }),
    result: z.object({ versions: z.array(promptVersionSchema) }),
  },
  /** Compares two versions; the newest two by default. The first version is compared with nothing. */
  'prompt.diff': {
    params: z.strictObject({ name: promptName, from: z.number().int().min(0).optional(), to: z.number().int().min(1).optional() }),
    result: diffSchema,
  },
  /** A new version, written here. */
  'prompt.set': { params: z.strictObject({ name: promptName, text: z.string().min(1).max(20_000) }), result: promptListingSchema },
  /** Checks the remote source of one prompt, or of all. A source that does not answer is not an error. */
  'prompt.refresh': {
    params: z.strictObject({ name: promptName.optional() }),
    result: z.object({ prompts: z.array(promptListingSchema) }),
  },
  /** A person takes what came from the remote source, as it was shown. */
  'prompt.accept': { params: z.strictObject({ name: promptName, sha256: z.string() }), result: promptListingSchema },
} as const;
