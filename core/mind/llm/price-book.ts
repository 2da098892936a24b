// The prices in use: those of a list that a person downloaded, else the built-in ones. Keeps the list in the data folder and reads it once.
// Downloads nothing.

import * as fs from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { parseJson } from '../../base/json.ts';
import { readPlainFile } from '../../base/read-plain-file.ts';
import { replaceFile } from '../../base/rename-over.ts';
import { listPrice, namesOf, vendors, type Vendor } from './model-prices.ts';

/** No vendor charges this much; a list that says so uses another unit or is wrong. */
const USD_PER_MILLION_MAX = 10_000;
const CONTEXT_TOKENS_MAX = 1_000_000_000;

const usdSchema = z.number().min(0).max(USD_PER_MILLION_MAX);
const tokensSchema = z.int().min(1).max(CONTEXT_TOKENS_MAX);
const ratesSchema = z.strictObject({ input: usdSchema, cachedInput: usdSchema.nullable(), output: usdSchema });
export const listedModelSchema = ratesSchema.extend({
  long: ratesSchema.extend({ overTokens: tokensSchema }).nullable(),
  contextTokens: tokensSchema.nullable(),
});
export type ListedModel = z.infer<typeof listedModelSchema>;

const priceListSchema = z.strictObject({
  atMs: z.number(),
  vendors: z.partialRecord(z.enum(vendors), z.record(z.string().min(1).max(200), listedModelSchema)),
});
export type PriceList = z.infer<typeof priceListSchema>;

const FILE = 'prices.json';
const BYTES_MAX = 16 * 1024 * 1024;

export class PriceBook {
  readonly #file: string;
  #list: PriceList | null | undefined;

  /** Without a data folder only the built-in list is used. */
  constructor(home: string | null) {
    this.#file = join(home ?? '', FILE);
    if (home === null) this.#list = null;
  }

  /** The downloaded list; null if there is none or it is invalid. Returns the same object until another list is used. */
  get loaded(): PriceList | null {
    if (this.#list === undefined) this.#list = this.#read();
    return this.#list;
  }

  /** Null for a model that neither list contains; never guesses from a similar name. */
  find(vendor: Vendor, modelId: string): ListedModel | null {
    for (const name of namesOf(modelId)) {
      const models = this.loaded?.vendors[vendor] ?? {};
      const loaded = Object.hasOwn(models, name) ? models[name] : undefined;
      if (loaded !== undefined) return loaded;
      const builtIn = listPrice(vendor, name);
      if (builtIn !== null) return { ...builtIn, contextTokens: null };
    }
    return null;
  }

  use(list: PriceList): void {
    replaceFile(fs, this.#file, JSON.stringify(list));
    this.#list = list;
  }

  forget(): void {
    fs.rmSync(this.#file, { force: true });
    this.#list = null;
  }

  #read(): PriceList | null {
    try {
      const read = readPlainFile(fs, this.#file, BYTES_MAX);
      const parsed = parseJson(read.kind === 'text' ? read.text : '');
      return parsed.ok ? (priceListSchema.safeParse(parsed.value).data ?? null) : null;
    } catch {
      // Usually the file does not exist.
      return null;
    }
  }
}
