// Applies the rules to logged turns: to explain turns that ran without the governor, and to simulate it on past days. Pure. Signals that
// the log does not contain (the age of a grant, the budget of a session) count as 0.

import type { AnyEvent, EventOf } from '../../contracts/events.ts';
import type { ExplainedFinding, GovernorConfig } from '../../contracts/features/governor.ts';
import { assessAnswer, assessCall } from './assess.ts';
import { applyToFollowed, follow, type Familiar, type Followed } from './signals.ts';

const observing: GovernorConfig = { mode: 'observe' };

/** The recorded findings from the last assessment of each call. Null if there is no assessment. */
export function recordedFindings(events: readonly AnyEvent[]): ExplainedFinding[] | null {
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
export class PastTurns {
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
