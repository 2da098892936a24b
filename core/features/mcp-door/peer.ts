// A client of this door: its identity, its rights, and how it starts a turn. It has a door token over HTTP, or was started by a person on
// standard input and output. Types only.

import type { Caller } from '../../contracts/ops.ts';

export interface Peer {
  /** The caller under which its calls are recorded. */
  readonly caller: Caller;
  /** Unique among all clients. */
  readonly id: string;
  /** The session of its direct calls. The taint of one call carries over to the next. */
  readonly toolSession: string;
  /** Aborts when the client's rights are revoked. */
  readonly revoked: AbortSignal;
  /** Whether the client may use `tools/NAME`, `trayclaw/AGENT`, `memory`, `documents`, `sessions` or `approvals`. */
  may(what: string): boolean;
  owns(sessionId: string): boolean;
  /**
   * Sends a message to an agent. Fails with not_found, over_budget, queue_full, panic_engaged or a store error, without having started
   * anything.
   */
  submit(message: PeerMessage): Promise<{ readonly sessionId: string; readonly turnId: string }>;
  /** Called before the client's first direct call. */
  ownToolSession(): void;
}

export interface PeerMessage {
  readonly text: string;
  /** A session that the client started before; omitted for a new one. */
  readonly sessionId?: string | undefined;
  /** The agent that answers; only for a new session. */
  readonly agentId?: string | undefined;
}
