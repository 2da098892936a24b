// The sentence that goes with `budget.unpriced`, for every place that shows it.

import type { EventBodies } from './events.ts';

export function unpricedWords({ model, scopes }: EventBodies['budget.unpriced']): string {
  const which = `The US-dollar limit of ${scopes.map((scope) => `the ${scope}`).join(' and ')}`;
  return `${which} does not hold for ${model}: its price is not known. Set it under providers.NAME.prices in config.yaml, or set a limit in tokens.`;
}
