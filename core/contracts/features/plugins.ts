// Plugins: features added by the host program or by a file of the person. The settings, the events and the operations.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';

export const pluginNameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9-]{1,30}$/, 'must be 2 to 31 small letters, digits or dashes, and begin with a letter');

export const pluginsConfigSchema = z
  .strictObject({
    /** A file or a package folder, absolute or relative to the data folder. Loaded after a person approved its current content. */
    files: z.array(z.string().min(1).max(4096)).max(50).default([]),
    /** Keyed by the plugin's name. Each plugin validates its own settings. */
    settings: z.record(pluginNameSchema, z.record(z.string(), z.unknown())).default({}),
  })
  .prefault({});

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hex');

const pluginEvents = {
  /** An event that a plugin recorded. `name` is prefixed with the plugin's name; only the plugin interprets the body. */
  'plugin.recorded': z.object({ plugin: z.string(), name: z.string(), body: z.unknown() }),
  /** A person approved the code at the path as part of the program, as long as it has this content. */
  'plugin.approved': z.object({ path: z.string(), sha256: z.string(), by: z.string() }),
  /** A person withdrew the approval of the code at the path. */
  'plugin.revoked': z.object({ path: z.string(), by: z.string() }),
} as const;

/** loaded: it runs. waiting: its current code is not approved. refused: it may not be loaded from this place. failed: see `problem`. */
const pluginStateSchema = z.enum(['loaded', 'waiting', 'refused', 'failed']);

const pluginViewSchema = z.object({
  /** Null until the plugin is loaded. */
  name: z.string().nullable(),
  /** Null for a plugin that the host program supplied. */
  path: z.string().nullable(),
  sha256: z.string().nullable(),
  /** The same as `sha256`. */
  hash: z.string().nullable(),
  state: pluginStateSchema,
  problem: z.string().nullable(),
  /** Its operations, with the JSON Schema of their parameters. */
  operations: z.array(z.object({ name: z.string(), about: z.string(), params: z.record(z.string(), z.unknown()) })),
  tools: z.array(z.string()),
});
export type PluginView = z.infer<typeof pluginViewSchema>;

/** `name` is null for a plugin that is not loaded. */
const decided = { name: z.string().nullable(), path: z.string(), hash: z.string() };

export const pluginOps = defineOps({
  'plugin.list': {
    params: none,
    result: z.object({ plugins: z.array(pluginViewSchema) }),
    about: 'list the plugins: your own features, where each comes from, and whether it is loaded',
    commands: { 'plugins list': { example: '' } },
  },
  /** Takes effect at the next start. Changed content needs a new approval. `sha256` is the content that the person saw. */
  'plugin.approve': {
    params: z.strictObject({ path: z.string().min(1).max(4096), sha256: sha256Schema }),
    result: z.object({ ...decided, sha256: z.string(), state: z.literal('approved') }),
    about: 'approve a plugin as its files are now; it is loaded from the next start on, until they change',
    shows: 'Approved {path} as it is now. It is loaded from the next start on.',
    forPerson: true,
    commands: {
      'plugins approve': {
        takes: ['path', 'sha256'],
        words: { path: 'its file or folder', sha256: 'the hash that `plugins list` shows' },
        paths: ['path'],
        example: 'weather.mjs 27ba4764e2d8e1bd4e2a3c3f6e6c8fd5b1a7e4f7d3f2c6f0a9b8c7d6e5f4a3b2',
      },
    },
  },
  /** Takes effect at the next start. Fails with not_found if no content is approved there. */
  'plugin.revoke': {
    params: z.strictObject({ path: z.string().min(1).max(4096) }),
    result: z.object({ ...decided, state: z.literal('revoked') }),
    about: 'withdraw the approval of a plugin; it is not loaded from the next start on',
    shows: 'Withdrew the approval of {path}. It is not loaded from the next start on.',
    forPerson: true,
    commands: {
      'plugins revoke': {
        takes: ['path'],
        words: { path: 'its file or folder; or its name, while it is loaded' },
        paths: ['path'],
        example: 'weather.mjs',
      },
    },
  },
  /** Calls an operation of a plugin. Fails with unknown_op, invalid_params, or the error of the plugin. */
  'plugin.call': {
    params: z.strictObject({ operation: z.string().min(1).max(200), params: z.unknown() }),
    result: z.object({ result: z.unknown() }),
    about: 'call an operation of a plugin',
    forPerson: true,
    commands: {
      'plugins call': {
        takes: ['operation', 'params?'],
        words: { operation: 'such as weather.report', params: 'its parameters as JSON' },
        example: 'weather.report \'{"city":"Oslo"}\'',
      },
    },
  },
});

export const pluginContract = {
  events: pluginEvents,
  ops: pluginOps,
  families: { plugin: 'Plugins' },
  help: { plugins: ['Set up', 'your own features, approved by you'] },
} as const;
