// Versions of capsules as rows, kept in step with the log. Makes no decision.

import type { AnyEvent } from '../../contracts/events.ts';
import { capsuleVersionSchema, type CapsuleVersion } from '../../contracts/features/identity.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export const identityMigrations: readonly Migration[] = sqlMigrations({
  'identity-001-versions': `
    CREATE TABLE IF NOT EXISTS identity_versions (
      agent_id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (agent_id, version)
    ) STRICT, WITHOUT ROWID;
  `,
});

export class IdentityRows {
  readonly #sql: Statements;
  /** Cached, because it is read at the start of each turn. */
  readonly #known = new Map<string, CapsuleVersion | null>();

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  apply(event: AnyEvent): void {
    if (event.type !== 'identity.changed') return;
    const { agentId, version } = event.body;
    const body = JSON.stringify({ ...event.body, atMs: event.atMs });
    this.#sql.run('INSERT OR REPLACE INTO identity_versions (agent_id, version, body) VALUES (?, ?, ?)', agentId, version, body);
    this.#known.delete(agentId);
  }

  newest(agentId: string): CapsuleVersion | null {
    const known = this.#known.get(agentId);
    if (known !== undefined) return known;
    const found = read(this.#sql.value('SELECT body FROM identity_versions WHERE agent_id = ? ORDER BY version DESC LIMIT 1', agentId));
    this.#known.set(agentId, found);
    return found;
  }

  one(agentId: string, version: number): CapsuleVersion | null {
    return read(this.#sql.value('SELECT body FROM identity_versions WHERE agent_id = ? AND version = ?', agentId, version));
  }

  versions(agentId: string, limit: number): CapsuleVersion[] {
    return this.#sql
      .values('SELECT body FROM identity_versions WHERE agent_id = ? ORDER BY version DESC LIMIT ?', agentId, limit)
      .flatMap((body) => read(body) ?? []);
  }
}

function read(body: unknown): CapsuleVersion | null {
  return typeof body === 'string' ? capsuleVersionSchema.parse(JSON.parse(body)) : null;
}
