// Operations on providers and their models: the models that servers offer, possible providers, a live test, and adding a provider.

import * as z from 'zod';
import { webUrlSchema } from './web-url.ts';
import { defineOps, none } from './define-ops.ts';
import { pricesSchema, providerSchema, secretRefSchema } from './config.ts';
import { errorBodySchema } from './errors.ts';
import { usageSchema } from './llm.ts';
import { modelFormSchema } from './model-ref.ts';
import { naming } from './named-things.ts';
import { routeOps } from './model-routes.ts';
import { modelListingSchema } from './op-results.ts';

const kindSchema = z.enum(['openai', 'anthropic', 'openai-compatible', 'ollama']);

/** An embedded model needs no server and no key. */
const setUpKindSchema = z.enum([...kindSchema.options, 'embedded']);

/**
 * A provider that is being set up. `key` is the key itself: it is kept in memory, and stored in the keychain or vault when the provider is
 * added.
 */
export const providerDraftSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,60}$/, 'must be 1 to 60 letters, digits, dashes or underscores'),
  kind: setUpKindSchema,
  /** The file of a model that the engine runs. */
  file: z.string().trim().min(1).max(1000).optional(),
  baseUrl: webUrlSchema.optional(),
  apiKey: secretRefSchema.optional(),
  key: z.string().trim().min(1).max(10_000).optional(),
  prices: pricesSchema,
});
export type ProviderDraft = z.infer<typeof providerDraftSchema>;

/** A key in an environment variable, with the variable's name. Used only after a person agrees. */
export const keyOfferSchema = z.object({
  preset: z.string(),
  title: z.string(),
  kind: kindSchema,
  /** NAME_BASE_URL of the environment, else the preset's address; null for the vendor's own address. */
  baseUrl: z.string().nullable(),
  variable: z.string(),
});
export type KeyOffer = z.infer<typeof keyOfferSchema>;

const offeredModelSchema = z.object({
  modelId: z.string(),
  contextTokens: z.number().int(),
  inputUsdPerMillion: z.number().nullable(),
  outputUsdPerMillion: z.number().nullable(),
});

const modelIdSchema = z.string().trim().min(1).max(300);

export const providerOps = defineOps({
  ...routeOps,
  /**
   * `look` queries the model servers of this computer and those of configured providers, each at most once in a few minutes. `provider`
   * queries only that provider, and at once.
   */
  'model.list': {
    params: z.strictObject({ look: z.boolean().optional(), provider: naming('provider', z.string().min(1).max(100)).optional() }),
    result: z.object({
      models: z.array(modelListingSchema),
      defaultModel: z.string().nullable(),
      /** Why there is no default model, or why it is the demo; null if there is no problem. */
      problem: z.object({ message: z.string(), hint: z.string() }).nullable(),
      /** Providers whose server could not be queried. */
      failed: z.array(z.object({ provider: z.string(), error: errorBodySchema })),
      offers: z.array(keyOfferSchema),
    }),
    about: 'list the models that can be used, as the servers of your providers offer them',
    commands: { models: { options: { provider: 'those of one provider' }, example: '--provider demo' } },
  },
  /**
   * Sends the model a short request with the tools of a turn, to check key, name, address and tools. Counts as usage; takes at most 20 s.
   * `provider` tests settings before they are saved.
   */
  'model.test': {
    params: z.strictObject({ model: modelFormSchema, provider: providerSchema.optional() }),
    result: z.object({
      ok: z.boolean(),
      model: z.string(),
      tookMs: z.number().int(),
      firstTokenMs: z.number().nullable(),
      usage: usageSchema,
      costUsd: z.number().nullable(),
      error: errorBodySchema.nullable(),
      /** The number of tools that do not fit. A request takes 128, and a turn chooses those that its conversation needs. */
      toolsLeftOut: z.number().int().optional(),
    }),
    about: 'test a model: its key, name, address and tools; counts as usage',
    forPerson: true,
    doneWhen: 'ok',
    commands: { 'model test': { takes: ['model'], example: 'demo/offline' } },
  },
  /**
   * Well-known providers: the values to fill in, and the usual names of the secret and of its environment variable. A null `baseUrl` means
   * the vendor's own address.
   */
  'model.presets': {
    params: none,
    result: z.object({
      presets: z.array(
        z.object({
          id: z.string(),
          title: z.string(),
          kind: setUpKindSchema,
          baseUrl: z.string().nullable(),
          keyName: z.string().nullable(),
          keyUrl: z.string().nullable(),
          keyVariable: z.string().nullable(),
        }),
      ),
    }),
    about: 'list well-known providers and their addresses',
    shows: {
      each: 'presets',
      columns: { NAME: 'id', PROVIDER: 'title', 'KEY VARIABLE': 'keyVariable', ADDRESS: 'baseUrl', KEYS: 'keyUrl' },
      none: 'None.',
    },
    commands: { 'model presets': { example: '' } },
  },
  /** Lists the server's models, then sends one of them a short request: the given model, or the default. Writes nothing. */
  'provider.try': {
    params: z.strictObject({ provider: providerDraftSchema, modelId: modelIdSchema.optional() }),
    result: z.object({
      ok: z.boolean(),
      models: z.array(offeredModelSchema),
      /** The model that was tested; null if none could be chosen. */
      modelId: z.string().nullable(),
      tookMs: z.number().int(),
      firstTokenMs: z.number().nullable(),
      costUsd: z.number().nullable(),
      error: errorBodySchema.nullable(),
    }),
    about: 'try a provider without writing anything',
    forPerson: true,
  },
  /** Stores the key, the provider and, by default, the default model. All or nothing. */
  'provider.add': {
    params: z.strictObject({ provider: providerDraftSchema, modelId: modelIdSchema.optional(), isDefault: z.boolean().optional() }),
    result: z.object({ provider: z.string(), model: z.string().nullable(), path: z.string(), warnings: z.array(z.string()) }),
    about: 'add a provider with its key; all or nothing',
    forPerson: true,
  },
});
