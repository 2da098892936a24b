// The form of a chat service's settings: the fields of the schema, and typed secrets, which go to the keychain or the vault while the file
// contains only their names. Pure.

import { isPlainObject } from '../../../core/base/json.ts';
import { controlOf, objectAt, referenceForm, type Field, type Schema } from './controls.ts';

type Values = Readonly<Record<string, unknown>>;

interface Drafted {
  readonly settings: Values;
  /** Values by their names in the keychain. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Fields by the name of the service. */
export function channelFields(schema: Schema): ReadonlyMap<string, readonly Field[]> {
  const channels = objectAt(objectAt(objectAt(schema, 'properties'), 'channels'), 'properties');
  return new Map(
    Object.entries(channels).flatMap(([name, one]) => {
      const control = isPlainObject(one) ? controlOf(one, name) : null;
      return control?.kind === 'fields' ? [[name, control.fields]] : [];
    }),
  );
}

/** Whether most people leave the field as it is: neither required nor a secret. */
export function isRare({ isNeeded, control }: Field): boolean {
  return !isNeeded && !(control.kind === 'text' && control.isSecret === true);
}

/** The initial values of the form. Required groups of fields are present, so that an error names the missing field and not the group. */
export function startOf(fields: readonly Field[], held: unknown): Values {
  const given = isPlainObject(held) ? held : {};
  const groups = fields.flatMap(({ name, isNeeded, control }) =>
    isNeeded && control.kind === 'fields' ? [[name, given[name] ?? {}]] : [],
  );
  return { ...given, ...(Object.fromEntries(groups) as Values) };
}

/** `held` contains the settings in the file: a secret that was not typed again keeps its reference, and a new value is stored under it. */
export function draftOf(channel: string, fields: readonly Field[], draft: Values, held: unknown): Drafted {
  const secrets: Record<string, string> = {};
  const settings = taken([channel], fields, draft, held, secrets);
  return { settings, secrets };
}

// Each level has separate names.
// oxlint-disable-next-line eslint/max-params
function taken(path: readonly string[], fields: readonly Field[], draft: Values, held: unknown, secrets: Record<string, string>): Values {
  const before = isPlainObject(held) ? held : {};
  const entries = fields.flatMap(({ name, control }) => {
    const value = draft[name];
    const own = [...path, name];
    if (control.kind === 'fields' && isPlainObject(value)) return [[name, taken(own, control.fields, value, before[name], secrets)]];
    if (control.kind !== 'text' || control.isSecret !== true) return value === undefined ? [] : [[name, value]];
    const known = before[name];
    const typed = typeof value === 'string' ? value.trim() : '';
    if (typed === '') return known === undefined ? [] : [[name, known]];
    if (referenceForm.test(typed)) return [[name, typed]];
    const ref = typeof known === 'string' && known.startsWith('keychain:') ? known : `keychain:${nameOf(own)}`;
    secrets[ref.slice('keychain:'.length)] = typed;
    return [[name, ref]];
  });
  return Object.fromEntries(entries) as Values;
}

/** The name of a secret. `token` is left out, because it is the only secret of a service. */
function nameOf(path: readonly string[]): string {
  return path.filter((step) => step !== 'token').join('-');
}
