// Writes the figures of packs, model calls and turns as JSON lines to size-limited files (name, name.1, …) if the settings name one.
// Follows the log at idle moments and never throws: a failing disk is logged once, until a write works again.

import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { assert } from '../../base/assert.ts';
import type { Logger } from '../../base/logger.ts';
import { makeFolders } from '../../base/make-folders.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { LogCursor, Statements, type SqlDatabase } from '../../store/storage/storage.ts';
import type { ReadEvents } from './rows.ts';

export interface LineFileOptions {
  readonly path: string;
  readonly logger: Logger;
  /** Redacts secrets in a line before it is written. */
  readonly redact: (line: string) => string;
  /** The size at which a new file begins; defaults to 10 MB. */
  readonly fileBytesMax?: number;
  /** The number of files that are kept, including the current one; defaults to 3. */
  readonly filesMax?: number;
}

const CURSOR = 'pack-log';
const EVENTS_READ = 500;

const callSql = `
  SELECT request_id AS requestId, seq, session_id AS sessionId, turn_id AS turnId, at_ms AS atMs, model, pack_id AS packId, retries, status,
    input_tokens AS inputTokens, output_tokens AS outputTokens, cached_input_tokens AS cachedInputTokens, usage_reported AS usageReported,
    cost_usd AS costUsd, first_token_ms AS firstTokenMs, took_ms AS tookMs
  FROM telemetry_model_calls WHERE request_id = ? AND seq = ?`;
const turnSql = `
  SELECT turn_id AS turnId, session_id AS sessionId, seq, status, started_at_ms AS startedAtMs, finished_at_ms AS finishedAtMs,
    model_calls AS modelCalls, tool_calls AS toolCalls, input_tokens AS inputTokens, output_tokens AS outputTokens,
    cached_input_tokens AS cachedInputTokens, cost_usd AS costUsd
  FROM telemetry_turns WHERE turn_id = ? AND seq = ?`;
const packSql = 'SELECT 1 FROM telemetry_packs WHERE pack_id = ? AND seq = ?';

export class PackLog {
  readonly #file: LineFile;
  readonly #sql: Statements;
  readonly #cursor: LogCursor;

  constructor(db: SqlDatabase, options: LineFileOptions) {
    this.#file = new LineFile(options);
    this.#sql = new Statements(db);
    this.#cursor = new LogCursor(db, CURSOR);
  }

  /** Starts at this event, unless a cursor is stored. */
  begin(lastSeq: number): void {
    if (this.#cursor.seq === undefined) this.#cursor.moveTo(lastSeq);
  }

  /** Returns true while there may be more. A crash between its two steps loses lines of a diagnostic file, but never repeats them. */
  catchUp(read: ReadEvents): boolean {
    const events = read(this.#cursor.seq ?? 0, EVENTS_READ);
    const last = events.at(-1);
    if (last === undefined) return false;
    this.#cursor.moveTo(last.seq);
    this.#file.write(events.flatMap((event) => this.#rowOf(event) ?? []));
    return events.length === EVENTS_READ;
  }

  /** Null if the event ends nothing, or is a fork's copy of an event. */
  #rowOf(event: AnyEvent): object | null {
    switch (event.type) {
      case 'pack.built': {
        if (this.#sql.row(packSql, event.body.packId, event.seq) === undefined) return null;
        const { dropped: leftOut, truncated: shortened, fromSessionSeq: _, ...pack } = event.body;
        const { seq, sessionId, turnId, atMs } = event;
        const counts = { dropped: leftOut.length, truncated: shortened.length };
        return { kind: 'context.pack', seq, sessionId, turnId, atMs, ...pack, ...counts, leftOut, shortened };
      }
      case 'model.finished':
      case 'model.failed':
        return this.#callRow(event.body.requestId, event.seq);
      case 'summary.written':
      case 'summary.failed':
        return this.#callRow(event.body.summaryId, event.seq);
      case 'embedding.used':
        return this.#callRow(`embedding-${event.seq}`, event.seq);
      case 'turn.finished': {
        const row = this.#sql.row<object>(turnSql, event.turnId, event.seq);
        return row === undefined ? null : { kind: 'turn.outcome', ...row };
      }
      default:
        return null;
    }
  }

  #callRow(requestId: string, seq: number): object | null {
    const row = this.#sql.row<{ readonly usageReported: number }>(callSql, requestId, seq);
    return row === undefined ? null : { kind: 'llm.usage', ...row, usageReported: row.usageReported === 1 };
  }
}

export class LineFile {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #redact: (line: string) => string;
  readonly #fileBytesMax: number;
  readonly #filesMax: number;
  #isFailing = false;

  constructor(options: LineFileOptions) {
    this.#path = options.path;
    this.#logger = options.logger;
    this.#redact = options.redact;
    this.#fileBytesMax = options.fileBytesMax ?? 10_000_000;
    this.#filesMax = options.filesMax ?? 3;
    assert(this.#filesMax >= 2, 'rotation needs a second file');
  }

  write(rows: readonly object[]): void {
    try {
      makeFolders({ mkdirSync, statSync }, dirname(this.#path));
      this.#append(rows.map((row) => this.#redact(JSON.stringify(row)) + '\n'));
      this.#isFailing = false;
    } catch (cause) {
      if (!this.#isFailing) this.#logger.log('warn', 'Telemetry lines could not be written.', { path: this.#path, cause: String(cause) });
      this.#isFailing = true;
    }
  }

  #append(lines: readonly string[]): void {
    let sizeBytes = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    let pending = '';
    for (const line of lines) {
      const lineBytes = Buffer.byteLength(line);
      if (sizeBytes > 0 && sizeBytes + lineBytes > this.#fileBytesMax) {
        this.#flush(pending);
        this.#rotate();
        pending = '';
        sizeBytes = 0;
      }
      pending += line;
      sizeBytes += lineBytes;
    }
    this.#flush(pending);
  }

  #flush(text: string): void {
    if (text !== '') appendFileSync(this.#path, text, { mode: 0o600 });
  }

  /** Renames from the oldest to the newest; the oldest file is overwritten. */
  #rotate(): void {
    for (let number = this.#filesMax - 1; number >= 1; number--) {
      const from = number === 1 ? this.#path : `${this.#path}.${number - 1}`;
      if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, `${this.#path}.${number}`);
    }
  }
}
