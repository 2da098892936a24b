// The rows of plugins: their tables are created at the start, and their own events applied inside the transaction of each. A program
// without plugins has none of it.

import type { AnyEvent } from '../../contracts/events.ts';
import type { Plugin, PluginDatabase, PluginEvent } from '../../contracts/plugin.ts';
import type { SqlDatabase, Storage } from '../../store/storage/storage.ts';

type Applied = (event: PluginEvent) => void;

export class PluginBook {
  readonly #rows = new Map<Plugin, unknown>();
  readonly #appliers = new Map<string, Applied>();

  constructor(storage: Storage, plugins: readonly Plugin[]) {
    for (const plugin of plugins) {
      storage.migrate((plugin.migrations ?? []).map(({ id, up }) => ({ id, minSafeVersion: 1, up: (db) => up(databaseOf(db)) })));
      const rows = plugin.rows?.(databaseOf(storage.db));
      this.#rows.set(plugin, rows);
      if (rows?.apply !== undefined) this.#appliers.set(plugin.name, (event) => rows.apply?.(event));
    }
  }

  rowsOf(plugin: Plugin): unknown {
    return this.#rows.get(plugin);
  }

  /** Called for every event inside its transaction. */
  apply({ type, body, seq, atMs }: AnyEvent): void {
    if (type === 'plugin.recorded') this.#appliers.get(body.plugin)?.({ seq, atMs, name: body.name, body: body.body });
  }
}

function databaseOf(db: SqlDatabase): PluginDatabase {
  return {
    exec: (sql) => {
      db.exec(sql);
    },
    run: (sql, ...values) => {
      db.prepare(sql).run(...values);
    },
    all: (sql, ...values) => db.prepare(sql).all(...values),
  };
}
