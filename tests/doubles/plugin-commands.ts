// For tests only: commands about plugins, each with the operation it calls, and the fake's answers. The fake has one plugin, `weather`.

import { AppError } from '../../core/contracts/errors.ts';
import type { OpHandlers, OpName } from '../../core/contracts/ops.ts';
import type { PluginView } from '../../core/contracts/features/plugins.ts';

const sha256 = 'a'.repeat(64);
const weather: PluginView = {
  name: 'weather',
  path: '/plugins/weather.mjs',
  sha256,
  hash: sha256,
  state: 'loaded',
  problem: null,
  operations: [{ name: 'weather.report', about: 'Reports.', params: {} }],
  tools: [],
};
const report = { degrees: 21 };

export const pluginAnswers: Pick<OpHandlers, 'plugin.list' | 'plugin.approve' | 'plugin.revoke' | 'plugin.call'> = {
  'plugin.list': () => ({ plugins: [weather] }),
  'plugin.approve': (given) => ({ name: null, hash: given.sha256, state: 'approved', ...given }),
  'plugin.revoke': ({ path }) => ({ name: 'weather', path, hash: sha256, state: 'revoked' }),
  'plugin.call': ({ operation }) => {
    if (operation !== 'weather.report') throw new AppError('unknown_op', `There is no operation ${operation}.`);
    return { result: report };
  },
};

export const pluginCommands: readonly { argv: string[]; op: OpName; params: unknown; json: unknown }[] = [
  { argv: ['plugins', 'list'], op: 'plugin.list', params: {}, json: [weather] },
  {
    argv: ['plugins', 'approve', 'weather.mjs', sha256],
    op: 'plugin.approve',
    params: { path: '/work-folder/weather.mjs', sha256 },
    json: { name: null, path: '/work-folder/weather.mjs', hash: sha256, sha256, state: 'approved' },
  },
  {
    argv: ['plugins', 'revoke', 'weather.mjs'],
    op: 'plugin.revoke',
    params: { path: '/work-folder/weather.mjs' },
    json: { name: 'weather', path: '/work-folder/weather.mjs', hash: sha256, state: 'revoked' },
  },
  {
    argv: ['plugins', 'call', 'weather.report', '{"city":"Oslo"}'],
    op: 'plugin.call',
    params: { operation: 'weather.report', params: { city: 'Oslo' } },
    json: report,
  },
];
