// The window's port to the runtime: operations, committed events, live deltas. HTTP and the desktop bridge implement it. Nothing here
// depends on the transport.

import type { ErrorBody, ErrorCode } from '../../core/contracts/errors.ts';
import type { AnyEvent, DeltaNotice } from '../../core/contracts/events.ts';
import type { OpName, OpParams, OpResult } from '../../core/contracts/ops.ts';

/** unproven: something answers at the address, but does not show that it knows the window's token. */
export type LinkState = 'connecting' | 'online' | 'reconnecting' | 'unproven' | 'unauthorized';

export interface StreamHandlers {
  onEvent(event: AnyEvent): void;
  onDelta(delta: DeltaNotice): void;
  /** `gap` is true if the stream was restored but events may have been missed: the lists must be read again. */
  onState(state: LinkState, gap: boolean): void;
}

export interface OpClient {
  /** Runs one operation; rejects with an OpFailure. */
  op<N extends OpName>(name: N, params: OpParams<N>, signal?: AbortSignal): Promise<OpResult<N>>;
  /** Committed events above a position in the log (or from now on) until the returned function is called; reconnects automatically. */
  events(after: number | 'latest', handlers: StreamHandlers): () => void;
}

export type FailureCode = ErrorCode | 'offline';

/** An operation that failed. `message` says what happened, `hint` what to do. */
export class OpFailure extends Error {
  override readonly name = 'OpFailure';
  readonly code: FailureCode;
  readonly hint: string | undefined;

  constructor(code: FailureCode, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  /** Message and hint in one text. */
  get told(): string {
    return this.hint === undefined ? this.message : `${this.message} ${this.hint}`;
  }

  static fromBody(body: ErrorBody): OpFailure {
    return new OpFailure(body.code, body.message, body.hint);
  }
}

export function toOpFailure(cause: unknown): OpFailure {
  if (cause instanceof OpFailure) return cause;
  return new OpFailure('internal', cause instanceof Error ? cause.message : String(cause));
}
