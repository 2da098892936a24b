// Checks of the stored data: the database, its hash chain, its indexes, artifacts, backups, and leftovers of an interrupted run.

import { counted } from '../../base/counted.ts';
import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as giveWay } from 'node:timers/promises';
import { describeGap, gapAdvice } from '../../contracts/log-gap.ts';
import { auditArtifacts, setAsideArtifacts, type DamagedArtifact } from '../../store/artifact/artifact.ts';
import { AppError } from '../../contracts/errors.ts';
import { harmless, unwell, well, type Finding, type HealthSource, type Plan } from '../../contracts/health.ts';
import { acceptGaps, openGaps, searchFault, verifyLog, verifyTail } from '../../store/session/session.ts';
import { namesIn } from '../../store/home/home.ts';
import { createBackup, listBackups, listReplaced } from '../../store/storage/storage.ts';
import type { Spine } from '../feature.ts';
import { keptLog, planRestore, rebuildSearch } from './ways-back.ts';

type Stored = Pick<Spine, 'log' | 'home' | 'clock'>;

const TAIL_EVENTS = 2_000;
const HASHED_ARTIFACTS = 50;
const WAL_BYTES_MAX = 64 * 1024 * 1024;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const BACKUP_DAYS_MAX = 30;
/** With fewer events, a missing backup is not a problem. */
const BACKUP_EVENTS_MIN = 5_000;
const restoreHint = 'Restore a backup: trayclaw backup list, then trayclaw backup restore FILE';
const leftoverPlaces: readonly (readonly [folder: string, name: RegExp])[] = [
  ['.', /^(?:trayclaw\.db\.restoring|config\.yaml\.\d+\.part|instance\.json\.\d+\.tmp)$/],
  ['backups', /\.part(?:-wal|-shm|-journal)?$/],
  [join('artifacts', 'tmp'), /./],
];

export function storeChecks(spine: Stored): HealthSource {
  return {
    check: async (full) => [
      checkStorage(spine, full),
      await checkChain(spine, full),
      checkEnd(spine),
      checkEvents(spine, full),
      checkSearch(spine, full),
      await checkArtifacts(spine, full),
      checkBackups(spine),
      checkWal(spine),
      checkLeftovers(spine),
    ],
    recoveries: [
      {
        kind: 'restore-backup',
        title: 'Restore a backup',
        when: 'The database is damaged, or its chain is broken.',
        target: 'the file; default: the newest',
        plan: (target) => planRestore(spine, target),
      },
      {
        kind: 'quarantine-artifacts',
        title: 'Drop damaged artifacts',
        when: 'Artifact files are missing or were changed, and there is no copy of them.',
        target: null,
        plan: async () => {
          const { damaged } = await lookAtArtifacts(spine, true);
          if (damaged.length === 0) throw new AppError('conflict', 'Every artifact is there and whole.');
          return quarantine(spine, damaged);
        },
      },
    ],
  };
}

function checkStorage({ log }: Stored, full: boolean): Finding {
  const { db } = log.storage;
  const lines = log.storage.integrity(full);
  const ok = lines.length === 1 && lines[0] === 'ok';
  const detail = lines.join('; ');
  if (ok) return well('storage', `The database is sound; ${counted(log.lastSeq, 'event')}.`);
  // An index can be rebuilt from its table.
  const isIndexOnly = lines.length > 0 && lines.every((line) => /\bindex\b/.test(line) && !/database disk image/.test(line));
  if (!isIndexOnly) return unwell('storage', detail, restoreHint);
  const reindex = harmless(['Rebuilds the database indexes from its tables.'], () => {
    db.exec('REINDEX');
    return ['Rebuilt the database indexes.'];
  });
  return unwell('storage', detail, 'trayclaw doctor --full --fix', reindex);
}

async function checkChain({ log }: Stored, full: boolean): Promise<Finding> {
  const { db } = log.storage;
  const report = full ? await verifyLog(db, giveWay) : verifyTail(db, TAIL_EVENTS);
  const what = full ? `all ${counted(report.events, 'event')}` : `the newest ${counted(report.events, 'event')}`;
  if (report.firstBad === undefined) return well('chain', `The chain of ${what} is whole.`);
  const { seq, sessionId, sessionSeq, reason } = report.firstBad;
  return unwell('chain', `Event ${seq} (${sessionId} #${sessionSeq}): ${reason}.`, restoreHint);
}

/** Reports the gaps found at start until a person accepts them. */
function checkEnd({ log }: Stored): Finding {
  const gaps = openGaps(log.reads);
  if (gaps.length === 0) return well('log-end', 'The log ends where the head file says.');
  return unwell('log-end', gaps.map(({ body }) => describeGap(body)).join(' '), gapAdvice, {
    harmless: false,
    will: [
      'Continues with the log as it is. What is missing stays missing, and a panic stop or a revoked grant may be among it.',
      'To get it back instead, stop TrayClaw and restore a backup.',
    ],
    run: (by) => [`Accepted ${counted(acceptGaps(log, by), 'gap')} in the log.`],
  });
}

/** Reads the events, since reading detects and records events that cannot be read. */
function checkEvents({ log }: Stored, full: boolean): Finding {
  let from = full ? 0 : Math.max(0, log.lastSeq - TAIL_EVENTS);
  for (;;) {
    const events = log.reads.after(from, TAIL_EVENTS);
    from = events.at(-1)?.seq ?? from;
    if (events.length < TAIL_EVENTS) break;
  }
  const rows = log.reads.quarantined();
  if (rows.length === 0) return well('events', 'Every event met so far could be read.');
  const detail = `${counted(rows.length, 'event')} cannot be read, the first is ${rows[0]?.seq}: ${rows[0]?.reason}.`;
  return unwell('events', detail, 'Run trayclaw audit verify, then restore a backup.');
}

