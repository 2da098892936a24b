// Decodes the bytes of an answer: their kind, their encoding, and the text without invisible characters. Trusts the declared type only as
// far as the bytes agree. Pure.

import { documentNames, knownMediaType } from '../../base/media-type.ts';
import { decodeText as decodeUnlabelled } from '../../base/text-encoding.ts';

export type ContentKind = 'html' | 'json' | 'text' | 'binary';

const SNIFF_BYTES = 4096;

/** `mediaType` as it would be stored: the declared one, or the detected one. */
export function classify(contentType: string, bytes: Buffer): { kind: ContentKind; mediaType: string } {
  const declared = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const mediaType = /^[\w.+-]+\/[\w.+-]+$/.test(declared) ? declared : '';
  const known = knownMediaType(bytes) ?? '';
  if (documentNames.has(known)) return { kind: 'binary', mediaType: known };
  if (!looksLikeText(contentType, bytes)) {
    const isWrong = mediaType === '' || mediaType.startsWith('text/');
    return { kind: 'binary', mediaType: isWrong ? 'application/octet-stream' : mediaType };
  }
  const kind = kindOf(mediaType);
  return kind === null ? guessKind(bytes) : { kind, mediaType };
}

/** Null if the type is inconclusive. */
function kindOf(mediaType: string): ContentKind | null {
  if (mediaType === '' || mediaType === 'application/octet-stream') return null;
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return 'html';
  if (/^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(mediaType)) return 'json';
  const isText = /^text\/|[/+](?:xml|yaml|toml|javascript|x-javascript|ecmascript|x-ndjson|x-sh|sql|x-www-form-urlencoded)$/.test(
    mediaType,
  );
  return isText ? 'text' : 'binary';
}

function guessKind(bytes: Buffer): { kind: ContentKind; mediaType: string } {
  const start = bytes.subarray(0, SNIFF_BYTES);
  if (!isUtf8(start, bytes.length > SNIFF_BYTES)) return { kind: 'binary', mediaType: 'application/octet-stream' };
  const isPage = /^\s*<(?:!doctype html|html)\b/i.test(start.toString('utf8'));
  return isPage ? { kind: 'html', mediaType: 'text/html' } : { kind: 'text', mediaType: 'text/plain' };
}

/** No text except UTF-16 contains a NUL. */
function looksLikeText(contentType: string, bytes: Buffer): boolean {
  const charset = bomOf(bytes) ?? charsetOf(contentType) ?? '';
  return /^utf-?16/.test(charset) || !bytes.subarray(0, SNIFF_BYTES).includes(0);
}

/** Decodes by the byte order mark, else the declared charset, else (for pages) the page's own declaration, else by the bytes, as browsers do. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const own = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,30})/i.exec(bytes.subarray(0, 1024).toString('latin1'))?.[1];
  const label = bomOf(bytes) ?? charsetOf(contentType) ?? own;
  const unlabelled = label === undefined ? decodeUnlabelled(bytes) : null;
  return unlabelled?.text ?? decoderFor(label ?? 'utf-8').decode(bytes);
}

/**
 * Removes characters without width: direction marks, soft hyphens, tags, and joiners where no script needs them. They can hide text from
 * people or make it read differently than it is written.
 */
export function visibleText(text: string): string {
  return text.replaceAll(roomless, '').replaceAll(joiner, '').replaceAll(control, '');
}

const roomless =
  // oxlint-disable-next-line no-misleading-character-class -- each is meant separately
  /[\u{ad}\u{61c}\u{115f}\u{1160}\u{17b4}\u{17b5}\u{180b}-\u{180f}\u{200b}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2060}-\u{206f}\u{feff}\u{ffa0}\u{fff9}-\u{fffb}\u{e0000}-\u{e0fff}]/gu;
/** Scripts from Arabic to Tibetan and emoji need joiners. */
// oxlint-disable-next-line no-misleading-character-class -- each is meant separately
const joiner = /(?<![\u{600}-\u{1fff}\u{fe0f}\u{1f000}-\u{1faff}\u{2190}-\u{2bff}])[\u{200c}\u{200d}]+/gu;
// oxlint-disable-next-line no-control-regex -- they are what is taken out
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;

/** Formats JSON with indentation and keeps every number as written. Null if the text is not JSON. */
export function prettyJson(text: string): string | null {
  try {
    return JSON.stringify(JSON.parse(text, keepNumber), null, 2);
  } catch (cause) {
    if (cause instanceof SyntaxError || cause instanceof RangeError) return null;
    throw cause;
  }
}

interface RawJson {
  rawJSON(text: string): unknown;
}

/** Keeps the source text of a number that a double cannot represent exactly. */
function keepNumber(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return (JSON as unknown as RawJson).rawJSON(source);
}

function charsetOf(contentType: string): string | null {
  return /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i.exec(contentType)?.[1]?.toLowerCase() ?? null;
}

function bomOf(bytes: Buffer): string | null {
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) return 'utf-8';
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf-16le';
  return bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : null;
}

function decoderFor(label: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(label);
  } catch (cause) {
    if (cause instanceof RangeError) return new TextDecoder();
    throw cause;
  }
}

/** A partial character at the end of the sample does not count. */
function isUtf8(bytes: Buffer, isCut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch (cause) {
    void cause;
    return false;
  }
}
