// Views of agents on other machines.

import type { ViewsOf } from '../kernel/view.ts';
import { table } from '../table.ts';

export const a2aViews: ViewsOf<'a2a'> = {
  'a2a.card': {
    json: ({ card }) => card,
    show: ({ enabled, card }, { program }) =>
      `${JSON.stringify(card, null, 2)}\n` +
      (enabled
        ? `Others need a token: ${program} doors token create --door a2a`
        : `The door is closed. Open it: ${program} config set doors.a2a.enabled true`),
  },
  'a2a.peers': {
    json: ({ peers }) => peers,
    show: ({ peers }) =>
      table(
        ['PEER', 'STATE', 'TASKS', 'ONCE', 'ADDRESS', ''],
        peers.map((one) => [one.peer, one.state, String(one.open), one.once ? 'yes' : 'no', one.url, one.problem ?? one.name]),
        'There are no agents on other machines. Add one under a2a.peers in config.yaml.',
      ),
  },
};
