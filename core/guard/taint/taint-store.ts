// Stores the untrusted sources of each session, whether the session read private data, and files with untrusted content. Rows are kept in
// step with the log. Decides nothing; the events say what counts as untrusted.

import type { AnyEvent, EventBodies, EventOf } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import { ownChannels } from '../../contracts/system-session.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const taintMigrations: readonly Migration[] = sqlMigrations({
  '0004-taint': `
    CREATE TABLE IF NOT EXISTS session_taint (
      session_id TEXT NOT NULL, source_key TEXT NOT NULL, kind TEXT NOT NULL, source TEXT NOT NULL, session_seq INTEGER NOT NULL,
      PRIMARY KEY (session_id, source_key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS session_private_reads (session_id TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
    -- The session is the one that wrote it last; the file outlives it. One that was cleaned is kept, since an undo may bring it back.
    CREATE TABLE IF NOT EXISTS tainted_files (
      path TEXT PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, cleaned INTEGER NOT NULL DEFAULT 0
    ) STRICT, WITHOUT ROWID;
  `,
  '0006-taint-any-case': 'CREATE INDEX IF NOT EXISTS tainted_files_any_case ON tainted_files (path COLLATE NOCASE)',
  '0007-taint-home': 'CREATE TABLE IF NOT EXISTS taint_home (path TEXT PRIMARY KEY) STRICT, WITHOUT ROWID',
});

/** A mark that the log tells and that has no row: without it, content of others counts as the person's own. Compared with no event. */
const lostMark = {
  key: 'name',
  value: '1',
  events: [],
  keyInBody: 'NULL',
  valueInBody: 'NULL',
  undo: 'trayclaw backup list, then trayclaw backup restore FILE',
};
const markedIn = (list: string): string => `FROM events e, json_each(e.body, '$.${list}') s WHERE e.type = 'taint.marked'`;

/** The taint of a session with untrusted content. */
export interface SessionTaint {
  readonly sources: readonly TaintSource[];
  readonly keys: ReadonlySet<string>;
  /** The position of the first mark. Everything before it was said before any untrusted content was read. */
  readonly firstSeq: number;
  /** True if the session has read private data. */
  readonly sensitive: boolean;
}

interface MarkedFile {
  readonly path: string;
  readonly sessionId: string;
  readonly seq: number;
  readonly cleaned: number;
}

const SESSIONS_KEPT = 256;

/** Used for decisions in old logs that did not record `isPrivate`. Do not extend: tools declare `isPrivate` themselves. */
const privateBefore: ReadonlySet<string> = new Set([
  'session_search',
  'artifact_read',
  'subagent',
  'spawn',
  'spawn_status',
  'recall',
  'knowledge_search',
]);

const statements = {
  putSource: 'INSERT OR IGNORE INTO session_taint (session_id, source_key, kind, source, session_seq) VALUES (?, ?, ?, ?, ?)',
  sources: 'SELECT kind, source AS "where", session_seq AS seq FROM session_taint WHERE session_id = ? ORDER BY session_seq, source_key',
  putPrivate: 'INSERT OR IGNORE INTO session_private_reads (session_id) VALUES (?)',
  putFile:
    'INSERT INTO tainted_files (path, session_id, seq) VALUES (?, ?, ?) ON CONFLICT (path) DO UPDATE SET session_id = excluded.session_id, seq = excluded.seq, cleaned = 0',
  putCleaned:
    'INSERT INTO tainted_files (path, session_id, seq, cleaned) VALUES (?, ?, ?, 1) ON CONFLICT (path) DO UPDATE SET seq = excluded.seq, cleaned = 1',
  setMarked: 'UPDATE tainted_files SET cleaned = 0 WHERE path = ?',
  filesBelow: 'SELECT path FROM tainted_files WHERE path >= ? AND path < ? AND session_id <> ? AND cleaned = 0 ORDER BY path LIMIT ?',
  // Many disks find a file under any case of its letters. A mark counts for all of them, a cleaning only for the path as written.
  file: `SELECT path, session_id AS sessionId, seq, cleaned FROM tainted_files
    WHERE path = ? COLLATE NOCASE AND (path = ? OR cleaned = 0) ORDER BY seq DESC LIMIT 1`,
  carryMoved: `INSERT INTO tainted_files (path, session_id, seq)
    SELECT ? || substr(path, ?), '', seq FROM tainted_files WHERE cleaned = 0 AND substr(path, 1, length(?) + 1) IN (? || '/', ? || '\\')
    ON CONFLICT (path) DO UPDATE SET cleaned = 0`,
  anyFile: 'SELECT 1 FROM tainted_files WHERE cleaned = 0 LIMIT 1',
  anyFolder: "SELECT 1 FROM tainted_files WHERE cleaned = 0 AND substr(path, -1) IN ('/', '\\') LIMIT 1",
};

