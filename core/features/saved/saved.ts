// Prompts that a person saved to use again, as rows derived from the log. They are the person's own text; nothing is sent from here.

import { AppError, noSuch } from '../../contracts/errors.ts';
import { systemSessionId, type AnyEvent } from '../../contracts/events.ts';
import type { SavedPrompt } from '../../contracts/features/saved.ts';
import type { OpHandlers } from '../../contracts/ops.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';
import { defineBuiltInFeature, type Spine } from '../feature.ts';

const PROMPTS_MAX = 200;

const migrations: readonly Migration[] = sqlMigrations({
  'saved-001-prompts':
    'CREATE TABLE IF NOT EXISTS saved_prompts (name TEXT PRIMARY KEY, text TEXT NOT NULL, saved_at_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID',
});

const statements = {
  put: 'INSERT OR REPLACE INTO saved_prompts (name, text, saved_at_ms) VALUES (?, ?, ?)',
};

class SavedRows {
  readonly #sql: Statements;

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** Called for every event, inside its transaction. */
  apply(event: AnyEvent): void {
    if (event.type === 'saved.written') this.#sql.run(statements.put, event.body.name, event.body.text, event.atMs);
    if (event.type === 'saved.removed') this.#sql.run('DELETE FROM saved_prompts WHERE name = ?', event.body.name);
  }

  list(): SavedPrompt[] {
    return this.#sql.rows<SavedPrompt>('SELECT name, text, saved_at_ms AS savedAtMs FROM saved_prompts ORDER BY name');
  }
}

export const saved = defineBuiltInFeature({
  name: 'saved',
  migrations,
  rows: ({ db }) => new SavedRows(db),
  create: ({ log, redactDeep }: Pick<Spine, 'log' | 'redactDeep'>, rows: SavedRows) => {
    const find = (name: string): SavedPrompt | undefined => rows.list().find((prompt) => prompt.name === name);
    const handlers = {
      'saved.list': () => ({ prompts: rows.list() }),
      'saved.put': ({ name, text }, { actor }) => {
        // The log would keep it under another name.
        if (redactDeep(name) !== name) throw new AppError('invalid_params', 'name: is a secret, or holds one. Choose another.');
        if (find(name) === undefined && rows.list().length >= PROMPTS_MAX)
          throw new AppError('queue_full', `There are ${PROMPTS_MAX} saved prompts already; remove one first.`);
        log.append(systemSessionId, [{ type: 'saved.written', body: { name, text, by: actor } }], true);
        const found = find(name);
        if (found === undefined) throw new AppError('internal', `The prompt ${name} was not saved.`);
        return found;
      },
      'saved.remove': ({ name }, { actor }) => {
        const found = find(name);
        if (found === undefined)
          throw noSuch(
            'saved prompt',
            name,
            rows.list().map((one) => one.name),
            'See: trayclaw saved list',
          );
        log.append(systemSessionId, [{ type: 'saved.removed', body: { name, by: actor } }], true);
        return found;
      },
    } satisfies Partial<OpHandlers>;
    return { handlers, gives: { prompts: rows } };
  },
});
