// The shapes a secret value takes that cannot be undone where it is found: base64 at its three places, hex, reversed. Pure.
// Escapes (JSON, URL, HTML, shells) are undone in the text instead, see unescaped-view.ts.

import { headLength, squeeze, type NamedForm } from './value-finder.ts';

export type SecretForm = Omit<NamedForm, 'name'>;

/** A line of a multi-line secret counts as a secret of its own from this length. */
const LINE_LENGTH_MIN = 16;
const LINES_MAX = 200;

/** Whether enough is left of a value to know it again. */
export const isTellable = (value: string): boolean => squeeze(value).length >= headLength;

export function secretForms(value: string): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  const add = (text: string, isBase64: boolean): void => {
    const squeezed = squeeze(text);
    if (squeezed.length >= headLength && !forms.has(squeezed)) forms.set(squeezed, { text: squeezed, isBase64 });
  };
  add(value, false);
  add([...value].reverse().join(''), false);
  const lines = value.split(/\r?\n/);
  if (lines.length > 1) for (const line of lines.slice(0, LINES_MAX)) if (isTelling(line)) add(line, false);
  for (const bytes of [Buffer.from(value, 'utf8'), Buffer.from(value, 'utf16le'), Buffer.from(value, 'utf16le').swap16()]) {
    add(bytes.toString('hex'), false);
    add(bytes.toString('hex').toUpperCase(), false);
    for (const text of base64Forms(bytes)) add(text, true);
  }
  return [...forms.values()];
}

/**
 * Base64 of the bytes at each of the three places they can have in a longer encoding, cut to the characters that depend on
 * nothing but the secret, in both alphabets.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    forms.push(own, own.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms;
}

function isTelling(line: string): boolean {
  return line.trim().length >= LINE_LENGTH_MIN && !line.startsWith('-----');
}
