// The operations of the governor: explain its findings in one turn, and simulate it on past turns. Both only read the log.

import type { Clock } from '../../base/clock.ts';
import { noTurn } from '../../contracts/errors.ts';
import type { AnyEvent, EventType } from '../../contracts/events.ts';
import type { ExplainedFinding, GovernorConfig, governorOps } from '../../contracts/features/governor.ts';
import type { OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { PastTurns, recordedFindings } from './past-turns.ts';

export interface GovernorOpsDeps {
  readonly log: Pick<SessionLog, 'reads' | 'index'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly config: GovernorConfig;
  readonly perTurnUsd: number | null;
}

const DAY_MS = 86_400_000;
const WINDOW = 2_000;
/** The maximum number of events to search. Older ones are not included. */
const LOOKED_AT_MAX = 200_000;

const read: readonly EventType[] = [
  'user.message',
  'taint.marked',
  'model.finished',
  'policy.decided',
  'approval.decided',
  'tool.rejected',
  'tool.finished',
  'verification.finished',
  'governor.assessed',
  'turn.finished',
];

export function createGovernorOps(deps: GovernorOpsDeps): Pick<OpHandlers, keyof typeof governorOps> {
  return {
    'governor.explain': ({ turnId }) => explain(deps, turnId),
    'governor.try': ({ days = 30 }) => tryOn(deps, days),
  };
}

function explain({ log, perTurnUsd }: GovernorOpsDeps, turnId: string): OpResult<'governor.explain'> {
  const row = log.index.turn(turnId);
  if (row === null) throw noTurn(turnId);
  const events = log.reads.turn(row.sessionId, turnId, row.firstSeq);
  const recorded = recordedFindings(events);
  if (recorded !== null) return { turnId, recorded: true, findings: recorded };
  const past = new PastTurns(perTurnUsd);
  return { turnId, recorded: false, findings: events.flatMap((event) => past.apply(event)) };
}

interface Tried {
  readonly directive: ExplainedFinding['directive'];
  findings: number;
  readonly turns: Set<string>;
  lastTurnId: string;
}

function tryOn({ log, clock, perTurnUsd }: GovernorOpsDeps, days: number): OpResult<'governor.try'> {
  const { events, lookedBackToMs } = eventsSince(log, clock.nowMs() - days * DAY_MS);
  const past = new PastTurns(perTurnUsd);
  const byRule = new Map<string, Tried>();
  const turns = new Set<string>();
  let calls = 0;
  let tightened = 0;
  for (const event of events) {
    const { turnId } = event;
    const findings = past.apply(event);
    if (turnId === null) continue;
    if (event.type === 'policy.decided') {
      turns.add(turnId);
      calls += 1;
      if (event.body.decision === 'allow' && findings.some(tightens)) tightened += 1;
    }
    for (const { ruleId, directive } of findings) count(byRule, { ruleId, directive, turnId });
  }
  const rules = [...byRule].map(([ruleId, { turns: of, ...rest }]) => ({ ruleId, ...rest, turns: of.size }));
  return { turns: turns.size, calls, tightened, rules: rules.toSorted((a, b) => b.findings - a.findings), lookedBackToMs };
}

function tightens({ directive }: ExplainedFinding): boolean {
  return directive === 'ask_person' || directive === 'validate' || directive === 'stop_class';
}

function count(
  byRule: Map<string, Tried>,
  { ruleId, directive, turnId }: { ruleId: string; turnId: string } & Pick<Tried, 'directive'>,
): void {
  const tried = byRule.get(ruleId) ?? { directive, findings: 0, turns: new Set<string>(), lastTurnId: turnId };
  tried.findings += 1;
  tried.turns.add(turnId);
  tried.lastTurnId = turnId;
  byRule.set(ruleId, tried);
}

/**
 * The events since the given time, oldest first. Reads the log from the end backwards, so that the cost depends only on the requested days.
 */
function eventsSince({ reads }: GovernorOpsDeps['log'], sinceMs: number): { events: AnyEvent[]; lookedBackToMs: number | null } {
  const windows: AnyEvent[][] = [];
  let toSeq = reads.lastSeq();
  for (let looked = 0; toSeq > 0 && looked < LOOKED_AT_MAX; looked += WINDOW) {
    const fromSeq = Math.max(0, toSeq - WINDOW);
    const found = reads.newestBetween(read, fromSeq + 1, toSeq + 1).toSorted((a, b) => a.seq - b.seq);
    const wanted = found.filter(({ atMs }) => atMs >= sinceMs);
    windows.push(wanted);
    toSeq = fromSeq;
    if (wanted.length < found.length) return { events: windows.toReversed().flat(), lookedBackToMs: null };
  }
  const events = windows.toReversed().flat();
  return { events, lookedBackToMs: toSeq === 0 ? null : (events[0]?.atMs ?? null) };
}
