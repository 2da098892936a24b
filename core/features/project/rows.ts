// The project files whose text a person accepted as instructions, as rows derived from the log. Decides nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const projectMigrations: readonly Migration[] = sqlMigrations({
  'project-001-accepted': 'CREATE TABLE IF NOT EXISTS project_accepted (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID',
});

const statements = {
  put: 'INSERT OR REPLACE INTO project_accepted (path, sha256) VALUES (?, ?)',
};

export class ProjectRows {
  readonly #sql: Statements;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event, inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'project.accepted') this.#sql.run(statements.put, event.body.path, event.body.sha256);
    if (event.type === 'project.withdrawn') this.#sql.run('DELETE FROM project_accepted WHERE path = ?', event.body.path);
  }

  accepted(path: string): string | null {
    return this.#sql.value<string>('SELECT sha256 FROM project_accepted WHERE path = ?', path) ?? null;
  }
}
