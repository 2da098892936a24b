// The table of pipeline runs.

import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';
import { createRunTable, RunRows } from '../../runtime/runs/runs.ts';

const table = { name: 'pipeline_runs', key: 'pipeline_id' };

export const pipelineMigrations: readonly Migration[] = [
  { id: 'pipeline-001-runs', minSafeVersion: 1, up: (db) => createRunTable(db, table) },
];

export function pipelineRows(db: SqlDatabase): RunRows {
  return new RunRows(db, table, (event) => {
    if (event.type === 'pipeline.started') return { id: event.body.pipelineId, at: 'start' };
    return event.type === 'pipeline.finished' ? { id: event.body.pipelineId, at: 'end' } : null;
  });
}
