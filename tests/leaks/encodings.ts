// The ways in which a text is encoded inside another one, and what remains of a secret in such a text.

export interface Encoding {
  readonly name: string;
  encode(text: string): string;
  /** Decodes a piece of an encoded text, wherever the piece was cut. */
  decode(piece: string): readonly string[];
}

const itself = (piece: string): readonly string[] => [piece];
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
const outOfJson = (piece: string): readonly string[] => {
  const whole = piece.replace(/\\u[0-9a-fA-F]{0,3}$|\\$/, '');
  try {
    return [JSON.parse(`"${whole.replace(/(?<!\\)((?:\\\\)*)"/g, '$1\\"')}"`) as string];
  } catch {
    return [whole];
  }
};
const unicode = (text: string): string => text.replace(/[\s\S]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
const outOfUrl = (piece: string): readonly string[] => [
  piece.replace(/(?:%[0-9A-Fa-f]{2})+/g, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8')),
];
const everyUrl = (text: string): string => [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
const inHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;');
const numeric = (text: string): string => [...text].map((char) => `&#x${char.codePointAt(0)?.toString(16)};`).join('');
const outOfHtml = (piece: string): readonly string[] => [
  piece
    .replace(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&'),
];
const runsOf = (piece: string, pattern: RegExp): string[] => piece.replaceAll(/\s+/g, '').match(pattern) ?? [];
/** Decodes at each of the four offsets at which a cut may have left it. */
const outOfBase64 = (wide: BufferEncoding) => (piece: string) =>
  runsOf(piece, /[A-Za-z0-9+/_-]+/g).flatMap((run) =>
    [0, 1, 2, 3].flatMap((shift) => decodings(Buffer.from(run.slice(shift), 'base64'), wide)),
  );
const outOfHex = (piece: string): readonly string[] =>
  runsOf(piece, /[0-9A-Fa-f]+/g).flatMap((run) => [0, 1].flatMap((shift) => decodings(Buffer.from(run.slice(shift), 'hex'), 'utf8')));
const decodings = (bytes: Buffer, encoding: BufferEncoding): string[] =>
  encoding === 'utf8' ? [bytes.toString('utf8')] : [bytes.toString(encoding), bytes.subarray(1).toString(encoding)];
const folded = (text: string, width: number, by: string): string => text.replace(new RegExp(`(.{${width}})(?=.)`, 'gs'), `$1${by}`);

/** Encodings in which an unregistered secret keeps its form or can be decoded to it. */
export const recognisable: readonly Encoding[] = [
  { name: 'plain', encode: (text) => text, decode: itself },
  { name: 'JSON', encode: inJson, decode: outOfJson },
  { name: 'JSON in JSON', encode: (text) => inJson(inJson(text)), decode: (piece) => outOfJson(piece).flatMap(outOfJson) },
  { name: 'JSON, all escaped', encode: unicode, decode: outOfJson },
  { name: 'URL', encode: encodeURIComponent, decode: outOfUrl },
  { name: 'URL, all escaped', encode: everyUrl, decode: outOfUrl },
  { name: 'HTML', encode: inHtml, decode: outOfHtml },
  { name: 'HTML, all escaped', encode: numeric, decode: outOfHtml },
  { name: 'base64', encode: (text) => Buffer.from(text).toString('base64'), decode: outOfBase64('utf8') },
  { name: 'base64url', encode: (text) => Buffer.from(text).toString('base64url'), decode: outOfBase64('utf8') },
  { name: 'base64, folded', encode: (text) => folded(Buffer.from(text).toString('base64'), 76, '\n'), decode: outOfBase64('utf8') },
  { name: 'base64 of UTF-16', encode: (text) => Buffer.from(text, 'utf16le').toString('base64'), decode: outOfBase64('utf16le') },
  { name: 'hex', encode: (text) => Buffer.from(text).toString('hex'), decode: outOfHex },
  { name: 'HEX', encode: (text) => Buffer.from(text).toString('hex').toUpperCase(), decode: outOfHex },
];

const around = (text: string, before: number): Buffer =>
  Buffer.concat([Buffer.alloc(before, 0xff), Buffer.from(text), Buffer.from([0xff, 0xff])]);
const bigEndian = (text: string): Buffer => Buffer.from(text, 'utf16le').swap16();

const uuencoded = (bytes: Buffer): string =>
  `\nbegin 644 x\n${(bytes.toString('latin1').match(/.{1,45}/gs) ?? []).map((line) => uuencodedLine(Buffer.from(line, 'latin1'))).join('\n')}\n\`\nend`;
const uuencodedLine = (bytes: Buffer): string => {
  const digit = (value: number): string => (value === 0 ? '`' : String.fromCharCode(0x20 + value));
  const groups = Array.from({ length: Math.ceil(bytes.length / 3) }, (_, at) =>
    [0, 1, 2].reduce((sum, i) => sum * 256 + (bytes[at * 3 + i] ?? 0), 0),
  );
  return digit(bytes.length) + groups.flatMap((group) => [18, 12, 6, 0].map((shift) => digit((group >> shift) & 63))).join('');
};
const base85 =
  (digits: string) =>
  (bytes: Buffer): string => {
    const padded = Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
    const groups = Array.from({ length: padded.length / 4 }, (_, at) => padded.readUInt32BE(at * 4));
    return groups.flatMap((group) => [4, 3, 2, 1, 0].map((place) => digits[Math.floor(group / 85 ** place) % 85])).join('');
  };
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const ascii85 = base85(String.fromCharCode(...Array.from({ length: 85 }, (_, at) => 33 + at)));
const gitBase85 = base85(`${letters}!#$%&()*+-;<=>?@^_\`{|}~`);
const z85 = base85(`${letters.slice(0, 10)}${letters.slice(36)}${letters.slice(10, 36)}.-:+=^!/*?&<>()[]{}@%$#`);

/** Encodings in which a registered value is found; in these nothing else indicates a secret. */
export const exact: readonly Encoding[] = [
  ...recognisable,
  ...[0, 1, 2].flatMap((before): Encoding[] => [
    { name: `base64 at ${before}`, encode: (text) => around(text, before).toString('base64'), decode: outOfBase64('utf8') },
    { name: `base64url at ${before}`, encode: (text) => around(text, before).toString('base64url'), decode: outOfBase64('utf8') },
  ]),
  {
    name: 'base64, narrow and indented',
    encode: (text) => folded(around(text, 1).toString('base64'), 11, '\n    '),
    decode: outOfBase64('utf8'),
  },
  { name: 'base64 of big-endian UTF-16', encode: (text) => bigEndian(text).toString('base64'), decode: itself },
  {
    name: 'URL, half escaped',
    encode: (text) => [...text].map((char, index) => (index % 2 === 0 ? everyUrl(char) : encodeURIComponent(char))).join(''),
    decode: outOfUrl,
  },
  { name: 'form', encode: (text) => new URLSearchParams({ text }).toString(), decode: outOfUrl },
  { name: 'shell, single quotes', encode: (text) => `'${text.replaceAll("'", `'\\''`)}'`, decode: itself },
  { name: 'shell, double quotes', encode: (text) => `"${text.replace(/(["$`\\])/g, '\\$1')}"`, decode: itself },
  { name: 'shell, quotes in between', encode: (text) => folded(text, 4, `''`), decode: itself },
  { name: 'shell, backslashes', encode: (text) => text.replace(/[^A-Za-z0-9]/g, '\\$&'), decode: itself },
  {
    name: "shell, $'…'",
    encode: (text) => `$'${[...Buffer.from(text)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('')}'`,
    decode: itself,
  },
  { name: 'folded', encode: (text) => folded(text, 9, '\n'), decode: itself },
  { name: 'folded and indented', encode: (text) => folded(text, 9, '\r\n  '), decode: itself },
  { name: 'reversed', encode: (text) => [...text].reverse().join(''), decode: (piece) => [[...piece].reverse().join('')] },
  ...[0, 1, 2, 3].flatMap((before): Encoding[] => [
    { name: `Ascii85 at ${before}`, encode: (text) => `<~${ascii85(around(text, before))}~>`, decode: itself },
    { name: `base85 of git at ${before}`, encode: (text) => gitBase85(around(text, before)), decode: itself },
    { name: `Z85 at ${before}`, encode: (text) => z85(around(text, before)), decode: itself },
    { name: `uuencode at ${before}`, encode: (text) => uuencoded(around(text, before)), decode: itself },
  ]),
  { name: 'SQL', encode: (text) => `'${text.replaceAll("'", "''")}'`, decode: itself },
];

/** This many consecutive characters of a secret count as a leak. */
const TELLING_LENGTH = 10;

/** The longest part of the secret still readable in a redacted text; null if none is long enough to be a leak. */
export function leftover(redacted: string, secret: string, encoding: Encoding): string | null {
  const needles = windows(secret, Math.min(TELLING_LENGTH, secret.length));
  const pieces = redacted.split(/\[redacted:[^\]]*\]/);
  const readings = pieces.flatMap((piece) => [piece, piece.replaceAll(/\s+/g, ''), ...encoding.decode(piece)]);
  return needles.find((needle) => readings.some((reading) => reading.includes(needle))) ?? null;
}

function windows(text: string, length: number): string[] {
  return Array.from({ length: Math.max(1, text.length - length + 1) }, (_, index) => text.slice(index, index + length));
}
