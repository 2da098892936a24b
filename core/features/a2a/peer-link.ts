// The port to one peer, with everything a task for it needs. core/features/a2a/peer-client.ts implements it for A2A. Types only.

import type { PeerState } from '../../contracts/features/a2a.ts';
import type { CarriedEnd, CarriedWork } from './carried.ts';

export interface PeerTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly state: PeerState;
  /** The answer so far; empty if there is none. */
  readonly text: string;
  /** The peer's note on the state. */
  readonly note: string;
  readonly spent: CarriedEnd | null;
}

export interface OutgoingTask extends CarriedWork {
  readonly messageId: string;
  readonly contextId: string | null;
  readonly text: string;
}

/**
 * Fails with model_unavailable if the peer cannot be reached, with model_auth if it refuses the token, and otherwise with model_rejected.
 */
export interface PeerLink {
  /** True if the peer returns the existing task for a message id that it already knows. */
  readonly once: boolean;
  /** Returns at once, with a task that may still be in progress. */
  send(task: OutgoingTask, signal: AbortSignal): Promise<PeerTask>;
  /** Finds a task of an earlier run by its message id. Null if the peer lists no such task. */
  find(messageId: string, contextId: string | null, signal: AbortSignal): Promise<PeerTask | null>;
  get(taskId: string, signal: AbortSignal): Promise<PeerTask>;
  /** Returns when the task or the stream has ended. Pieces of the answer go to `say`. */
  follow(taskId: string, say: (text: string) => void, signal: AbortSignal): Promise<void>;
  cancel(taskId: string, signal: AbortSignal): Promise<void>;
}
