// The program's own log: one JSON line per entry in logs/trayclaw.log, rotated. For debugging only; permanent records are in the event log.
// Never throws: a full disk must not stop the work.

import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolders } from '../core/base/make-folders.ts';
import type { Logger, LogLevel } from '../core/base/logger.ts';

const FILE_BYTES_MAX = 5_000_000;
const ENTRY_LENGTH_MAX = 4_000;
const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 };

export function createFileLogger(home: string, least: LogLevel): Logger {
  const folder = join(home, 'logs');
  const path = join(folder, 'trayclaw.log');
  return {
    log: (level, message, data) => {
      if (ranks[level] < ranks[least]) return;
      try {
        makeFolders({ mkdirSync, statSync }, folder);
        rotate(path);
        const line = JSON.stringify(
          { at: new Date().toISOString(), level, message, ...(data === undefined ? {} : { data }) },
          describeErrors,
        );
        appendFileSync(path, line.slice(0, ENTRY_LENGTH_MAX) + '\n', { mode: 0o600 });
      } catch {
        // The failure cannot be reported anywhere.
      }
    },
  };
}

/** JSON omits errors, because they have no enumerable fields. */
function describeErrors(_key: string, value: unknown): unknown {
  return value instanceof Error ? (value.stack ?? value.message) : value;
}

function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > FILE_BYTES_MAX) renameSync(path, `${path}.1`);
}
