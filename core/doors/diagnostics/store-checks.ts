// What is on the disk: the database, its chain, its indexes, artifacts, backups, and what an interrupted run left lying there.

import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { describeGap, gapAdvice } from '../../contracts/log-gap.ts';
import { auditArtifacts, setAsideArtifacts, type DamagedArtifact } from '../../store/artifact/artifact.ts';
import { emptySearch, openGaps, searchFault, verifyLog, verifyTail, type SessionLog } from '../../store/session/session.ts';
import { createBackup, listBackups } from '../../store/storage/storage.ts';
import { counted, unwell, well, type Finding, type HealthSource } from '../../contracts/health.ts';

export interface StoreChecksDeps {
  readonly log: SessionLog;
  readonly home: string;
  readonly clock: Clock;
}

const TAIL_EVENTS = 2_000;
const HASHED_ARTIFACTS = 50;
const WAL_BYTES_MAX = 64 * 1024 * 1024;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const BACKUP_DAYS_MAX = 30;
/** Before there is this much to lose nobody is bothered. */
const BACKUP_EVENTS_MIN = 5_000;
const restoreHint = 'Restore a backup: trayclaw backup list, then trayclaw backup restore FILE';
const leftoverNames: readonly RegExp[] = [/^trayclaw\.db\.restoring$/, /^config\.yaml\.\d+\.part$/, /^instance\.json\.\d+\.tmp$/];

export function storeChecks(deps: StoreChecksDeps): HealthSource {
  return {
    check: async (full) => [
      checkStorage(deps, full),
      await checkChain(deps, full),
      checkEnd(deps),
      checkEvents(deps, full),
      checkSearch(deps, full),
      await checkArtifacts(deps, full),
      checkBackups(deps),
      checkWal(deps),
      checkLeftovers(deps),
    ],
  };
}

function checkStorage({ log }: StoreChecksDeps, full: boolean): Finding {
  const { db } = log.storage;
  const lines = log.storage.integrity(full);
  const ok = lines.length === 1 && lines[0] === 'ok';
  const detail = lines.join('; ');
  if (ok) return well('storage', `The database is sound; ${log.lastSeq} events.`);
  // An index holds nothing of its own.
  const isIndexOnly = lines.length > 0 && lines.every((line) => /\bindex\b/.test(line) && !/database disk image/.test(line));
  if (!isIndexOnly) return unwell('storage', detail, restoreHint);
  return unwell('storage', detail, 'trayclaw doctor --full --fix', {
    harmless: true,
    will: ['Rebuilds the database indexes from its tables.'],
    run: () => {
      db.exec('REINDEX');
      return ['Rebuilt the database indexes.'];
    },
  });
}

async function checkChain({ log }: StoreChecksDeps, full: boolean): Promise<Finding> {
  const { db } = log.storage;
  const report = full ? await verifyLog(db, giveWay) : verifyTail(db, TAIL_EVENTS);
  const what = full ? `all ${counted(report.events, 'event')}` : `the newest ${counted(report.events, 'event')}`;
  if (report.firstBad === undefined) return well('chain', `The chain of ${what} is whole.`);
  const { seq, sessionId, sessionSeq, reason } = report.firstBad;
  return unwell('chain', `Event ${seq} (${sessionId} #${sessionSeq}): ${reason}.`, restoreHint);
}

/** What the start found missing, until a person has accepted it. */
function checkEnd({ log }: StoreChecksDeps): Finding {
  const gaps = openGaps(log.reads);
  if (gaps.length === 0) return well('log-end', 'The log ends where the head file says.');
  return unwell('log-end', gaps.map(({ body }) => describeGap(body)).join(' '), gapAdvice);
}

