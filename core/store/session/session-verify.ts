// Checks every chain of the log: each stored field, each link, each head, and that no session vanished without a trace.

import type { SqlDatabase } from '../storage/storage.ts';
import { systemSessionId } from '../../contracts/events.ts';
import { genesisHash, hashEvent } from './event-hash.ts';

export interface AuditReport {
  readonly ok: boolean;
  readonly events: number;
  readonly sessions: number;
  readonly firstBad?: { readonly seq: number; readonly sessionId: string; readonly sessionSeq: number; readonly reason: string };
}

interface Row {
  readonly seq: number;
  readonly sessionId: string;
  readonly sessionSeq: number;
  readonly turnId: string | null;
  readonly step: number;
  readonly phase: string | null;
  readonly type: string;
  readonly v: number;
  readonly atMs: number;
  readonly bodyText: string;
  readonly hash: string;
}

interface Link {
  readonly sessionSeq: number;
  readonly hashHex: string;
  readonly seq: number;
}

/** Where a session was recorded to have come, at the last barrier or end of a turn. */
interface HeadRow {
  readonly sessionSeq: number;
  readonly hash: string;
}

/** Reads the whole log once in global order, in constant memory per session. */
export function verifyLog(db: SqlDatabase): AuditReport {
  const chains = new Map<string, Link>();
  const heads = readHeads(db);
  let events = 0;
  const bad = (row: { seq: number; sessionId: string; sessionSeq: number }, reason: string): AuditReport => ({
    ok: false,
    events,
    sessions: chains.size,
    firstBad: { seq: row.seq, sessionId: row.sessionId, sessionSeq: row.sessionSeq, reason },
  });
  const statement = db.prepare(
    `SELECT seq, session_id AS sessionId, session_seq AS sessionSeq, turn_id AS turnId, step, phase, type, v, at_ms AS atMs,
       body AS bodyText, lower(hex(hash)) AS hash FROM events ORDER BY seq`,
  );
  for (const item of statement.iterate()) {
    const row = item as Row;
    events += 1;
    const link = chains.get(row.sessionId) ?? { sessionSeq: 0, hashHex: genesisHash, seq: 0 };
    if (row.sessionSeq !== link.sessionSeq + 1) return bad(row, `event ${link.sessionSeq + 1} of the session is missing`);
    if (hashEvent(link.hashHex, row) !== row.hash) return bad(row, 'the event does not match its hash');
    const head = heads.get(row.sessionId);
    if (head?.sessionSeq === row.sessionSeq && head.hash !== row.hash) return bad(row, 'the session was recorded to have come to another event here');
    chains.set(row.sessionId, { sessionSeq: row.sessionSeq, hashHex: row.hash, seq: row.seq });
  }
  const headFault = verifyHeads(heads, chains);
  if (headFault !== null) return bad(headFault.at, headFault.reason);
  const lost = verifyNoneLost(db, chains);
  if (lost !== null) return bad(lost.at, lost.reason);
  return { ok: true, events, sessions: chains.size };
}

interface Fault {
  readonly at: { seq: number; sessionId: string; sessionSeq: number };
  readonly reason: string;
}

function readHeads(db: SqlDatabase): Map<string, HeadRow> {
  const rows = db.prepare('SELECT session_id AS sessionId, session_seq AS sessionSeq, lower(hex(hash)) AS hash FROM heads').all() as (HeadRow & {
    sessionId: string;
  })[];
  return new Map(rows.map((row) => [row.sessionId, row]));
}

/** The heads are kept apart from the events: cutting off the end of a chain shows here. */
function verifyHeads(heads: ReadonlyMap<string, HeadRow>, chains: ReadonlyMap<string, Link>): Fault | null {
  for (const [sessionId, head] of heads) {
    const link = chains.get(sessionId);
    if (link === undefined) return { at: { seq: 0, sessionId, sessionSeq: head.sessionSeq }, reason: 'all events of the session are gone' };
    if (link.sessionSeq < head.sessionSeq) {
      return { at: { seq: link.seq, sessionId, sessionSeq: link.sessionSeq }, reason: `the session should go on to event ${head.sessionSeq}` };
    }
  }
  return null;
}

/** A listed session must have its chain; a deleted one must be recorded as deleted. */
function verifyNoneLost(db: SqlDatabase, chains: ReadonlyMap<string, Link>): Fault | null {
  const rows = db.prepare('SELECT session_id AS sessionId FROM sessions').all() as { sessionId: string }[];
  const lost = rows.find((row) => row.sessionId !== systemSessionId && !chains.has(row.sessionId));
  return lost === undefined ? null : { at: { seq: 0, sessionId: lost.sessionId, sessionSeq: 0 }, reason: 'the session has no events' };
}
