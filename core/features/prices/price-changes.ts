// Compares a price list with the prices in use. Pure.

import type { ListedPrice, PriceChange } from '../../contracts/features/prices.ts';
import { vendors, type ListedModel, type PriceBook, type PriceList } from '../../mind/llm/llm.ts';

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
