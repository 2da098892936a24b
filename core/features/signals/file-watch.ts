// Watched files and folders: a change becomes one signal once it has settled. The system's watcher only hints at changes, and the files are
// checked at least once a minute, so that missed hints only cause a delay. Links are not followed; a missing folder is awaited.

import { watch, type FSWatcher } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isInside } from '../../base/inside-folder.ts';
import { AppError } from '../../contracts/errors.ts';
import { ownSessions } from '../../contracts/system-session.ts';
import { signalOrigin } from './signal-words.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { Spine } from '../feature.ts';
import type { SignalTarget } from './hook-gate.ts';
import type { SignalHub } from './signal-hub.ts';

export interface FileWatchDeps extends Pick<Spine, 'clock' | 'logger' | 'later'> {
  readonly hub: Pick<SignalHub, 'receive'>;
  /** Relative paths are resolved against the workspace. */
  readonly workspace: string;
  /** TrayClaw's own data. It is never watched, because the program would wake itself. */
  readonly home: string;
  readonly watch: readonly (SignalTarget & { readonly path: string; readonly name?: string | undefined })[];
  boundsOf(target: Pick<SignalTarget, 'tools' | 'perTurnUsd'>): TurnBounds;
}

/** Changes within this time become one signal. */
const SETTLE_MS = 500;
/** The interval of checks without a hint, also for missing folders. */
const LOOK_MS = 60_000;
/** The maximum number of files checked in a folder. */
const ENTRIES_MAX = 2_000;
/** The maximum number of files that a signal names. */
const NAMED_MAX = 20;

type Seen = ReadonlyMap<string, string>;

export class FileWatch {
  readonly #places: WatchedPlace[];

  constructor(deps: FileWatchDeps) {
    const own = (path: string): boolean => isInside(path, deps.home) && !isInside(path, deps.workspace);
    this.#places = deps.watch.flatMap((target) => {
      const path = resolve(deps.workspace, target.path);
      if (!own(path)) return [new WatchedPlace(deps, target, path)];
      deps.logger.log('warn', "TrayClaw's own data is not watched", { path });
      return [];
    });
  }

  start(): void {
    for (const place of this.#places) place.start();
  }

  dispose(): void {
    for (const place of this.#places) place.dispose();
  }
}

class WatchedPlace {
  readonly #deps: FileWatchDeps;
  readonly #target: FileWatchDeps['watch'][number];
  readonly #path: string;
  readonly #name: string;
  #watcher: FSWatcher | null = null;
  #callOff: (() => void) | null = null;
  /** The state at the last check. Null before the first check, which only records the state. */
  #seen: Seen | null = null;
  #isLooking = false;
  #isDisposed = false;

  constructor(deps: FileWatchDeps, target: FileWatchDeps['watch'][number], path: string) {
    this.#deps = deps;
    this.#target = target;
    this.#path = path;
    this.#name = target.name ?? basename(this.#path);
  }

  start(): void {
    this.#wait(0);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#callOff?.();
    this.#watcher?.close();
    this.#watcher = null;
  }

  #wait(delayMs: number): void {
    this.#callOff?.();
    if (!this.#isDisposed) this.#callOff = this.#deps.later(delayMs, () => void this.#look());
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return this.#wait(SETTLE_MS);
    this.#isLooking = true;
    try {
      const seen = await this.#read();
      if (this.#isDisposed) return;
      const before = this.#seen;
      this.#seen = seen;
      if (before !== null) this.#tell(changesOf(before, seen));
    } catch (cause) {
      this.#deps.logger.log('warn', 'a watched place could not be checked', { path: this.#path, cause: String(cause) });
    } finally {
      this.#isLooking = false;
      this.#listen();
      this.#wait(LOOK_MS);
    }
  }

  /** Maps file names to a string that changes with the file. Empty if the path does not exist. */
  async #read(): Promise<Seen> {
    const seen = new Map<string, string>();
    const own = await lstat(this.#path).catch(() => null);
    if (own === null || own.isSymbolicLink()) return seen;
    if (!own.isDirectory()) return seen.set('', stateOf(own));
    const folder = await opendir(this.#path);
    for await (const entry of folder) {
      if (seen.size >= ENTRIES_MAX) break;
      if (!entry.isFile()) continue;
      const stat = await lstat(join(this.#path, entry.name)).catch(() => null);
      if (stat !== null) seen.set(entry.name, stateOf(stat));
    }
    return seen;
  }

  /** Starts the system's watcher. It ends when its target disappears, and some file systems have none; the regular check covers both. */
  #listen(): void {
    if (this.#watcher !== null || this.#isDisposed) return;
    try {
      const watcher = watch(this.#path, { persistent: false });
      const forget = (): void => {
        watcher.close();
        if (this.#watcher === watcher) this.#watcher = null;
      };
      watcher.on('change', (kind) => {
        // After a rename or removal, the watcher may follow an entry that is no longer at this path.
        if (kind === 'rename') forget();
        this.#wait(SETTLE_MS);
      });
      watcher.on('error', forget);
      this.#watcher = watcher;
    } catch (cause) {
      this.#deps.logger.log('debug', 'a place cannot be watched and is checked each minute', { path: this.#path, cause: String(cause) });
    }
  }

  #tell(changes: readonly string[]): void {
    if (changes.length === 0) return;
    const { attention, agent = 'main', session = ownSessions.signal + this.#name } = this.#target;
    const named = changes.slice(0, NAMED_MAX).map((change) => `- ${change}`);
    const more = changes.length > NAMED_MAX ? [`- and ${changes.length - NAMED_MAX} more`] : [];
    try {
      this.#deps.hub.receive({
        source: 'file',
        name: this.#name,
        dedupeKey: `${this.#deps.clock.nowMs()} ${changes.length}`,
        text: [`Changed in ${this.#path}:`, ...named, ...more].join('\n'),
        data: null,
        attention,
        session: { sessionId: session, title: `Signals of ${this.#name}` },
        agentId: agent,
        untrusted: [signalOrigin({ source: 'file', name: this.#name })],
        bounds: this.#deps.boundsOf(this.#target),
      });
    } catch (cause) {
      const isRefused = cause instanceof AppError;
      this.#deps.logger.log(isRefused ? 'warn' : 'error', 'a change of a watched place was not taken in', {
        path: this.#path,
        cause: String(cause),
      });
    }
  }
}

function stateOf(stat: { readonly mtimeMs: number; readonly size: number; readonly ino: number }): string {
  return `${stat.mtimeMs} ${stat.size} ${stat.ino}`;
}

function changesOf(before: Seen, now: Seen): string[] {
  const shown = (name: string): string => (name === '' ? 'the file' : JSON.stringify(name));
  const changed = [...now].flatMap(([name, state]) => {
    const was = before.get(name);
    return was === state ? [] : [`${shown(name)} ${was === undefined ? 'is new' : 'was changed'}`];
  });
  return [...changed, ...[...before.keys()].filter((name) => !now.has(name)).map((name) => `${shown(name)} was removed`)];
}
