// Operations on second opinions: request one, and list those of a turn.

import type { OpHandlers } from '../../contracts/ops.ts';
import type { opinionOps } from '../../contracts/features/opinions.ts';
import type { OpinionDesk } from './opinion-desk.ts';

export function createOpinionOps(desk: Pick<OpinionDesk, 'ask' | 'list'>): Pick<OpHandlers, keyof typeof opinionOps> {
  return {
    'model.opinion': ({ turnId, panel }, { actor, signal }) =>
      desk.ask({ turnId, of: panel ?? null, by: actor, ...(signal === undefined ? {} : { signal }) }),
    'opinion.list': ({ turnId }) => ({ opinions: desk.list(turnId) }),
  };
}
