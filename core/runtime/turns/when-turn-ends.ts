// Waits for the end of a turn across its approvals, for work that consists of turns. Does not continue turns itself.

import { AppError } from '../../contracts/errors.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { TurnEnd } from './turn-ends.ts';

interface Watched {
  readonly turns: { whenResting(turnId: string): Promise<TurnEnd | null> };
  readonly log: Pick<SessionLog, 'index' | 'reads' | 'nextCommit'>;
}

/**
 * `onWaiting` is called whenever the turn waits for a person. Rejects with `cancelled` when the signal aborts, which does not end the turn.
 */
export async function whenTurnEnds(
  { turns, log }: Watched,
  { sessionId, turnId }: { readonly sessionId: string; readonly turnId: string },
  { signal, onWaiting }: { readonly signal: AbortSignal; readonly onWaiting: (turnId: string) => void },
): Promise<EventBodies['turn.finished']> {
  for (;;) {
    if (signal.aborted) throw new AppError('cancelled', 'It was stopped while a turn was under way.');
    const end = await turns.whenResting(turnId);
    const finished = end?.finished ?? log.reads.turnEnd(sessionId, turnId);
    if (finished !== null) return finished;
    const next = log.nextCommit(signal);
    if (log.index.turn(turnId)?.status === 'waiting') onWaiting(turnId);
    await next;
  }
}
