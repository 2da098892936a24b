// A client of this door: who it is, what it may use, and how it begins a turn. One by a door token over HTTP, one by the program that a person
// started on standard input and output. Types only.

import type { Caller } from '../../contracts/ops.ts';
import type { DoorCaller } from '../../contracts/door-route.ts';

export interface Peer extends Pick<DoorCaller, 'revoked' | 'may' | 'owns' | 'spend'> {
  /** In its name its calls are recorded. */
  readonly caller: Caller;
  /** Distinguishes it from all others. */
  readonly id: string;
  /** The session of its direct calls: what one brings in is known to the next. */
  readonly toolSession: string;
  /** A message to an agent. Fails with not_found, over_budget, queue_full, panic_engaged or a store error; then nothing has begun. */
  submit(message: PeerMessage): Promise<{ readonly sessionId: string; readonly turnId: string }>;
  /** Before its first direct call. */
  ownToolSession(): void;
}

export interface PeerMessage {
  readonly text: string;
  /** One it began before; a new one without it. */
  readonly sessionId?: string | undefined;
  /** The agent that answers; for a new session only. */
  readonly agentId?: string | undefined;
}
