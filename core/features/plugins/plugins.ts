// Plugins: features added by the host program or by an approved file. Their tools pass the same gate, their events are stored in the same
// log, and the same doors serve their operations. Connects plugins to the program; does not know what they do.

import { defineBuiltInFeature, type Spine } from '../feature.ts';
import { pluginChecks } from './checks.ts';
import type { PluginFile } from './load-plugins.ts';
import { createPluginOps } from './ops.ts';
import type { PluginBook } from './plugin-book.ts';
import { PluginRows, pluginMigrations } from './rows.ts';
import { RunningPlugin, type PluginGround } from './running-plugin.ts';

export { findPlugins } from './load-plugins.ts';
export { PluginBook } from './plugin-book.ts';

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
  create: (spine: Taken, _rows: PluginRows) => {
    const all = spine.pluginFiles.map((file) => new RunningPlugin(spine, file, spine.pluginBook));
    return {
      handlers: createPluginOps(spine, all),
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
