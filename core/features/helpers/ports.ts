// The ports of the subagent queue, as narrow as it uses them. compose.ts passes the real ones.

import type { HelperLimits } from '../../contracts/agents.ts';
import type { AnyDraft } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';
import type { TurnBounds } from '../../contracts/turn-bounds.ts';
import type { HelperRows } from './rows.ts';
import type { Spine } from '../feature.ts';
import type { InboundMessage } from '../../runtime/turns/turns.ts';

/** A message for a turn: a task for a subagent, or its result. */
interface HelperMessage extends Pick<
  InboundMessage,
  'sessionId' | 'agentId' | 'text' | 'model' | 'channel' | 'sender' | 'untrusted' | 'bounds' | 'helper'
> {
  readonly dedupeKey: string;
  readonly before: readonly AnyDraft[];
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

export interface HelperDeps extends Pick<Spine, 'log' | 'clock' | 'later' | 'ids' | 'logger'> {
  readonly rows: HelperRows;
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
