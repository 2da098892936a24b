// Rows of the log and the events parsed from them. A row whose body does not match its type is reported; its meaning is never guessed.

import * as z from 'zod';
import { err, ok, type Result } from '../../base/result.ts';
import { parseJson } from '../../base/json.ts';
import { anyBodySchemas, eventBodySchemas, type AnyEvent, type EventType, type Phase } from '../../contracts/events.ts';

export interface EventRow {
  readonly seq: number;
  readonly session_id: string;
  readonly session_seq: number;
  readonly turn_id: string | null;
  readonly step: number;
  readonly phase: string | null;
  readonly type: string;
  readonly v: number;
  readonly at_ms: number;
  readonly body: string;
}

export const eventColumns = 'seq, session_id, session_seq, turn_id, step, phase, type, v, at_ms, body';

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventBodySchemas, type);
}

export function readEventRow(row: EventRow): Result<AnyEvent, string> {
  if (!isEventType(row.type)) return err(`unknown event type ${row.type}`);
  const json = parseJson(row.body);
  if (!json.ok) return err(`body is not JSON: ${json.error}`);
  const parsed = z.safeParse(anyBodySchemas[row.type], json.value);
  if (!parsed.success) return err(`the body is not valid for ${row.type}: ${parsed.error.issues[0]?.message ?? 'unknown'}`);
  return ok({
    seq: row.seq,
    sessionId: row.session_id,
    sessionSeq: row.session_seq,
    turnId: row.turn_id,
    step: row.step,
    phase: row.phase as Phase | null,
    type: row.type,
    v: row.v,
    atMs: row.at_ms,
    body: parsed.data,
  } as AnyEvent);
}
