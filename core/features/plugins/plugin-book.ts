// The rows of plugins: creates their tables at the start, and applies their events in the transaction of each event. Without plugins it
// does nothing.

import type { AnyEvent } from '../../contracts/events.ts';
import type { Plugin, PluginDatabase, PluginEvent } from '../../contracts/plugin.ts';
import { err, ok, type Result } from '../../base/result.ts';
import type { SqlDatabase, Storage } from '../../store/storage/storage.ts';

type Applied = (event: PluginEvent) => void;

export class PluginBook {
  readonly #rows = new Map<Plugin, Result<unknown, unknown>>();
  readonly #appliers = new Map<string, Applied>();

  constructor(storage: Storage, files: readonly { readonly plugin: Plugin | null }[]) {
    for (const { plugin } of files) if (plugin !== null) this.#rows.set(plugin, this.#open(storage, plugin));
  }

  /** Throws the error that the migrations or rows of the plugin caused at the start. */
  rowsOf(plugin: Plugin): unknown {
    const opened = this.#rows.get(plugin);
    if (opened?.ok === false) throw opened.error;
    return opened?.value;
  }

  /** Called for every event, inside its transaction. */
  apply({ type, body, seq, atMs }: AnyEvent): void {
    if (type === 'plugin.recorded') this.#appliers.get(body.plugin)?.({ seq, atMs, name: body.name, body: body.body });
  }

  #open(storage: Storage, plugin: Plugin): Result<unknown, unknown> {
    try {
      storage.migrate((plugin.migrations ?? []).map(({ id, up }) => ({ id, minSafeVersion: 1, up: (db) => up(databaseOf(db)) })));
      const rows = plugin.rows?.(databaseOf(storage.db));
      if (rows?.apply !== undefined) this.#appliers.set(plugin.name, (event) => rows.apply?.(event));
      return ok(rows);
    } catch (cause) {
      return err(cause);
    }
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
