// Recovery at start, before anything runs: ends the processes that the last run left behind, and records for each open call and turn what
// is known about it.

import type { AnyDraft } from '../../contracts/events.ts';
import type { Clock } from '../../base/clock.ts';
import type { OpenCall, SessionLog } from '../../store/session/session.ts';
import type { CrashPoints, LastOutputPort, ProcessPort } from './ports.ts';

export interface Recovery {
  readonly recoveredTurns: number;
  readonly unknownOutcomes: number;
  readonly reaped: number;
}

export interface RecoveryDeps {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly processes: ProcessPort;
  readonly lastOutput?: LastOutputPort;
  readonly instanceMarker: Readonly<Record<string, string>>;
  /** False if turns are only inspected: they are then left unchanged. */
  readonly resumes: boolean;
  readonly crashPoints: CrashPoints;
}

/**
 * Orphaned processes are ended first: a call whose process still ran would otherwise finish after its outcome was recorded as unknown. May
 * be interrupted at any point and run again.
 */
export async function recoverLog(deps: RecoveryDeps): Promise<Recovery> {
  const { log } = deps;
  const open = log.index.openCalls().filter((call) => call.state === 'requested');
  const turns = log.index.openTurns().filter((turn) => turn.status === 'running');
  const records = open.flatMap((call) =>
    call.pid === null || call.startTime === null ? [] : [{ pid: call.pid, startTime: call.startTime }],
  );
  const reaped = open.length === 0 && turns.length === 0 ? 0 : (await deps.processes.reap(records, deps.instanceMarker)).killed;
  deps.crashPoints.reach('recovery-reaped');
  const lost = open.filter((call) => call.idempotency === 'unsafe');
  const perSession = new Map<string, AnyDraft[]>();
  const add = (sessionId: string, draft: AnyDraft): void => {
    const drafts = perSession.get(sessionId);
    if (drafts === undefined) perSession.set(sessionId, [draft]);
    else drafts.push(draft);
  };
  for (const call of lost) add(call.sessionId, unknownOutcome(log, call, programEnded, deps.lastOutput?.read(call.callId)));
  for (const turn of deps.resumes ? turns : []) {
    const [last] = log.reads.envelopes(turn.sessionId, { limit: 1, newest: true });
    const restedMs = Math.max(0, deps.clock.nowMs() - (last?.atMs ?? turn.atMs));
    const body = { reason: 'The program ended while this turn was under way.', restedMs };
    add(turn.sessionId, { type: 'turn.resumed', turnId: turn.turnId, body });
  }
  if (perSession.size > 0) {
    log.transact(() => {
      for (const [sessionId, drafts] of perSession) log.append(sessionId, drafts);
    }, true);
    deps.crashPoints.reach('recovery-recorded');
    deps.lastOutput?.clear();
  }
  return { recoveredTurns: turns.length, unknownOutcomes: lost.length, reaped };
}

const programEnded = 'The program ended while this call was under way; whether it took effect is not known.';

export function unknownOutcome(log: SessionLog, call: OpenCall, reason: string, output = ''): AnyDraft {
  return {
    type: 'tool.outcome_unknown',
    turnId: call.turnId,
    phase: 'act',
    body: {
      callId: call.callId,
      tool: call.tool,
      args: requestedArgs(log, call),
      reason,
      ...(output === '' ? {} : { output }),
    },
  };
}

function requestedArgs(log: SessionLog, call: OpenCall): string {
  const event = log.reads.after(call.requestedSeq - 1, 1)[0];
  return event?.type === 'tool.requested' && event.body.callId === call.callId ? event.body.args : '';
}
