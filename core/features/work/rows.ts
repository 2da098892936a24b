// The table of work with criteria.

import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';
import { createRunTable, RunRows } from '../../runtime/runs/runs.ts';

const table = { name: 'work_tasks', key: 'task_id' };

export const workMigrations: readonly Migration[] = [{ id: 'work-001-tasks', minSafeVersion: 1, up: (db) => createRunTable(db, table) }];

export function workRows(db: SqlDatabase): RunRows {
  return new RunRows(db, table, (event) => {
    if (event.type === 'work.started') return { id: event.body.taskId, at: 'start' };
    return event.type === 'work.finished' ? { id: event.body.taskId, at: 'end' } : null;
  });
}
