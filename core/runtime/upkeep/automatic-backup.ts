// Automatic backups: once a day while the program runs, and on close if one is due. Yields often; never fails.

import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import type { Config } from '../../contracts/config.ts';
import { verifyLog, type SessionLog } from '../../store/session/session.ts';
import { createBackup, listBackups, openCopy, pruneBackups } from '../../store/storage/storage.ts';

export interface AutomaticBackupDeps {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly config: Config['backup'];
}

const HOUR_MS = 3_600_000;
/** With fewer events than this there is too little to lose for a backup. */
const EVENTS_MIN = 500;
/** A person waits for the program to close, so only a database that can be copied and checked quickly is backed up then. */
const CLOSING_BYTES_MAX = 32 * 1024 * 1024;
const CLOSING_MS_MAX = 2_000;

export class AutomaticBackup {
  readonly #deps: AutomaticBackupDeps;
  readonly #closing = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(deps: AutomaticBackupDeps) {
    this.#deps = deps;
  }

  get isDue(): boolean {
    const { log, clock, config } = this.#deps;
    if (!config.automatic || log.lastSeq < EVENTS_MIN) return false;
    const [newest] = listBackups(log.storage.home, clock.nowMs());
    // One from before the clock was set back does not count, or there would be none until that time comes again.
    if (newest === undefined || newest.createdAtMs > clock.nowMs()) return true;
    const [last] = log.reads.after(log.lastSeq - 1, 1);
    const isChanged = last === undefined || last.atMs > newest.createdAtMs;
    return isChanged && clock.nowMs() - newest.createdAtMs >= config.everyHours * HOUR_MS;
  }

  /** Meant for idle time. Resolves when the backup is finished; a second call waits for the first. */
  run(): Promise<void> {
    this.#running = this.#running.then(() => this.#attempt(this.#closing.signal));
    return this.#running;
  }

  /** Aborts a running backup; makes a due one if that takes only a moment. */
  async dispose(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    const bytes = statSync(join(this.#deps.log.storage.home, 'trayclaw.db'), { throwIfNoEntry: false })?.size ?? 0;
    if (bytes <= CLOSING_BYTES_MAX) await this.#attempt(AbortSignal.timeout(CLOSING_MS_MAX));
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const { log, clock, config, logger } = this.#deps;
    try {
      if (signal.aborted || !this.isDue) return;
      const { storage } = log;
      const { file } = await createBackup(storage.db, storage.home, { nowMs: clock.nowMs(), automatic: signal });
      const detail = await faultOf(file, signal);
      if (detail !== null) {
        // A copy of a damaged database must not replace a sound one.
        rmSync(file, { force: true });
        if (!signal.aborted) logger.log('error', 'The automatic backup did not pass its check; run trayclaw audit verify.', { detail });
        return;
      }
      pruneBackups(storage.home, config.keep, { origin: 'automatic', nowMs: clock.nowMs() });
    } catch (cause) {
      if (!signal.aborted) logger.log('warn', 'The automatic backup failed.', { cause: String(cause) });
    }
  }
}

/** Verifies the log in the copy, event by event; null if it is intact. */
async function faultOf(file: string, signal: AbortSignal): Promise<string | null> {
  const copy = openCopy(file);
  try {
    const report = await verifyLog(copy, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
    });
    return report.ok ? null : (report.firstBad?.reason ?? 'it is not whole');
  } catch (cause) {
    return String(cause);
  } finally {
    copy.close();
  }
}
