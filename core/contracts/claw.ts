// The port that every door uses: operations, committed events, live deltas. Implemented by the runtime, and by clients of a running
// instance.

import type { AnyEvent, DeltaNotice } from './events.ts';
import type { DoorRoute } from './door-route.ts';
import type { Caller, OpName, OpParams, OpResult } from './ops.ts';

export interface EventsQuery {
  /** Only events with a global sequence number above this one; 0 for all; 'latest' for events committed after the call of `events`. */
  readonly after: number | 'latest';
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
}

export interface Claw {
  /** Runs one operation. Checks its parameters against the table. Fails with an AppError. */
  op<N extends OpName>(name: N, params: OpParams<N>, caller?: Caller): Promise<OpResult<N>>;
  /** The committed events after a position in the log, followed by new ones, until the signal aborts or the instance closes. */
  events(query: EventsQuery): AsyncIterable<AnyEvent>;
  /** Live text as it streams; may skip text. Returns the function that ends the subscription. */
  onDelta(listener: (delta: DeltaNotice) => void): () => void;
  /** The global sequence number of the newest committed event. Absent in a client of another process. */
  readonly lastSeq?: number;
  close(): Promise<void>;
}

/** The number of commits that waited for the disk, and the milliseconds they took. */
export interface SyncMeter {
  totalMs: number;
  count: number;
}

/** The runtime of this process. */
export interface HostedClaw extends Claw {
  /** The time spent waiting for the disk so far. */
  syncMeter(): Readonly<SyncMeter>;
  /** The number of turns that run here or are about to be resumed. Turns that an earlier process left behind do not count. */
  runningTurns(): number;
  /** Resolves when no turn is running. */
  whenIdle(): Promise<void>;
  /** Redacts secrets in text that leaves the program other than through operations: channels, notifications, crash reports. */
  redact(text: string): string;
  /** Syncs events to the disk that were recorded without waiting for it. Called before the machine sleeps or the user logs out. */
  sync(): void;
  /** The doors for other programs, which an HTTP server serves. */
  readonly routes: readonly DoorRoute[];
  /** The names of the operations that have a handler. */
  readonly operations: readonly string[];
  /** Sentences that a person must read at the start; usually empty. */
  readonly notices: readonly string[];
}

/** An HTTP response header: the position of the log, so that a client knows which events the answer includes. */
export const placeHeader = 'trayclaw-place';
