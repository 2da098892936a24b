// The instructions that lie in the folder a session works in (AGENTS.md, else CLAUDE.md), as material of a pack. Looked at once a turn and
// read again only where the file changed. They are words of the folder, not of the person: they instruct nothing and allow nothing.

import type { PackPart, PackSourceRequest } from '../../contracts/pack-source.ts';

/** What is at a path: enough to tell a change. Null where there is no plain file. */
export interface ProjectFiles {
  stamp(path: string): string | null;
  /** Null where it cannot be read. Never more than `bytesMax`. */
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
