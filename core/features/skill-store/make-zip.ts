// Makes one archive of a skill's files: the same bytes for the same files, on every machine and day.

/** The first moment a ZIP archive can name, in local time as the format has it. */
const epoch = new Date(1980, 0, 1);

export async function makeZip(files: ReadonlyMap<string, Uint8Array>): Promise<Uint8Array> {
  const { zipSync } = await import('fflate');
  const sorted = [...files].sort(([a], [b]) => (a < b ? -1 : 1));
  return zipSync(Object.fromEntries(sorted), { level: 9, mtime: epoch, os: 3, attrs: 0o100644 << 16 });
}
