// Gathers the facts of a path for the gate before a tool touches it: its real path, whether that is inside the opened folders, and why no
// grant covers it. Pure over the file system port; changes nothing.

import { isAbsolute, sep } from 'node:path';
import type { FactContext, PathFact } from '../../contracts/tools.ts';
import { rememberLookUps, type PathFileSystem } from './file-system-port.ts';
import { gitWriteReason, type GitDisk } from '../../base/git-places.ts';
import { isInside } from '../../base/inside-folder.ts';
import { plain, protectionOf, runLaterReason, type ProtectedFolders } from './protected-places.ts';
import { resolveRealPath, type PathProblem } from './real-path.ts';

export interface PathFactsOptions {
  readonly files: PathFileSystem;
  /** The folder that `~` expands to. */
  readonly userHome: string;
}

export interface KnownFolders extends ProtectedFolders {
  readonly opened: readonly string[];
  /** Looked up on the disk, and only for a write. */
  readonly programFiles: () => readonly string[];
}

const problems: Readonly<Record<PathProblem, string>> = {
  'nul-byte': 'the path holds a NUL byte',
  'half-character': 'the path holds half of a character, which no file name can',
  'too-long': 'the path is longer than the file system allows',
  'link-circle': 'symbolic links lead in circles',
  unreadable: 'a part of the path cannot be looked at',
  empty: 'the path is empty',
};

export class PathFacts {
  readonly #files: PathFileSystem;
  /** For commands, which find a file only under the name as written. */
  readonly #exact: PathFileSystem;
  readonly #disk: GitDisk;
  readonly userHome: string;

  constructor(options: PathFactsOptions) {
    const { files } = options;
    this.#files = files;
    this.#exact = { ...files, sameName: () => null };
    this.#disk = { kindOf: (path) => kindOf(files.lookUp(path)), textOf: (path) => files.readText(path) };
    this.userHome = options.userHome;
  }

  /** Returns the facts of one path of a call. A path that cannot be resolved is outside and protected, and its `real` is the given path. */
  of(given: string, access: PathFact['access'], context: FactContext): PathFact {
    const resolved = resolveRealPath(given, context.workspace, this.userHome, this.#files);
    return this.#factOf(given, access, resolved, () => this.folders(context));
  }

  /** Returns the facts of a path as a command in the folder `base` uses it: `~` is not expanded. */
  inFolder(given: string, base: string, access: PathFact['access'], folders: KnownFolders): PathFact {
    const path = given === '' || isAbsolute(given) ? given : `${base}${sep}${given}`;
    return this.#factOf(given, access, resolveRealPath(path, base, this.userHome, this.#exact), () => folders);
  }

  /** The same facts with one disk query per place, for one check of many paths. */
  forOneLook(): PathFacts {
    return new PathFacts({ files: rememberLookUps(this.#files), userHome: this.userHome });
  }

  /** Returns why a path cannot be followed at all, or null. */
  problemOf(given: string, context: FactContext): string | null {
    const resolved = resolveRealPath(given, context.workspace, this.userHome, this.#files);
    return resolved.ok ? null : problems[resolved.error];
  }

  /** The context's folders by their real paths. */
  folders(context: FactContext): KnownFolders {
    const workspace = this.#realFolder(context.workspace, context.workspace);
    return {
      workspace,
      home: this.#realFolder(context.home, context.workspace),
      ...(context.configuredWorkspace === undefined ? {} : { configuredWorkspace: context.configuredWorkspace }),
      opened: [workspace, ...context.extraFolders.map((folder) => this.#realFolder(folder, context.workspace))],
      programFiles: context.programFiles ?? (() => []),
    };
  }

  #factOf(
    given: string,
    access: PathFact['access'],
    resolved: ReturnType<typeof resolveRealPath>,
    foldersOf: () => KnownFolders,
  ): PathFact {
    if (!resolved.ok) return { given, real: given, access, insideWorkspace: false, protectedBy: problems[resolved.error] };
    const { real, fileLinks } = resolved.value;
    const folders = foldersOf();
    const insideWorkspace = folders.opened.some((folder) => isInside(real, folder));
    const protectedBy = protectionOf(real, folders) ?? this.#writeReason(real, access, folders) ?? hardLinkReason(access, fileLinks);
    return { given, real, access, insideWorkspace, protectedBy };
  }

  #writeReason(real: string, access: PathFact['access'], folders: KnownFolders): string | null {
    if (access === 'read') return null;
    const folded = plain(real);
    const programFiles = folders.programFiles();
    if (programFiles.some((file) => plain(file) === folded)) return 'a hook, a verifier or an MCP server runs this file';
    return runLaterReason(folded) ?? gitWriteReason({ real, folded, userHome: this.userHome }, this.#disk);
  }

  /** A folder that cannot be followed keeps its spelling, so it matches nothing that resolves elsewhere. */
  #realFolder(folder: string, base: string): string {
    const resolved = resolveRealPath(folder, base, this.userHome, this.#files);
    return resolved.ok ? resolved.value.real : folder;
  }
}

/** An unreadable place counts as existing. */
function kindOf(found: ReturnType<PathFileSystem['lookUp']>): ReturnType<GitDisk['kindOf']> {
  if (found === 'absent' || found === 'too-long') return null;
  return found === 'unreadable' ? 'other' : found.kind;
}

function hardLinkReason(access: PathFact['access'], fileLinks: number): string | null {
  if (access === 'read' || fileLinks <= 1) return null;
  return 'the file has further names elsewhere (hard links), so a change may reach beyond this folder';
}
