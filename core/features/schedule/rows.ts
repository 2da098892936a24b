// Schedules, outcomes of their due times, heartbeats and tasks, as rows derived from the log. Decides nothing.

import { byType } from '../../contracts/event-table.ts';
import type { EventBodies, EventOf } from '../../contracts/events.ts';
import {
  scheduleFiredSchema,
  scheduleSchema,
  taskSchema,
  type Schedule,
  type ScheduleFired,
  type Task,
} from '../../contracts/features/schedule.ts';
import { HeldRows, sqlMigrations, Statements, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const scheduleMigrations: readonly Migration[] = sqlMigrations({
  'schedule-001-tables': `
        -- done_ms: every due time up to it is settled.
        CREATE TABLE IF NOT EXISTS schedules (
          schedule_id TEXT PRIMARY KEY, done_ms INTEGER NOT NULL, last_turn_id TEXT, body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS schedule_fires (
          schedule_id TEXT NOT NULL, seq INTEGER NOT NULL, due_ms INTEGER NOT NULL, at_ms INTEGER NOT NULL, turn_id TEXT, body TEXT NOT NULL,
          PRIMARY KEY (schedule_id, seq)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS schedule_fires_turn ON schedule_fires (turn_id) WHERE turn_id IS NOT NULL;
        CREATE TABLE IF NOT EXISTS heartbeats (
          turn_id TEXT PRIMARY KEY, session_id TEXT NOT NULL, seq INTEGER NOT NULL, at_ms INTEGER NOT NULL, outcome TEXT, text_hash TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS heartbeats_order ON heartbeats (seq);
        CREATE TABLE IF NOT EXISTS tasks (
          task_id TEXT PRIMARY KEY, state TEXT NOT NULL, created_at_ms INTEGER NOT NULL, body TEXT NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS tasks_state ON tasks (state, created_at_ms);
      `,
  'schedule-002-changed': (db) => {
    const known = db.pragma('table_info(schedules)') as { name: string }[];
    if (!known.some(({ name }) => name === 'changed_seq'))
      db.exec('ALTER TABLE schedules ADD COLUMN changed_seq INTEGER NOT NULL DEFAULT 0');
  },
});

export interface KeptSchedule {
  readonly schedule: Schedule;
  readonly doneMs: number;
  readonly lastTurnId: string | null;
  /** The position in the log of its newest change. */
  readonly changedSeq: number;
}

export type FiredRow = ScheduleFired & { readonly atMs: number };

export interface BeatRow {
  readonly turnId: string;
  readonly sessionId: string;
  readonly atMs: number;
  readonly outcome: EventBodies['heartbeat.ended']['outcome'] | null;
  readonly textHash: string | null;
}

/** The number of rows kept per schedule, and of heartbeats. The log contains all of them. */
const FIRES_KEPT = 500;
const BEATS_KEPT = 200;

const fired = 'body, at_ms AS atMs FROM schedule_fires';
const kept = 'body, done_ms AS doneMs, last_turn_id AS lastTurnId, changed_seq AS changedSeq FROM schedules';
const beat = 'turn_id AS turnId, session_id AS sessionId, at_ms AS atMs, outcome, text_hash AS textHash FROM heartbeats';

const statements = {
  put: `INSERT INTO schedules (schedule_id, done_ms, body, changed_seq) VALUES (@scheduleId, coalesce(@doneMs, 0), @body, @seq)
     ON CONFLICT (schedule_id) DO UPDATE SET body = excluded.body, done_ms = coalesce(@doneMs, done_ms), changed_seq = @seq`,
  all: `SELECT ${kept} ORDER BY schedule_id`,
  one: `SELECT ${kept} WHERE schedule_id = ?`,
  advance: 'UPDATE schedules SET done_ms = max(done_ms, ?) WHERE schedule_id = ?',
  putFire: 'INSERT OR IGNORE INTO schedule_fires (schedule_id, seq, due_ms, at_ms, turn_id, body) VALUES (?, ?, ?, ?, ?, ?)',
  // Keeps the newest rows. OFFSET finds the oldest row to keep from the end of the index.
  pruneFires: `DELETE FROM schedule_fires WHERE schedule_id = @id AND seq <= (
       SELECT seq FROM schedule_fires WHERE schedule_id = @id ORDER BY seq DESC LIMIT 1 OFFSET @kept)`,
  fires: `SELECT ${fired} WHERE schedule_id = ? ORDER BY seq DESC LIMIT ?`,
  ran: 'SELECT 1 FROM schedule_fires WHERE schedule_id = ? AND due_ms = ? AND turn_id IS NOT NULL LIMIT 1',
  putBeat: 'INSERT OR IGNORE INTO heartbeats (turn_id, session_id, seq, at_ms) VALUES (?, ?, ?, ?)',
  endBeat: 'UPDATE heartbeats SET outcome = ?, text_hash = ? WHERE turn_id = ?',
  told: "SELECT 1 FROM heartbeats WHERE text_hash = ? AND outcome = 'told' AND at_ms > ? LIMIT 1",
  putTask: 'INSERT OR IGNORE INTO tasks (task_id, state, created_at_ms, body) VALUES (?, ?, ?, ?)',
  closeTask: 'UPDATE tasks SET state = ?, body = ? WHERE task_id = ?',
  openTasks: "SELECT body FROM tasks WHERE state = 'open' ORDER BY created_at_ms, task_id LIMIT ?",
  allTasks: 'SELECT body FROM tasks ORDER BY created_at_ms DESC, task_id DESC LIMIT ?',
};

type StoredSchedule = Omit<KeptSchedule, 'schedule'> & { readonly body: string };

/** The size of the cache of parsed schedules, which are read every minute. */
const READ_KEPT = 1_000;

export class ScheduleBook {
  readonly #sql: Statements;
  readonly #fires: HeldRows;
  /** Keyed by the stored text, which changes with the schedule. */
  readonly #read = new Map<string, Schedule>();

  readonly apply = byType({
    'schedule.created': (event) => this.#write(event),
    'schedule.changed': (event) => this.#write(event),
    'schedule.removed': ({ body: { scheduleId } }) => {
      this.#sql.run('DELETE FROM schedules WHERE schedule_id = ?', scheduleId);
      this.#sql.run('DELETE FROM schedule_fires WHERE schedule_id = ?', scheduleId);
    },
    'schedule.fired': (event) => this.#fire(event),
    'schedule.rewound': ({ body }) => void this.#sql.run('UPDATE schedules SET done_ms = min(done_ms, ?)', body.toMs),
    'signal.received': (event) => this.#beat(event),
    'heartbeat.ended': ({ body }) => void this.#sql.run(statements.endBeat, body.outcome, body.textHash, body.turnId),
    'task.added': ({ body: { taskId, text, by, sessionId, untrusted }, atMs }) => {
      const task: Task = { taskId, text, by, sessionId, untrusted, state: 'open', createdAtMs: atMs, closedAtMs: null };
      this.#sql.run(statements.putTask, taskId, 'open', atMs, JSON.stringify(task));
    },
    'task.closed': ({ body, atMs }) => this.#closeTask(body, atMs),
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
    this.#fires = new HeldRows(db, 'schedule_fires');
  }

  all(): KeptSchedule[] {
    return this.#sql.rows<StoredSchedule>(statements.all).map((row) => this.#readSchedule(row));
  }

  find(scheduleId: string): KeptSchedule | null {
    const row = this.#sql.row<StoredSchedule>(statements.one, scheduleId);
    return row === undefined ? null : this.#readSchedule(row);
  }

  /** The latest moment up to which any schedule is settled; null if there are no schedules. */
  furthestMs(): number | null {
    return this.#sql.value('SELECT max(done_ms) FROM schedules') as number | null;
  }

  /** Newest first. */
  fires(scheduleId: string, limit: number): FiredRow[] {
    const rows = this.#sql.rows<{ body: string; atMs: number }>(statements.fires, scheduleId, limit);
    return rows.map(({ body, atMs }) => ({ ...scheduleFiredSchema.parse(JSON.parse(body)), atMs }));
  }

  hasRun(scheduleId: string, dueMs: number): boolean {
    return this.#sql.value(statements.ran, scheduleId, dueMs) !== undefined;
  }

  /** The latest due time that ran; 0 if none did. */
  ranToMs(scheduleId: string): number {
    return this.#sql.value(
      'SELECT coalesce(max(due_ms), 0) FROM schedule_fires WHERE schedule_id = ? AND turn_id IS NOT NULL',
      scheduleId,
    ) as number;
  }

  /** The schedule that started this turn or work, or null. */
  ofTurn(turnId: string): Schedule | null {
    if (!this.#fires.any) return null;
    const scheduleId = this.#sql.value<string>('SELECT schedule_id FROM schedule_fires WHERE turn_id = ?', turnId);
    return scheduleId === undefined ? null : (this.find(scheduleId)?.schedule ?? null);
  }

  lastBeat(): BeatRow | null {
    return this.#sql.row<BeatRow>(`SELECT ${beat} ORDER BY seq DESC LIMIT 1`) ?? null;
  }

  /** Heartbeats whose end has not been settled yet. */
  openBeats(): BeatRow[] {
    return this.#sql.rows<BeatRow>(`SELECT ${beat} WHERE outcome IS NULL ORDER BY seq LIMIT 20`);
  }

  wasTold(textHash: string, sinceMs: number): boolean {
    return this.#sql.value(statements.told, textHash, sinceMs) !== undefined;
  }

  task(taskId: string): Task | null {
    const body = this.#sql.value<string>('SELECT body FROM tasks WHERE task_id = ?', taskId);
    return body === undefined ? null : taskSchema.parse(JSON.parse(body));
  }

  /** The open tasks, oldest first; or all tasks, newest first. */
  tasks(which: 'open' | 'all', limit: number): Task[] {
    const rows =
      which === 'open' ? this.#sql.values<string>(statements.openTasks, limit) : this.#sql.values<string>(statements.allTasks, limit);
    return rows.map((body) => taskSchema.parse(JSON.parse(body)));
  }

  get openTasks(): number {
    return this.#sql.value("SELECT count(*) FROM tasks WHERE state = 'open'") as number;
  }

  #write({ type, body, seq, atMs }: EventOf<'schedule.created'> | EventOf<'schedule.changed'>): void {
    const { schedule } = body;
    const text = JSON.stringify(schedule);
    const before = this.find(schedule.scheduleId)?.schedule;
    const isNew = type === 'schedule.created' || before === undefined;
    const beginsAnew = isNew || JSON.stringify(before.spec) !== JSON.stringify(schedule.spec) || (!before.enabled && schedule.enabled);
    this.#sql.run(statements.put, { scheduleId: schedule.scheduleId, doneMs: beginsAnew ? atMs : null, body: text, seq });
  }

  #fire({ body, seq, atMs }: EventOf<'schedule.fired'>): void {
    const { scheduleId, dueMs, turnId = body.taskId } = body;
    this.#fires.put();
    this.#sql.run(statements.putFire, scheduleId, seq, dueMs, atMs, turnId ?? null, JSON.stringify(body));
    this.#sql.run(statements.pruneFires, { id: scheduleId, kept: FIRES_KEPT });
    if (body.by === undefined) this.#sql.run(statements.advance, body.untilMs ?? dueMs, scheduleId);
    if (turnId !== undefined) this.#sql.run('UPDATE schedules SET last_turn_id = ? WHERE schedule_id = ?', turnId, scheduleId);
  }

  #beat({ body, seq, atMs }: EventOf<'signal.received'>): void {
    if (body.source !== 'heartbeat' || body.turnId === undefined || body.sessionId === null) return;
    this.#sql.run(statements.putBeat, body.turnId, body.sessionId, seq, atMs);
    this.#sql.run('DELETE FROM heartbeats WHERE seq <= (SELECT seq FROM heartbeats ORDER BY seq DESC LIMIT 1 OFFSET ?)', BEATS_KEPT);
  }

  #closeTask({ taskId, how }: EventBodies['task.closed'], atMs: number): void {
    const task = this.task(taskId);
    if (task === null) return;
    this.#sql.run(statements.closeTask, how, JSON.stringify({ ...task, state: how, closedAtMs: atMs } satisfies Task), taskId);
  }

  #readSchedule({ body, ...row }: StoredSchedule): KeptSchedule {
    let schedule = this.#read.get(body);
    if (schedule === undefined) {
      schedule = scheduleSchema.parse(JSON.parse(body));
      if (this.#read.size >= READ_KEPT) this.#read.clear();
      this.#read.set(body, schedule);
    }
    return { schedule, ...row };
  }
}
