// A piece of an answer while it streams.

/** Text of a model's answer as it streams. Not an event: it may be lost and is never recorded. */
export interface DeltaNotice {
  readonly kind: 'text' | 'reasoning' | 'output';
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string | null;
  readonly text: string;
}
