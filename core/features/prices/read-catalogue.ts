// Reads the public catalogue of models (models.dev): the vendors whose prices this program keeps, each model checked strictly. One invalid
// number refuses the whole list, because the rest of it cannot be trusted either. Pure.

import * as z from 'zod';
import { isPlainObject, parseJson } from '../../base/json.ts';
import { AppError } from '../../contracts/errors.ts';
import { listedModelSchema, vendors, type ListedModel, type PriceList } from '../../mind/llm/llm.ts';

const MODELS_MAX = 2_000;
const NAME_CHARS_MAX = 200;
/** Older entries state a single threshold, which is part of the field name context_over_200k. */
const OVER_TOKENS = 200_000;

/** Numbers are checked later, so that the error can name the model. */
const anything = z.unknown().optional();
const ratesSchema = z.object({ input: anything, output: anything, cache_read: anything });
const entrySchema = z.object({
  cost: ratesSchema
    .extend({
      tiers: z.array(ratesSchema.extend({ tier: z.object({ type: z.string(), size: z.number() }) })).optional(),
      context_over_200k: ratesSchema.optional(),
    })
    .optional(),
  limit: z.object({ context: anything }).optional(),
});
type Rates = z.infer<typeof ratesSchema>;

/** Fails with fetch_failed, which names the invalid entry. */
export function readCatalogue(text: string, atMs: number): PriceList {
  const parsed = parseJson(text);
  if (!parsed.ok || !isPlainObject(parsed.value)) throw refused('It is no JSON object.');
  const list: { -readonly [K in keyof PriceList['vendors']]: PriceList['vendors'][K] } = {};
  for (const vendor of vendors) {
    const models = modelsOf(vendor, parsed.value[vendor]);
    if (Object.keys(models).length > 0) list[vendor] = models;
  }
  if (Object.keys(list).length === 0) throw refused(`It has no price of any of ${vendors.join(', ')}.`);
  return { atMs, vendors: list };
}

function modelsOf(vendor: string, given: unknown): Record<string, ListedModel> {
  if (given === undefined) return {};
  const models = isPlainObject(given) ? given['models'] : undefined;
  if (!isPlainObject(models)) throw refused(`The entry of ${vendor} has no models.`);
  const entries = Object.entries(models);
  if (entries.length > MODELS_MAX) throw refused(`${vendor} has ${entries.length} models; at most ${MODELS_MAX} are taken.`);
  const read = entries.flatMap(([name, entry]) => {
    const model = modelOf(`${vendor}/${name.slice(0, NAME_CHARS_MAX)}`, name, entry);
    return model === null ? [] : [[name, model] as const];
  });
  return Object.fromEntries(read);
}

/** Returns null for a model without text prices. */
function modelOf(about: string, name: string, given: unknown): ListedModel | null {
  if (name === '' || name.length > NAME_CHARS_MAX || /[^\u0021-\u007e]/.test(name))
    throw refused(`${JSON.stringify(about)} is not the name of a model.`);
  const entry = entrySchema.safeParse(given);
  if (!entry.success) throw refused(`The entry ${about} has another form (${entry.error.issues[0]?.path.join('.') ?? 'no object'}).`);
  const { cost, limit } = entry.data;
  if (cost === undefined || isEmpty(cost)) return null;
  const checked = listedModelSchema.safeParse({
    ...ratesOf(cost),
    long: longOf(cost),
    contextTokens: windowOf(limit?.context),
  });
  if (checked.success) return checked.data;
  throw refused(`${about}: ${issueOf(checked.error)}`);
}

function issueOf({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join('.') ?? 'its price'} is not plausible (${issue?.message.toLowerCase() ?? 'another form'}).`;
}

function isEmpty({ input, output }: Rates): boolean {
  return (input ?? null) === null && (output ?? null) === null;
}

/** The catalogue uses 0 for an unknown window. */
function windowOf(context: unknown): unknown {
  return context === 0 ? null : (context ?? null);
}

function ratesOf({ input, output, cache_read: cachedInput }: Rates) {
  return { input, output, cachedInput: cachedInput ?? null };
}

/** Only the first threshold is kept. A second one is rare, and its rates are even higher. */
function longOf({ tiers = [], context_over_200k: over }: NonNullable<z.infer<typeof entrySchema>['cost']>) {
  const [first] = tiers.filter(({ tier }) => tier.type === 'context').toSorted((a, b) => a.tier.size - b.tier.size);
  if (first !== undefined) return { ...ratesOf(first), overTokens: first.tier.size };
  return over === undefined ? null : { ...ratesOf(over), overTokens: OVER_TOKENS };
}

function refused(why: string): AppError {
  return new AppError('fetch_failed', `The price list was refused, and nothing of it is used. ${why}`, {
    hint: 'Try again later. The prices in use stay as they are; single ones can be set in config.yaml: providers.NAME.prices.',
  });
}
