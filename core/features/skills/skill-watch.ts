// Reloads skills when something in their folders changes. If the file system reports no changes, checks every minute. Only watches; decides
// nothing.

import { existsSync, watch, type FSWatcher } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Spine } from '../feature.ts';

export interface SkillWatchDeps extends Pick<Spine, 'logger' | 'later'> {
  readonly roots: readonly { readonly path: string }[];
  /** The folders that contained files of skills when last read. */
  folders(): readonly string[];
  reload(): { readonly added: readonly string[]; readonly changed: readonly string[]; readonly removed: readonly string[] };
}

/** Changes within this time cause one reload. */
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

  /** Schedules the first check soon, but not during the start. */
  start(): void {
    this.#listen();
    this.#wait(SETTLE_MS);
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
    this.#reload();
    // Changes before a new folder is watched are not reported, so reload once more.
    if (this.#listen()) this.#reload();
    this.#wait(LOOK_MS);
  }

  #reload(): void {
    try {
      const { added, changed, removed } = this.#deps.reload();
      if (added.length + changed.length + removed.length > 0)
        // Only numbers: the log is part of a bug report, and the names of a person's skills are not.
        this.#deps.logger.log('info', 'skills were reloaded', { added: added.length, changed: changed.length, removed: removed.length });
    } catch (cause) {
      this.#deps.logger.log('error', 'skills could not be reloaded', { cause: String(cause) });
    }
  }

  /** Watches each folder separately, because not every platform supports recursive watching. Returns whether a watcher was added. */
  #listen(): boolean {
    if (this.#isDisposed) return false;
    const below = this.#deps.folders().map((path): Place => ({ path, onlyName: null }));
    const places = [...this.#deps.roots.map(({ path }) => placeOf(path)), ...below].slice(0, WATCHERS_MAX);
    const wanted = new Map(places.map((place) => [`${place.path}\0${place.onlyName ?? ''}`, place]));
    for (const [key, watcher] of this.#watchers) {
      if (wanted.has(key)) continue;
      watcher.close();
      this.#watchers.delete(key);
    }
    let isMore = false;
    for (const [key, place] of wanted) if (!this.#watchers.has(key)) isMore = this.#watch(key, place) || isMore;
    return isMore;
  }

  #watch(key: string, { path, onlyName }: Place): boolean {
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
      return true;
    } catch {
      // The file system reports no changes; the periodic check finds them.
      return false;
    }
  }
}

interface Place {
  readonly path: string;
  /** Limits events to this name; null for all names. */
  readonly onlyName: string | null;
}

/** Where to watch for a root: the root itself. If it is missing, the nearest existing parent, limited to the next name on the path. */
function placeOf(root: string): Place {
  if (existsSync(root)) return { path: root, onlyName: null };
  let child = root;
  while (!existsSync(dirname(child)) && dirname(child) !== child) child = dirname(child);
  return { path: dirname(child), onlyName: basename(child) };
}
