// Tasks that other agents gave to this program and tasks it gave to others, kept in step with the log. The events are the source of truth.
// Starts nothing.

import { byType } from '../../contracts/event-table.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { PeerState } from '../../contracts/features/a2a.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const a2aMigrations: readonly Migration[] = sqlMigrations({
  'peers-001-tasks': `
    CREATE TABLE IF NOT EXISTS peer_tasks (
      task_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, owner TEXT NOT NULL, message_id TEXT NOT NULL, hops TEXT NOT NULL, at_ms INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS peer_tasks_by_owner ON peer_tasks (owner, at_ms);
    CREATE TABLE IF NOT EXISTS peer_sent (
      message_id TEXT PRIMARY KEY, peer TEXT NOT NULL, work_id TEXT NOT NULL, session_id TEXT NOT NULL, at_ms INTEGER NOT NULL,
      task_id TEXT, context_id TEXT, state TEXT
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS peer_sent_by_work ON peer_sent (work_id);
    CREATE INDEX IF NOT EXISTS peer_sent_by_session ON peer_sent (session_id, at_ms);
  `,
});

/** A task that another agent gave to this program. */
export interface TaskRow extends Omit<EventBodies['peer.task_accepted'], 'client'> {
  readonly atMs: number;
}

/** A task that this program gave to a peer. */
export interface SentRow {
  readonly messageId: string;
  readonly peer: string;
  readonly taskId: string | null;
  readonly contextId: string | null;
  /** Null until the task has ended at the peer. */
  readonly state: PeerState | null;
}

const LIST_MAX = 1_000;

const task = 'SELECT task_id AS taskId, session_id AS sessionId, owner, message_id AS messageId, hops, at_ms AS atMs FROM peer_tasks';
const sent = 'SELECT message_id AS messageId, peer, task_id AS taskId, context_id AS contextId, state FROM peer_sent';

const statements = {
  accept: 'INSERT OR IGNORE INTO peer_tasks (task_id, session_id, owner, message_id, hops, at_ms) VALUES (?, ?, ?, ?, ?, ?)',
  send: 'INSERT OR IGNORE INTO peer_sent (message_id, peer, work_id, session_id, at_ms) VALUES (?, ?, ?, ?, ?)',
  follow: 'UPDATE peer_sent SET task_id = ?, context_id = ? WHERE message_id = ?',
  tasksOf: `${task} WHERE owner = ? ORDER BY at_ms DESC, task_id DESC LIMIT ${LIST_MAX}`,
  hopsIn: 'SELECT hops FROM peer_tasks WHERE session_id = ? ORDER BY at_ms DESC, task_id DESC LIMIT 1',
  lastContext: 'SELECT context_id FROM peer_sent WHERE session_id = ? AND peer = ? AND context_id IS NOT NULL ORDER BY at_ms DESC LIMIT 1',
};

export class A2aRows {
  readonly #sql: Statements;

  readonly apply = byType({
    'peer.task_accepted': ({ body: { taskId, sessionId, owner, messageId, hops }, atMs }) =>
      void this.#sql.run(statements.accept, taskId, sessionId, owner, messageId, JSON.stringify(hops), atMs),
    'peer.sent': ({ body: { messageId, peer, workId, sessionId }, atMs }) =>
      void this.#sql.run(statements.send, messageId, peer, workId, sessionId, atMs),
    'peer.followed': ({ body }) => void this.#sql.run(statements.follow, body.taskId, body.contextId, body.messageId),
    'peer.ended': ({ body }) => void this.#sql.run('UPDATE peer_sent SET state = ? WHERE message_id = ?', body.state, body.messageId),
    'session.deleted': ({ body: { sessionId } }) => {
      this.#sql.run('DELETE FROM peer_tasks WHERE session_id = ?', sessionId);
      this.#sql.run('DELETE FROM peer_sent WHERE session_id = ?', sessionId);
    },
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  task(taskId: string): TaskRow | null {
    return readTask(this.#sql.row(`${task} WHERE task_id = ?`, taskId));
  }

  /** Newest first, at most 1,000. */
  tasksOf(owner: string): TaskRow[] {
    return this.#sql.rows(statements.tasksOf, owner).flatMap((row) => readTask(row) ?? []);
  }

  /** The owner of the tasks in a session. Null if the session has no task of another agent. */
  ownerOf(sessionId: string): string | null {
    return this.#sql.value<string>('SELECT owner FROM peer_tasks WHERE session_id = ? LIMIT 1', sessionId) ?? null;
  }

  /** The machines that the newest task of a session passed through. */
  hopsIn(sessionId: string): readonly string[] {
    const hops = this.#sql.value<string>(statements.hopsIn, sessionId);
    return hops === undefined ? [] : (JSON.parse(hops) as string[]);
  }

  /** The messages sent for one piece of work, oldest first. */
  sentFor(workId: string): SentRow[] {
    return this.#sql.rows<SentRow>(`${sent} WHERE work_id = ? ORDER BY at_ms, message_id`, workId);
  }

  /** The context id of the session's latest conversation with a peer. */
  contextOf(sessionId: string, peer: string): string | null {
    return this.#sql.row<{ context_id: string }>(statements.lastContext, sessionId, peer)?.context_id ?? null;
  }

  openAt(peer: string): number {
    return Number(this.#sql.value('SELECT count(*) FROM peer_sent WHERE peer = ? AND state IS NULL', peer));
  }
}

function readTask(row: unknown): TaskRow | null {
  if (row === undefined) return null;
  const { hops, ...rest } = row as Omit<TaskRow, 'hops'> & { readonly hops: string };
  return { ...rest, hops: JSON.parse(hops) as string[] };
}
