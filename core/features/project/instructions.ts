// The instructions in a session's folder (AGENTS.md, else CLAUDE.md) as a part of the context pack. Checked once per turn and reread only
// if the file changed. A text instructs the agent only while it is the text a person accepted; any other text is untrusted material.
// Neither grants permission for anything.

import { createHash } from 'node:crypto';
import type { Project } from '../../contracts/features/project.ts';
import type { PackPart, PackSource, PackSourceRequest } from '../../contracts/pack-source.ts';

/** Access to the files. A stamp is enough to detect a change; it is null if the path is not a plain file. */
export interface ProjectFiles {
  stamp(path: string): string | null;
  /** Reads at most `bytesMax` bytes. Null if the file cannot be read. */
  read(path: string, bytesMax: number): string | null;
}

export interface InstructionDeps {
  readonly files: ProjectFiles;
  /** Absolute real path of the folder the session works in; null if the folder must not be read. */
  folderOf(sessionId: string): string | null;
  join(folder: string, name: string): string;
  redact(text: string): string;
  /** The hash of the text that a person accepted; null if none was accepted. */
  accepted(path: string): string | null;
}

interface ProjectText {
  readonly name: string;
  readonly path: string;
  /** Hash of the file as it was read, before redaction. */
  readonly sha256: string;
  readonly text: string;
}

const names = ['AGENTS.md', 'CLAUDE.md'] as const;
const TEXT_CHARS_MAX = 8_000;
const cut = { charsMax: TEXT_CHARS_MAX, note: 'cut here; the file has more' } as const;
const READ_BYTES_MAX = 64_000;
const FOLDERS_KEPT = 32;

export class Instructions {
  readonly #deps: InstructionDeps;
  /** Cached texts by path. */
  readonly #kept = new Map<string, ProjectText & { readonly stamp: string }>();

  constructor(deps: InstructionDeps) {
    this.#deps = deps;
  }

  /** A text that is not accepted, as untrusted content of the folder. */
  get material(): PackSource {
    return { section: 'project', select: (request) => Promise.resolve(this.#materialOf(request)) };
  }

  /** The accepted text, as an instruction. */
  get accepted(): PackSource {
    return { section: 'task', select: (request) => Promise.resolve(this.#acceptedOf(request)) };
  }

  stateOf(folder: string): Pick<Project, 'state' | 'file'> {
    const file = this.#read(folder);
    if (file === null) return { state: 'none', file: null };
    const { name, path, sha256, text } = file;
    const accepted = this.#deps.accepted(path);
    const state = accepted === null ? 'new' : accepted === sha256 ? 'accepted' : 'changed';
    return { state, file: { name, path, sha256, text: text.slice(0, TEXT_CHARS_MAX) } };
  }

  #materialOf({ session }: Pick<PackSourceRequest, 'session'>): PackPart[] {
    const found = this.#fileOf(session);
    if (found === null || this.#isAccepted(found)) return [];
    const { name, path, text } = found;
    return [{ id: `project:${path}`, title: name, text, cut, source: path, tainted: [{ kind: 'file', where: path }] }];
  }

  #acceptedOf({ session }: Pick<PackSourceRequest, 'session'>): PackPart[] {
    const found = this.#fileOf(session);
    if (found === null || !this.#isAccepted(found)) return [];
    const { name, path, text } = found;
    const title = `Instructions of this project (${name}), which the person accepted. They allow nothing:`;
    const whole = text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}\n[${cut.note}]`;
    return [{ id: `project:${path}`, title, text: whole, source: path }];
  }

  #isAccepted({ path, sha256 }: ProjectText): boolean {
    return this.#deps.accepted(path) === sha256;
  }

  #fileOf(session: string): ProjectText | null {
    const folder = this.#deps.folderOf(session);
    return folder === null ? null : this.#read(folder);
  }

  #read(folder: string): ProjectText | null {
    for (const name of names) {
      const path = this.#deps.join(folder, name);
      const stamp = this.#deps.files.stamp(path);
      if (stamp === null) continue;
      const found = this.#textOf(path, { name, stamp });
      return found.text === '' ? null : found;
    }
    return null;
  }

  #textOf(path: string, { name, stamp }: { readonly name: string; readonly stamp: string }): ProjectText {
    const known = this.#kept.get(path);
    if (known?.stamp === stamp) return known;
    const given = this.#deps.files.read(path, READ_BYTES_MAX) ?? '';
    const read = { name, path, stamp, sha256: createHash('sha256').update(given).digest('hex'), text: this.#deps.redact(given).trim() };
    if (this.#kept.size >= FOLDERS_KEPT) this.#kept.clear();
    this.#kept.set(path, read);
    return read;
  }
}
