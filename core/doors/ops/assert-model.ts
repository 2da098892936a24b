// Checks that a model named by a person can be used: its provider exists, and if the provider's models are known, it is one of them.

import { AppError } from '../../contracts/errors.ts';
import type { OpsParts } from './parts.ts';

const NAMED_MAX = 20;

/** Fails with `model_unknown`, and says which there are. */
export function assertModel(deps: Pick<OpsParts, 'models'>, ref: string): void {
  if (deps.models.knows(ref)) return;
  const refs = deps.models.list().models.map((model) => model.ref);
  const more = refs.length > NAMED_MAX ? ` and ${refs.length - NAMED_MAX} more` : '';
  const hint = refs.length === 0 ? 'Add a provider in the settings.' : `Known models: ${refs.slice(0, NAMED_MAX).join(', ')}${more}.`;
  throw new AppError('model_unknown', `There is no provider for "${ref}" in config.yaml.`, { data: { hint } });
}
