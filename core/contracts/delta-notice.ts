// A piece of an answer while it streams.

/** Text of a model's answer as it streams. Not an event: it may be lost and is never recorded. */
export interface DeltaNotice {
  readonly kind: 'text' | 'reasoning' | 'output';
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string | null;
  /** The model request whose answer this is; absent for output. Events and deltas may reach a client in either order. */
  readonly requestId?: string;
  readonly text: string;
  /** The number of characters of the same stream before this text. Absent for a stream that is too long to be kept. */
  readonly from?: number;
  /** Replaces `from` in such a stream. */
  readonly continues?: true;
}
