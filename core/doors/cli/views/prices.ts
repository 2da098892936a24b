// Views of the price list.

import { counted } from '../../../base/counted.ts';
import type { CheckedPrices, ListedPrice, PricesInUse } from '../../../contracts/features/prices.ts';
import type { ViewsOf } from '../kernel/view.ts';

const SHOWN_MAX = 40;

const inUse = ({ source, builtInOn, loaded }: PricesInUse): string =>
  loaded === null
    ? `The prices of ${builtInOn} that come with the program are in use. To look at newer ones: trayclaw model refresh-prices`
    : `Prices of ${counted(loaded.models, 'model')} from ${source} are in use, loaded on ${new Date(loaded.atMs).toISOString().slice(0, 10)}. To go back: trayclaw model forget-prices`;

const priceOf = ({ inputUsdPerMillion, outputUsdPerMillion }: ListedPrice): string => `${inputUsdPerMillion} / ${outputUsdPerMillion}`;

export function changesText({ source, models, added, changed, changes }: CheckedPrices): string {
  const head = `${source} lists ${counted(models, 'model')}: ${changed} with another price or window, ${added} that had none.`;
  const lines = changes
    .slice(0, SHOWN_MAX)
    .map(({ vendor, model, before, after }) => `  ${vendor}/${model}  ${before === null ? 'new' : priceOf(before)} → ${priceOf(after)}`);
  const rest = changed + added - lines.length;
  return [
    head,
    ...(lines.length > 0 ? ['US dollars per million tokens, input / output:'] : []),
    ...lines,
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ].join('\n');
}

export const pricesViews: ViewsOf<'prices'> = {
  'prices.get': { show: inUse },
  'prices.forget': { show: inUse },
};
