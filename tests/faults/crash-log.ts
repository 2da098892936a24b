// Examines a data folder without a running program: what the log promised, and the effects outside.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { eventBodySchemas, type EventType } from '../../core/contracts/events.ts';
import type { Idempotency } from '../../core/contracts/tools.ts';
import { verifyLog, type AuditReport } from '../../core/store/session/session.ts';
import type { ToldEvent } from './crash-protocol.ts';

export interface CallRecord {
  readonly callId: string;
  readonly tool: string;
  readonly args: string;
  readonly idempotency: Idempotency;
  readonly turnId: string;
  state: 'open' | 'unknown' | 'retry' | 'closed';
  /** How often a person answered "run it again". */
  retries: number;
  results: number;
}

export interface LogView {
  readonly audit: AuditReport;
  readonly calls: ReadonlyMap<string, CallRecord>;
  readonly startedTurns: ReadonlySet<string>;
  readonly finishedTurns: ReadonlySet<string>;
  readonly lastSeq: number;
  /** Reported events that the log does not contain. */
  missing(told: readonly ToldEvent[]): ToldEvent[];
}

interface Row {
  readonly seq: number;
  readonly sessionId: string;
  readonly sessionSeq: number;
  readonly turnId: string | null;
  readonly type: EventType;
  readonly body: string;
}

export async function readLog(home: string): Promise<LogView> {
  const db = new Database(join(home, 'trayclaw.db'));
  try {
    const audit = await verifyLog(db, () => Promise.resolve());
    const columns = 'seq, session_id AS sessionId, session_seq AS sessionSeq, turn_id AS turnId, type, body';
    const rows = db.prepare(`SELECT ${columns} FROM events ORDER BY seq`).all() as Row[];
    return viewOf(audit, rows);
  } finally {
    db.close();
  }
}

function viewOf(audit: AuditReport, rows: readonly Row[]): LogView {
  const calls = new Map<string, CallRecord>();
  const startedTurns = new Set<string>();
  const finishedTurns = new Set<string>();
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  for (const row of rows) {
    if (row.type === 'user.message' && row.turnId !== null) startedTurns.add(row.turnId);
    if (row.type === 'turn.finished' && row.turnId !== null) finishedTurns.add(row.turnId);
    applyToCalls(calls, row);
  }
  return {
    audit,
    calls,
    startedTurns,
    finishedTurns,
    lastSeq: rows.at(-1)?.seq ?? 0,
    missing: (told) =>
      told.filter(({ seq, sessionId, sessionSeq, type }) => {
        const row = bySeq.get(seq);
        return row?.sessionId !== sessionId || row.sessionSeq !== sessionSeq || row.type !== type;
      }),
  };
}

function applyToCalls(calls: Map<string, CallRecord>, row: Row): void {
  if (row.type === 'tool.requested') {
    const body = eventBodySchemas['tool.requested'].parse(JSON.parse(row.body));
    const known = calls.get(body.callId);
    if (known !== undefined) known.state = 'open';
    else {
      const { callId, tool, args, idempotency } = body;
      calls.set(callId, { callId, tool, args, idempotency, turnId: row.turnId ?? '', state: 'open', retries: 0, results: 0 });
    }
    return;
  }
  if (row.type !== 'tool.finished' && row.type !== 'tool.outcome_unknown' && row.type !== 'tool.outcome_settled') return;
  const body = JSON.parse(row.body) as { callId: string; answer?: string };
  const call = calls.get(body.callId);
  if (call === undefined) return;
  if (row.type === 'tool.outcome_unknown') call.state = 'unknown';
  else if (row.type === 'tool.outcome_settled' && body.answer === 'retry') {
    call.state = 'retry';
    call.retries += 1;
  } else if (row.type === 'tool.finished') {
    call.state = 'closed';
    call.results += 1;
  }
}

/** The outcomes a start must ask about: unsafe calls that began and have no result. */
export function openUnsafeCalls(log: LogView): string[] {
  return [...log.calls.values()]
    .filter((call) => call.idempotency === 'unsafe' && (call.state === 'open' || call.state === 'unknown'))
    .map((call) => call.callId);
}

export interface Effects {
  /** The number of effects of unsafe calls that really happened. */
  readonly total: number;
  /** Effects that happened more often than a person allowed. */
  readonly twice: readonly string[];
  /** Effects without a request in the log. */
  readonly unasked: readonly string[];
}

/** Compares the lines the tools left outside with the calls of the log: one each, and one more for each retry a person asked for. */
export function countEffects(
  log: LogView,
  files: { readonly stamps: string; readonly commands: string; readonly appended: string },
): Effects {
  const calls = [...log.calls.values()];
  const lines = [
    ...readLines(files.stamps).map((line) => ({ line, found: calls.filter((call) => call.callId === line) })),
    ...readLines(files.commands).map((line) => ({ line, found: calls.filter((call) => call.callId === line) })),
    ...readLines(files.appended).map((line) => ({
      line,
      found: calls.filter((call) => call.tool === 'append_file' && call.args.includes(`"${line}\\n"`)),
    })),
  ];
  const counts = new Map<string, { times: number; allowed: number }>();
  for (const { line, found } of lines) {
    const allowed = found.length === 0 ? 0 : 1 + found.reduce((sum, call) => sum + call.retries, 0);
    counts.set(line, { times: (counts.get(line)?.times ?? 0) + 1, allowed });
  }
  const entries = [...counts];
  return {
    total: lines.length,
    twice: entries.filter(([, { times, allowed }]) => allowed > 0 && times > allowed).map(([line]) => line),
    unasked: entries.filter(([, { allowed }]) => allowed === 0).map(([line]) => line),
  };
}

function readLines(file: string): string[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];
}
