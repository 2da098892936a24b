// The operations on settings and secrets; a part of the table in ops.ts.

import * as z from 'zod';
import { defineOps, holdsSchema, none } from './define-ops.ts';
import { configSchema } from './config.ts';
import { secretStatusSchema } from './op-results.ts';

const settingKey = z.string().regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, 'must be names with dots between them, such as limits.steps');

export const settingOps = defineOps({
  /**
   * `config` has been in effect since the start. `file` is the current content of the file; if it is null, `problem` says why. `value` is
   * that of `key`, a dotted path. Fails with not_found if nothing is set there.
   */
  'config.get': {
    params: z.strictObject({ key: settingKey.optional() }),
    result: z.object({
      config: configSchema,
      path: z.string(),
      warnings: z.array(z.string()),
      file: z.record(z.string(), z.unknown()).nullable(),
      problem: z.string().nullable(),
      value: z.unknown().optional(),
    }),
    about: 'show the settings in effect, or one of them',
    commands: {
      'config get': { takes: ['key?'], words: { key: 'such as models.default; all settings when left out' }, example: 'limits.steps' },
      'policy show': { about: 'show the mode, rules, preset permissions and limits', example: '' },
    },
  },
  /**
   * `key` is a dotted path such as models.default; null removes the setting. Models, providers and document sources take effect at once,
   * everything else at the next start.
   */
  'config.set': {
    params: z.strictObject({ key: settingKey, value: z.unknown() }),
    result: z.object({ key: z.string(), path: z.string(), warnings: z.array(z.string()), holds: holdsSchema }),
    about: 'change one setting, such as models.default ollama/qwen3; null removes the setting',
    forPerson: true,
    commands: {
      'config set': {
        about: 'change one setting, such as models.default ollama/qwen3; VALUE is YAML, null removes the setting',
        takes: ['key', ':value'],
        example: 'limits.steps 40',
      },
    },
  },
  'config.schema': {
    params: none,
    result: z.object({ schema: z.record(z.string(), z.unknown()) }),
    about: 'print the JSON Schema of config.yaml',
    commands: { 'config schema': { example: '' } },
  },
  'secret.set': {
    params: z.strictObject({
      name: z.string().regex(/^[A-Za-z0-9._-]{1,100}$/, 'must be up to 100 letters, digits, dots, dashes and underscores'),
      value: z.string().min(1).max(10_000),
    }),
    result: z.object({ name: z.string(), warning: z.string().optional() }),
    about: 'store a secret in the keychain or the vault',
    forPerson: true,
    commands: {
      'secret set': {
        about: 'store a secret; the value is read from standard input or asked for',
        takes: ['name'],
        example: 'openai < key.txt',
      },
    },
  },
  'secret.list': {
    params: none,
    result: z.object({ names: z.array(z.string()) }),
    about: 'list the names of secrets',
    commands: { 'secret list': { example: '' } },
  },
  'secret.delete': {
    params: z.strictObject({ name: z.string().min(1) }),
    result: z.object({ name: z.string(), deleted: z.boolean() }),
    about: 'delete a secret',
    forPerson: true,
    doneWhen: 'deleted',
    commands: { 'secret delete': { takes: ['name'], example: 'openai' } },
  },
  'secret.status': {
    params: none,
    result: secretStatusSchema,
    about: 'show where secrets are kept and whether it is unlocked',
    shows: '{detail}',
    commands: { 'secret status': { example: '' } },
  },
  /** Opens the encrypted vault, or creates it. The passphrase is never recorded. */
  'secret.unlock': {
    params: z.strictObject({ passphrase: z.string().min(1).max(1000) }),
    result: secretStatusSchema,
    about: 'unlock the encrypted vault, or create it',
    commands: { 'secret unlock': { example: '< passphrase.txt' } },
  },
});
