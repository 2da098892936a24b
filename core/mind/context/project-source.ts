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
/** What is read: a secret that the cut below goes through is still recognised. */
const READ_BYTES_MAX = 64_000;
const SHOWN_CHARS_MAX = 8_000;
/** Fewer than real texts have, so that what is shown stays within its room. */
const CHARS_PER_TOKEN = 3;
/** Around the text: its title, its source, whose words it is. */
const FRAME_TOKENS = 120;
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

  select({ session, tokensMax }: Pick<PackSourceRequest, 'session' | 'tokensMax'>): Promise<readonly PackPart[]> {
    const folder = this.#deps.folderOf(session);
    return Promise.resolve(
      folder === null ? [] : this.#partsOf(folder, Math.min(SHOWN_CHARS_MAX, (tokensMax - FRAME_TOKENS) * CHARS_PER_TOKEN)),
    );
  }

  #partsOf(folder: string, charsMax: number): PackPart[] {
    for (const name of names) {
      const path = this.#deps.join(folder, name);
      const stamp = this.#deps.files.stamp(path);
      if (stamp === null) continue;
      const text = this.#textOf(path, stamp);
      if (text === '' || charsMax <= 0) return [];
      return [
        { id: `project:${path}`, title: name, text: shortened(text, charsMax), source: path, tainted: [{ kind: 'file', where: path }] },
      ];
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

function shortened(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text;
  const cut = text.lastIndexOf('\n', charsMax);
  const kept = text.slice(0, cut > charsMax / 2 ? cut : charsMax).trimEnd();
  return `${kept}\n[cut here; the file has more]`;
}
