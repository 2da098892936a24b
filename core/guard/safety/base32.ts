// Base32 (RFC 4648), which Node lacks. Pure.

export const base32Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Without padding. */
export function toBase32(bytes: Buffer): string {
  let text = '';
  let waiting = 0;
  let bits = 0;
  for (const byte of bytes) {
    waiting = ((waiting & 0x1f) << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += base32Digits[(waiting >> (bits - 5)) & 0x1f];
  }
  return bits === 0 ? text : text + base32Digits[(waiting << (5 - bits)) & 0x1f];
}

/** Accepts both cases. Ignores the bits after the last whole byte. */
export function fromBase32(text: string): Buffer {
  const bytes: number[] = [];
  let waiting = 0;
  let bits = 0;
  for (const digit of text.toUpperCase()) {
    waiting = ((waiting << 5) | Math.max(0, base32Digits.indexOf(digit))) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push((waiting >> bits) & 0xff);
  }
  return Buffer.from(bytes);
}
