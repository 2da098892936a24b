// Health checks of plugins: reports plugins that wait for approval or cannot be loaded. Without plugins there is no check.

import { counted } from '../../base/counted.ts';
import { unwell, warning, well, type HealthSource } from '../../contracts/health.ts';
import type { PluginView } from '../../contracts/features/plugins.ts';

export function pluginChecks(list: () => readonly PluginView[]): HealthSource {
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

function linesOf(plugins: readonly PluginView[]): string {
  return plugins.map(({ name, path, problem }) => `${name ?? path ?? 'a plugin'}: ${problem ?? 'it could not be loaded'}`).join(' ');
}
