// The port every door uses: operations, committed events, live deltas. The runtime implements it; so does a client of a running instance.

import type { AnyEvent, DeltaNotice } from './events.ts';
import type { DoorRoute } from './door-route.ts';
import type { Caller, OpName, OpParams, OpResult } from './ops.ts';

export interface EventsQuery {
  /** Only events with a global sequence above this; 0 for all; 'latest' for events committed after the call of `events`. */
  readonly after: number | 'latest';
  readonly sessionId?: string;
  readonly signal?: AbortSignal;
}

export interface Claw {
  /** Runs one operation. Parameters are checked against the table; fails with an AppError. */
  op<N extends OpName>(name: N, params: OpParams<N>, caller?: Caller): Promise<OpResult<N>>;
  /** The committed events after a place in the log, then those to come, until the signal aborts or the instance closes. */
  events(query: EventsQuery): AsyncIterable<AnyEvent>;
  /** Live text as it streams; may skip. Returns the function that ends the subscription. */
  onDelta(listener: (delta: DeltaNotice) => void): () => void;
  /** The global sequence of the newest committed event. Absent in a client of another process. */
  readonly lastSeq?: number;
  close(): Promise<void>;
}

/** Milliseconds spent in commits that waited for the disk, and how many there were. */
export interface SyncMeter {
  totalMs: number;
  count: number;
}

/** The runtime of this process. */
export interface HostedClaw extends Claw {
  /** Time spent waiting for the disk so far. */
  syncMeter(): Readonly<SyncMeter>;
  /** Turns that run here, or are about to be taken up; not those an earlier process left behind. */
  runningTurns(): number;
  /** Resolves when none of them runs. */
  whenIdle(): Promise<void>;
  /** Redacts secrets in text that leaves by other ways than operations: channels, notifications, crash reports. */
  redact(text: string): string;
  /** Syncs events to the disk that were recorded without waiting for it: before the machine sleeps or the session ends. */
  sync(): void;
  /** The doors for other programs, for an HTTP server to serve. */
  readonly routes: readonly DoorRoute[];
  /** The operations that have a handler, by name. */
  readonly operations: readonly string[];
  /** Sentences a person must read at the start; empty when all is well. */
  readonly notices: readonly string[];
}

/** A header of answers over HTTP: where the log was, so that a reader knows which events it has. */
export const placeHeader = 'trayclaw-place';
