// The ports of the subagent queue, as narrow as it uses them. compose.ts passes the real ones.

import type { Clock } from '../../base/clock.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Later } from '../../base/later.ts';
import type { Logger } from '../../base/logger.ts';
import type { HelperLimits } from '../../contracts/agents.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { HelperOrigin } from '../../contracts/features/helpers.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { SessionLog } from '../../store/session/session.ts';
import type { HelperRows } from './rows.ts';

/** A message for a turn: a task for a subagent, or its result. */
interface HelperMessage {
  readonly sessionId: string;
  readonly agentId: string;
  readonly text: string;
  readonly model?: string;
  readonly channel: string;
  readonly sender: string;
  readonly dedupeKey: string;
  readonly untrusted?: readonly TaintSource[];
  readonly before: readonly AnyDraft[];
  readonly bounds?: TurnBounds;
  readonly helper?: HelperOrigin;
}

/**
 * Runs subagents as turns of this program. Another transport has the same four methods: submit a task once by its key, stop it, resubmit
 * it, and report to the log.
 */
interface HelperTurns {
  submit(message: HelperMessage): { readonly turnId: string };
  cancel(turnId: string, reason: string, by: 'person' | 'panic'): void;
  retry(turnId: string, options: { readonly model: null; readonly by: string }): { readonly turnId: string };
  appendToTurn(sessionId: string, turnId: string, drafts: readonly AnyDraft[]): unknown;
}

export interface HelperDeps {
  readonly log: SessionLog;
  readonly rows: HelperRows;
  readonly clock: Clock;
  readonly later: Later;
  readonly ids: IdSource;
  readonly logger: Logger;
  readonly limits: HelperLimits;
  readonly panic: { readonly engaged: boolean };
  readonly turns: HelperTurns;
  readonly agents: {
    assertKnown(agentId: string): void;
    boundsOf(agentId: string): TurnBounds | null;
    helpersOf(agentId: string): readonly string[];
  };
  /** The untrusted sources of a session. */
  sourcesOf(sessionId: string): readonly TaintSource[];
  /** The model by which another transport carries a call of this agent; null for the queue here. */
  readonly carrierOf: (agentId: string) => string | null;
  /** The instructions a subagent receives after its task. */
  instructions(): string;
  readonly crashPoints: { reach(point: 'helper-called' | 'helper-submitted' | 'helper-finished'): void };
}
