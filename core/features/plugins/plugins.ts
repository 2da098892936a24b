// Plugins: features added by the host program or by an approved file. Their tools pass the same gate, their events go to the same log,
// their operations are served by the same doors. Connects plugins to the program; does not know what one does.

import { AppError } from '../../contracts/errors.ts';
import type { Plugin, PluginParts } from '../../contracts/plugin.ts';
import { describeIssues } from '../../contracts/describe-issues.ts';
import { systemSessionId } from '../../contracts/events.ts';
import { defineFeature, type Spine } from '../feature.ts';
import type { PluginFile } from './load-plugins.ts';
import { createPluginOps, type MadePlugin } from './ops.ts';
import { pluginChecks } from './checks.ts';
import type { PluginBook } from './plugin-book.ts';
import { PluginRows, pluginMigrations } from './rows.ts';

export { assertPlugin } from './check-plugin.ts';
export { loadPlugins, type PluginFile } from './load-plugins.ts';
export { PluginBook } from './plugin-book.ts';

type Taken = Pick<Spine, 'config' | 'clock' | 'logger' | 'log' | 'home' | 'facts' | 'panic' | 'closing'>;

interface Others {
  /** The plugins of the host program, and the files of config.yaml as found at the start. */
  readonly files: readonly PluginFile[];
  readonly book: PluginBook;
}

export const plugins = defineFeature({
  name: 'plugins',
  migrations: pluginMigrations,
  rows: ({ db }) => new PluginRows(db),
  create: (spine: Taken, _rows: PluginRows, { files, book }: Others) => {
    const made = files.map((file): MadePlugin => ({ ...file, parts: file.plugin === null ? null : create(spine, file.plugin, book) }));
    const parts = made.flatMap((one) => one.parts ?? []);
    const views = createPluginOps(spine, made);
    return {
      handlers: views.handlers,
      checks: [pluginChecks(views.list), ...parts.flatMap((one) => one.checks ?? [])],
      tools: parts.flatMap((one) => one.tools ?? []),
      packSources: parts.flatMap((one) => one.packSources ?? []),
      begin: () => {
        for (const one of parts) one.begin?.();
      },
      catchUp: () => parts.map((one) => one.catchUp?.() === true).includes(true),
      daily: () => {
        for (const one of parts) one.daily?.();
      },
      dispose: async () => {
        for (const one of parts.toReversed()) await one.dispose?.();
      },
    };
  },
});

function create({ config, clock, logger, log, facts, closing }: Taken, plugin: Plugin, book: PluginBook): PluginParts {
  const { name } = plugin;
  return plugin.create(
    {
      settings: settingsOf(plugin, config.plugins.settings[name] ?? {}),
      workspace: facts.workspace,
      clock,
      logger,
      signal: closing,
      record: (event, body) => {
        const schema = plugin.events?.[event];
        if (schema === undefined) throw new AppError('invalid_params', `${name} has no event ${event}.`);
        const fitting = check(schema, body, `The event ${name}.${event} does not fit`);
        log.append(systemSessionId, [{ type: 'plugin.recorded', body: { plugin: name, name: event, body: fitting } }], true);
      },
    },
    book.rowsOf(plugin),
  );
}

/** Fails with invalid_config. */
function settingsOf({ name, settings }: Plugin, given: Readonly<Record<string, unknown>>): unknown {
  if (settings === undefined) return given;
  const parsed = settings.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error.issues, { given, whole: 'the settings' });
  throw new AppError('invalid_config', `The settings of the plugin ${name} do not fit: ${issues.join('; ')}.`, { data: { issues } });
}

function check(schema: NonNullable<Plugin['events']>[string], given: unknown, what: string): unknown {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issues = describeIssues(parsed.error.issues, { given, whole: 'it' });
  throw new AppError('invalid_params', `${what}: ${issues.join('; ')}.`, { data: { issues } });
}
