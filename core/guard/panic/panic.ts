// The panic switch: out of band, durable, released only by a person. Owns the state; everything it stops registers here.

import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { PanicStatus } from '../../contracts/policy.ts';

/** The part of the panic stop that features need. */
export interface PanicState {
  readonly engaged: boolean;
  /** Aborts when everything is stopped; after the release it is another. */
  readonly signal: AbortSignal;
}

export class PanicSwitch implements PanicState {
  #status: PanicStatus = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
  #stop = new AbortController();
  readonly #keep: (engaged: boolean) => void;

  /** `keep` holds on to the state outside the log, for the day the log lost it. */
  constructor(keep: (engaged: boolean) => void = () => undefined) {
    this.#keep = keep;
  }

  /** From the newest panic events of the system session, oldest first. */
  restore(events: readonly AnyEvent[]): void {
    for (const event of events) this.apply(event);
  }

  get engaged(): boolean {
    return this.#status.engaged;
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get status(): PanicStatus {
    return this.#status;
  }

  /** Stops at once in memory; the caller records it next. Engaging twice keeps the first moment. */
  engage(nowMs: number, reason: string): void {
    if (this.#status.engaged) return;
    this.#status = { engaged: true, sinceMs: nowMs, reason, killed: 0, tookMs: null };
    this.#stop.abort(new AppError('cancelled', 'The panic stop was pressed.'));
    this.#keep(true);
  }

  apply(event: AnyEvent): void {
    if (event.type === 'panic.engaged') this.engage(event.atMs, event.body.reason);
    if (event.type === 'panic.measured') {
      const { killed, tookMs } = event.body;
      this.#status = { ...this.#status, killed: this.#status.killed + killed, tookMs };
    }
    if (event.type !== 'panic.released') return;
    this.#status = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
    this.#stop = new AbortController();
    this.#keep(false);
  }
}
