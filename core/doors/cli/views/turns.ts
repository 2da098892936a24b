// Views of turns, their events and their context packs.

import { describePack, describeTurn } from '../insight.ts';
import type { ViewsOf } from '../kernel/view.ts';
import { table, when } from '../table.ts';

export const turnViews: ViewsOf<'turn'> = {
  'turn.cancel': { show: ({ status }, { params }) => `${params.turnId} is ${status}.` },
  'turn.steer': { show: (_, { params }) => `Told ${params.turnId}.` },
  'turn.get': { show: (turn, { paint }) => describeTurn(turn, paint) },
  'turn.events': {
    show: ({ events }) =>
      table(
        ['SEQ', 'WHEN', 'STEP', 'PHASE', 'TYPE'],
        events.map((one) => [String(one.seq), when(one.atMs), String(one.step), one.phase ?? '', one.type]),
        'Nothing was recorded.',
      ),
    next: ({ events, hasMore }) => (hasMore ? `--after ${events.at(-1)?.seq ?? 0}` : null),
  },
  'turn.export': { show: ({ text }) => text },
};

const figure = (value: number | null): string => (value === null ? '-' : String(value));

export const packViews: ViewsOf<'pack'> = {
  'pack.get': { show: describePack },
  'pack.list': {
    json: ({ packs }) => packs,
    show: ({ packs }) =>
      table(
        ['PACK', 'WHEN', 'MODEL', 'TOKENS', 'OF', 'REPORTED', 'CACHED', 'LEFT OUT', 'SHORTENED'],
        packs.map((one) => [
          one.packId,
          when(one.atMs),
          one.model ?? '-',
          String(one.tokens),
          String(one.budgetTokens),
          figure(one.inputTokens),
          figure(one.cachedInputTokens),
          String(one.dropped),
          String(one.truncated),
        ]),
        'No packs.',
      ),
  },
};
