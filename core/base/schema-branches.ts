// Treats a union of objects as one object: the key that distinguishes the branches, the keys of each branch, and the branch a value is
// meant for. Used by both directions of a sendable schema.

import { isPlainObject } from './json.ts';
import { either, isOf, joined, type Kind, type ObjectKind, type Reading, type Scalar } from './schema-reading.ts';
import { valueWords } from './schema-words.ts';

export interface FlatKey {
  readonly key: string;
  /** The name under which the key is sent. Models and servers accept only plain names. */
  readonly sentAs: string;
  readonly reading: Reading;
  /** True if every branch requires the key. */
  readonly isRequired: boolean;
  /** "For add (required): …", and the description of each branch. */
  readonly about: string;
}

export interface FlatObject {
  readonly keys: readonly FlatKey[];
  /** A note about the object as a whole. */
  readonly note: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const NAME_CHARS_MAX = 64;

export function flatten(branches: readonly ObjectKind[]): FlatObject {
  const teller = distinguishingKey(branches);
  const order = [...new Set([...(teller === null ? [] : [teller]), ...branches.flatMap(({ properties }) => [...properties.keys()])])];
  const names = sentNames(order);
  const keys = order.map((key): FlatKey => {
    const holders = branches.filter(({ properties }) => properties.has(key));
    const wanting = holders.filter(({ properties, required }) => required.has(key) && properties.get(key)?.takesNull !== true);
    const reading = either(holders.flatMap(({ properties }) => withoutAbout(properties.get(key))));
    const isRequired = wanting.length === branches.length;
    const sentAs = names.get(key) ?? key;
    const about = joined([keyWords(key, { holders, wanting, branches, teller }), sentAs === key ? '' : `(the key ${JSON.stringify(key)})`]);
    return { key, sentAs, reading, isRequired, about };
  });
  return { keys, note: joined([...branches.map(({ about }) => about), teller === null ? formsNote(branches) : '']) };
}

/** Returns the first key whose values differ in every branch. */
export function distinguishingKey(branches: readonly ObjectKind[]): string | null {
  const [first] = branches;
  if (first === undefined || branches.length < 2) return null;
  for (const key of first.properties.keys()) {
    const lists = branches.map((branch) => (branch.required.has(key) ? literalsOf(branch.properties.get(key)) : null));
    const all = lists.flatMap((values) => values ?? []);
    if (!lists.includes(null) && new Set(all).size === all.length) return key;
  }
  return null;
}

function literalsOf(reading: Reading | undefined): readonly Scalar[] | null {
  if (reading === undefined || reading.takesAny || reading.takesNull || reading.kinds.length === 0) return null;
  const values = reading.kinds.map((kind) => (kind.kind === 'object' || kind.kind === 'array' ? null : kind.values));
  return values.includes(null) ? null : [...new Set(values.flatMap((some) => some ?? []))];
}

interface KeyPlace {
  readonly holders: readonly ObjectKind[];
  readonly wanting: readonly ObjectKind[];
  readonly branches: readonly ObjectKind[];
  readonly teller: string | null;
}

function keyWords(key: string, { holders, wanting, branches, teller }: KeyPlace): string {
  const abouts = new Set(holders.map(({ properties }) => properties.get(key)?.about ?? ''));
  const tags = (some: readonly ObjectKind[]): string =>
    valueWords(some.flatMap(({ properties }) => literalsOf(properties.get(teller ?? '')) ?? []));
  if (teller === null) return joined([...abouts]);
  if (key === teller)
    return [...new Set(holders.map((branch) => tagWords(tags([branch]), branch.properties.get(key)?.about ?? '')))]
      .filter((words) => words !== '')
      .join('; ');
  const isEverywhere = holders.length === branches.length;
  const need =
    wanting.length === 0 || wanting.length === branches.length
      ? ''
      : wanting.length === holders.length
        ? ' (required)'
        : ` (required for ${tags(wanting)})`;
  const head = isEverywhere ? need.trim() : `For ${tags(holders)}${need}`;
  if (abouts.size > 1) {
    const each = holders.map((branch) => `For ${tags([branch])}: ${branch.properties.get(key)?.about ?? ''}`);
    return joined([head === '' ? '' : `${head}.`, ...each]);
  }
  const said = joined([...abouts]);
  return head === '' || said === '' ? head + said + (head !== '' && said === '' ? '.' : '') : `${head}: ${said}`;
}

/** Returns the value that names a branch, with the branch's description. */
function tagWords(tag: string, about: string): string {
  return about === '' ? '' : `${tag}: ${about.replace(/\.$/, '')}`;
}

/** Removes the description of a key that is described once, next to the names of its branches. */
function withoutAbout(reading: Reading | undefined): Reading[] {
  return reading === undefined ? [] : [{ ...reading, about: '' }];
}

/** Lists the forms if no key distinguishes them: "Give the keys of one form: url; or path, depth (optional)." */
function formsNote(branches: readonly ObjectKind[]): string {
  const forms = new Set(
    branches.map(({ properties, required }) =>
      [...properties.keys()].map((key) => (required.has(key) ? key : `${key} (optional)`)).join(', '),
    ),
  );
  return forms.size < 2 ? '' : `Give the keys of one form: ${[...forms].map((form) => (form === '' ? 'none' : form)).join('; or ')}.`;
}

/** Returns distinct plain names: letters, digits and _, not starting with a digit. */
function sentNames(keys: readonly string[]): ReadonlyMap<string, string> {
  const isPlain = (key: string): boolean => NAME.test(key) && key.length <= NAME_CHARS_MAX;
  const taken = new Set(keys.filter(isPlain));
  const names = new Map<string, string>();
  for (const key of keys) {
    if (isPlain(key)) continue;
    const plain = key
      .replace(/[^A-Za-z0-9_]/g, '_')
      .replace(/^(?![A-Za-z_])/, '_')
      .slice(0, NAME_CHARS_MAX - 4);
    let name = plain;
    for (let copy = 2; taken.has(name); copy++) name = `${plain}_${copy}`;
    taken.add(name);
    names.set(key, name);
  }
  return names;
}

/**
 * Returns the branch a value is meant for: by the key that distinguishes the branches, else the first that accepts it unchanged, else the
 * first it fits.
 */
export function branchOf(branches: readonly ObjectKind[], value: Readonly<Record<string, unknown>>): ObjectKind | undefined {
  if (branches.length < 2) return branches[0];
  const teller = distinguishingKey(branches);
  if (teller !== null) {
    const tag = value[teller];
    return branches.find(({ properties }) =>
      literalsOf(properties.get(teller))?.some((literal) => literal === tag || String(literal) === tag),
    );
  }
  const given = Object.keys(value).filter((key) => value[key] !== null && value[key] !== undefined);
  const hasAll = ({ required, properties }: ObjectKind): boolean =>
    [...required].every((key) => given.includes(key) || properties.get(key)?.takesNull === true);
  const hasOnly = ({ properties, others }: ObjectKind): boolean => others !== false || given.every((key) => properties.has(key));
  const hasValues = (branch: ObjectKind): boolean =>
    given.every((key) => {
      const literals = literalsOf(readingOf(branch, key));
      return literals === null || literals.some((literal) => literal === value[key]) || !isScalar(value[key]);
    });
  return (
    branches.find((branch) => takesAsIs(branch, value)) ??
    branches.find((branch) => hasAll(branch) && hasOnly(branch) && hasValues(branch) && hasShapes(branch, value)) ??
    branches.find((branch) => hasAll(branch) && hasValues(branch)) ??
    branches.find(hasAll)
  );
}

/** Returns whether the value is valid in the form of the schema itself. Ignores limits, such as a length. */
function takes({ takesAny, takesNull, kinds }: Reading, value: unknown): boolean {
  if (takesAny || (value === null && takesNull)) return true;
  return kinds.some((kind) => takesAsIs(kind, value));
}

function takesAsIs(kind: Kind, value: unknown): boolean {
  if (kind.kind === 'array') return Array.isArray(value) && value.every((item, index) => takes(kind.places[index] ?? kind.items, item));
  if (kind.kind !== 'object') return isOf(kind.kind, value) && (kind.values === null || kind.values.includes(value as Scalar));
  if (!isPlainObject(value) || [...kind.required].some((key) => !Object.hasOwn(value, key))) return false;
  return Object.entries(value).every(([key, given]) => {
    const reading = readingOf(kind, key);
    return reading === undefined ? kind.others !== false : takes(reading, given);
  });
}

/** Returns the reading of a key in a branch: by its name, or as one of the additional keys. */
function readingOf({ properties, others }: ObjectKind, key: string): Reading | undefined {
  return properties.get(key) ?? (typeof others === 'boolean' ? undefined : others);
}

function hasShapes(branch: ObjectKind, value: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(value).every(([key, given]) => {
    const reading = readingOf(branch, key);
    if (reading === undefined || reading.takesAny || given === undefined || given === null) return true;
    return reading.kinds.some(({ kind }) => isOf(kind === 'integer' ? 'number' : kind, given));
  });
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
