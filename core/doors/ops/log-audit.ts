// Verifies the whole log and its database.

import { setImmediate as giveWay } from 'node:timers/promises';
import { describeGap, gapAdvice } from '../../contracts/log-gap.ts';
import type { OpResult } from '../../contracts/ops.ts';
import { openGaps, unexplainedRows, verifyLog, type SessionLog } from '../../store/session/session.ts';
import { mapStorageError } from '../../store/storage/storage.ts';

type Audit = OpResult<'audit.verify'>;

const damageAdvice = 'Stop TrayClaw and restore a backup: trayclaw backup list, then trayclaw backup restore FILE';

export async function auditLog(log: SessionLog): Promise<Audit> {
  const faults: NonNullable<Audit['faults']> = openGaps(log.reads).map(({ body }) => ({
    kind: 'gap',
    detail: describeGap(body),
    hint: gapAdvice,
  }));
  const lines = log.storage.integrity(false).filter((line) => line !== 'ok');
  if (lines.length > 0) faults.push({ kind: 'database', detail: lines.slice(0, 5).join('; '), hint: damageAdvice });
  const report = await readThrough(log, faults);
  if (report.ok) faults.push(...unexplained(log));
  return { ...report, ok: report.ok && faults.length === 0, ...(faults.length === 0 ? {} : { faults }) };
}

function unexplained(log: SessionLog): NonNullable<Audit['faults']> {
  const rows = log.permits.flatMap((given) => unexplainedRows(log.storage.db, given));
  // Several parts of one row may differ.
  const named = [...new Map(rows.map((row) => [`${row.what} ${row.key}`, row])).values()];
  return named.map(({ what, key, undo }) => ({
    kind: 'permission',
    detail: `${what} ${key} is not in the log as it is in the database.`,
    hint: `Take it back, unless you changed the database yourself: ${undo}`,
  }));
}

/** Verifies the log, and reports damage that makes it unreadable as a fault. */
async function readThrough(log: SessionLog, faults: NonNullable<Audit['faults']>): Promise<Audit> {
  try {
    return await verifyLog(log.storage.db, giveWay);
  } catch (cause) {
    const { message } = mapStorageError(cause);
    if (!faults.some(({ kind }) => kind === 'database')) faults.push({ kind: 'database', detail: message, hint: damageAdvice });
    return { ok: false, events: 0, sessions: 0 };
  }
}
