// The two formats that hold an icon in several sizes: ICO for Windows, ICNS for macOS. Both are a short header followed by PNG files; the
// older forms without PNG are not written.

/** @typedef {{ sizePx: number, png: Buffer }} SizedPng */

/** macOS names for the entry of each size in pixels; entries for high-density screens are named after the displayed size. */
const icnsTypes = new Map([
  [32, ['ic11']],
  [64, ['ic12']],
  [128, ['ic07']],
  [256, ['ic13', 'ic08']],
  [512, ['ic14', 'ic09']],
  [1024, ['ic10']],
]);

export const icnsSizes = [...icnsTypes.keys()];
export const icoSizes = [16, 20, 24, 32, 40, 48, 64, 128, 256];

/**
 * Sizes up to 256 pixels, all with alpha.
 * @param {readonly SizedPng[]} images
 */
export function encodeIco(images) {
  const header = Buffer.alloc(6 + 16 * images.length);
  header.writeUInt16LE(1, 2);
  header.writeUInt16LE(images.length, 4);
  let offset = header.length;
  for (const [index, { sizePx, png }] of images.entries()) {
    const entry = 6 + 16 * index;
    // One byte each: 256 is written as 0.
    header.writeUInt8(sizePx % 256, entry);
    header.writeUInt8(sizePx % 256, entry + 1);
    header.writeUInt16LE(1, entry + 4);
    header.writeUInt16LE(32, entry + 6);
    header.writeUInt32LE(png.length, entry + 8);
    header.writeUInt32LE(offset, entry + 12);
    offset += png.length;
  }
  return Buffer.concat([header, ...images.map(({ png }) => png)]);
}

/** @param {readonly SizedPng[]} images of the sizes above */
export function encodeIcns(images) {
  const entries = images.flatMap(({ sizePx, png }) => (icnsTypes.get(sizePx) ?? []).map((type) => entryOf(type, png)));
  return entryOf('icns', Buffer.concat(entries));
}

/**
 * The length counts its own eight bytes.
 * @param {string} type
 * @param {Buffer} data
 */
function entryOf(type, data) {
  const head = Buffer.alloc(8);
  head.write(type, 'latin1');
  head.writeUInt32BE(data.length + 8, 4);
  return Buffer.concat([head, data]);
}
