// Shrinks images to data addresses. Only pixel formats, because an SVG could contain anything.

const pictureTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

export function isPicture(mediaType: string): boolean {
  return pictureTypes.has(mediaType);
}

/** At most this many pixels wide and high; null if it is not an image or cannot be decoded. */
export async function shrinkPicture(bytes: Uint8Array<ArrayBuffer>, mediaType: string, sizePx: number): Promise<string | null> {
  if (!isPicture(mediaType) || typeof createImageBitmap === 'undefined') return null;
  try {
    const picture = await createImageBitmap(new Blob([bytes], { type: mediaType }));
    const scale = Math.min(1, sizePx / Math.max(picture.width, picture.height));
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, Math.round(picture.width * scale));
    canvas.height = Math.max(1, Math.round(picture.height * scale));
    canvas.getContext('2d')?.drawImage(picture, 0, 0, canvas.width, canvas.height);
    picture.close();
    return canvas.toDataURL('image/webp', 0.8);
  } catch {
    // A file that claims to be an image but is not is attached like any other file.
    return null;
  }
}
