// Copies that background commands make after their call has returned: searched for while such a command runs and once more when it has
// ended, so that a file that may hold untrusted content is marked. Owns no mark: findings are recorded in the log.

import { lstat } from 'node:fs/promises';
import { systemClock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { systemSessionId } from '../../contracts/events.ts';
import type { CallFacts } from '../../contracts/tools.ts';
import type { SessionLog } from '../../store/session/session.ts';

export interface Copies {
  /** Files, and folders that count as a whole, which end with a separator. */
  readonly paths: readonly string[];
  /** The opened folders, which hold the marked files. */
  readonly folders: readonly string[];
}

export interface LateCopiesDeps {
  readonly logger: Logger;
  readonly log: Pick<SessionLog, 'append'>;
  /** Tells how to check for copies made since then; null while no file is marked. */
  readonly taint: { watch(facts: CallFacts, sinceMs: number): (() => Promise<Copies>) | null };
}

interface Followed {
  readonly callId: string;
  readonly paths: () => Promise<readonly string[]>;
}

export class LateCopies {
  readonly #deps: LateCopiesDeps;
  readonly #running = new Set<Followed>();
  /** Time of the newest change of a file that is accounted for: recorded here, or made by a call that was judged itself. */
  readonly #known = new Map<string, number>();
  #looking: Promise<void> = Promise.resolve();

  constructor(deps: LateCopiesDeps) {
    this.#deps = deps;
  }

  /** Called before a command starts. The returned function is called if it continues in the background, until `ended` settles. */
  begin(facts: CallFacts): ((callId: string, ended: Promise<unknown>) => void) | null {
    if (facts.command === null || facts.class === 'read') return null;
    const sinceMs = systemClock.nowMs();
    const atStart = this.#deps.taint.watch(facts, sinceMs);
    return (callId, ended) => {
      // A file may be marked only while the command runs.
      const paths = async (): Promise<readonly string[]> => (await (atStart ?? this.#deps.taint.watch(facts, sinceMs))?.())?.paths ?? [];
      this.#follow({ callId, paths }, ended);
    };
  }

  /** Before a call reads or changes files: records the copies so far. Null if no such command runs. */
  catchUp(): Promise<void> | null {
    return this.#running.size === 0 ? null : this.#look([...this.#running]);
  }

  /** A call's own writes are not copies by the command. */
  async account(paths: readonly string[]): Promise<void> {
    if (this.#running.size === 0) return;
    for (const path of paths) this.#known.set(path, await changeTimeOf(path));
  }

  /** The commands have ended: resolves when their copies are recorded. */
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

  /** One after the other: a check that began before a file was copied may miss it. */
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
      // No session's own: each that reads such a file learns of it.
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

/** A folder that counts as a whole and a missing file are accounted for once. */
async function changeTimeOf(path: string): Promise<number> {
  if (/[/\\]$/.test(path)) return Number.POSITIVE_INFINITY;
  const stats = await lstat(path).catch(() => null);
  return stats?.ctimeMs ?? 0;
}
