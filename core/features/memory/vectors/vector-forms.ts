// The stored forms of a vector: one byte per dimension, and one sign bit per dimension. Pure.

const BYTE_MAX = 127;

/** Keeps only the direction; the length is lost. */
export function toInt8(vector: Float32Array): Int8Array {
  // Scales to the largest dimension, because the single dimensions of a long vector are small.
  let largest = 0;
  for (const value of vector) largest = Math.max(largest, Math.abs(value));
  const factor = largest === 0 ? 0 : BYTE_MAX / largest;
  return Int8Array.from(vector, (value) => Math.round(value * factor));
}

export function fromInt8(blob: Buffer): Int8Array {
  return new Int8Array(blob.buffer, blob.byteOffset, blob.byteLength);
}

export function similarity(a: Int8Array, b: Int8Array): number {
  let product = 0;
  let squaresA = 0;
  let squaresB = 0;
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i] ?? 0, b[i] ?? 0];
    product += x * y;
    squaresA += x * x;
    squaresB += y * y;
  }
  return squaresA === 0 || squaresB === 0 ? 0 : product / Math.sqrt(squaresA * squaresB);
}

/** Packs eight dimensions into a byte. Unused bits of the last byte are zero. */
export function signBits(vector: Int8Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(vector.length / 8));
  for (const [index, value] of vector.entries()) if (value > 0) bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
  return bits;
}
