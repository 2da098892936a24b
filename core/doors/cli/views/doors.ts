// Views of doors and their tokens, agents on other machines, plugins and signals. The only module that prints a token.

import { listed, type ViewsOf } from '../kernel/view.ts';
import { money, when } from '../table.ts';

const limitOf = (perDayUsd: number | null): string => (perDayUsd === null ? '-' : money(perDayUsd));

export const doorViews: ViewsOf<'door'> = {
  'door.list': listed(
    'doors',
    { DOOR: 'door', OPEN: 'enabled', TOKENS: 'tokens', PATHS: ({ paths }) => paths.join(' ') },
    'There are no doors.',
  ),
  'door.create_token': {
    json: ({ key, ...made }) => ({ ...made, token: key }),
    show: ({ key, name, door, scopes, perMinute, perDayUsd }) =>
      `${key}\nThis is the only time it is shown. Name ${name}, door ${door}, may use ${scopes.join(', ')}, ${perMinute} requests a minute, ` +
      (perDayUsd === null ? 'within your own budgets.' : `${limitOf(perDayUsd)} a day.`),
  },
  'door.list_tokens': listed(
    'tokens',
    {
      NAME: 'name',
      ID: 'tokenId',
      DOOR: 'door',
      'MAY USE': ({ scopes }) => scopes.join(' '),
      'A MINUTE': 'perMinute',
      'A DAY': ({ perDayUsd }) => limitOf(perDayUsd),
      'SPENT TODAY': 'spentTodayUsd',
      'LAST USED': ({ lastUsedAtMs }) => (lastUsedAtMs === null ? 'never' : when(lastUsedAtMs)),
    },
    'There are no tokens. Make one: trayclaw doors token create',
  ),
};

export const a2aViews: ViewsOf<'a2a'> = {
  'a2a.card': {
    json: ({ card }) => card,
    show: ({ enabled, card }, { program }) =>
      `${JSON.stringify(card, null, 2)}\n` +
      (enabled
        ? `Others need a token: ${program} doors token create --door a2a`
        : `The door is closed. Open it: ${program} config set doors.a2a.enabled true`),
  },
  'a2a.peers': listed(
    'peers',
    { PEER: 'peer', STATE: 'state', TASKS: 'open', ONCE: 'once', ADDRESS: 'url', '': ({ problem, name }) => problem ?? name },
    'There are no agents on other machines. Add one under a2a.peers in config.yaml.',
  ),
};

export const pluginViews: ViewsOf<'plugin'> = {
  'plugin.list': listed(
    'plugins',
    {
      PLUGIN: 'name',
      STATE: 'state',
      PATH: ({ path }) => path ?? 'the program',
      SHA256: 'sha256',
      OFFERS: ({ operations, tools }) => [...operations.map(({ name }) => name), ...tools].join(' ') || '-',
      '': ({ problem }) => problem ?? '',
    },
    'There are no plugins.',
  ),
  'plugin.call': { json: ({ result }) => result, show: ({ result }) => JSON.stringify(result, null, 2) ?? 'It answered nothing.' },
};

export const signalViews: ViewsOf<'signal'> = {
  'signal.list': listed(
    'signals',
    {
      WHEN: 'atMs',
      SOURCE: 'source',
      NAME: 'name',
      ATTENTION: 'attention',
      'WHAT WAS DONE': 'disposition',
      TEXT: ({ reason, text }) => reason ?? text,
    },
    'No signals.',
  ),
  'signal.send': {
    show: ({ repeated, disposition, turnId }) =>
      repeated ? 'It was there before.' : `${disposition}${turnId === undefined ? '' : `: turn ${turnId}`}`,
  },
};
