// The approved content of each plugin path: rows derived from the log, read before any plugin code runs.

import { byType } from '../../contracts/event-table.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const pluginMigrations: readonly Migration[] = sqlMigrations({
  'plugin-001-approvals': 'CREATE TABLE IF NOT EXISTS plugin_approvals (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID',
});

export class PluginRows {
  readonly #sql: Statements;

  readonly apply = byType({
    'plugin.approved': ({ body: { path, sha256 } }) =>
      void this.#sql.run('INSERT OR REPLACE INTO plugin_approvals (path, sha256) VALUES (?, ?)', path, sha256),
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** The hash of the content last approved at this path. */
  approved(path: string): string | null {
    return this.#sql.value<string>('SELECT sha256 FROM plugin_approvals WHERE path = ?', path) ?? null;
  }
}
