// A client of this door: who it is, what it may use, and how it begins a turn. One by a door token over HTTP, one by the program that a person
// started on standard input and output. Types only.

import type { Caller } from '../../contracts/ops.ts';

export interface Peer {
  /** In its name its calls are recorded. */
  readonly caller: Caller;
  /** Distinguishes it from all others. */
  readonly id: string;
  /** The session of its direct calls: what one brings in is known to the next. */
  readonly toolSession: string;
  /** Aborts when its rights are taken away. */
  readonly revoked: AbortSignal;
  /** `tools/NAME`, `trayclaw/AGENT`, `memory`, `documents`, `sessions` or `approvals`. */
  may(what: string): boolean;
  owns(sessionId: string): boolean;
  /** A message to an agent. Fails with not_found, over_budget, queue_full, panic_engaged or a store error; then nothing has begun. */
  submit(message: PeerMessage): Promise<{ readonly sessionId: string; readonly turnId: string }>;
  /** Before its first direct call. */
  ownToolSession(): void;
  /** Counts what a turn came to; null for an unknown price. */
  spend(usd: number | null): void;
}

export interface PeerMessage {
  readonly text: string;
  /** One it began before; a new one without it. */
  readonly sessionId?: string | undefined;
  /** The agent that answers; for a new session only. */
  readonly agentId?: string | undefined;
}
