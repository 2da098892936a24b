// The instructions in a session's folder (AGENTS.md, else CLAUDE.md), as material of a pack. Checked once a turn and reread only if the
// file changed. They come from the folder, not from the person: they instruct nothing and allow nothing.

import type { PackPart, PackSourceRequest } from '../../contracts/pack-source.ts';

/** The state of a path: enough to detect a change. Null if it is not a plain file. */
export interface ProjectFiles {
  stamp(path: string): string | null;
  /** Null if it cannot be read. Never more than `bytesMax`. */
  read(path: string, bytesMax: number): string | null;
}

export interface ProjectSourceDeps {
  readonly files: ProjectFiles;
  /** Absolute real path of the folder the session works in; null while it may not be looked into. */
  folderOf(sessionId: string): string | null;
  join(folder: string, name: string): string;
  redact(text: string): string;
}

const names = ['AGENTS.md', 'CLAUDE.md'] as const;
const cut = { charsMax: 8_000, note: 'cut here; the file has more' } as const;
const READ_BYTES_MAX = 64_000;
const FOLDERS_KEPT = 32;

interface Kept {
  readonly stamp: string;
  readonly text: string;
}

export class ProjectSource {
  readonly section = 'project' as const;
  readonly #deps: ProjectSourceDeps;
  /** By path. */
  readonly #kept = new Map<string, Kept>();

  constructor(deps: ProjectSourceDeps) {
    this.#deps = deps;
  }

  select({ session }: Pick<PackSourceRequest, 'session'>): Promise<readonly PackPart[]> {
    const folder = this.#deps.folderOf(session);
    return Promise.resolve(folder === null ? [] : this.#partsOf(folder));
  }

  #partsOf(folder: string): PackPart[] {
    for (const name of names) {
      const path = this.#deps.join(folder, name);
      const stamp = this.#deps.files.stamp(path);
      if (stamp === null) continue;
      const text = this.#textOf(path, stamp);
      if (text === '') return [];
      return [{ id: `project:${path}`, title: name, text, cut, source: path, tainted: [{ kind: 'file', where: path }] }];
    }
    return [];
  }

  #textOf(path: string, stamp: string): string {
    const known = this.#kept.get(path);
    if (known?.stamp === stamp) return known.text;
    const text = this.#deps.redact(this.#deps.files.read(path, READ_BYTES_MAX) ?? '').trim();
    if (this.#kept.size >= FOLDERS_KEPT) this.#kept.clear();
    this.#kept.set(path, { stamp, text });
    return text;
  }
}
