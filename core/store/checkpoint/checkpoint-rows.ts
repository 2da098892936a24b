// Checkpoints as rows kept in step with their events: which call wrote which file, and its state before and after. The events are
// authoritative. Accesses no files.

import { applyByType, type Changes } from '../../contracts/event-table.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import { beforeFileSchema, fileImageSchema, type AfterFile, type BeforeFile, type FileImage } from '../../contracts/checkpoints.ts';
import type { WrittenFile } from '../../contracts/turn-view.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../storage/storage.ts';

export const checkpointMigrations: readonly Migration[] = sqlMigrations({
  'checkpoint-001-tables': `
    -- One row a checkpoint.taken; a call that ran a second time after a crash has two.
    CREATE TABLE IF NOT EXISTS checkpoints (
      seq INTEGER PRIMARY KEY,
      call_id TEXT NOT NULL,
      session_id TEXT NOT NULL,
      turn_id TEXT,
      at_ms INTEGER NOT NULL,
      closed INTEGER NOT NULL DEFAULT 0,
      undoes TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS checkpoints_by_call ON checkpoints (call_id);
    CREATE INDEX IF NOT EXISTS checkpoints_by_turn ON checkpoints (turn_id);
    CREATE INDEX IF NOT EXISTS checkpoints_by_session ON checkpoints (session_id);
    CREATE TABLE IF NOT EXISTS checkpoint_files (
      seq INTEGER NOT NULL,
      path TEXT NOT NULL,
      before TEXT NOT NULL,
      after TEXT,
      sha256 TEXT,
      PRIMARY KEY (seq, path)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS checkpoint_files_by_path ON checkpoint_files (path, seq);
    CREATE INDEX IF NOT EXISTS checkpoint_files_by_content ON checkpoint_files (sha256) WHERE sha256 IS NOT NULL;
    CREATE TABLE IF NOT EXISTS checkpoint_contents (
      sha256 TEXT PRIMARY KEY, content BLOB NOT NULL, used_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS checkpoint_contents_by_use ON checkpoint_contents (used_at_ms);
    -- By folder first: queried for each folder that becomes empty. One checkpoint has few rows.
    CREATE TABLE IF NOT EXISTS checkpoint_folders (folder TEXT NOT NULL, seq INTEGER NOT NULL, identity TEXT NOT NULL, mode INTEGER NOT NULL, PRIMARY KEY (folder, seq)) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS checkpoint_folders_by_checkpoint ON checkpoint_folders (seq);
  `,
});

export interface Checkpoint {
  /** The position of its event in the log. */
  readonly seq: number;
  readonly callId: string;
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly atMs: number;
  readonly closed: boolean;
  /** The calls it undid; empty for a tool call. */
  readonly undoes: readonly string[];
  readonly files: readonly WrittenFile[];
  /** Folders it created on the way to its files. */
  readonly made: readonly { readonly path: string; readonly mode: number }[];
}

interface CheckpointRow extends Omit<Checkpoint, 'closed' | 'undoes' | 'files' | 'made'> {
  readonly closed: number;
  readonly undoes: string;
}

const columns = 'seq, call_id AS callId, session_id AS sessionId, turn_id AS turnId, at_ms AS atMs, closed, undoes';

