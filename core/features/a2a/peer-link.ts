// The port to one peer: what a task given to it needs. core/features/a2a/peer-client.ts speaks A2A; types only.

import type { PeerState } from '../../contracts/features/a2a.ts';
import type { CarriedEnd, CarriedWork } from './carried.ts';

export interface PeerTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly state: PeerState;
  /** The answer as far as it is known; empty for none. */
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

/** Fails with model_unavailable where it cannot be reached, model_auth where it refuses the token, and otherwise with model_rejected. */
export interface PeerLink {
  /** It meets a task it knows again by its message id. */
  readonly once: boolean;
  /** Comes back at once, with a task that may still be under way. */
  send(task: OutgoingTask, signal: AbortSignal): Promise<PeerTask>;
  /** A task of an earlier run by its message; null where the peer shows none. */
  find(messageId: string, contextId: string | null, signal: AbortSignal): Promise<PeerTask | null>;
  get(taskId: string, signal: AbortSignal): Promise<PeerTask>;
  /** Until the task has ended, or the stream has; pieces of the answer go to `say`. */
  follow(taskId: string, say: (text: string) => void, signal: AbortSignal): Promise<void>;
  cancel(taskId: string, signal: AbortSignal): Promise<void>;
}
