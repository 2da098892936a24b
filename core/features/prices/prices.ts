// The public price list: downloaded only when a person asks, shown before it is used, and stored in the data folder. The model module
// decides which price applies.

import { createHash } from 'node:crypto';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { CheckedPrices, ListedPrice, PriceChange, PricesInUse } from '../../contracts/features/prices.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { GuardedFetch } from '../../guard/egress/egress.ts';
import { OneOriginCheck } from '../../guard/safety/safety.ts';
import { builtInOn, type ListedModel, type PriceBook, type PriceList, vendors } from '../../mind/llm/llm.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { readCatalogue } from './read-catalogue.ts';

type Taken = Pick<Spine, 'clock' | 'logger' | 'panic'> & {
  readonly prices: PriceBook;
  readonly options: { readonly priceListUrl?: string };
};

export const catalogueUrl = 'https://models.dev/api.json';
/** The catalogue has a size of about 5 MB. */
const limits = { connectMs: 15_000, headersMs: 30_000, idleMs: 30_000, totalMs: 2 * 60_000, bytesMax: 32 * 1024 * 1024 };

export const prices = defineBuiltInFeature({
  name: 'prices',
  create: (spine: Taken) => {
    const desk = new PriceDesk(spine, spine.prices, spine.options.priceListUrl ?? catalogueUrl);
    const handlers = {
      'prices.get': () => desk.inUse(),
      'prices.check': (_params, { gone }) => desk.check(gone),
      'prices.use': ({ id }) => desk.use(id),
      'prices.forget': () => desk.forget(),
    } satisfies Partial<OpHandlers>;
    return { handlers };
  },
});

class PriceDesk {
  readonly #spine: Taken;
  readonly #book: PriceBook;
  readonly #url: string;
  #checked: { readonly id: string; readonly list: PriceList } | null = null;

  constructor(spine: Taken, book: PriceBook, url: string) {
    this.#spine = spine;
    this.#book = book;
    this.#url = url;
  }

  inUse(): PricesInUse {
    const { loaded } = this.#book;
    return { source: this.#source, builtInOn, loaded: loaded === null ? null : { atMs: loaded.atMs, models: countOf(loaded) } };
  }

  async check(signal: AbortSignal): Promise<CheckedPrices> {
    if (this.#spine.panic.engaged) throw new AppError('panic_engaged', 'Everything is stopped.');
    const list = readCatalogue(await this.#download(signal), this.#spine.clock.nowMs());
    const id = createHash('sha256').update(JSON.stringify(list)).digest('hex').slice(0, 16);
    this.#checked = { id, list };
    return { id, source: this.#source, models: countOf(list), ...changesOf(list, this.#book) };
  }

  use(id: string): PricesInUse {
    if (this.#checked?.id !== id) {
      throw new AppError('conflict', 'This price list is not the one that was looked at last.', { hint: 'Download it again.' });
    }
    this.#book.use(this.#checked.list);
    this.#checked = null;
    this.#spine.logger.log('info', 'another price list is in use', { source: this.#source });
    return this.inUse();
  }

  forget(): PricesInUse {
    this.#book.forget();
    return this.inUse();
  }

  get #source(): string {
    return new URL(this.#url).host;
  }

  async #download(signal: AbortSignal): Promise<string> {
    const http = new GuardedFetch({ judge: new OneOriginCheck(new URL(this.#url).origin), limits });
    const answer = await http.fetch({ url: this.#url, headers: { accept: 'application/json' } }, signal).catch((cause: unknown) => {
      const error = toAppError(cause);
      if (signal.aborted || error.code !== 'fetch_failed') throw error;
      throw failed(`${this.#source} could not be reached (${error.message}).`);
    });
    if (answer.status === 200 && !answer.isCut && answer.redirectTo === null) return answer.body.toString('utf8');
    const what = answer.isCut ? 'sent more than a price list has' : `answered ${answer.status}`;
    throw failed(`${this.#source} ${what}.`);
  }
}

function failed(message: string): AppError {
  return new AppError('fetch_failed', message, { hint: 'Try again later. The prices in use stay as they are.' });
}

function countOf({ vendors: listed }: PriceList): number {
  return Object.values(listed).reduce((sum, models) => sum + Object.keys(models).length, 0);
}

const SHOWN_MAX = 500;

export function changesOf(list: PriceList, book: Pick<PriceBook, 'find'>) {
  const all = vendors.flatMap((vendor) =>
    Object.entries(list.vendors[vendor] ?? {}).flatMap(([model, listed]): PriceChange[] => {
      const now = book.find(vendor, model);
      const before = now === null ? null : shown(now);
      const after = shown(listed);
      // The built-in list has no context windows. A window that only the new list has is not a change of the price.
      const isSame = before !== null && isEqual({ ...before, contextTokens: before.contextTokens ?? after.contextTokens }, after);
      return isSame ? [] : [{ vendor, model, before, after }];
    }),
  );
  const changed = all.filter(({ before }) => before !== null).toSorted((a, b) => riseOf(b) - riseOf(a));
  const added = all.filter(({ before }) => before === null);
  return { added: added.length, changed: changed.length, changes: [...changed, ...added].slice(0, SHOWN_MAX) };
}

function shown({ input, cachedInput, output, contextTokens }: ListedModel): ListedPrice {
  return { inputUsdPerMillion: input, cachedInputUsdPerMillion: cachedInput, outputUsdPerMillion: output, contextTokens };
}

function isEqual(a: ListedPrice, b: ListedPrice): boolean {
  return (
    a.inputUsdPerMillion === b.inputUsdPerMillion &&
    a.outputUsdPerMillion === b.outputUsdPerMillion &&
    a.cachedInputUsdPerMillion === b.cachedInputUsdPerMillion &&
    a.contextTokens === b.contextTokens
  );
}

function riseOf({ before, after }: PriceChange): number {
  const sum = (price: ListedPrice): number => price.inputUsdPerMillion + price.outputUsdPerMillion;
  return before === null ? 0 : sum(after) - sum(before);
}
