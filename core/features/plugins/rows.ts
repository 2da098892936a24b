// The approved content of each plugin path: rows kept in step with the log, read before any code of a plugin.

import type { AnyEvent } from '../../contracts/events.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const pluginMigrations: readonly Migration[] = [
  {
    id: 'plugin-001-approvals',
    minSafeVersion: 1,
    up: (db) => {
      db.exec('CREATE TABLE IF NOT EXISTS plugin_approvals (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID');
    },
  },
];

export class PluginRows {
  readonly #db: SqlDatabase;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type !== 'plugin.approved') return;
    const { path, sha256 } = event.body;
    this.#db
      .prepare('INSERT INTO plugin_approvals (path, sha256) VALUES (?, ?) ON CONFLICT (path) DO UPDATE SET sha256 = excluded.sha256')
      .run(path, sha256);
  }

  /** The content last approved there. */
  approved(path: string): string | null {
    const sha256 = this.#db.prepare('SELECT sha256 FROM plugin_approvals WHERE path = ?').pluck().get(path);
    return typeof sha256 === 'string' ? sha256 : null;
  }
}
