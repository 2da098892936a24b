// Saves a file for the person. Always a download of plain bytes, whatever its type: the window opens none of it.

export function saveFile(name: string, content: string | Uint8Array<ArrayBuffer>): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'application/octet-stream' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** A file name that every file system accepts. */
export function fileNameOf(title: string, ending: string): string {
  const name = title
    .replaceAll(/[^\p{L}\p{N} ._-]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .replace(/^[. ]+/, '')
    .trim()
    .slice(0, 80);
  return `${name === '' ? 'session' : name}.${ending}`;
}
