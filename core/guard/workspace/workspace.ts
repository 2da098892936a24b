// Folders that sessions may use as their workspace: their state, the folders a person trusted, and the context of a session's tool calls.
// Trust is a grant bound to the folder's real path and identity. Asks nothing and writes nothing.

import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { AppError, noPath } from '../../contracts/errors.ts';
import type { Grant } from '../../contracts/policy.ts';
import type { CallFacts, FactContext } from '../../contracts/tools.ts';
import type { WorkspaceLook, WorkspaceState } from '../../contracts/workspace-ops.ts';

export { openWorkspace, realOf } from './real-of.ts';

export interface WorkspaceDeps {
  /** The configured workspace, the data folder and additional folders. */
  readonly facts: FactContext;
  /** Active grants of the kind `workspace`. */
  trusted(): readonly Grant[];
  /** Returns why a path is never covered by a grant, or null. */
  protectionOf(real: string): string | null;
  /** Real paths. */
  readonly userHome: string;
  readonly temporaryFolder: string;
}

/** The content of the approval that opens a folder. */
export interface Opening {
  readonly opens: NonNullable<CallFacts['opens']>;
  readonly risks: readonly string[];
}

/** Folders shared by many programs. A project is a folder inside one of them. */
const shared: ReadonlySet<string> = new Set(
  '/var /private /private/var /home /Users /Volumes /mnt /media /run/media /opt /srv /tmp /private/tmp /var/tmp'.split(' '),
);

export class Workspaces {
  readonly #deps: WorkspaceDeps;

  constructor(deps: WorkspaceDeps) {
    this.#deps = deps;
  }

  get configured(): string {
    return this.#deps.facts.workspace;
  }

  /** Describes a folder. Fails with `invalid_params` if the path is not absolute. */
  look(given: string): WorkspaceLook {
    if (!isAbsolute(given) || given.includes('\0')) throw new AppError('invalid_params', `"${given}" is not an absolute path of a folder.`);
    const found = realFolder(given);
    if (found === null) return lookOf(given, 'missing', `There is no folder ${given}.`);
    const { facts } = this.#deps;
    if (isInside(found.path, facts.workspace)) return lookOf(found.path, 'configured', '');
    if (isInside(found.path, facts.home)) return lookOf(found.path, 'data', `${found.path} holds TrayClaw's own data.`);
    const refusal = this.#refusal(found.path);
    if (refusal !== null) return lookOf(found.path, 'refused', refusal);
    const above = this.#deps.trusted().filter((grant) => isInside(found.path, folderOf(grant)));
    const holding = above.find(isStillThere);
    if (holding !== undefined) return { ...lookOf(found.path, 'trusted', ''), trustedBy: folderOf(holding) };
    const risks = risksOf(found);
    if (above.length > 0) return { ...lookOf(found.path, 'replaced', `Another folder was at ${found.path} when it was trusted.`), risks };
    return { ...lookOf(found.path, 'new', 'TrayClaw has not worked in this folder before.'), risks };
  }

