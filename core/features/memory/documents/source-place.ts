// Finds the place of a document source from the path a person typed: whether it exists, whether it may be read, and whether that opens a
// folder. Checks the disk, and reads no document.

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../../../base/inside-folder.ts';
import type { Config } from '../../../contracts/config.ts';
import type { ConfiguredSource } from './ports.ts';

export interface SourceFolders {
  readonly workspace: string;
  /** The person's; `~` expands to it. */
  readonly userHome: string;
  /** Open to the agent already, including the workspace; real paths. */
  readonly opened: readonly string[];
  /** TrayClaw's own data. */
  readonly isOwn: (real: string) => boolean;
}

export interface SourcePlace {
  /** Absolute, and real if it exists. */
  readonly path: string;
  readonly kind: 'directory' | 'file' | 'other' | 'missing';
  readonly isOwn: boolean;
  /** Outside the folders open to the agent: as a source, it is opened for reading. */
  readonly isOutside: boolean;
}

export function placeOf(given: string, folders: SourceFolders): SourcePlace {
  const { workspace, userHome, opened, isOwn } = folders;
  const written = given === '~' || /^~[/\\]/.test(given) ? join(userHome, given.slice(1)) : resolve(workspace, given);
  const { path, kind } = lookAt(written);
  return { path, kind, isOwn: isOwn(path), isOutside: !opened.some((folder) => isInside(path, folder)) };
}

function lookAt(path: string): Pick<SourcePlace, 'path' | 'kind'> {
  try {
    const real = realpathSync(path);
    const facts = statSync(real);
    return { path: real, kind: facts.isDirectory() ? 'directory' : facts.isFile() ? 'file' : 'other' };
  } catch {
    return { path, kind: 'missing' };
  }
}

const ownRefused = "It is TrayClaw's own data, which is never read as documents.";

/** As written in config.yaml: a missing one may appear later. */
export function sourcesOf(sources: Config['knowledge']['sources'], folders: SourceFolders): ConfiguredSource[] {
  return Object.entries(sources).map(([name, source]): ConfiguredSource => {
    if (source.kind === 'inline') return { name, kind: 'inline', title: source.title ?? name, text: source.text };
    const { path, isOwn } = placeOf(source.path, folders);
    const { watch, fileBytesMax } = source;
    const about = { name, kind: 'directory', watch, fileBytesMax, refused: isOwn ? ownRefused : null } as const;
    if (source.kind === 'file') return { ...about, folder: dirname(path), only: basename(path), endings: null, filesMax: 1 };
    return { ...about, folder: path, only: null, endings: source.endings ?? null, filesMax: source.filesMax };
  });
}
