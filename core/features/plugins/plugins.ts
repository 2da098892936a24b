// Plugins: features added by the host program or by an approved file. Their tools pass the same gate, their events are stored in the same
// log, and the same doors serve their operations. Connects plugins to the program; does not know what they do.

import { defineBuiltInFeature, type Spine } from '../feature.ts';
import type { PluginFile } from './load-plugins.ts';
import { createPluginOps } from './ops.ts';
import type { PluginBook } from './plugin-book.ts';
import { RunningPlugin, type PluginGround } from './running-plugin.ts';
import { counted } from '../../base/counted.ts';
import { unwell, warning, well, type HealthSource } from '../../contracts/health.ts';
import type { PluginView } from '../../contracts/features/plugins.ts';
import { byType } from '../../contracts/event-table.ts';
import type { PermittingRows } from '../../store/session/session.ts';
import { Statements, sqlMigrations, type Migration, type SqlDatabase } from '../../store/storage/storage.ts';

export { findPlugins } from './load-plugins.ts';
export { PluginBook } from './plugin-book.ts';

/** The approved content of each plugin path: rows derived from the log, read before any plugin code runs. */
const pluginMigrations: readonly Migration[] = sqlMigrations({
  'plugin-001-approvals': 'CREATE TABLE IF NOT EXISTS plugin_approvals (path TEXT PRIMARY KEY, sha256 TEXT NOT NULL) STRICT, WITHOUT ROWID',
});

class PluginRows {
  readonly #sql: Statements;

  readonly permits = {
    what: 'The approval of the plugin',
    rows: 'plugin_approvals',
    key: 'path',
    value: 'sha256',
    events: ['plugin.approved'],
    keyInBody: "json_extract(body, '$.path')",
    valueInBody: "json_extract(body, '$.sha256')",
    undo: 'remove KEY from plugins.files in config.yaml',
  } satisfies PermittingRows;

  readonly apply = byType({
    'plugin.approved': ({ body: { path, sha256 } }) =>
      void this.#sql.run('INSERT OR REPLACE INTO plugin_approvals (path, sha256) VALUES (?, ?)', path, sha256),
    'plugin.revoked': ({ body: { path } }) => void this.#sql.run('DELETE FROM plugin_approvals WHERE path = ?', path),
  });

  constructor(db: SqlDatabase) {
    this.#sql = new Statements(db);
  }

  /** The hash of the content last approved at this path. */
  approved(path: string): string | null {
    return this.#sql.value<string>('SELECT sha256 FROM plugin_approvals WHERE path = ?', path) ?? null;
  }
}

type Taken = PluginGround &
  Pick<Spine, 'home' | 'panic'> & {
    /** The plugins of the host program, and those of the files in config.yaml, as found at the start. */
    readonly pluginFiles: readonly PluginFile[];
    readonly pluginBook: PluginBook;
  };

export const plugins = defineBuiltInFeature({
  name: 'plugins',
  migrations: pluginMigrations,
  rows: ({ db }) => new PluginRows(db),
  create: (spine: Taken, rows: PluginRows) => {
    const all = spine.pluginFiles.map((file) => new RunningPlugin(spine, file, spine.pluginBook));
    return {
      handlers: createPluginOps(spine, all, rows),
      checks: [pluginChecks(() => all.map(({ view }) => view)), ...all.flatMap(({ parts }) => parts.checks ?? [])],
      get strategies() {
        return all.flatMap(({ parts }) => parts.strategies ?? []);
      },
      packSources: all.flatMap(({ packSources }) => packSources),
      channels: all.flatMap(({ parts }) => parts.channel ?? []),
      services: all.flatMap(({ parts }) => parts.service ?? []),
      begin: () => {
        for (const plugin of all) void plugin.begin();
      },
      catchUp: () => all.map(({ parts }) => parts.catchUp?.() === true).includes(true),
      daily: (nowMs: number) => {
        for (const { parts } of all) parts.daily?.(nowMs);
      },
      dispose: async () => {
        for (const { parts } of all.toReversed()) await parts.dispose?.();
      },
    };
  },
});

/** Health checks of plugins: reports plugins that wait for approval or cannot be loaded. Without plugins there is no check. */
function pluginChecks(list: () => readonly PluginView[]): HealthSource {
  return {
    check: () => {
      const all = list();
      const broken = all.filter(({ state }) => state === 'failed' || state === 'refused');
      const waiting = all.filter(({ state }) => state === 'waiting');
      if (all.length === 0) return [];
      if (broken.length > 0) return [unwell('plugins', linesOf(broken), 'trayclaw plugins list')];
      if (waiting.length > 0) return [warning('plugins', linesOf(waiting), 'trayclaw plugins list')];
      return [well('plugins', `${counted(all.length, 'plugin is', 'plugins are')} loaded.`)];
    },
  };
}

function linesOf(views: readonly PluginView[]): string {
  return views.map(({ name, path, problem }) => `${name ?? path ?? 'a plugin'}: ${problem ?? 'it could not be loaded'}`).join(' ');
}
