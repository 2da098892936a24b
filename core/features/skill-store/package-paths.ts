// Decides which file names a package may contain: plain relative paths that mean the same on every system and hide nothing from a reader.

import { AppError } from '../../contracts/errors.ts';
import { revealed } from '../../base/visible-text.ts';

export const FILES_MAX = 500;
export const PACKAGE_BYTES_MAX = 50_000_000;
/** The maximum number of entries in an archive. It is higher than the file limit, because a repository has more files than a skill. */
export const ENTRIES_MAX = 20_000;
const PATH_CHARS_MAX = 200;
const DEPTH_MAX = 6;

/** Never part of a skill. Trust does not cover their content, so they are left out everywhere. */
const leftOut: ReadonlySet<string> = new Set(['.git', 'node_modules', '__pycache__', '.venv', '.DS_Store', '__MACOSX']);
const devices = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i;
const letters = /^[\p{L}\p{N}\p{M} !#$%&'()+,.;=@[\]^_`{}~-]+$/u;

export function isLeftOut(path: string): boolean {
  return path.split('/').some((part) => leftOut.has(part));
}

/** Why a path is refused, or null if it is valid. */
export function refusePath(path: string): string | null {
  const parts = path.split('/');
  if (path === '' || path.length > PATH_CHARS_MAX) return `is longer than ${PATH_CHARS_MAX} characters`;
  if (parts.length > DEPTH_MAX + 1) return 'is too many folders deep';
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return 'starts at the root of a disk';
  if (parts.includes('..')) return 'leads out of the folder';
  if (parts.some((part) => part === '' || part === '.')) return 'has an empty part';
  if (!parts.every((part) => letters.test(part))) return 'has characters that hide something or mean something else on other systems';
  if (path.normalize('NFC') !== path || revealed(path) !== path) return 'has letters that look like others';
  if (parts.some((part) => /[ .]$/.test(part) || part.startsWith(' ')))
    return 'has a part that begins with a space or ends with a space or a dot';
  return parts.some((part) => devices.test(part)) ? 'is the name of a device on Windows' : null;
}

/** Collects the files of a package. Fails with denied at the first path that is invalid, occurs twice, or exceeds a limit. */
export class PackageFiles {
  readonly files = new Map<string, Uint8Array>();
  readonly #seen = new Map<string, string>();
  readonly #folders = new Map<string, string>();
  readonly #leftOut = new Set<string>();
  #bytes = 0;

  get leftOut(): readonly string[] {
    return [...this.#leftOut];
  }

  /** False for a file that is left out, whose content is not needed. */
  takes(path: string): boolean {
    const why = refusePath(path);
    if (why !== null) throw refusal(`the name ${shown(path)} ${why}`);
    const folded = path.normalize('NFKC').toLowerCase();
    const other = this.#seen.get(folded);
    if (other !== undefined)
      throw refusal(other === path ? `${shown(path)} is in it twice` : `${shown(other)} and ${shown(path)} are one file on some systems`);
    this.#assertNoFolder(folded, path);
    this.#seen.set(folded, path);
    if (!isLeftOut(path)) return true;
    this.#leftOut.add(path);
    return false;
  }

  put(path: string, content: Uint8Array): void {
    this.#bytes += content.length;
    this.files.set(path, content);
    if (this.#bytes > PACKAGE_BYTES_MAX) throw refusal('it unpacks to more than 50 MB');
  }

  /** Refuses a name that is both a file and a folder, and a folder with two spellings. */
  #assertNoFolder(folded: string, path: string): void {
    const both = (what: string) => refusal(`${shown(what)} is both a file and a folder`);
    for (let at = folded.lastIndexOf('/'); at > 0; at = folded.lastIndexOf('/', at - 1)) {
      const above = folded.slice(0, at);
      const spelled = path.split('/').slice(0, above.split('/').length).join('/');
      if (this.#seen.has(above)) throw both(spelled);
      const other = this.#folders.get(above);
      if (other !== undefined && other !== spelled) throw refusal(`${shown(other)} and ${shown(spelled)} are one folder on some systems`);
      this.#folders.set(above, spelled);
    }
    if (this.#folders.has(folded)) throw both(path);
  }
}

/** The error of a package that violates the rules. None of it is kept. */
export function refusal(why: string): AppError {
  return new AppError('denied', `The package was refused: ${why}.`, {
    hint: 'Nothing of it was installed or run. Report it to its publisher, or get the skill from another source.',
  });
}

function shown(path: string): string {
  return JSON.stringify(revealed(path).slice(0, 120));
}
