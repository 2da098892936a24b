// Resolves the path a person typed to the place of a document source: whether it exists, whether it may be read, and whether that opens a
// folder to the agent. Checks the disk, but reads no document.

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isInside } from '../../../base/inside-folder.ts';
import type { Config } from '../../../contracts/config.ts';
import type { ConfiguredSource } from './ports.ts';

export interface SourceFolders {
  readonly workspace: string;
  /** The home folder of the person; `~` expands to it. */
  readonly userHome: string;
  /** Folders that are already open to the agent, including the workspace. Real paths. */
  readonly opened: readonly string[];
  /** Whether the path is in TrayClaw's own data. */
  readonly isOwn: (real: string) => boolean;
}

export interface SourcePlace {
  /** Absolute; symbolic links are resolved if the path exists. */
  readonly path: string;
  readonly kind: 'directory' | 'file' | 'other' | 'missing';
  readonly isOwn: boolean;
  /** Outside the folders open to the agent. Adding it as a source opens it for reading. */
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

/** The sources in config.yaml. A source whose path does not exist is included, because the path may appear later. */
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
