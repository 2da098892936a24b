// Schedules, outcomes of their due times, beats and tasks: rows kept in step with the log. Decides nothing.

import type { AnyEvent, EventBodies, EventOf } from '../../contracts/events.ts';
import {
  scheduleFiredSchema,
  scheduleSchema,
  taskSchema,
  type Schedule,
  type ScheduleFired,
  type Task,
} from '../../contracts/features/schedule.ts';
import { HeldRows, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const scheduleMigrations: readonly Migration[] = [
  {
    id: 'schedule-001-tables',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
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
      `);
    },
  },
];

export interface KeptSchedule {
  readonly schedule: Schedule;
  readonly doneMs: number;
  readonly lastTurnId: string | null;
}

export type FiredRow = ScheduleFired & { readonly atMs: number };

export interface BeatRow {
  readonly turnId: string;
  readonly sessionId: string;
  readonly atMs: number;
  readonly outcome: EventBodies['heartbeat.ended']['outcome'] | null;
  readonly textHash: string | null;
}

/** Kept of each schedule, and of the beats; the log has all. */
const FIRES_KEPT = 500;
const BEATS_KEPT = 200;

const fired = 'body, at_ms AS atMs FROM schedule_fires';
const beat = 'turn_id AS turnId, session_id AS sessionId, at_ms AS atMs, outcome, text_hash AS textHash FROM heartbeats';

function prepareAll(db: SqlDatabase) {
  return {
    put: db.prepare(
      `INSERT INTO schedules (schedule_id, done_ms, body) VALUES (@scheduleId, @doneMs, @body)
       ON CONFLICT (schedule_id) DO UPDATE SET body = excluded.body, done_ms = coalesce(@doneMs, done_ms)`,
    ),
    keep: db.prepare('UPDATE schedules SET body = ? WHERE schedule_id = ?'),
    remove: db.prepare('DELETE FROM schedules WHERE schedule_id = ?'),
    removeFires: db.prepare('DELETE FROM schedule_fires WHERE schedule_id = ?'),
    all: db.prepare('SELECT body, done_ms AS doneMs, last_turn_id AS lastTurnId FROM schedules ORDER BY schedule_id'),
    one: db.prepare('SELECT body, done_ms AS doneMs, last_turn_id AS lastTurnId FROM schedules WHERE schedule_id = ?'),
    advance: db.prepare('UPDATE schedules SET done_ms = max(done_ms, ?) WHERE schedule_id = ?'),
    rewind: db.prepare('UPDATE schedules SET done_ms = min(done_ms, ?)'),
    setTurn: db.prepare('UPDATE schedules SET last_turn_id = ? WHERE schedule_id = ?'),
    furthest: db.prepare('SELECT max(done_ms) FROM schedules').pluck(),
    putFire: db.prepare('INSERT OR IGNORE INTO schedule_fires (schedule_id, seq, due_ms, at_ms, turn_id, body) VALUES (?, ?, ?, ?, ?, ?)'),
    // The newest stay; the place is found from the end of the index.
    pruneFires: db.prepare(
      `DELETE FROM schedule_fires WHERE schedule_id = @id AND seq <= (
         SELECT seq FROM schedule_fires WHERE schedule_id = @id ORDER BY seq DESC LIMIT 1 OFFSET @kept)`,
    ),
    fires: db.prepare(`SELECT ${fired} WHERE schedule_id = ? ORDER BY seq DESC LIMIT ?`),
    ran: db.prepare('SELECT 1 FROM schedule_fires WHERE schedule_id = ? AND due_ms = ? AND turn_id IS NOT NULL LIMIT 1').pluck(),
    ofTurn: db.prepare('SELECT schedule_id FROM schedule_fires WHERE turn_id = ?').pluck(),
    putBeat: db.prepare('INSERT OR IGNORE INTO heartbeats (turn_id, session_id, seq, at_ms) VALUES (?, ?, ?, ?)'),
    endBeat: db.prepare('UPDATE heartbeats SET outcome = ?, text_hash = ? WHERE turn_id = ?'),
    pruneBeats: db.prepare('DELETE FROM heartbeats WHERE seq <= (SELECT seq FROM heartbeats ORDER BY seq DESC LIMIT 1 OFFSET ?)'),
    lastBeat: db.prepare(`SELECT ${beat} ORDER BY seq DESC LIMIT 1`),
    openBeats: db.prepare(`SELECT ${beat} WHERE outcome IS NULL ORDER BY seq LIMIT 20`),
    told: db.prepare("SELECT 1 FROM heartbeats WHERE text_hash = ? AND outcome = 'told' AND at_ms > ? LIMIT 1").pluck(),
    putTask: db.prepare('INSERT OR IGNORE INTO tasks (task_id, state, created_at_ms, body) VALUES (?, ?, ?, ?)'),
    closeTask: db.prepare('UPDATE tasks SET state = ?, body = ? WHERE task_id = ?'),
    task: db.prepare('SELECT body FROM tasks WHERE task_id = ?').pluck(),
    openTasks: db.prepare("SELECT body FROM tasks WHERE state = 'open' ORDER BY created_at_ms, task_id LIMIT ?").pluck(),
    allTasks: db.prepare('SELECT body FROM tasks ORDER BY created_at_ms DESC, task_id DESC LIMIT ?').pluck(),
    countOpen: db.prepare("SELECT count(*) FROM tasks WHERE state = 'open'").pluck(),
  };
}

interface StoredSchedule {
  readonly body: string;
  readonly doneMs: number;
  readonly lastTurnId: string | null;
}

/** The size of the cache of parsed rows, which are read every minute. */
const READ_KEPT = 1_000;

export class ScheduleBook {
  readonly #sql: ReturnType<typeof prepareAll>;
  readonly #fires: HeldRows;
  /** By the stored text, which changes with the schedule. */
  readonly #read = new Map<string, Schedule>();

  constructor(db: SqlDatabase) {
    this.#sql = prepareAll(db);
    this.#fires = new HeldRows(db, 'schedule_fires');
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'schedule.created':
      case 'schedule.changed':
        this.#write(event);
        return;
      case 'schedule.removed':
        this.#sql.remove.run(event.body.scheduleId);
        this.#sql.removeFires.run(event.body.scheduleId);
        return;
      case 'schedule.fired':
        this.#fire(event);
        return;
      case 'schedule.rewound':
        this.#sql.rewind.run(event.body.toMs);
        return;
      default:
        this.#applyRest(event);
    }
  }

  #applyRest(event: AnyEvent): void {
    switch (event.type) {
      case 'signal.received':
        if (event.body.source === 'heartbeat') this.#beat(event);
        return;
      case 'heartbeat.ended':
        this.#sql.endBeat.run(event.body.outcome, event.body.textHash, event.body.turnId);
        return;
      case 'task.added': {
        const { taskId, text, by, sessionId, untrusted } = event.body;
        const task: Task = { taskId, text, by, sessionId, untrusted, state: 'open', createdAtMs: event.atMs, closedAtMs: null };
        this.#sql.putTask.run(taskId, 'open', event.atMs, JSON.stringify(task));
        return;
      }
      case 'task.closed':
        this.#closeTask(event.body, event.atMs);
        return;
      default:
        return;
    }
  }

  all(): KeptSchedule[] {
    return (this.#sql.all.all() as StoredSchedule[]).map((row) => this.#readSchedule(row));
  }

  find(scheduleId: string): KeptSchedule | null {
    const row = this.#sql.one.get(scheduleId) as StoredSchedule | undefined;
    return row === undefined ? null : this.#readSchedule(row);
  }

  /** The latest moment up to which any of them is settled; null without schedules. */
  furthestMs(): number | null {
    return this.#sql.furthest.get() as number | null;
  }

  /** Newest first. */
  fires(scheduleId: string, limit: number): FiredRow[] {
    const rows = this.#sql.fires.all(scheduleId, limit) as { body: string; atMs: number }[];
    return rows.map(({ body, atMs }) => ({ ...scheduleFiredSchema.parse(JSON.parse(body)), atMs }));
  }

  hasRun(scheduleId: string, dueMs: number): boolean {
    return this.#sql.ran.get(scheduleId, dueMs) !== undefined;
  }

  /** The schedule that started a turn, or work. */
  ofTurn(turnId: string): Schedule | null {
    if (!this.#fires.any) return null;
    const scheduleId = this.#sql.ofTurn.get(turnId) as string | undefined;
    return scheduleId === undefined ? null : (this.find(scheduleId)?.schedule ?? null);
  }

  lastBeat(): BeatRow | null {
    return (this.#sql.lastBeat.get() as BeatRow | undefined) ?? null;
  }

  /** Beats whose end has not been settled yet. */
  openBeats(): BeatRow[] {
    return this.#sql.openBeats.all() as BeatRow[];
  }

  wasTold(textHash: string, sinceMs: number): boolean {
    return this.#sql.told.get(textHash, sinceMs) !== undefined;
  }

  task(taskId: string): Task | null {
    const body = this.#sql.task.get(taskId) as string | undefined;
    return body === undefined ? null : taskSchema.parse(JSON.parse(body));
  }

  /** The open ones oldest first, or all, newest first. */
  tasks(which: 'open' | 'all', limit: number): Task[] {
    const rows = (which === 'open' ? this.#sql.openTasks : this.#sql.allTasks).all(limit) as string[];
    return rows.map((body) => taskSchema.parse(JSON.parse(body)));
  }

  get openTasks(): number {
    return this.#sql.countOpen.get() as number;
  }

  #write({ type, body, atMs }: EventOf<'schedule.created'> | EventOf<'schedule.changed'>): void {
    const { schedule } = body;
    const text = JSON.stringify(schedule);
    const before = this.find(schedule.scheduleId)?.schedule;
    const isNew = type === 'schedule.created' || before === undefined;
    const beginsAnew = isNew || JSON.stringify(before.spec) !== JSON.stringify(schedule.spec) || (!before.enabled && schedule.enabled);
    if (beginsAnew) this.#sql.put.run({ scheduleId: schedule.scheduleId, doneMs: atMs, body: text });
    else this.#sql.keep.run(text, schedule.scheduleId);
  }

  #fire({ body, seq, atMs }: EventOf<'schedule.fired'>): void {
    const { scheduleId, dueMs, turnId = body.taskId } = body;
    this.#fires.put();
    this.#sql.putFire.run(scheduleId, seq, dueMs, atMs, turnId ?? null, JSON.stringify(body));
    this.#sql.pruneFires.run({ id: scheduleId, kept: FIRES_KEPT });
    if (body.by === undefined) this.#sql.advance.run(body.untilMs ?? dueMs, scheduleId);
    if (turnId !== undefined) this.#sql.setTurn.run(turnId, scheduleId);
  }

  #beat({ body, seq, atMs }: EventOf<'signal.received'>): void {
    if (body.turnId === undefined || body.sessionId === null) return;
    this.#sql.putBeat.run(body.turnId, body.sessionId, seq, atMs);
    this.#sql.pruneBeats.run(BEATS_KEPT);
  }

  #closeTask({ taskId, how }: EventBodies['task.closed'], atMs: number): void {
    const task = this.task(taskId);
    if (task === null) return;
    this.#sql.closeTask.run(how, JSON.stringify({ ...task, state: how, closedAtMs: atMs } satisfies Task), taskId);
  }

  #readSchedule({ body, doneMs, lastTurnId }: StoredSchedule): KeptSchedule {
    let schedule = this.#read.get(body);
    if (schedule === undefined) {
      schedule = scheduleSchema.parse(JSON.parse(body));
      if (this.#read.size >= READ_KEPT) this.#read.clear();
      this.#read.set(body, schedule);
    }
    return { schedule, doneMs, lastTurnId };
  }
}
