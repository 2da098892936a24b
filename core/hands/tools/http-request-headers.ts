// Headers of a call with references to secrets. Decides where a reference is allowed and how its value is inserted; the value is used only
// in the request.

import { carriesCredential } from '../../guard/egress/egress.ts';
import { AppError } from '../../contracts/errors.ts';

export interface SecretValues {
  /** Resolves `keychain:NAME` or `env:NAME` to its value. Fails with `secret_missing` and similar errors. */
  resolve(ref: string): Promise<string>;
}

type Headers = Readonly<Record<string, string>>;

const REFERENCE = /\{(keychain:[A-Za-z0-9._-]{1,100}|env:[A-Za-z_][A-Za-z0-9_]{0,100})\}/g;
const WHOLE_REFERENCE = /^(?:keychain:[A-Za-z0-9._-]{1,100}|env:[A-Za-z_][A-Za-z0-9_]{0,100})$/;

/** Headers that only say which form of answer is wanted. With any other header a request does more than read. */
const harmless = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'pragma',
  'if-none-match',
  'if-modified-since',
  'range',
  'user-agent',
]);

/** The references in the values, each once, in order. */
export function secretReferences(headers: Headers): string[] {
  const found = Object.values(headers).flatMap((value) => [...braced(value).matchAll(REFERENCE)].map((match) => match[1] ?? ''));
  return [...new Set(found)];
}

export function onlyAsks(headers: Headers): boolean {
  return Object.entries(headers).every(
    ([name, value]) => harmless.has(name.toLowerCase()) && secretReferences({ [name]: value }).length === 0,
  );
}

export function showsWhoAsks(headers: Headers): boolean {
  return Object.keys(headers).some(carriesCredential);
}

/** Returns the headers as sent, and the secret values inserted into them. */
export async function fillSecrets(
  headers: Headers,
  secrets: SecretValues,
): Promise<{ headers: Headers; values: ReadonlyMap<string, string> }> {
  const values = new Map<string, string>();
  for (const ref of secretReferences(headers)) values.set(ref, await secrets.resolve(ref));
  const filled = Object.entries(headers).map(([name, value]) => [name, fill(value, values)] as const);
  const broken = filled.find(([, value]) => /[\r\n\0]/.test(value));
  if (broken !== undefined)
    throw new AppError('invalid_params', `The secret for the header ${broken[0].toLowerCase()} holds a line break.`);
  return { headers: Object.fromEntries(filled), values };
}

/** Replaces in one pass, so that a value that looks like a reference is not expanded. */
function fill(value: string, values: ReadonlyMap<string, string>): string {
  return braced(value).replaceAll(REFERENCE, (whole, ref: string) => values.get(ref) ?? whole);
}

/** A value that is nothing but a reference needs no braces. */
function braced(value: string): string {
  return WHOLE_REFERENCE.test(value.trim()) ? `{${value.trim()}}` : value;
}
