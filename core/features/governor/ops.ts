// The operations of the governor: explain its findings in one turn, and simulate it on past turns. Both only read the log.

import type { Clock } from '../../base/clock.ts';
import { noTurn } from '../../contracts/errors.ts';
import type { AnyEvent, EventOf, EventType } from '../../contracts/events.ts';
import type { ExplainedFinding, GovernorConfig, governorOps } from '../../contracts/features/governor.ts';
import type { OpHandlers, OpResult } from '../../contracts/ops.ts';
import type { SessionLog } from '../../store/session/session.ts';
import { assessAnswer, assessCall } from './assess.ts';
import { applyToFollowed, type Familiar, follow, type Followed } from './signals.ts';

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

// Applies the rules to logged turns: to explain turns that ran without the governor, and to simulate it on past days. Pure. Signals that
// the log does not contain (the age of a grant, the budget of a session) count as 0.

const observing: GovernorConfig = { mode: 'observe' };

/** The recorded findings from the last assessment of each call. Null if there is no assessment. */
function recordedFindings(events: readonly AnyEvent[]): ExplainedFinding[] | null {
  const tools = toolsOf(events);
  const assessed = events.filter((event): event is EventOf<'governor.assessed'> => event.type === 'governor.assessed');
  if (assessed.length === 0) return null;
  const last = new Map(assessed.map(({ body }) => [body.callId, body]));
  return [...last.values()].flatMap(({ callId, findings, applied }) =>
    findings.map((finding) => ({ ...finding, callId, tool: toolOf(tools, callId), applied: applied.includes(finding.directive) })),
  );
}

interface PastTurn {
  readonly turn: Followed;
  costUsd: number;
  /** The taint sources of the turn's session. */
  readonly sources: ReadonlySet<string>;
}

/** Follows the turns of several sessions in the order of the log. */
class PastTurns {
  readonly #perTurnUsd: number | null;
  readonly #familiar = new Map<string, Familiar>();
  readonly #turns = new Map<string, PastTurn>();
  readonly #sources = new Map<string, Set<string>>();

  constructor(perTurnUsd: number | null) {
    this.#perTurnUsd = perTurnUsd;
  }

  /** Returns the findings of the rules at this event. */
  apply(event: AnyEvent): ExplainedFinding[] {
    const { turnId, sessionId } = event;
    if (turnId === null) return [];
    const sources = this.#of(this.#sources, sessionId, () => new Set<string>());
    const followed = this.#of(this.#turns, turnId, () => ({ turn: this.#begin(sessionId), costUsd: 0, sources }));
    const { turn } = followed;
    if (event.type === 'taint.marked') for (const { kind, where } of event.body.sources) sources.add(`${kind}:${where}`);
    if (event.type === 'model.finished') followed.costUsd += event.body.costUsd ?? 0;
    const findings = this.#judge(event, followed);
    if (event.type !== 'governor.assessed') applyToFollowed(turn, event);
    if (event.type === 'turn.finished') this.#turns.delete(turnId);
    return findings;
  }

  #judge(event: AnyEvent, { turn, costUsd, sources }: PastTurn): ExplainedFinding[] {
    if (event.type === 'policy.decided') {
      const { callId, tool, facts, decision, ruleId } = event.body;
      // Skips calls that the gate itself denied. Calls that the governor, a hook or a verifier denied had passed the gate.
      if (decision === 'deny' && !/^(governor|hook|verify)\./.test(ruleId)) return [];
      const budget = this.#perTurnUsd === null || this.#perTurnUsd === 0 ? 0 : Math.round((costUsd / this.#perTurnUsd) * 100);
      const moment = { facts, taint: { session: sources.size, derived: 0 }, budget, grantAgeDays: 0 };
      const assessed = assessCall(turn, { ...moment, callId, decision }, observing);
      return (assessed?.event.findings ?? []).map((finding) => ({ ...finding, callId, tool, applied: false }));
    }
    if (event.type !== 'turn.finished' || event.body.status !== 'done') return [];
    return (assessAnswer(turn, observing)?.findings ?? []).map((finding) => ({ ...finding, callId: null, tool: null, applied: false }));
  }

  #begin(sessionId: string): Followed {
    return follow(this.#of(this.#familiar, sessionId, () => ({ hosts: new Set<string>(), commands: new Set<string>() })));
  }

  #of<T>(map: Map<string, T>, key: string, make: () => T): T {
    const known = map.get(key) ?? make();
    map.set(key, known);
    return known;
  }
}

function toolsOf(events: readonly AnyEvent[]): ReadonlyMap<string, string> {
  return new Map(events.flatMap((event) => (event.type === 'policy.decided' ? [[event.body.callId, event.body.tool] as const] : [])));
}

function toolOf(tools: ReadonlyMap<string, string>, callId: string | null): string | null {
  return callId === null ? null : (tools.get(callId) ?? null);
}
