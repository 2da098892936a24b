// The public price list that a person can load: the changes it would make, and the list in use. The operations.

import * as z from 'zod';
import { defineOps, none } from '../define-ops.ts';

const priceSchema = z.object({
  inputUsdPerMillion: z.number(),
  cachedInputUsdPerMillion: z.number().nullable(),
  outputUsdPerMillion: z.number(),
  /** Null if the list does not state it. */
  contextTokens: z.number().int().nullable(),
});
export type ListedPrice = z.infer<typeof priceSchema>;

const inUseSchema = z.object({
  source: z.string(),
  /** The day of the built-in prices. */
  builtInOn: z.string(),
  /** The list that a person loaded; null if there is none. */
  loaded: z.object({ atMs: z.number(), models: z.number().int() }).nullable(),
});
export type PricesInUse = z.infer<typeof inUseSchema>;

const changeSchema = z.object({
  vendor: z.string(),
  model: z.string(),
  /** Null for a model that had no price. */
  before: priceSchema.nullable(),
  after: priceSchema,
});
export type PriceChange = z.infer<typeof changeSchema>;

const checkedSchema = z.object({
  /** Identifies this list in prices.use. */
  id: z.string(),
  source: z.string(),
  models: z.number().int(),
  added: z.number().int(),
  changed: z.number().int(),
  /** Changed prices first, those with the largest rise at the beginning; then new models. Limited in number. */
  changes: z.array(changeSchema),
});
export type CheckedPrices = z.infer<typeof checkedSchema>;

const pricesOps = defineOps({
  'prices.get': {
    params: none,
    result: inUseSchema,
    about: 'show which price list is in use',
    commands: { 'model prices': { example: '' } },
  },
  'prices.check': {
    params: none,
    result: checkedSchema,
    about: 'download the public price list and show what it would change; does not use it yet',
    forPerson: true,
  },
  /** Uses the list that was checked last, by its id. */
  'prices.use': {
    params: z.strictObject({ id: z.string().min(1).max(100) }),
    result: inUseSchema,
    about: 'use the price list that was looked at last',
    forPerson: true,
  },
  'prices.forget': {
    params: none,
    result: inUseSchema,
    about: 'go back to the prices that come with the program',
    forPerson: true,
    commands: { 'model forget-prices': { example: '' } },
  },
});

export const priceContract = {
  ops: pricesOps,
  families: { prices: 'Models, settings, secrets' },
} as const;