const statements = {
  put: 'INSERT INTO checkpoints (seq, call_id, session_id, turn_id, at_ms, undoes) VALUES (?, ?, ?, ?, ?, ?)',
  putFile: 'INSERT OR IGNORE INTO checkpoint_files (seq, path, before, sha256) VALUES (?, ?, ?, ?)',
  putFolder: 'INSERT OR IGNORE INTO checkpoint_folders (folder, seq, identity, mode) VALUES (?, ?, ?, ?)',
  setAfter: 'UPDATE checkpoint_files SET after = ? WHERE seq = ? AND path = ?',
  openOf: 'SELECT seq FROM checkpoints WHERE call_id = ? AND closed = 0 ORDER BY seq DESC LIMIT 1',
  ofCall: `SELECT ${columns} FROM checkpoints WHERE call_id = ? ORDER BY seq`,
  ofTurn: `SELECT ${columns} FROM checkpoints WHERE turn_id = ? ORDER BY seq`,
  ofSession: `SELECT ${columns} FROM checkpoints WHERE session_id = ? AND seq >= ? ORDER BY seq`,
  openUndos: `SELECT ${columns} FROM checkpoints WHERE closed = 0 AND undoes <> '[]' ORDER BY seq`,
  newest: `SELECT ${columns} FROM checkpoints WHERE session_id = coalesce(?, session_id) AND (? IS NULL OR turn_id = ?) ORDER BY seq DESC LIMIT ?`,
  files: 'SELECT path, before, after FROM checkpoint_files WHERE seq = ? ORDER BY path',
  made: 'SELECT folder AS path, mode FROM checkpoint_folders WHERE seq = ? ORDER BY folder',
  later: `SELECT c.call_id AS callId, f.after FROM checkpoint_files f JOIN checkpoints c USING (seq) WHERE f.path = ? AND f.seq > ? ORDER BY f.seq DESC LIMIT 1`,
  laterCalls: `SELECT call_id AS callId, before, after FROM (SELECT seq, before, after FROM checkpoint_files WHERE path = $path AND seq > $seq
     UNION ALL SELECT seq, '{"kind":"absent"}', NULL FROM checkpoint_folders WHERE folder = $path AND seq > $seq) JOIN checkpoints USING (seq)
     WHERE undoes = '[]' ORDER BY seq`,
  makers: `SELECT call_id AS callId, identity = $identity AS isOwn FROM checkpoint_folders JOIN checkpoints USING (seq) WHERE folder = $folder AND (identity = $identity
     OR seq = (SELECT max(seq) FROM checkpoint_folders f JOIN checkpoints USING (seq) WHERE f.folder = $folder AND undoes = '[]'))`,
  undos: `SELECT call_id AS callId, undoes FROM checkpoints WHERE seq > ? AND undoes <> '[]' ORDER BY seq DESC`,
  wasMade: `SELECT 1 FROM (SELECT max(seq) AS made FROM checkpoint_folders WHERE folder = $folder AND seq < $seq) WHERE made IS NOT NULL AND NOT EXISTS
     (SELECT 1 FROM checkpoint_files WHERE path = $folder AND seq > made AND seq < $seq AND before = '{"kind":"absent"}')`,
  isLive: 'SELECT 1 FROM checkpoint_files f JOIN checkpoints c USING (seq) WHERE f.sha256 = ? AND c.at_ms >= ? LIMIT 1',
  removeFolders: 'DELETE FROM checkpoint_folders WHERE seq IN (SELECT seq FROM checkpoints WHERE session_id = ?)',
};

export class CheckpointRows {
  readonly #sql: Statements;

