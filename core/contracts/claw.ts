// The port every door uses: operations, committed events, live deltas. The runtime implements it; so does a client of a running instance.

import type { AnyEvent, DeltaNotice } from './events.ts';
import type { Caller, OpName, OpParams, OpResult } from './ops.ts';

export interface EventsQuery {
  /** Only events with a global sequence above this; 0 for all; 'latest' for those committed after the call of `events`. */
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
  close(): Promise<void>;
}
