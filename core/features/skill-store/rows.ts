// The installed skills with their approvals, and installations that have begun but not ended, as rows derived from the log. Decides
// nothing.

import * as z from 'zod';
import { byType } from '../../contracts/event-table.ts';
import { lockEntrySchema, type LockEntry, type SkillMove } from '../../contracts/features/skill-store.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const skillStoreMigrations: readonly Migration[] = sqlMigrations({
  'skill-store-001-tables': `
    CREATE TABLE IF NOT EXISTS skill_lock (name TEXT PRIMARY KEY, entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS skill_installing (install_id TEXT PRIMARY KEY, moves TEXT NOT NULL) STRICT, WITHOUT ROWID;
  `,
});

export interface OpenInstall {
  readonly installId: string;
  readonly moves: readonly SkillMove[];
}

const entryRow = z.string().transform((text) => lockEntrySchema.parse(JSON.parse(text)));
const openRow = z.object({ installId: z.string(), moves: z.string() });

export class SkillStoreRows {
  readonly #sql: Statements;

  readonly apply = byType({
    'skill.installing': ({ body }) => {
      this.#sql.run(
        'INSERT OR REPLACE INTO skill_installing (install_id, moves) VALUES (?, ?)',
        body.installId,
        JSON.stringify(body.moves),
      );
    },
    'skill.installed': ({ body }) => {
      for (const entry of body.skills) this.#put(entry);
      this.#end(body.installId);
    },
    'skill.install_undone': ({ body }) => this.#end(body.installId),
    'skill.pinned': ({ body }) => {
      const entry = this.entry(body.name);
      if (entry !== null) this.#put({ ...entry, isPinned: body.isPinned });
    },
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  entry(name: string): LockEntry | null {
    const text = this.#sql.value('SELECT entry FROM skill_lock WHERE name = ?', name);
    return text === undefined ? null : entryRow.parse(text);
  }

  /** Sorted by name. Includes skills whose folder no longer exists. */
  entries(): LockEntry[] {
    const rows = this.#sql.values('SELECT entry FROM skill_lock ORDER BY name');
    return rows.map((text) => entryRow.parse(text));
  }

  /** Installations that began but did not end, because the process ended in between. */
  open(): OpenInstall[] {
    const rows = this.#sql.rows('SELECT install_id AS installId, moves FROM skill_installing');
    return rows.map((row) => {
      const { installId, moves } = openRow.parse(row);
      return { installId, moves: JSON.parse(moves) as SkillMove[] };
    });
  }

  #put(entry: LockEntry): void {
    this.#sql.run('INSERT OR REPLACE INTO skill_lock (name, entry) VALUES (?, ?)', entry.name, JSON.stringify(entry));
  }

  #end(installId: string): void {
    this.#sql.run('DELETE FROM skill_installing WHERE install_id = ?', installId);
  }
}
