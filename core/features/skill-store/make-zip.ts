// Packs a skill's files into one archive. The same files give the same bytes on every machine and day.

/** The earliest time a ZIP archive can contain. The format uses local time. */
const epoch = new Date(1980, 0, 1);

export async function makeZip(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  const { zipSync } = await import('fflate');
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(Object.fromEntries(sorted), { level: 9, mtime: epoch, os: 3, attrs: 0o100644 << 16 });
}
