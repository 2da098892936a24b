// Tasks that others gave to this program and tasks it gave to others, kept in step with the log. The events are the truth; starts nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import type { PeerState } from '../../contracts/features/a2a.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const a2aMigrations: readonly Migration[] = [
  {
    id: 'peers-001-tasks',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
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
      `);
    },
  },
];

/** A task that another agent gave to this program. */
export interface TaskRow {
  /** Of its turn, too. */
  readonly taskId: string;
  readonly sessionId: string;
  readonly owner: string;
  readonly messageId: string;
  readonly hops: readonly string[];
  readonly atMs: number;
}

/** A task that this program gave to a peer. */
export interface SentRow {
  readonly messageId: string;
  readonly peer: string;
  readonly taskId: string | null;
  readonly contextId: string | null;
  /** Null until it has ended there. */
  readonly state: PeerState | null;
}

const LIST_MAX = 1_000;

function prepareAll(db: SqlDatabase) {
  const task = 'SELECT task_id AS taskId, session_id AS sessionId, owner, message_id AS messageId, hops, at_ms AS atMs FROM peer_tasks';
  const sent = 'SELECT message_id AS messageId, peer, task_id AS taskId, context_id AS contextId, state FROM peer_sent';
  return {
    accept: db.prepare('INSERT OR IGNORE INTO peer_tasks (task_id, session_id, owner, message_id, hops, at_ms) VALUES (?, ?, ?, ?, ?, ?)'),
    send: db.prepare('INSERT OR IGNORE INTO peer_sent (message_id, peer, work_id, session_id, at_ms) VALUES (?, ?, ?, ?, ?)'),
    follow: db.prepare('UPDATE peer_sent SET task_id = ?, context_id = ? WHERE message_id = ?'),
    end: db.prepare('UPDATE peer_sent SET state = ? WHERE message_id = ?'),
    task: db.prepare(`${task} WHERE task_id = ?`),
    tasksOf: db.prepare(`${task} WHERE owner = ? ORDER BY at_ms DESC, task_id DESC LIMIT ${LIST_MAX}`),
    ofSession: db.prepare('SELECT owner FROM peer_tasks WHERE session_id = ? LIMIT 1').pluck(),
    hopsIn: db.prepare('SELECT hops FROM peer_tasks WHERE session_id = ? ORDER BY at_ms DESC, task_id DESC LIMIT 1').pluck(),
    sentFor: db.prepare(`${sent} WHERE work_id = ? ORDER BY at_ms, message_id`),
    lastContext: db.prepare(
      'SELECT context_id FROM peer_sent WHERE session_id = ? AND peer = ? AND context_id IS NOT NULL ORDER BY at_ms DESC LIMIT 1',
    ),
    open: db.prepare('SELECT count(*) FROM peer_sent WHERE peer = ? AND state IS NULL').pluck(),
    dropTasks: db.prepare('DELETE FROM peer_tasks WHERE session_id = ?'),
    dropSent: db.prepare('DELETE FROM peer_sent WHERE session_id = ?'),
  };
}

export class A2aRows {
  readonly #db: SqlDatabase;
  // Prepared when first used: most starts have no peer.
  #sql: ReturnType<typeof prepareAll> | null = null;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'peer.task_accepted': {
        const { taskId, sessionId, owner, messageId, hops } = event.body;
        this.#all.accept.run(taskId, sessionId, owner, messageId, JSON.stringify(hops), event.atMs);
        return;
      }
      case 'peer.sent': {
        const { messageId, peer, workId, sessionId } = event.body;
        this.#all.send.run(messageId, peer, workId, sessionId, event.atMs);
        return;
      }
      case 'peer.followed':
        this.#all.follow.run(event.body.taskId, event.body.contextId, event.body.messageId);
        return;
      case 'peer.ended':
        this.#all.end.run(event.body.state, event.body.messageId);
        return;
      case 'session.deleted':
        this.#all.dropTasks.run(event.body.sessionId);
        this.#all.dropSent.run(event.body.sessionId);
        return;
      default:
        return;
    }
  }

  task(taskId: string): TaskRow | null {
    return readTask(this.#all.task.get(taskId));
  }

  /** The newest first, at most 1,000. */
  tasksOf(owner: string): TaskRow[] {
    return this.#all.tasksOf.all(owner).flatMap((row) => readTask(row) ?? []);
  }

  /** Whose tasks run in a session; null for one that no task of others runs in. */
  ownerOf(sessionId: string): string | null {
    return (this.#all.ofSession.get(sessionId) as string | undefined) ?? null;
  }

  /** The machines that the newest task of a session came through. */
  hopsIn(sessionId: string): readonly string[] {
    const hops = this.#all.hopsIn.get(sessionId) as string | undefined;
    return hops === undefined ? [] : (JSON.parse(hops) as string[]);
  }

  /** The messages sent for one piece of work, oldest first. */
  sentFor(workId: string): SentRow[] {
    return this.#all.sentFor.all(workId) as SentRow[];
  }

  /** The conversation that a session had with a peer last. */
  contextOf(sessionId: string, peer: string): string | null {
    return (this.#all.lastContext.get(sessionId, peer) as { context_id: string } | undefined)?.context_id ?? null;
  }

  openAt(peer: string): number {
    return Number(this.#all.open.get(peer));
  }

  get #all(): ReturnType<typeof prepareAll> {
    return (this.#sql ??= prepareAll(this.#db));
  }
}

function readTask(row: unknown): TaskRow | null {
  if (row === undefined) return null;
  const { hops, ...rest } = row as Omit<TaskRow, 'hops'> & { readonly hops: string };
  return { ...rest, hops: JSON.parse(hops) as string[] };
}