  /** Returns the real path of a new session's folder, or null for the configured workspace. Fails with `invalid_params` or `not_found`. */
  choose(given: string): string | null {
    const { path, state, reason } = this.look(given);
    if (state === 'configured') return null;
    if (state === 'missing') throw noPath('folder', path);
    if (state === 'refused' || state === 'data') throw cannotBe(path, reason, this.#instead(path));
    return path;
  }

  /** Returns the folder and its current identity, for the approval and the grant. Fails with `denied` if it cannot be a workspace. */
  opening(given: string): Opening {
    const found = realFolder(given);
    if (found === null) throw new AppError('denied', `There is no folder ${given} any more.`);
    if (found.path !== given) throw new AppError('denied', `${given} now leads to ${found.path}.`);
    const refusal = isInside(found.path, this.#deps.facts.home) ? "It holds TrayClaw's own data." : this.#refusal(found.path);
    if (refusal !== null) throw new AppError('denied', refusal);
    return { opens: { path: found.path, identity: found.identity }, risks: risksOf(found) };
  }

  /** Returns whether a person trusts the folder, or one above it, in its current state. */
  holds(workspace: string): boolean {
    return this.look(workspace).state === 'trusted' && realFolder(workspace)?.path === workspace;
  }

  /**
   * Returns the context in which calls in this folder are judged and run; null is the configured workspace. Fails with `denied` if the
   * folder is not trusted.
   */
  contextOf(workspace: string | null): FactContext {
    const { facts } = this.#deps;
    if (workspace === null) return facts;
    if (!this.holds(workspace)) throw notTrusted(workspace);
    return { ...facts, workspace, configuredWorkspace: facts.workspace };
  }

  /** Returns an opened folder at, above or below the path, in which calls may write. Null if there is none. */
  openedAround(real: string): string | null {
    const { workspace, extraFolders } = this.#deps.facts;
    const opened = [workspace, ...extraFolders, ...this.#deps.trusted().map(folderOf)];
    return opened.find((open) => isInside(real, open) || isInside(open, real)) ?? null;
  }

  stateOf(grant: Grant): WorkspaceState {
    const { state } = this.look(folderOf(grant));
    return state === 'trusted' && !isStillThere(grant) ? 'replaced' : state;
  }

  /** Says which folder can be a workspace. Everything below the data folder or a protected folder is refused as well. */
  #instead(refused: string): string {
    const { facts } = this.#deps;
    if (isInside(refused, facts.home)) return `Choose a folder outside ${facts.home}, or the configured workspace, ${facts.workspace}.`;
    if (this.#deps.protectionOf(refused) !== null) return 'Choose a folder of one project somewhere else.';
    return 'Choose a folder inside it, of one project.';
  }

  #refusal(path: string): string | null {
    const { facts, userHome, temporaryFolder } = this.#deps;
    if (dirname(path) === path) return 'A whole disk cannot be a workspace.';
    if (path === userHome) return 'The whole home folder cannot be a workspace.';
    if (isInside(facts.home, path)) return `${path} holds TrayClaw's own data folder.`;
    if (shared.has(path) || isInside(userHome, path) || isInside(temporaryFolder, path)) return `${path} is shared by many programs.`;
    const protection = this.#deps.protectionOf(path);
    return protection === null ? null : `${path} is protected: ${protection}.`;
  }
}

export function folderOf({ match }: Pick<Grant, 'match'>): string {
  return match.kind === 'workspace' ? match.folder : '';
}

export function notTrusted(workspace: string): AppError {
  return new AppError('denied', `TrayClaw may not work in ${workspace}: the user has not trusted this folder, or it was replaced.`, {
    hint: `Trust it with: trayclaw folders trust ${JSON.stringify(workspace)}`,
  });
}

function cannotBe(path: string, reason: string, hint: string): AppError {
  return new AppError('invalid_params', `${path} cannot be a workspace. ${reason}`, { hint });
}

interface FoundFolder {
  readonly path: string;
  readonly identity: string;
  readonly isOpenToOthers: boolean;
}

/** The identity is device, inode and birth time: the inode of a deleted folder may be reused by the next one. */
function realFolder(given: string): FoundFolder | null {
  try {
    const path = realpathSync.native(given);
    const facts = statSync(path, { bigint: true });
    if (!facts.isDirectory()) return null;
    const identity = `${facts.dev}:${facts.ino}:${facts.birthtimeNs}`;
    return { path, identity, isOpenToOthers: process.platform !== 'win32' && (facts.mode & 0o002n) !== 0n };
  } catch {
    // A session cannot use a folder that is missing or unreadable.
    return null;
  }
}

function isStillThere({ match }: Grant): boolean {
  if (match.kind !== 'workspace') return false;
  const now = realFolder(match.folder);
  return now !== null && now.path === match.folder && now.identity === match.identity;
}

function risksOf({ isOpenToOthers }: FoundFolder): string[] {
  const others = 'Other users of this computer can write in this folder.';
  return [...(isOpenToOthers ? [others] : []), ...workspaceRisks];
}

/** The consequences of trusting a folder, shown in the approval. */
export const workspaceRisks: readonly string[] = [
  'TrayClaw then reads everything in this folder and below without asking, and what it reads goes to the model you chose.',
  'Changes and commands still follow your rules. This is remembered until you take it back or the folder is replaced.',
];

function lookOf(path: string, state: WorkspaceState, reason: string): WorkspaceLook {
  return { path, state, reason, risks: [], trustedBy: null };
}
