// The narrow ports that the subagent queue uses. compose.ts passes the real implementations.

import type { HelperLimits } from '../../contracts/agents.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { TurnPort } from '../../runtime/turns/turns.ts';
import type { Spine } from '../feature.ts';
import type { HelperRows } from './rows.ts';

/**
 * Runs subagents as turns of this program. Another transport implements the same four methods: submit a task once by its key, cancel it,
 * retry it, and append to the log.
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
  /** The model through which another transport runs a call of this agent; null for the local queue. */
  readonly carrierOf: (agentId: string) => string | null;
  /** The instructions that are appended to a subagent's task. */
  instructions(): string;
  readonly crashPoints: { reach(point: 'helper-called' | 'helper-submitted' | 'helper-finished'): void };
}
