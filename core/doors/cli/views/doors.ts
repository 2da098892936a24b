// Views of doors and their tokens. The only module that prints a token.

import type { ViewsOf } from '../kernel/view.ts';
import { money, table, when } from '../table.ts';

const limitOf = (perDayUsd: number | null): string => (perDayUsd === null ? '-' : money(perDayUsd));

export const doorViews: ViewsOf<'door'> = {
  'door.list': {
    json: ({ doors }) => doors,
    show: ({ doors }) =>
      table(
        ['DOOR', 'OPEN', 'TOKENS', 'PATHS'],
        doors.map((one) => [one.door, one.enabled ? 'yes' : 'no', String(one.tokens), one.paths.join(' ')]),
        'There are no doors.',
      ),
  },
  'door.create_token': {
    json: ({ key, ...made }) => ({ ...made, token: key }),
    show: ({ key, name, door, scopes, perMinute, perDayUsd }) =>
      `${key}\nThis is the only time it is shown. Name ${name}, door ${door}, may use ${scopes.join(', ')}, ${perMinute} requests a minute, ` +
      (perDayUsd === null ? 'within your own budgets.' : `${limitOf(perDayUsd)} a day.`),
  },
  'door.list_tokens': {
    json: ({ tokens }) => tokens,
    show: ({ tokens }) =>
      table(
        ['NAME', 'ID', 'DOOR', 'MAY USE', 'A MINUTE', 'A DAY', 'SPENT TODAY', 'LAST USED'],
        tokens.map((one) => [
          one.name,
          one.tokenId,
          one.door,
          one.scopes.join(' '),
          String(one.perMinute),
          limitOf(one.perDayUsd),
          money(one.spentTodayUsd),
          one.lastUsedAtMs === null ? 'never' : when(one.lastUsedAtMs),
        ]),
        'There are no tokens. Make one: trayclaw doors token create',
      ),
  },
};
