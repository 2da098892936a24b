// The project files whose text a person accepted as instructions, kept in step with the log. Decides nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const projectMigrations: readonly Migration[] = [
  {
    id: 'project-001-accepted',
    minSafeVersion: 1,
    up: (db) => {
      db.exec('CREATE TABLE IF NOT EXISTS project_accepted (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID');
    },
  },
];

function prepareAll(db: SqlDatabase) {
  return {
    put: db.prepare('INSERT OR REPLACE INTO project_accepted (path, sha256) VALUES (?, ?)'),
    drop: db.prepare('DELETE FROM project_accepted WHERE path = ?'),
    of: db.prepare('SELECT sha256 FROM project_accepted WHERE path = ?').pluck(),
  };
}

export class ProjectRows {
  readonly #db: SqlDatabase;
  // Prepared when first used: most starts touch no project.
  #sql: ReturnType<typeof prepareAll> | null = null;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  /** Called for every event inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'project.accepted') this.#all.put.run(event.body.path, event.body.sha256);
    if (event.type === 'project.withdrawn') this.#all.drop.run(event.body.path);
  }

  accepted(path: string): string | null {
    return (this.#all.of.get(path) as string | undefined) ?? null;
  }

  get #all(): ReturnType<typeof prepareAll> {
    return (this.#sql ??= prepareAll(this.#db));
  }
}
