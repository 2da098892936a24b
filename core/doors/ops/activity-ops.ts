// The operations on past activity: the events of one turn, the export of a turn, and search over all sessions.

import { setImmediate as giveWay } from 'node:timers/promises';
import { noTurn } from '../../contracts/errors.ts';
import type { OpHandlers, OpParsed, OpResult } from '../../contracts/ops.ts';
import { exportTurn, type TurnRow } from '../../store/session/session.ts';
import type { OpsParts } from './parts.ts';

type Deps = Pick<OpsParts, 'log'>;

const PAGE = 2_000;
const HITS = 50;

export function createActivityOps(deps: Deps) {
  return {
    'turn.events': ({ turnId, after = 0, limit = PAGE }) => {
      const row = findTurn(deps, turnId);
      const events = deps.log.reads.turnPage(row, after, limit);
      return { sessionId: row.sessionId, events, hasMore: events.length === limit };
    },
    'turn.export': ({ turnId, format }) => {
      const { sessionId, firstSeq } = findTurn(deps, turnId);
      return { text: exportTurn(deps.log.reads.turn(sessionId, turnId, firstSeq), format) };
    },
    'activity.search': (params) => search(deps, params),
  } satisfies Partial<OpHandlers>;
}

function findTurn(deps: Deps, turnId: string): TurnRow {
  const row = deps.log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  return row;
}

async function search(deps: Deps, params: OpParsed<'activity.search'>): Promise<OpResult<'activity.search'>> {
  const { log } = deps;
  // The first search indexes a long log in steps, so that it does not block other work.
  while (log.activity.catchUp()) await giveWay();
  const { limit = HITS, ...given } = params;
  // One extra row shows whether there is a next page.
  const found = log.activity.find(given, limit + 1);
  const page = found.slice(0, limit);
  return {
    hits: page.map((hit) => ({ ...hit, title: log.index.session(hit.sessionId)?.title ?? '' })),
    nextBefore: found.length > limit ? (page.at(-1)?.seq ?? null) : null,
  };
}
