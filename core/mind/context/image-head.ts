// Reads the type and the pixel size of an image from its first bytes. A vendor refuses an image whose type differs from the stated one or
// whose sides are too long, and then refuses every later request of that conversation. Decodes nothing.

export interface ImageHead {
  readonly mediaType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp';
  /** 0 if the head does not contain the size. */
  readonly width: number;
  readonly height: number;
}

/** Null if the bytes are none of the four types that vendors accept. */
export function readImageHead(given: Uint8Array): ImageHead | null {
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
  const text = bytes.toString('latin1', 0, 16);
  if (text.startsWith('\x89PNG\r\n')) return sized('image/png', bytes, (head) => [head.readUInt32BE(16), head.readUInt32BE(20)]);
  if (/^GIF8[79]a/.test(text)) return sized('image/gif', bytes, (head) => [head.readUInt16LE(6), head.readUInt16LE(8)]);
  if (text.startsWith('RIFF') && text.startsWith('WEBP', 8)) return sized('image/webp', bytes, webpSize);
  return text.startsWith('\xff\xd8\xff') ? sized('image/jpeg', bytes, jpegSize) : null;
}

type Size = readonly [width: number, height: number];
const unknown: Size = [0, 0];

/** The size is 0 if the head is truncated. */
function sized(mediaType: ImageHead['mediaType'], bytes: Buffer, read: (head: Buffer) => Size): ImageHead {
  try {
    const [width, height] = read(bytes);
    return { mediaType, width, height };
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    return { mediaType, width: 0, height: 0 };
  }
}

function webpSize(bytes: Buffer): Size {
  const form = bytes.toString('latin1', 12, 16);
  if (form === 'VP8X') return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (form === 'VP8 ') return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  if (form !== 'VP8L') return unknown;
  const packed = bytes.readUInt32LE(21);
  return [(packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1];
}

/** The size is in the first start-of-frame segment. */
function jpegSize(bytes: Buffer): Size {
  for (let at = 2; at < bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    while (bytes[at] === 0xff && bytes[at + 1] === 0xff) at += 1;
    const mark = bytes.readUInt8(at + 1);
    const isFrame = mark >= 0xc0 && mark <= 0xcf && mark !== 0xc4 && mark !== 0xc8 && mark !== 0xcc;
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    if (bytes[at] !== 0xff) return unknown;
  }
  return unknown;
}
