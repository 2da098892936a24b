// The panic stop: immediate, durable, released only by a person. Owns the state and the signal that stops everything.

import { AppError } from '../../contracts/errors.ts';
import type { AnyEvent } from '../../contracts/events.ts';
import type { PanicStatus } from '../../contracts/policy.ts';

/** The part of the panic stop that features need. */
export interface PanicState {
  readonly engaged: boolean;
  /** Aborts when the panic stop engages. A release replaces it with a new signal. */
  readonly signal: AbortSignal;
}

export class PanicSwitch implements PanicState {
  #status: PanicStatus = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
  #stop = new AbortController();
  readonly #keep: (engaged: boolean) => void;

  /** `keep` also saves the state outside the log, in case the log loses it. */
  constructor(keep: (engaged: boolean) => void = () => undefined) {
    this.#keep = keep;
  }

  /** Restores the state from the newest panic events of the system session, oldest first. */
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

  /** Engages in memory at once; the caller records it next. Engaging again keeps the first time and reason. */
  engage(nowMs: number, reason: string): void {
    if (this.#status.engaged) return;
    this.#status = { engaged: true, sinceMs: nowMs, reason, killed: 0, tookMs: null };
    this.#stop.abort(new AppError('cancelled', 'The panic stop was pressed.'));
    this.#keep(true);
  }

  /** Adds processes that the stop ended; the caller records the total next. */
  measure({ killed, tookMs }: { readonly killed: number; readonly tookMs: number }): void {
    if (killed > 0 || this.#status.tookMs === null) this.#status = { ...this.#status, killed: this.#status.killed + killed, tookMs };
  }

  apply(event: AnyEvent): void {
    if (event.type === 'panic.engaged') this.engage(event.atMs, event.body.reason);
    if (event.type === 'panic.measured') this.#status = { ...this.#status, ...event.body };
    if (event.type !== 'panic.released') return;
    this.#status = { engaged: false, sinceMs: null, reason: null, killed: 0, tookMs: null };
    this.#stop = new AbortController();
    this.#keep(false);
  }
}
