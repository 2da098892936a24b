// Recognises content by its first bytes: a name and a claimed type prove nothing, and a vendor refuses a fake image.

const beginnings: readonly (readonly [type: string, offset: number, bytes: readonly number[]])[] = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 8, [0x57, 0x45, 0x42, 0x50]],
  ['application/pdf', 0, [0x25, 0x50, 0x44, 0x46, 0x2d]],
];

/** Pictures that models accept. */
export const pictureTypes: ReadonlySet<string> = new Set(beginnings.map(([type]) => type).filter((type) => type.startsWith('image/')));
/** A larger picture is not shown to a model. */
export const pictureBytesMax = 5_000_000;

/** The media type of a picture or PDF; null for anything else. */
export function knownMediaType(bytes: Uint8Array): string | null {
  const found = beginnings.find(([, offset, start]) => start.every((byte, index) => bytes[offset + index] === byte));
  return found?.[0] ?? null;
}
