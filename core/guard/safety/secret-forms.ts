// The shapes a secret value takes on its way through programs: encodings and escapings, each as a literal to look for. Pure.

export interface SecretForm {
  readonly text: string;
  /** The character after a base64 match holds bits of the secret as well. */
  readonly isBase64: boolean;
}

/** Shorter forms would match ordinary text. */
const FORM_LENGTH_MIN = 8;
/** A line of a multi-line secret counts as a secret of its own from this length. */
const LINE_LENGTH_MIN = 16;
const LINES_MAX = 200;

/** Every form, without line breaks: the scanner ignores them in the text as well. */
export function secretForms(value: string): SecretForm[] {
  const forms = new Map<string, SecretForm>();
  const add = (text: string, isBase64: boolean): void => {
    const folded = text.replace(/[\r\n]/g, '');
    if (folded.length >= FORM_LENGTH_MIN && !forms.has(folded)) forms.set(folded, { text: folded, isBase64 });
  };
  for (const text of escapedForms(value)) add(text, false);
  const lines = value.split(/\r?\n/);
  if (lines.length > 1) for (const line of lines.slice(0, LINES_MAX)) if (isTelling(line)) add(line.trim(), false);
  for (const encoding of ['utf8', 'utf16le'] as const) {
    const bytes = Buffer.from(value, encoding);
    add(bytes.toString('hex'), false);
    add(bytes.toString('hex').toUpperCase(), false);
    for (const text of base64Forms(bytes)) add(text, true);
  }
  return [...forms.values()];
}

function escapedForms(value: string): string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  // Through bytes first: a lone surrogate would make the encoding throw.
  const inUrl = encodeURIComponent(Buffer.from(value, 'utf8').toString('utf8'));
  const strictUrl = inUrl.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const inForm = new URLSearchParams({ v: value }).toString().slice(2);
  const urls = [inUrl, strictUrl, inForm].flatMap((text) => [text, text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())]);
  return [
    value,
    value.trim(),
    inJson,
    JSON.stringify(inJson).slice(1, -1),
    inJson.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`),
    inJson.replaceAll('/', '\\/'),
    ...urls,
    escapeHtml(value, '&quot;', '&#39;'),
    escapeHtml(value, '&#34;', '&#x27;'),
    value.replaceAll("'", `'\\''`),
    value.replace(/(["$`\\])/g, '\\$1'),
  ];
}

function escapeHtml(value: string, double: string, single: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', double).replaceAll("'", single);
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
