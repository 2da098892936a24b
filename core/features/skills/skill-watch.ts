// Reloads skills when something in their folders changes. If the file system reports no changes, it checks every minute. Watches; decides
// nothing.

import { existsSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Later } from '../../base/later.ts';
import type { Logger } from '../../base/logger.ts';
import { findSkills, listTree } from './skill-folders.ts';

export interface SkillWatchDeps {
  readonly roots: readonly { readonly path: string }[];
  readonly logger: Logger;
  readonly later: Later;
  reload(): { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] };
}

/** Changes within this time are one. */
const SETTLE_MS = 250;
const LOOK_MS = 60_000;
const WATCHERS_MAX = 500;

export class SkillWatch {
  readonly #deps: SkillWatchDeps;
  readonly #watchers = new Map<string, FSWatcher>();
  #callOff: (() => void) | null = null;
  #isDisposed = false;

  constructor(deps: SkillWatchDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#listen();
    this.#wait(LOOK_MS);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#callOff?.();
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #wait(delayMs: number): void {
    this.#callOff?.();
    if (!this.#isDisposed) this.#callOff = this.#deps.later(delayMs, () => this.#look());
  }

  #look(): void {
    // Before the reading too: changes during it are reported afterwards.
    this.#listen();
    try {
      const { added, changed, removed } = this.#deps.reload();
      if (added.length + changed.length + removed.length > 0)
        this.#deps.logger.log('info', 'skills were reloaded', { added, changed, removed });
    } catch (cause) {
      this.#deps.logger.log('error', 'skills could not be reloaded', { cause: String(cause) });
    }
    this.#listen();
    this.#wait(LOOK_MS);
  }

  /** Watches each folder separately: not every platform watches recursively. */
  #listen(): void {
    if (this.#isDisposed) return;
    const places = this.#deps.roots.flatMap(({ path }) => placesOf(path)).slice(0, WATCHERS_MAX);
    const wanted = new Map(places.map((place) => [`${place.path}\0${place.onlyName ?? ''}`, place]));
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
    for (const [key, place] of wanted) if (!this.#watchers.has(key)) this.#watch(key, place);
  }

  #watch(key: string, { path, onlyName }: Place): void {
    try {
      const watcher = watch(path, { persistent: false });
      const forget = (): void => {
        watcher.close();
        if (this.#watchers.get(key) === watcher) this.#watchers.delete(key);
      };
      watcher.on('change', (kind, name) => {
        if (onlyName !== null && name !== null && String(name) !== onlyName) return;
        // After a rename or removal, the watcher may follow an entry that is no longer at this path.
        if (kind === 'rename') forget();
        this.#wait(SETTLE_MS);
      });
      watcher.on('error', forget);
      this.#watchers.set(key, watcher);
    } catch {
      // The file system reports no changes: the regular check finds them.
    }
  }
}

interface Place {
  readonly path: string;
  /** Limits events to this name; null for all. */
  readonly onlyName: string | null;
}

/**
 * The folders to watch for a root: it and its skills; for a missing one the nearest existing parent, only for the next name on the path.
 */
function placesOf(root: string): Place[] {
  if (existsSync(root))
    return [root, ...findSkills(root).flatMap(({ folder }) => foldersOf(folder))].map((path) => ({ path, onlyName: null }));
  let child = root;
  while (!existsSync(dirname(child)) && dirname(child) !== child) child = dirname(child);
  return [{ path: dirname(child), onlyName: basename(child) }];
}

function foldersOf(folder: string): string[] {
  const below = (listTree(folder) ?? []).map(({ path }) => path.split('/').slice(0, -1).join('/'));
  return [...new Set(['', ...below])].map((path) => (path === '' ? folder : `${folder}/${path}`));
}
