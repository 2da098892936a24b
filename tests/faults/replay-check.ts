// Replays every recorded turn of a runtime and compares the decisions. The suites that make turns call it before they close the runtime.

import type { Claw } from '../../core/contracts/claw.ts';
import type { OpResult } from '../../core/contracts/ops.ts';

const PAGE = 5_000;

export interface ReplayCheck {
  readonly turns: number;
  readonly decisions: number;
  /** A line for each turn that would be decided differently. */
  readonly different: readonly string[];
}

export async function replayEveryTurn(claw: Claw): Promise<ReplayCheck> {
  const turnIds = new Set<string>();
  for (const archived of [false, true]) {
    const { sessions } = await claw.op('session.list', { limit: 1000, archived });
    for (const { sessionId } of sessions) for (const turnId of await turnsOf(claw, sessionId)) turnIds.add(turnId);
  }
  let decisions = 0;
  const different: string[] = [];
  for (const turnId of turnIds) {
    const report = await claw.op('replay.run', { turnId });
    decisions += report.decisions;
    for (const { step, recorded, decided } of report.differences)
      different.push(`${turnId} step ${step}: recorded ${recorded}, decided ${decided}`);
  }
  return { turns: turnIds.size, decisions, different };
}

async function turnsOf(claw: Claw, sessionId: string): Promise<string[]> {
  const found: string[] = [];
  for await (const event of eventsOf(claw, sessionId)) if (event.type === 'turn.started' && event.turnId !== null) found.push(event.turnId);
  return found;
}

type SessionEvent = OpResult<'session.get'>['events'][number];

/** Yields all events of a session in order, page by page. */
export async function* eventsOf(claw: Claw, sessionId: string): AsyncGenerator<SessionEvent> {
  for (let after = 0; ;) {
    const { events } = await claw.op('session.get', { sessionId, after, limit: PAGE });
    yield* events;
    const last = events.at(-1);
    if (last === undefined || events.length < PAGE) return;
    after = last.sessionSeq;
  }
}
