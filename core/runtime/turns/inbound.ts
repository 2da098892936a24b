// What comes in: a message, or a call a person makes directly, each with where it came from.

import type { AnyDraft } from '../../contracts/events.ts';
import type { TaintSource } from '../../contracts/tools.ts';

export interface InboundMessage {
  readonly sessionId: string;
  readonly agentId: string;
  readonly text: string;
  readonly channel: string;
  readonly sender: string;
  readonly dedupeKey: string | null;
  /** Where the words come from when they are not the sender's own: a forwarded message, a group anyone can write in. */
  readonly untrusted?: readonly TaintSource[];
  /** What else belongs into the same transaction, before the message: a new session's first event. */
  readonly before: readonly AnyDraft[];
}

export interface DirectCall {
  readonly sessionId: string;
  readonly agentId: string;
  readonly tool: string;
  readonly args: string;
  readonly channel: string;
  readonly before: readonly AnyDraft[];
}

/** Every time, also from a known source: only the mark tells the words of such a message from the person's own. */
export function markForeign(turnId: string, sources: readonly TaintSource[]): AnyDraft[] {
  if (sources.length === 0) return [];
  return [{ type: 'taint.marked', turnId, phase: 'interpret', body: { callId: null, sources: [...sources], paths: [] } }];
}
