// A piece of an answer while it streams.

/** Text of a model's answer as it streams. Not an event: it may be lost and is never recorded. */
export interface DeltaNotice {
  readonly kind: 'text' | 'reasoning' | 'output';
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string | null;
  /** The model request whose answer it is; absent from output. Events and deltas may reach a client in either order. */
  readonly requestId?: string;
  readonly text: string;
  /** How many characters of the same stream come before it; absent for a stream too long to be kept. */
  readonly from?: number;
  /** Instead of `from` in such a stream. */
  readonly continues?: true;
}
