// Bytes of an answer as text: which kind they are, in which encoding, and without characters nobody sees. Trusts the declared type
// only as far as the bytes agree. Pure.

export type ContentKind = 'html' | 'json' | 'text' | 'binary';

const SNIFF_BYTES = 4096;

/** `mediaType` as it would be stored: what was declared, or what the bytes are. */
export function classify(contentType: string, bytes: Buffer): { kind: ContentKind; mediaType: string } {
  const declared = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  const mediaType = /^[\w.+-]+\/[\w.+-]+$/.test(declared) ? declared : '';
  const start = bytes.subarray(0, SNIFF_BYTES);
  if (start.subarray(0, 5).toString('latin1') === '%PDF-') return { kind: 'binary', mediaType: 'application/pdf' };
  const isText =
    !start.includes(0) || /^utf-?16/.test(charsetOf(contentType) ?? '') || bomOf(bytes) === 'utf-16le' || bomOf(bytes) === 'utf-16be';
  if (!isText)
    return { kind: 'binary', mediaType: mediaType.startsWith('text/') || mediaType === '' ? 'application/octet-stream' : mediaType };
  if (mediaType === 'text/html' || mediaType === 'application/xhtml+xml') return { kind: 'html', mediaType };
  if (/^(?:application|text)\/(?:[\w.-]+\+)?json$/.test(mediaType)) return { kind: 'json', mediaType };
  if (/^text\/|[/+](?:xml|yaml|toml|javascript|x-javascript|ecmascript|x-ndjson|x-sh|sql|x-www-form-urlencoded)$/.test(mediaType)) {
    return { kind: 'text', mediaType };
  }
  if (mediaType !== '' && mediaType !== 'application/octet-stream') return { kind: 'binary', mediaType };
  if (!isUtf8(start, bytes.length > SNIFF_BYTES)) return { kind: 'binary', mediaType: mediaType || 'application/octet-stream' };
  const isPage = /^\s*<(?:!doctype html|html)\b/i.test(start.toString('utf8'));
  return isPage ? { kind: 'html', mediaType: 'text/html' } : { kind: 'text', mediaType: 'text/plain' };
}

/** By the byte order mark, else the declared charset, else (for pages) what the page says of itself, else UTF-8. */
export function decodeText(bytes: Buffer, contentType: string): string {
  const own = /<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,30})/i.exec(bytes.subarray(0, 1024).toString('latin1'))?.[1];
  return decoderFor(bomOf(bytes) ?? charsetOf(contentType) ?? own ?? 'utf-8').decode(bytes);
}

/**
 * Without characters that take no room: marks of direction, soft hyphens, tags, and joiners where no script needs them. They can hide
 * text from people or make it read otherwise than it is written.
 */
export function visibleText(text: string): string {
  return text
    .replaceAll(
      /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]/gu,
      '',
    )
    .replaceAll(/(?<![\u0600-\u1fff\ufe0f\u{1f000}-\u{1faff}\u2190-\u2bff])[\u200c\u200d]+/gu, '')
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, '');
}

/** Indented, with every number as it was written. Null when it is not JSON. */
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

/** A number too long for a double would come back as another. */
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

/** A character cut at the end of what is looked at does not count. */
function isUtf8(bytes: Buffer, isCut: boolean): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
    return true;
  } catch (cause) {
    void cause;
    return false;
  }
}
