// The start of a run: records gaps of the log, restores the panic stop, settles what the last run left unfinished, and collects the notices
// a person has to see. Also tells whether this process has work. Starts no turn.

import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/logger.ts';
import { type AnyDraft, systemSessionId } from '../../contracts/events.ts';
import { describeGap, gapAdvice, isRewound } from '../../contracts/log-gap.ts';
import type { PanicSwitch } from '../../guard/panic/panic.ts';
import type { Secrets } from '../../guard/secret/secret.ts';
import { type LogHead, type OpenCall, openGaps, type SessionLog } from '../../store/session/session.ts';
import type { CrashPoints, LastOutputPort, ProcessPort } from './ports.ts';

export interface SettleDeps extends RecoveryDeps {
  readonly head: LogHead;
  readonly panic: PanicSwitch;
  readonly logger: Logger;
  readonly version: string;
}

/** Runs before anything else: handles gaps of the log, the panic state, and the work that the last run left. */
export async function settle(deps: SettleDeps): Promise<void> {
  const { log, panic } = deps;
  noteGap(deps);
  const switched = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
  panic.restore(switched);
  if (panic.engaged)
    panic.restore(
      log.reads.slice(systemSessionId, { types: ['panic.measured'], after: switched[0]?.sessionSeq ?? 0, limit: 1, newest: true }),
    );
  const recovery = await recoverLog(deps);
  if (recovery.recoveredTurns + recovery.unknownOutcomes + recovery.reaped > 0) {
    log.append(systemSessionId, [{ type: 'instance.started', body: { version: deps.version, ...recovery } }]);
  }
}

/**
 * Records a gap in one transaction that is on disk before the head file is rewritten. If the log was rewound, a panic stop may be among the
 * lost events, so the stop is engaged.
 */
function noteGap({ log, head, clock, logger }: SettleDeps): void {
  const { gap } = head;
  const [switched] = log.reads.slice(systemSessionId, { types: ['panic.engaged', 'panic.released'], limit: 1, newest: true });
  const stops = switched?.type !== 'panic.engaged' && (head.wasStopped || (gap !== null && isRewound(gap)));
  const drafts: AnyDraft[] = [];
  if (log.index.session(systemSessionId) === null) {
    const body = { title: 'System', agentId: 'system', channel: 'library', forkedFrom: null };
    drafts.push({ type: 'session.created', body });
  }
  if (gap !== null) drafts.push({ type: 'log.gap_found', body: gap });
  if (stops) {
    const reason = gap === null ? 'It was engaged, and nothing in the log says that it was released.' : describeGap(gap);
    drafts.push({ type: 'panic.engaged', atMs: clock.nowMs(), body: { reason, by: 'trayclaw' } });
  }
  log.append(systemSessionId, drafts, gap !== null || stops);
  head.begin();
  if (gap !== null) logger.log('warn', describeGap(gap), { missing: gap.missing });
}

const unreadSecrets = 'Until its secrets can be read, what needs one is refused, and they are not recognised in messages and files.';

/** Notices that a person sees at every start until they are settled. */
export function startNotices(log: SessionLog, secrets: Pick<Secrets, 'unread'>): string[] {
  const gaps = openGaps(log.reads);
  const lines = gaps.map(({ body }) => describeGap(body));
  return [
    ...(lines.length === 0 ? [] : [...lines, gapAdvice]),
    ...(secrets.unread === null ? [] : [`${secrets.unread.message} ${unreadSecrets}`]),
  ];
}

/** The work of this process. `taking` resolves once the work of an earlier process is resumed; null if there is none. */
export function workHere(turns: { readonly runningTurns: number; whenIdle(): Promise<void> }, taking: Promise<void> | null) {
  let isTaking = taking !== null;
  const taken = (taking ?? Promise.resolve()).finally(() => {
    isTaking = false;
  });
  return {
    runningTurns: (): number => turns.runningTurns + (isTaking ? 1 : 0),
    whenIdle: async (): Promise<void> => {
      await taken;
      await turns.whenIdle();
    },
  };
}

// Recovery at start, before anything runs: ends the processes that the last run left behind, and records for each open call and turn what
// is known about it.

export interface Recovery {
  readonly recoveredTurns: number;
  readonly unknownOutcomes: number;
  readonly reaped: number;
}

interface RecoveryDeps {
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
