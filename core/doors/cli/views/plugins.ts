// Views of plugins and of their answers.

import type { ViewsOf } from '../kernel/view.ts';
import { table } from '../table.ts';

export const pluginViews: ViewsOf<'plugin'> = {
  'plugin.list': {
    json: ({ plugins }) => plugins,
    show: ({ plugins }) =>
      table(
        ['PLUGIN', 'STATE', 'PATH', 'SHA256', 'OFFERS', ''],
        plugins.map((one) => [
          one.name ?? '-',
          one.state,
          one.path ?? 'the program',
          one.sha256 ?? '-',
          [...one.operations.map(({ name }) => name), ...one.tools].join(' ') || '-',
          one.problem ?? '',
        ]),
        'There are no plugins.',
      ),
  },
  'plugin.call': { json: ({ result }) => result, show: ({ result }) => JSON.stringify(result, null, 2) ?? 'It answered nothing.' },
};
