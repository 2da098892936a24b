// The sentence that goes with `budget.unpriced`, for every place that shows it.

import type { EventBodies } from './events.ts';

export function unpricedWords({ model, scopes }: EventBodies['budget.unpriced']): string {
  const which = `The US-dollar limit of ${scopes.map((scope) => `the ${scope}`).join(' and ')}`;
  return `${which} cannot be enforced for ${model}: its price is unknown. Set its price under providers.${model.slice(0, model.indexOf('/'))}.prices, or set a limit in tokens.`;
}