  readonly #changes: Changes = {
    'checkpoint.taken': ({ body: { callId, files, undoes }, seq, sessionId, turnId, atMs }) => {
      this.#sql.run(statements.put, seq, callId, sessionId, turnId, atMs, JSON.stringify(undoes ?? []));
      for (const file of files) this.#putFile(seq, file);
    },
    'checkpoint.closed': ({ body }) => this.#close(body.callId, body.files),
    'session.deleted': ({ body: { sessionId } }) => {
      this.#sql.run(statements.removeFolders, sessionId);
      this.#sql.run('DELETE FROM checkpoint_files WHERE seq IN (SELECT seq FROM checkpoints WHERE session_id = ?)', sessionId);
      this.#sql.run('DELETE FROM checkpoints WHERE session_id = ?', sessionId);
    },
  };

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event, inside its transaction. */
  apply(event: AnyEvent): void {
    applyByType(this.#changes, event);
  }

  /** In the order of recording. There are several if a call ran again after a crash. */
  ofCall(callId: string): Checkpoint[] {
    return this.#sql.rows<CheckpointRow>(statements.ofCall, callId).map((row) => this.#read(row));
  }

  /** Everything that was done to files in a turn, including undos, in order. */
  ofTurn(turnId: string): Checkpoint[] {
    return this.#sql.rows<CheckpointRow>(statements.ofTurn, turnId).map((row) => this.#read(row));
  }

  /** Everything that was done to files in sessions from a log position on, including undos, in order. */
  ofSessions(sessionIds: readonly string[], fromSeq: number): Checkpoint[] {
    const rows = sessionIds.flatMap((sessionId) => this.#sql.rows<CheckpointRow>(statements.ofSession, sessionId, fromSeq));
    return rows.sort((a, b) => a.seq - b.seq).map((row) => this.#read(row));
  }

  /** Returns the undos that have no recorded end, undid only these calls, and wrote only these paths. */
  cutOff(checkpoints: readonly Checkpoint[], paths: readonly string[]): Checkpoint[] {
    const callIds = new Set(checkpoints.map(({ callId }) => callId));
    const open = this.#sql.rows<CheckpointRow>(statements.openUndos).map((row) => this.#read(row));
    return open.filter(({ undoes, files }) => undoes.every((id) => callIds.has(id)) && files.every(({ path }) => paths.includes(path)));
  }

  newest(query: { readonly sessionId?: string | undefined; readonly turnId?: string | undefined; readonly limit: number }): Checkpoint[] {
    const rows = this.#sql.rows<CheckpointRow>(
      statements.newest,
      query.sessionId ?? null,
      query.turnId ?? null,
      query.turnId ?? null,
      query.limit,
    );
    return rows.map((row) => this.#read(row));
  }

  /** Returns the last call that wrote a path after a log position, and the state it left. */
  laterWrite(path: string, seq: number): { readonly callId: string; readonly after: FileImage | null } | null {
    const row = this.#sql.row<{ callId: string; after: string | null }>(statements.later, path, seq);
    return row === undefined ? null : { callId: row.callId, after: parseImage(row.after) };
  }

  /** Returns the calls and undos that were undone after a log position and not redone. */
  undone(seq = 0): Set<string> {
    const holds = new Map<string, boolean>();
    for (const { callId, undoes } of this.#sql.rows<{ callId: string; undoes: string }>(statements.undos, seq)) {
      const isHeld = holds.get(callId) ?? true;
      for (const id of JSON.parse(undoes) as string[]) if (!holds.has(id)) holds.set(id, !isHeld);
    }
    return new Set([...holds].flatMap(([id, isHeld]) => (isHeld ? [] : [id])));
  }

  /**
   * Returns, in order, the calls after a log position that wrote a path, or created it as a folder on the way, and have not been undone.
   */
  laterCalls(path: string, seq: number): { readonly callId: string; readonly before: FileImage; readonly after: FileImage | null }[] {
    const later = this.#sql.rows<{ callId: string; before: string; after: string | null }>(statements.laterCalls, { path, seq });
    if (later.length === 0) return [];
    const undone = this.undone(seq);
    const held = later.filter(({ callId }) => !undone.has(callId));
    return held.map(({ callId, before, after }) => ({
      callId,
      before: fileImageSchema.parse(JSON.parse(before)),
      after: parseImage(after),
    }));
  }

  /** Returns whether a checkpoint since then needs this content. */
  isLive(sha256: string, sinceMs: number): boolean {
    return this.#sql.row(statements.isLive, sha256, sinceMs) !== undefined;
  }

  /** Returns whether a folder exists only because calls in `undone` wrote below it. */
  isLeftover(folder: string, identity: string, undone: ReadonlySet<string>): boolean {
    // An undo that recreates a folder does so for the last call that created it, so that call counts as well.
    const makers = this.#sql.rows<{ callId: string; isOwn: number }>(statements.makers, { folder, identity });
    return makers.some(({ isOwn }) => isOwn === 1) && makers.some(({ callId }) => undone.has(callId));
  }

  /** Returns whether a folder was last created on the way to a file, and not by its own name, before a log position. */
  wasMade(folder: string, seq: number): boolean {
    return this.#sql.row(statements.wasMade, { folder, seq }) !== undefined;
  }

  #putFile(seq: number, file: BeforeFile): void {
    const { path, before } = file;
    this.#sql.run(statements.putFile, seq, path, JSON.stringify(before), before.kind === 'file' ? before.sha256 : null);
  }

  #close(callId: string, files: readonly AfterFile[]): void {
    const row = this.#sql.row<{ seq: number }>(statements.openOf, callId);
    if (row === undefined) return;
    this.#sql.run('UPDATE checkpoints SET closed = 1 WHERE seq = ?', row.seq);
    for (const { path, after, made } of files) {
      for (const folder of made ?? []) this.#sql.run(statements.putFolder, folder.path, row.seq, folder.identity, folder.mode);
      const text = JSON.stringify(after);
      if (this.#sql.run(statements.setAfter, text, row.seq, path).changes > 0) continue;
      this.#putFile(row.seq, { path, before: { kind: 'absent' } });
      this.#sql.run(statements.setAfter, text, row.seq, path);
    }
  }

  #read(row: CheckpointRow): Checkpoint {
    const files = this.#sql.rows<{ path: string; before: string; after: string | null }>(statements.files, row.seq);
    return {
      ...row,
      closed: row.closed === 1,
      undoes: JSON.parse(row.undoes) as string[],
      made: this.#sql.rows<{ path: string; mode: number }>(statements.made, row.seq),
      files: files.map(({ path, before, after }) => ({
        path,
        before: beforeFileSchema.shape.before.parse(JSON.parse(before)),
        after: parseImage(after),
      })),
    };
  }
}

function parseImage(text: string | null): FileImage | null {
  return text === null ? null : fileImageSchema.parse(JSON.parse(text));
}
