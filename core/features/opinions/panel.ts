// Chooses the models for a second opinion: a panel of config.yaml, a named model, or a model other than the one that answered. Pure.

import { AppError } from '../../contracts/errors.ts';
import { noSuch } from '../../contracts/no-such.ts';
import type { Panels } from '../../contracts/features/opinions.ts';

export interface Panel {
  /** Null if a single model is asked. */
  readonly name: string | null;
  readonly members: readonly string[];
  readonly judge: string;
}

export interface KnownModels {
  /** Lists the known models without contacting a server. */
  list(): { readonly models: readonly { readonly ref: string }[] };
}

const demoPrefix = 'demo/';

/** Fails with `not_found` if there is no such panel, and with `no_model` if no other model is known. */
export function choosePanel(
  wanted: string | null,
  answeredBy: string | null,
  { panels, models }: { panels: Panels; models: KnownModels },
): Panel {
  if (wanted !== null && Object.hasOwn(panels, wanted)) return panelOf(wanted, panels[wanted]);
  if (wanted?.includes('/') === true) return single(wanted);
  if (wanted !== null) {
    const names = Object.keys(panels);
    const hint = names.length === 0 ? 'Set one up in config.yaml: models.panels.' : `There are: ${names.join(', ')}.`;
    throw noSuch('panel', wanted, names, hint);
  }
  const [first] = Object.keys(panels);
  if (first !== undefined) return panelOf(first, panels[first]);
  const others = models
    .list()
    .models.map(({ ref }) => ref)
    .filter((ref) => ref !== answeredBy && !ref.startsWith(demoPrefix));
  const vendor = answeredBy?.split('/')[0];
  // A model of another vendor is preferred, because it makes different mistakes.
  const other = others.find((ref) => ref.split('/')[0] !== vendor) ?? others[0];
  if (other !== undefined) return single(other);
  throw new AppError('no_model', 'There is no other model that could give a second opinion.', {
    hint: 'Add a provider, or name models in config.yaml: models.panels.',
  });
}

function panelOf(name: string, panel: Panels[string] | undefined): Panel {
  const members = [...new Set(panel?.members ?? [])];
  return { name, members, judge: panel?.judge ?? members[0] ?? '' };
}

function single(model: string): Panel {
  return { name: null, members: [model], judge: model };
}
