// Finds copies that background commands make after their call has returned. Searches while such a command runs and once more after it ends,
// so that files that may contain untrusted content are marked. Owns no marks: findings are recorded in the log.

import { lstat } from 'node:fs/promises';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface Copies {
  /** Files, and folders that count as a whole, which end with a separator. */
  readonly paths: readonly string[];
  /** The opened folders, which contain the marked files. */
  readonly folders: readonly string[];
}

/** `fetched`: the command may have written what it fetched into any file. */
export type FindCopies = (fetched: boolean) => Promise<Copies>;

export interface LateCopiesDeps {
  readonly logger: Logger;
  readonly log: Pick<SessionLog, 'append'>;
  /** Returns a function that finds copies made since `sinceMs`. */
  readonly taint: { watch(facts: CallFacts, sinceMs: number): FindCopies | null };
}

interface Followed {
  readonly callId: string;
  readonly paths: () => Promise<readonly string[]>;
}

export class LateCopies {
  readonly #deps: LateCopiesDeps;
  readonly #running = new Set<Followed>();
  /** By path, the time of the last change already accounted for: recorded here, or made by a call that was judged itself. */
  readonly #known = new Map<string, number>();
  #looking: Promise<void> = Promise.resolve();

  constructor(deps: LateCopiesDeps) {
    this.#deps = deps;
  }

  /** Called before a command starts. Call the returned function if the command continues in the background, until `ended` settles. */
  begin(facts: CallFacts): ((callId: string, ended: Promise<unknown>, fetched: boolean) => void) | null {
    if (facts.command === null || facts.class === 'read') return null;
    const find = this.#deps.taint.watch(facts, systemClock.nowMs());
    return (callId, ended, fetched) => {
      const paths = async (): Promise<readonly string[]> => (await find?.(fetched))?.paths ?? [];
      this.#follow({ callId, paths }, ended);
    };
  }

  /** Records the copies made so far. Called before a call reads or changes files. Returns null if no such command runs. */
  catchUp(): Promise<void> | null {
    return this.#running.size === 0 ? null : this.#look([...this.#running]);
  }

  /** Excludes a call's own writes from the copies of running commands. */
  async account(paths: readonly string[]): Promise<void> {
    if (this.#running.size === 0) return;
    for (const path of paths) this.#known.set(path, await changeTimeOf(path));
  }

  /** Called after the commands have ended. Resolves when their copies are recorded. */
  async dispose(): Promise<void> {
    await this.catchUp();
    this.#running.clear();
  }

  #follow(followed: Followed, ended: Promise<unknown>): void {
    this.#running.add(followed);
    const finish = (): void => {
      void this.#look([followed]).finally(() => {
        this.#running.delete(followed);
        if (this.#running.size === 0) this.#known.clear();
      });
    };
    ended.then(finish, finish);
  }

  /** Checks run one after the other: a check that began before a file was copied may miss it. */
  #look(all: readonly Followed[]): Promise<void> {
    this.#looking = this.#looking.then(async () => {
      for (const followed of all) await this.#lookAt(followed);
    });
    return this.#looking;
  }

  async #lookAt({ callId, paths }: Followed): Promise<void> {
    try {
      const fresh: string[] = [];
      for (const path of await paths()) if (await this.#isNew(path)) fresh.push(path);
      if (fresh.length === 0) return;
      // Recorded in the system session: each session that reads such a file then learns of its mark.
      this.#deps.log.append(systemSessionId, [{ type: 'taint.marked', body: { callId, sources: [], paths: fresh } }]);
    } catch (cause) {
      this.#deps.logger.log('error', 'copies of a background command could not be marked', { callId, cause: String(cause) });
    }
  }

  async #isNew(path: string): Promise<boolean> {
    const changedMs = await changeTimeOf(path);
    const known = this.#known.get(path);
    if (known !== undefined && changedMs <= known) return false;
    this.#known.set(path, changedMs);
    return true;
  }
}

/** A folder that counts as a whole, and a missing file, are accounted for once. */
async function changeTimeOf(path: string): Promise<number> {
  if (/[/\\]$/.test(path)) return Number.POSITIVE_INFINITY;
  const stats = await lstat(path).catch(() => null);
  return stats?.ctimeMs ?? 0;
}