function checkSearch({ log }: Stored, full: boolean): Finding {
  const fault = searchFault(log.storage.db, full);
  if (fault === null) return well('search', 'The search index agrees with the log.');
  const rebuild = harmless(['Empties the search indexes and fills them again from the log.'], () => {
    rebuildSearch(log);
    return ['Rebuilt the search indexes from the log.'];
  });
  return unwell('search', fault, 'trayclaw doctor --fix', rebuild);
}

async function checkArtifacts(spine: Stored, full: boolean): Promise<Finding> {
  const { damaged, looked, hashed } = await lookAtArtifacts(spine, full);
  if (looked === 0) return well('artifacts', 'There are no artifacts.');
  if (damaged.length === 0) return well('artifacts', `${counted(looked, 'artifact')} there, ${hashed} of them compared with their hash.`);
  const missing = damaged.filter(({ state }) => state === 'missing').length;
  const detail = `${counted(missing, 'artifact is missing', 'artifacts are missing')}, ${counted(damaged.length - missing, 'was changed', 'were changed')} behind TrayClaw's back.`;
  const fix = 'Put the files back from a copy of the folder, or drop them: trayclaw recover quarantine-artifacts';
  return unwell('artifacts', detail, fix, quarantine(spine, damaged));
}

function lookAtArtifacts({ log, home }: Stored, full: boolean) {
  return auditArtifacts(log.storage.db, join(home, 'artifacts'), full ? Number.MAX_SAFE_INTEGER : HASHED_ARTIFACTS);
}

function quarantine({ log, home }: Stored, damaged: readonly DamagedArtifact[]): Plan {
  const what = counted(damaged.length, 'artifact');
  return {
    harmless: false,
    will: [
      `Moves what is left of ${what} to artifacts-aside in the data folder.`,
      'Drops their names: opening one then says that it is missing. What conversations say about them stays.',
    ],
    lost: [`${what} can no longer be opened, nor an undo that needs one be done.`],
    keeps: ['Every other artifact.', keptLog],
    run: () => {
      const moved = setAsideArtifacts(log.storage.db, join(home, 'artifacts'), damaged, join(home, 'artifacts-aside'));
      return [`Gave up ${what}; ${counted(moved, 'changed file lies', 'changed files lie')} in artifacts-aside.`];
    },
  };
}

function checkBackups({ log, home, clock }: Stored): Finding {
  const newest = listBackups(home, clock.nowMs())[0];
  const days = newest === undefined ? null : Math.floor((clock.nowMs() - newest.createdAtMs) / DAY_MS);
  if (days === null && log.lastSeq < BACKUP_EVENTS_MIN)
    return well('backups', `No backup yet, and not much to lose.${describeReplaced(home)}`);
  if (days !== null && days <= BACKUP_DAYS_MAX)
    return well('backups', `The newest backup is ${days < 1 ? 'of today' : `${counted(days, 'day')} old`}.${describeReplaced(home)}`);
  const detail =
    days === null ? `There is no backup of ${counted(log.lastSeq, 'event')}.` : `The newest backup is ${counted(days, 'day')} old.`;
  const make = harmless(['Makes a backup of the database.'], async () => [
    `Made the backup ${(await createBackup(log.storage.db, home, { nowMs: clock.nowMs() })).file}.`,
  ]);
  return unwell('backups', detail, 'trayclaw backup create', make);
}

function describeReplaced(home: string): string {
  const { files, sizeBytes } = listReplaced(home);
  if (files.length === 0) return '';
  return ` ${counted(files.length, 'database file')} that a restore replaced ${files.length === 1 ? 'uses' : 'use'} ${(sizeBytes / 1e6).toFixed(1)} MB.`;
}

function checkWal({ log, home }: Stored): Finding {
  const bytes = statSync(join(home, 'trayclaw.db-wal'), { throwIfNoEntry: false })?.size ?? 0;
  const megabytes = `${(bytes / 1e6).toFixed(0)} MB`;
  if (bytes <= WAL_BYTES_MAX) return well('write-ahead', `The write-ahead log is ${megabytes}.`);
  const move = harmless(['Moves the write-ahead log into the database.'], () => {
    log.storage.db.pragma('wal_checkpoint(TRUNCATE)');
    return ['Moved the write-ahead log into the database.'];
  });
  return unwell('write-ahead', `The write-ahead log has grown to ${megabytes}.`, 'trayclaw doctor --fix', move);
}

function checkLeftovers({ home, clock }: Stored): Finding {
  const old = leftovers(home).filter((path) => clock.nowMs() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > HOUR_MS);
  if (old.length === 0) return well('leftovers', 'No interrupted run has left anything lying about.');
  const remove = harmless(
    old.map((path) => `Removes ${path}.`),
    () => {
      for (const path of old) rmSync(path, { force: true });
      return [`Removed ${counted(old.length, 'file')}.`];
    },
  );
  const detail = `${counted(old.length, 'file')} of interrupted runs: ${old.slice(0, 3).join(', ')}.`;
  return unwell('leftovers', detail, 'trayclaw doctor --fix', remove);
}

/** Files that only an interrupted step can have left: each file has a temporary name until it is complete. */
function leftovers(home: string): string[] {
  return leftoverPlaces.flatMap(([place, pattern]) =>
    namesIn(join(home, place)).flatMap((name) => (pattern.test(name) ? [join(home, place, name)] : [])),
  );
}
