// Verifies every hash chain of the log: each stored field, link and head, and that no session disappeared without a trace.

import type { SqlDatabase } from '../storage/storage.ts';
import { genesisHash, hashEvent, type HashedFields } from './event-hash.ts';

export interface AuditReport {
  readonly ok: boolean;
  readonly events: number;
  readonly sessions: number;
  readonly firstBad?: { readonly seq: number; readonly sessionId: string; readonly sessionSeq: number; readonly reason: string };
}

interface Row extends HashedFields {
  readonly hash: string;
}

interface Link {
  readonly sessionSeq: number;
  readonly hashHex: string;
  readonly seq: number;
}

/** The recorded end of a session, from the last durable commit or end of a turn. */
interface HeadRow {
  readonly sessionSeq: number;
  readonly hash: string;
}

const PAGE = 2_000;
const verifiedColumns = `seq, session_id AS sessionId, session_seq AS sessionSeq, turn_id AS turnId, step, phase, type, v, at_ms AS atMs,
  body AS bodyText, lower(hex(hash)) AS hash`;

/** Reads the whole log once in global order, in pages, and yields between pages. Events appended in the meantime are not checked. */
export async function verifyLog(db: SqlDatabase, giveWay: () => Promise<void>): Promise<AuditReport> {
  const chains = new Map<string, Link>();
  const heads = readHeads(db);
  const sessions = db.prepare('SELECT session_id AS sessionId FROM sessions').all() as { sessionId: string }[];
  const { last } = db.prepare('SELECT coalesce(max(seq), 0) AS last FROM events').get() as { last: number };
  const page = db.prepare(`SELECT ${verifiedColumns} FROM events WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ${PAGE}`);
  let events = 0;
  let from = 0;
  const report = (fault: Fault | null): AuditReport => ({
    ok: fault === null,
    events,
    sessions: chains.size,
    ...(fault === null ? {} : { firstBad: { ...fault.at, reason: fault.reason } }),
  });
  while (from < last) {
    const rows = page.all(from, last) as Row[];
    if (rows.length === 0) break;
    for (const row of rows) {
      events += 1;
      const fault = verifyRow(row, chains, heads);
      if (fault !== null) return report(fault);
    }
    from = rows.at(-1)?.seq ?? last;
    await giveWay();
  }
  return report(verifyHeads(heads, chains) ?? verifyNoneLost(sessions, chains));
}

function verifyRow(row: Row, chains: Map<string, Link>, heads: ReadonlyMap<string, HeadRow>): Fault | null {
  const at = { seq: row.seq, sessionId: row.sessionId, sessionSeq: row.sessionSeq };
  const link = chains.get(row.sessionId) ?? { sessionSeq: 0, hashHex: genesisHash, seq: 0 };
  if (row.sessionSeq !== link.sessionSeq + 1) return { at, reason: `event ${link.sessionSeq + 1} of the session is missing` };
  if (hashEvent(link.hashHex, row) !== row.hash) return { at, reason: 'the event does not match its hash' };
  const head = heads.get(row.sessionId);
  if (head?.sessionSeq === row.sessionSeq && head.hash !== row.hash) return { at, reason: 'another event was recorded at this place' };
  chains.set(row.sessionId, { sessionSeq: row.sessionSeq, hashHex: row.hash, seq: row.seq });
  return null;
}

interface Fault {
  readonly at: { seq: number; sessionId: string; sessionSeq: number };
  readonly reason: string;
}

function readHeads(db: SqlDatabase): Map<string, HeadRow> {
  const rows = db
    .prepare('SELECT session_id AS sessionId, session_seq AS sessionSeq, lower(hex(hash)) AS hash FROM heads')
    .all() as (HeadRow & {
    sessionId: string;
  })[];
  return new Map(rows.map((row) => [row.sessionId, row]));
}

/** Heads are stored separately from the events, so they reveal a truncated chain. */
function verifyHeads(heads: ReadonlyMap<string, HeadRow>, chains: ReadonlyMap<string, Link>): Fault | null {
  for (const [sessionId, head] of heads) {
    const link = chains.get(sessionId);
    if (link === undefined)
      return { at: { seq: 0, sessionId, sessionSeq: head.sessionSeq }, reason: 'all events of the session are missing' };
    if (link.sessionSeq < head.sessionSeq) {
      return {
        at: { seq: link.seq, sessionId, sessionSeq: link.sessionSeq },
        reason: `the session should continue to event ${head.sessionSeq}`,
      };
    }
  }
  return null;
}

/** A listed session must have a chain. */
function verifyNoneLost(sessions: readonly { sessionId: string }[], chains: ReadonlyMap<string, Link>): Fault | null {
  const lost = sessions.find((row) => !chains.has(row.sessionId));
  return lost === undefined ? null : { at: { seq: 0, sessionId: lost.sessionId, sessionSeq: 0 }, reason: 'the session has no events' };
}

/** Verifies only the newest events, each against its hash and the previous event. For a check that must be quick on a log of any size. */
export function verifyTail(db: SqlDatabase, eventsMax: number): AuditReport {
  const rows = db
    .prepare(`SELECT * FROM (SELECT ${verifiedColumns} FROM events ORDER BY seq DESC LIMIT ?) ORDER BY seq`)
    .all(eventsMax) as Row[];
  const chains = new Map<string, Link>();
  const heads = readHeads(db);
  const before = db.prepare(
    'SELECT seq, session_seq AS sessionSeq, lower(hex(hash)) AS hashHex FROM events WHERE session_id = ? AND session_seq < ? ORDER BY session_seq DESC LIMIT 1',
  );
  for (const row of rows) {
    const known = chains.get(row.sessionId) ?? (before.get(row.sessionId, row.sessionSeq) as Link | undefined);
    if (known !== undefined) chains.set(row.sessionId, known);
    const fault = verifyRow(row, chains, heads);
    if (fault !== null) return { ok: false, events: rows.length, sessions: chains.size, firstBad: { ...fault.at, reason: fault.reason } };
  }
  return { ok: true, events: rows.length, sessions: chains.size };
}
