// Schema changes. Each has an id, runs once, may safely run again, and states the schema version that a program needs to use the result.

import type Database from 'better-sqlite3';
import { assert } from '../../base/assert.ts';
import { AppError } from '../../contracts/errors.ts';

export interface Migration {
  /** For example `0001-events`. Migrations are applied in the order given. */
  readonly id: string;
  /** The lowest schema version of a program that can still use the file after this change. */
  readonly minSafeVersion: number;
  /** Must be idempotent, because it may run again after a crash. */
  up(db: Database.Database): void;
}

/** Migrations by id: SQL, or what is done. A program of the first schema version can use the file after them. */
export function sqlMigrations(byId: Readonly<Record<string, string | Migration['up']>>): Migration[] {
  return Object.entries(byId).map(([id, what]) => ({
    id,
    minSafeVersion: 1,
    up: typeof what === 'string' ? (db) => void db.exec(what) : what,
  }));
}

/** The schema version of this program. A file whose minimum safe version is higher is refused. */
export const schemaVersion = 2;

/**
 * Runs missing migrations, each in a separate transaction. Fails with `store_too_new` before changing anything. `reach` is called before
 * and after the work of each migration, where tests may end the process.
 */
export function migrate(db: Database.Database, migrations: readonly Migration[], reach?: () => void): void {
  const known = new Set(migrations.map((migration) => migration.id));
  assert(known.size === migrations.length, 'two migrations share an id');
  const applied = readApplied(db);
  const minSafe = readMinSafeVersion(db, applied);
  if (minSafe > schemaVersion) {
    throw new AppError(
      'store_too_new',
      `This data folder was written by a newer TrayClaw (needs schema ${minSafe}, this is ${schemaVersion}).`,
    );
  }
  const missing = migrations.filter((migration) => !applied.has(migration.id));
  if (missing.length === 0) return;
  db.exec(
    'CREATE TABLE IF NOT EXISTS migrations (id TEXT PRIMARY KEY, min_safe_version INTEGER NOT NULL, applied_at_ms INTEGER NOT NULL) STRICT',
  );
  const record = db.prepare('INSERT OR IGNORE INTO migrations (id, min_safe_version, applied_at_ms) VALUES (?, ?, unixepoch() * 1000)');
  for (const migration of missing) {
    db.transaction(() => {
      reach?.();
      migration.up(db);
      reach?.();
      record.run(migration.id, migration.minSafeVersion);
    }).immediate();
  }
}

function readApplied(db: Database.Database): Set<string> {
  if (!hasMigrationTable(db)) return new Set();
  const rows = db.prepare('SELECT id FROM migrations').all() as { id: string }[];
  return new Set(rows.map((row) => row.id));
}

function readMinSafeVersion(db: Database.Database, applied: ReadonlySet<string>): number {
  if (applied.size === 0) return 0;
  const row = db.prepare('SELECT max(min_safe_version) AS version FROM migrations').get() as { version: number };
  return row.version;
}

function hasMigrationTable(db: Database.Database): boolean {
  return db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'migrations'").get() !== undefined;
}
