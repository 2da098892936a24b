// The installed skills with their approvals, and an installation that has begun and not ended: rows kept in step with the log. Decides
// nothing.

import * as z from 'zod';
import type { AnyEvent } from '../../contracts/events.ts';
import { lockEntrySchema, type LockEntry, type SkillMove } from '../../contracts/features/skill-store.ts';
import type { Migration, SqlDatabase } from '../../store/storage/storage.ts';

export const skillStoreMigrations: readonly Migration[] = [
  {
    id: 'skill-store-001-tables',
    minSafeVersion: 1,
    up: (db) => {
      db.exec(`
        CREATE TABLE IF NOT EXISTS skill_lock (name TEXT PRIMARY KEY, entry TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS skill_installing (install_id TEXT PRIMARY KEY, moves TEXT NOT NULL) STRICT, WITHOUT ROWID;
      `);
    },
  },
];

export interface OpenInstall {
  readonly installId: string;
  readonly moves: readonly SkillMove[];
}

const entryRow = z.string().transform((text) => lockEntrySchema.parse(JSON.parse(text)));
const openRow = z.object({ installId: z.string(), moves: z.string() });

export class SkillStoreRows {
  readonly #db: SqlDatabase;

  constructor(db: SqlDatabase) {
    this.#db = db;
  }

  apply(event: AnyEvent): void {
    switch (event.type) {
      case 'skill.installing':
        this.#db
          .prepare('INSERT OR REPLACE INTO skill_installing (install_id, moves) VALUES (?, ?)')
          .run(event.body.installId, JSON.stringify(event.body.moves));
        return;
      case 'skill.installed':
        for (const entry of event.body.skills) this.#put(entry);
        this.#end(event.body.installId);
        return;
      case 'skill.install_undone':
        this.#end(event.body.installId);
        return;
      case 'skill.pinned': {
        const entry = this.entry(event.body.name);
        if (entry !== null) this.#put({ ...entry, isPinned: event.body.isPinned });
        return;
      }
      default:
    }
  }

  entry(name: string): LockEntry | null {
    const text = this.#db.prepare('SELECT entry FROM skill_lock WHERE name = ?').pluck().get(name);
    return text === undefined ? null : entryRow.parse(text);
  }

  /** In the order of their names, those whose folder is gone among them. */
  entries(): LockEntry[] {
    const rows = this.#db.prepare('SELECT entry FROM skill_lock ORDER BY name').pluck().all();
    return rows.map((text) => entryRow.parse(text));
  }

  /** Begun and not ended: the process was ended in between. */
  open(): OpenInstall[] {
    const rows = this.#db.prepare('SELECT install_id AS installId, moves FROM skill_installing').all();
    return rows.map((row) => {
      const { installId, moves } = openRow.parse(row);
      return { installId, moves: JSON.parse(moves) as SkillMove[] };
    });
  }

  #put(entry: LockEntry): void {
    this.#db.prepare('INSERT OR REPLACE INTO skill_lock (name, entry) VALUES (?, ?)').run(entry.name, JSON.stringify(entry));
  }

  #end(installId: string): void {
    this.#db.prepare('DELETE FROM skill_installing WHERE install_id = ?').run(installId);
  }
}
