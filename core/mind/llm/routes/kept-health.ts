// Stores the health of models across restarts in a small table. Losing it costs one request to a model that is still down.

import type Database from 'better-sqlite3';
import type { HealthRow, HealthStore } from './model-health.ts';

const ROWS_MAX = 1_000;

export const healthMigration = {
  id: 'llm-003-health',
  minSafeVersion: 1,
  up: (db: Database.Database): void => {
    db.exec(`
      CREATE TABLE IF NOT EXISTS model_health (
        subject TEXT PRIMARY KEY,
        until_ms INTEGER NOT NULL,
        failures INTEGER NOT NULL,
        why TEXT NOT NULL,
        latency_ms REAL
      ) STRICT, WITHOUT ROWID;
    `);
  },
};

export function keptHealth(db: Database.Database): HealthStore {
  return {
    load: () =>
      db
        .prepare<[number], HealthRow>(
          'SELECT subject, until_ms AS untilMs, failures, why, latency_ms AS latencyMs FROM model_health LIMIT ?',
        )
        .all(ROWS_MAX),
    save: (rows) => {
      const put = db.prepare('INSERT OR REPLACE INTO model_health (subject, until_ms, failures, why, latency_ms) VALUES (?, ?, ?, ?, ?)');
      for (const { subject, untilMs, failures, why, latencyMs } of rows) put.run(subject, Math.round(untilMs), failures, why, latencyMs);
    },
  };
}