/** Reading is what finds an event that cannot be read, and notes it. */
function checkEvents({ log }: StoreChecksDeps, full: boolean): Finding {
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

function checkSearch({ log }: StoreChecksDeps, full: boolean): Finding {
  const fault = searchFault(log.storage.db, full);
  if (fault === null) return well('search', 'The search index agrees with the log.');
  return unwell('search', fault, 'trayclaw doctor --fix', {
    harmless: true,
    will: ['Empties the search indexes and fills them again from the log.'],
    run: () => {
      rebuildSearch(log);
      return ['Rebuilt the search indexes from the log.'];
    },
  });
}

export function rebuildSearch(log: SessionLog): void {
  emptySearch(log.storage);
  while (log.search.catchUp());
  while (log.activity.catchUp());
}

async function checkArtifacts(deps: StoreChecksDeps, full: boolean): Promise<Finding> {
  const { damaged, looked, hashed } = await lookAtArtifacts(deps, full);
  if (damaged.length === 0) return well('artifacts', `${counted(looked, 'artifact')} there, ${hashed} of them read through.`);
  const missing = damaged.filter(({ state }) => state === 'missing').length;
  const detail = `${counted(missing, 'artifact is missing', 'artifacts are missing')}, ${counted(damaged.length - missing, 'was changed', 'were changed')} behind TrayClaw's back.`;
  return unwell('artifacts', detail, 'Put the files back from a copy of the folder, or drop them: trayclaw recover quarantine-artifacts', {
    harmless: false,
    will: setAsideWords(damaged),
    run: () => setAside(deps, damaged),
  });
}

export function lookAtArtifacts({ log, home }: StoreChecksDeps, full: boolean) {
  return auditArtifacts(log.storage.db, join(home, 'artifacts'), full ? Number.MAX_SAFE_INTEGER : HASHED_ARTIFACTS);
}

export function setAsideWords(damaged: readonly DamagedArtifact[]): string[] {
  return [
    `Moves what is left of ${counted(damaged.length, 'artifact')} to artifacts-aside in the data folder.`,
    'Drops their names: opening one then says that it is missing. What conversations say about them stays.',
  ];
}

export function setAside({ log, home }: StoreChecksDeps, damaged: readonly DamagedArtifact[]): string[] {
  const moved = setAsideArtifacts(log.storage.db, join(home, 'artifacts'), damaged, join(home, 'artifacts-aside'));
  return [
    `Gave up ${counted(damaged.length, 'artifact')}; ${counted(moved, 'changed file lies', 'changed files lie')} in artifacts-aside.`,
  ];
}

function checkBackups({ log, home, clock }: StoreChecksDeps): Finding {
  const newest = listBackups(home)[0];
  if (newest !== undefined) {
    const days = Math.floor((clock.nowMs() - newest.createdAtMs) / DAY_MS);
    if (days <= BACKUP_DAYS_MAX) return well('backups', `The newest backup is ${days < 1 ? 'of today' : `${counted(days, 'day')} old`}.`);
    return unwell('backups', `The newest backup is ${days} days old.`, 'trayclaw backup create', makeBackup({ log, home, clock }));
  }
  if (log.lastSeq < BACKUP_EVENTS_MIN) return well('backups', 'No backup yet, and not much to lose.');
  return unwell('backups', `There is no backup of ${log.lastSeq} events.`, 'trayclaw backup create', makeBackup({ log, home, clock }));
}

function makeBackup({ log, home, clock }: StoreChecksDeps) {
  return {
    harmless: true,
    will: ['Makes a backup of the database.'],
    run: async () => [`Made the backup ${(await createBackup(log.storage.db, home, { nowMs: clock.nowMs() })).file}.`],
  };
}

function checkWal({ log, home }: StoreChecksDeps): Finding {
  const bytes = statSync(join(home, 'trayclaw.db-wal'), { throwIfNoEntry: false })?.size ?? 0;
  const megabytes = `${(bytes / 1e6).toFixed(0)} MB`;
  if (bytes <= WAL_BYTES_MAX) return well('write-ahead', `The write-ahead log is ${megabytes}.`);
  return unwell('write-ahead', `The write-ahead log has grown to ${megabytes}.`, 'trayclaw doctor --fix', {
    harmless: true,
    will: ['Moves the write-ahead log into the database.'],
    run: () => {
      log.storage.db.pragma('wal_checkpoint(TRUNCATE)');
      return ['Moved the write-ahead log into the database.'];
    },
  });
}

function checkLeftovers({ home, clock }: StoreChecksDeps): Finding {
  const old = leftovers(home).filter((path) => clock.nowMs() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > HOUR_MS);
  if (old.length === 0) return well('leftovers', 'No interrupted run has left anything lying about.');
  return unwell(
    'leftovers',
    `${counted(old.length, 'file')} of interrupted runs: ${old.slice(0, 3).join(', ')}.`,
    'trayclaw doctor --fix',
    {
      harmless: true,
      will: old.map((path) => `Removes ${path}.`),
      run: () => {
        for (const path of old) rmSync(path, { force: true });
        return [`Removed ${counted(old.length, 'file')}.`];
      },
    },
  );
}

/** Files only an interrupted step can have left: each is made under such a name and given its own when it is whole. */
function leftovers(home: string): string[] {
  const here = namesIn(home).filter((name) => leftoverNames.some((pattern) => pattern.test(name)));
  const backups = namesIn(join(home, 'backups')).filter((name) => /\.part(-wal|-shm|-journal)?$/.test(name));
  const drafts = namesIn(join(home, 'artifacts', 'tmp'));
  return [
    ...here.map((name) => join(home, name)),
    ...backups.map((name) => join(home, 'backups', name)),
    ...drafts.map((name) => join(home, 'artifacts', 'tmp', name)),
  ];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A folder that is not there holds nothing.
    return [];
  }
}

function giveWay(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
