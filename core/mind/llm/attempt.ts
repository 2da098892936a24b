// Watches one attempt at a model call: the time to the first token, idle time in between, and the caller's abort. Does not decide about
// retries; retry-policy.ts does that.

import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../contracts/errors.ts';
import type { DeltaSink, ModelReply } from '../../contracts/llm.ts';
import { abortReason } from './http-transport.ts';
import { cutOff, type ProgressSink } from './reply-reader.ts';

/** How long the token counts and the end of the stream may take after the answer itself is complete. */
const TAIL_MS = 5_000;

/** A limit that is noticed this much too late was passed while this process was stopped or busy. */
const LATE_MS = 1_000;

export interface AttemptLimits {
  readonly firstTokenMs: number;
  readonly idleMs: number;
}

export type AttemptOutcome =
  | { readonly ok: true; readonly reply: ModelReply; readonly firstTokenMs: number | null }
  | { readonly ok: false; readonly error: AppError; readonly hasDelivered: boolean; readonly hasBegun: boolean };

export interface Attempt {
  readonly provider: string;
  readonly limits: AttemptLimits;
  readonly clock: Clock;
  readonly run: (sink: ProgressSink, signal: AbortSignal) => Promise<ModelReply>;
}

/**
 * Never rejects. Ends immediately when `signal` aborts or a limit is exceeded, even if the client does not; later output of that client is
 * dropped. The error is `signal.reason` if that is an AppError, else `cancelled`.
 */
export async function runAttempt(attempt: Attempt, outer: DeltaSink, signal: AbortSignal): Promise<AttemptOutcome> {
  const watch = new AttemptWatch(attempt, outer);
  const onAbort = (): void => watch.stop(abortReason(signal));
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    const reply = await Promise.race([attempt.run(watch, watch.signal), watch.stopped]);
    if (reply === null) return watch.failed(watch.stopError ?? toAppError(abortReason(signal)));
    return { ok: true, reply, firstTokenMs: watch.firstTokenMs };
  } catch (cause) {
    return watch.failed(watch.stopError ?? toAppError(cause));
  } finally {
    signal.removeEventListener('abort', onAbort);
    watch.close();
  }
}

class AttemptWatch implements ProgressSink {
  readonly #attempt: Attempt;
  readonly #outer: DeltaSink;
  readonly #controller = new AbortController();
  readonly #stopped = Promise.withResolvers<null>();
  readonly #startMs: number;
  #timer: NodeJS.Timeout | undefined;
  #timedFromMs = 0;
  #isClosed = false;
  firstTokenMs: number | null = null;
  hasDelivered = false;
  #hasEnded = false;
  stopError: AppError | null = null;

  constructor(attempt: Attempt, outer: DeltaSink) {
    this.#attempt = attempt;
    this.#outer = outer;
    this.#startMs = attempt.clock.monotonicMs();
    this.#limit('has not begun to answer', attempt.limits.firstTokenMs);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Resolves to null when the attempt was stopped or is over. */
  get stopped(): Promise<null> {
    return this.#stopped.promise;
  }

  failed(error: AppError): AttemptOutcome {
    return { ok: false, error, hasDelivered: this.hasDelivered, hasBegun: this.firstTokenMs !== null };
  }

  stop(error: AppError): void {
    if (this.#isClosed || this.stopError !== null) return;
    this.stopError = error;
    this.#stopped.resolve(null);
    this.#controller.abort(error);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    // The race is over; resolving the promise releases its references.
    this.#stopped.resolve(null);
  }

  text(delta: string): void {
    if (this.#isOver()) return;
    this.began();
    this.hasDelivered = true;
    this.#outer.text(delta);
  }

  reasoning(delta: string): void {
    if (this.#isOver()) return;
    this.began();
    if (this.#outer.reasoning === undefined) return;
    this.hasDelivered = true;
    this.#outer.reasoning(delta);
  }

  began(): void {
    if (this.#isOver() || this.firstTokenMs !== null) return;
    this.firstTokenMs = this.#attempt.clock.monotonicMs() - this.#startMs;
    this.#limit('stopped in the middle of its answer', this.#attempt.limits.idleMs);
  }

  alive(): void {
    if (this.firstTokenMs === null || this.#hasEnded || this.#isOver()) return;
    this.#timedFromMs = this.#attempt.clock.monotonicMs();
    this.#timer?.refresh();
  }

  /** The answer is complete. If the server leaves its stream open, the request is aborted and the client returns the answer. */
  ended(): void {
    if (this.#isOver() || this.#hasEnded) return;
    this.#hasEnded = true;
    const { idleMs } = this.#attempt.limits;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#limit('stopped in the middle of its answer', idleMs);
        this.#controller.abort(cutOff(this.#attempt.provider));
      },
      Math.min(idleMs, TAIL_MS),
    );
  }

  #isOver(): boolean {
    return this.#isClosed || this.stopError !== null;
  }

  /** Stops the attempt after this time. If this process did not run meanwhile, what the server sent is still unread, so it waits again. */
  #limit(what: string, limitMs: number): void {
    const { clock } = this.#attempt;
    clearTimeout(this.#timer);
    this.#timedFromMs = clock.monotonicMs();
    this.#timer = setTimeout(() => {
      if (clock.monotonicMs() - this.#timedFromMs > limitMs + LATE_MS) this.#limit(what, limitMs);
      else this.stop(this.#timeout(what, limitMs));
    }, limitMs);
  }

  #timeout(what: string, limitMs: number): AppError {
    const { provider } = this.#attempt;
    return new AppError('model_timeout', `${provider} ${what}: nothing came for ${limitMs} ms.`, {
      data: { provider, limitMs },
      isRetryable: true,
    });
  }
}
