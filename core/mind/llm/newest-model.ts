// Finds the model a person used last, which is used until they choose one.

import type { SessionLog } from '../../store/session/session.ts';

const SESSIONS_LOOKED_AT = 50;
const TURNS_LOOKED_AT = 5;

/** The model of the newest turn that has one; null if there is none. Called only if no model is known; reads a few sessions. */
export function newestModel({ index, reads }: SessionLog, counts: (model: string) => boolean): string | null {
  const sessions = index.sessions({ archived: false, limit: SESSIONS_LOOKED_AT }).toSorted((a, b) => b.updatedAtMs - a.updatedAtMs);
  for (const { sessionId } of sessions) {
    const turns = reads.slice(sessionId, { types: ['turn.started'], limit: TURNS_LOOKED_AT, newest: true });
    for (const turn of turns.toReversed())
      if (turn.type === 'turn.started' && turn.body.model !== null && counts(turn.body.model)) return turn.body.model;
  }
  return null;
}
