// Reads the files of one skill from a folder or an archive, checks every name, and keeps them in memory, so that the files shown are the
// files installed. Follows no links, runs nothing, writes nothing.

import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ArchiveEntry } from '../../base/archive.ts';
import { readTarGz, type TarRules } from '../../hands/tar/tar.ts';
import { readZip, type ZipRules } from '../../hands/tools/tools.ts';
import { AppError } from '../../contracts/errors.ts';
import { ENTRIES_MAX, FILES_MAX, isLeftOut, PACKAGE_BYTES_MAX, PackageFiles, refusal } from './package-paths.ts';

export interface ReadPackage {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The name of the skill's folder; empty if there is none. */
  readonly folderName: string;
  /** The hash of the archive; null for a folder. */
  readonly archiveSha256: string | null;
  readonly commit: string | null;
  /** The files that were left out because they are never part of a skill. */
  readonly leftOut: readonly string[];
}

export const ARCHIVE_BYTES_MAX = 50_000_000;
/** Larger than the package limit, because a repository may be larger than the skill in it. */
const tarRules: TarRules = { unpackedBytesMax: 200_000_000, entriesMax: ENTRIES_MAX, refusal };
const zipRules: ZipRules = { entryBytesMax: PACKAGE_BYTES_MAX, entriesMax: ENTRIES_MAX, refusal };
const skillFiles = /(?:^|\/)(?:SKILL|skill)\.md$/;

export function sha256Of(bytes: Uint8Array | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function isArchive(path: string): boolean {
  return /\.(?:zip|skill|tgz|tar\.gz)$/i.test(path);
}

/** `below` names the folder in the archive; without it the archive must contain exactly one skill. Fails with denied or invalid_params. */
export function readArchive(bytes: Buffer, below: string | null = null): ReadPackage {
  if (bytes.length > ARCHIVE_BYTES_MAX) throw refusal('the archive is larger than 50 MB');
  const { entries, commit } = openArchive(bytes);
  return readEntries(entries, { below, commit, archiveSha256: sha256Of(bytes) });
}

/** The files of the only skill among the entries, or of the skill in the folder `below`. Fails with denied or invalid_params. */
export function readEntries(
  entries: readonly ArchiveEntry[],
  { below, ...origin }: Pick<ReadPackage, 'archiveSha256' | 'commit'> & { readonly below: string | null },
): ReadPackage {
  const root = rootOf(
    entries.map(({ path }) => path),
    below,
  );
  const collected = new PackageFiles();
  for (const { path, content } of entries) {
    // A path that leads out of the archive is refused even outside the skill's folder.
    if (/(?:^|[\\/])\.\.(?:[\\/]|$)|^[\\/]|\\/.test(path)) collected.takes(path);
    if (!path.startsWith(root)) continue;
    const own = path.slice(root.length);
    if (!collected.takes(own)) continue;
    if (collected.files.size >= FILES_MAX) throw refusal(`it has more than ${FILES_MAX} files`);
    collected.put(own, content());
  }
  const { files, leftOut } = collected;
  return { files, folderName: basename(root), leftOut, ...origin };
}

function openArchive(bytes: Buffer): { entries: readonly ArchiveEntry[]; commit: string | null } {
  if (bytes.length > 4 && bytes.readUInt16BE(0) === 0x504b) return { entries: readZip(bytes, zipRules), commit: null };
  if (bytes.length > 4 && bytes.readUInt16BE(0) === 0x1f8b) return readTarGz(bytes, tarRules);
  throw refusal('it is neither a ZIP archive nor a gzipped tar archive');
}

/** The folder of the skill in the archive, with a trailing slash; empty for the root of the archive. */
function rootOf(paths: readonly string[], below: string | null): string {
  const all = paths.filter((path) => skillFiles.test(path) && !isLeftOut(path)).map((path) => path.replace(/[^/]*$/, ''));
  const outer = [...new Set(all)].filter((root) => !all.some((other) => other !== root && root.startsWith(other)));
  const exact = outer.filter((root) => root === `${below ?? ''}/`);
  const wanted = below === null ? outer : exact.length > 0 ? exact : outer.filter((root) => root.endsWith(`/${below}/`));
  const [one, ...others] = wanted;
  if (one !== undefined && others.length === 0) return one;
  if (one === undefined)
    throw refusal(below === null ? 'there is no SKILL.md in it' : `there is no skill in its folder ${JSON.stringify(below.slice(0, 120))}`);
  throw new AppError('invalid_params', `There are ${wanted.length} skills in it.`, {
    hint: `Name one with # and its folder: ${wanted
      .slice(0, 10)
      .map((root) => `#${root.replace(isOneFolder(paths) ? /^[^/]+\/(?=.)/ : '', '').replace(/\/$/, '')}`)
      .join(', ')}`,
  });
}

/** Archives of a repository contain everything in one folder, which is not part of the skill's path. */
function isOneFolder(paths: readonly string[]): boolean {
  return new Set(paths.map((path) => path.split('/', 1)[0])).size === 1;
}

/** Fails with denied, or with an error of the file system. */
export function readFolder(folder: string): ReadPackage {
  const collected = new PackageFiles();
  const walk = (at: string, below: string): void => {
    for (const entry of readdirSync(at, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      const full = join(at, entry.name);
      if (isLeftOut(path)) continue;
      if (entry.isDirectory()) walk(full, path);
      else takeFile(collected, { path, full, isFile: entry.isFile() });
    }
  };
  walk(folder, '');
  return { files: collected.files, folderName: basename(folder), archiveSha256: null, commit: null, leftOut: [] };
}

function takeFile(collected: PackageFiles, { path, full, isFile }: { path: string; full: string; isFile: boolean }): void {
  if (!isFile) throw refusal(`${JSON.stringify(path.slice(0, 120))} is a link or no plain file`);
  if (!collected.takes(path)) return;
  if (collected.files.size >= FILES_MAX) throw refusal(`it has more than ${FILES_MAX} files`);
  if (lstatSync(full).size > PACKAGE_BYTES_MAX) throw refusal('it has more than 50 MB');
  collected.put(path, readFileSync(full));
}