export class TaintStore {
  readonly #db: SqlDatabase;
  readonly #sql: Statements;
  /** Cached sessions; null for a session without untrusted content. */
  readonly #known = new Map<string, SessionTaint | null>();

  /** True while any file is marked. May stay true after the last mark is gone. */
  #hasFiles = false;
  #hasFolders = false;

  readonly permits: readonly PermittingRows[] = [
    {
      ...lostMark,
      what: 'The mark of untrusted content in the session',
      rows: `(SELECT DISTINCT e.session_id || ' from ' || (s.value ->> 'kind') || ':' || (s.value ->> 'where') AS name ${markedIn('sources')}
        AND NOT EXISTS (SELECT 1 FROM session_taint t WHERE t.session_id = e.session_id
          AND t.source_key = (s.value ->> 'kind') || ':' || (s.value ->> 'where')))`,
    },
    {
      ...lostMark,
      what: 'The mark of the file with untrusted content',
      rows: `(SELECT DISTINCT s.value AS name ${markedIn('paths')} AND NOT EXISTS (SELECT 1 FROM tainted_files f WHERE f.path = s.value)
        UNION SELECT f.path FROM tainted_files f WHERE f.cleaned = 1
          AND NOT EXISTS (SELECT 1 ${markedIn('cleaned')} AND e.seq = f.seq AND s.value = f.path))`,
    },
  ];

  constructor(db: SqlDatabase) {
    this.#db = db;
    this.#sql = new Statements(db);
    this.#lookForMarks();
  }

  /** The data folder was moved with its workspace: the files in it are marked at their new place. No session owns these marks. */
  settleIn(home: string): void {
    const before = this.#sql.value<string>('SELECT path FROM taint_home');
    if (before === home) return;
    if (before !== undefined) {
      this.#sql.run(statements.carryMoved, home, [...before].length + 1, before, before, before);
      this.#lookForMarks();
      this.#sql.run('DELETE FROM taint_home');
    }
    this.#sql.run('INSERT INTO taint_home (path) VALUES (?)', home);
  }

  get hasFiles(): boolean {
    return this.#hasFiles;
  }

