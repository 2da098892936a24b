// The ports of the subagent queue, as narrow as it uses them. compose.ts passes the real ones.

import type { HelperLimits } from '../../contracts/agents.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { TurnPort } from '../../runtime/turns/turns.ts';
import type { Spine } from '../feature.ts';
import type { HelperRows } from './rows.ts';

/**
 * Runs subagents as turns of this program. Another transport has the same four methods: submit a task once by its key, stop it, resubmit
 * it, and report to the log.
 */
type HelperTurns = Pick<TurnPort, 'submit' | 'cancel' | 'retry' | 'appendToTurn'>;

export interface HelperDeps extends Pick<Spine, 'log' | 'clock' | 'ids' | 'logger' | 'later'> {
  readonly rows: HelperRows;
  readonly limits: HelperLimits;
  readonly panic: { readonly engaged: boolean };
  readonly turns: HelperTurns;
  readonly agents: {
    assertKnown(agentId: string): void;
    boundsOf(agentId: string): TurnBounds | null;
    helpersOf(agentId: string): readonly string[];
  };
  sourcesOf(sessionId: string): readonly TaintSource[];
  /** The model by which another transport carries a call of this agent; null for the queue here. */
  readonly carrierOf: (agentId: string) => string | null;
  /** The instructions a subagent receives after its task. */
  instructions(): string;
  readonly crashPoints: { reach(point: 'helper-called' | 'helper-submitted' | 'helper-finished'): void };
}