  /** Called for every event, inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'taint.marked') this.#applyFiles(event);
    // A new session has no taint: marking it later reloads it, and a rolled-back session is never queried.
    if (event.type === 'session.created') this.#remember(event.sessionId, null);
    // A subagent's task may contain private data that its caller has read.
    if (event.type === 'session.created' && event.body.channel === ownChannels.helper)
      this.#sql.run(statements.putPrivate, event.sessionId);
    if (event.type === 'checkpoint.restored') for (const { path } of event.body.files) this.#sql.run(statements.setMarked, path);
    this.applyCopied(event);
  }

  /** Applies an event copied into a fork: the conversation inherits its taint, but the marks of files do not change. */
  applyCopied(event: AnyEvent): void {
    switch (event.type) {
      case 'taint.marked':
        for (const source of event.body.sources)
          this.#sql.run(statements.putSource, event.sessionId, taintKey(source), source.kind, source.where, event.sessionSeq);
        this.#known.delete(event.sessionId);
        return;
      case 'policy.decided':
        // A pending approval counts as well: its answer is not known here, and the flag can only cause more approvals.
        if (event.body.decision === 'deny' || !showsPrivateData(event.body)) return;
        // Drops the cache entry only for a session with untrusted content. A session without taint stays cached as such.
        if (this.#sql.run(statements.putPrivate, event.sessionId).changes > 0 && this.#known.get(event.sessionId) !== null)
          this.#known.delete(event.sessionId);
        return;
      case 'session.deleted':
        this.#sql.run('DELETE FROM session_taint WHERE session_id = ?', event.body.sessionId);
        this.#sql.run('DELETE FROM session_private_reads WHERE session_id = ?', event.body.sessionId);
        this.#known.delete(event.body.sessionId);
        return;
      default:
        return;
    }
  }

  /** Returns null for a session without untrusted content. Costs one map lookup once the session is cached. */
  session(sessionId: string): SessionTaint | null {
    const known = this.#known.get(sessionId);
    if (known !== undefined) return known;
    const read = this.#read(sessionId);
    // A transaction may be rolled back, so only committed rows are cached.
    if (!this.#db.inTransaction) this.#remember(sessionId, read);
    return read;
  }

  /** Returns the session that last wrote untrusted content into the file, or null if the file is not marked. */
  writerOf(path: string): string | null {
    const own = this.#file(path);
    const over = this.#folderOver(path);
    const last = own === undefined || (over !== null && over.seq > own.seq) ? over : own;
    return last === null || last.cleaned === 1 ? null : last.sessionId;
  }

  /** Returns at most `limit` files below a folder into which another session wrote untrusted content. */
  filesBelow(folder: string, besides: string, limit: number): string[] {
    const root = folder.replace(/[/\\]+$/, '');
    const sign = folder.includes('\\') && !folder.includes('/') ? '\\' : '/';
    const below = this.#sql.values<string>(
      statements.filesBelow,
      root + sign,
      root + String.fromCharCode(sign.charCodeAt(0) + 1),
      besides,
      limit,
    );
    const over = this.#folderOver(root);
    return over === null || over.sessionId === besides ? below : [over.path, ...below].slice(0, limit);
  }

  /**
   * Rebuilds all rows from the log. `isCopied` recognizes the events that a fork copied from its original. Files of sessions whose events
   * are missing stay marked.
   */
  rebuild(events: Iterable<AnyEvent>, isCopied: (event: AnyEvent) => boolean): void {
    this.#known.clear();
    this.#db.exec(`
      DELETE FROM session_taint;
      DELETE FROM session_private_reads;
      DELETE FROM tainted_files WHERE session_id IN (SELECT session_id FROM sessions);
    `);
    for (const event of events) {
      if (isCopied(event)) this.applyCopied(event);
      else this.apply(event);
    }
  }

  /** Returns the newest mark among the parent folders that were marked as a whole. */
  #folderOver(path: string): MarkedFile | null {
    if (!this.#hasFolders) return null;
    const parts = path.split(/(?<=[/\\])/).slice(0, -1);
    const above = parts.map((_, at) => this.#file(parts.slice(0, at + 1).join('')));
    const marked = above.filter((one) => one?.cleaned === 0);
    return marked.reduce<MarkedFile | null>((last, one) => (one !== undefined && one.seq > (last?.seq ?? -1) ? one : last), null);
  }

  #lookForMarks(): void {
    this.#hasFiles = this.#sql.value(statements.anyFile) !== undefined;
    this.#hasFolders = this.#sql.value(statements.anyFolder) !== undefined;
  }

  #file(path: string): MarkedFile | undefined {
    return this.#sql.row<MarkedFile>(statements.file, path, path);
  }

  #noteFile(path: string): void {
    this.#hasFiles = true;
    if (/[/\\]$/.test(path)) this.#hasFolders = true;
  }

  #remember(sessionId: string, taint: SessionTaint | null): void {
    if (this.#known.size >= SESSIONS_KEPT) this.#known.clear();
    this.#known.set(sessionId, taint);
  }

  #applyFiles(event: EventOf<'taint.marked'>): void {
    for (const path of event.body.cleaned ?? []) this.#sql.run(statements.putCleaned, path, event.sessionId, event.seq);
    for (const path of event.body.paths) {
      this.#sql.run(statements.putFile, path, event.sessionId, event.seq);
      this.#noteFile(path);
    }
  }

  #read(sessionId: string): SessionTaint | null {
    const rows = this.#sql.rows<TaintSource & { seq: number }>(statements.sources, sessionId);
    const first = rows[0];
    if (first === undefined) return null;
    const sources = rows.map(({ kind, where }) => ({ kind, where }));
    return {
      sources,
      keys: new Set(sources.map(taintKey)),
      firstSeq: first.seq,
      sensitive: this.#sql.row('SELECT 1 FROM session_private_reads WHERE session_id = ?', sessionId) !== undefined,
    };
  }
}

/** The name of a source in a grant: `kind:where`. */
export function taintKey(source: TaintSource): string {
  return `${source.kind}:${source.where}`;
}

/** Files of the workspace are private data as well, and a command may read any of them. */
function showsPrivateData({ tool, facts, isPrivate }: EventBodies['policy.decided']): boolean {
  return (
    isPrivate === true ||
    facts.class === 'credential' ||
    facts.command !== null ||
    facts.paths.some((path) => path.access === 'read' || path.protectedBy !== null) ||
    privateBefore.has(tool)
  );
}
