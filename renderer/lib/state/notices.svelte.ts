// Short messages to the person: errors with the next step, and texts for screen readers. Nothing is stored.

import { tick, untrack } from 'svelte';
import { toOpFailure, type OpFailure } from '../client.ts';

export interface Notice {
  readonly id: number;
  readonly message: string;
  readonly hint: string | undefined;
  /** Success is announced politely, failure at once. */
  readonly isGood: boolean;
  /** The code of the failure: the notice disappears when its cause is over. */
  readonly code?: string;
  /** Undoes what was done, if possible. */
  readonly undo?: () => unknown;
}

const noticesMax = 4;

export class Notices {
  list = $state.raw<readonly Notice[]>([]);
  /** Announced politely as separate texts, so that two of the same moment are both read, and the same text is read again. */
  spoken = $state.raw<readonly { readonly id: number; readonly text: string }[]>([]);
  /** Failures that the open page explains in its place. */
  readonly #inPlace = new Set<OpFailure>();
  /** Until the page shows the texts of this moment. */
  #isSaying = false;
  #nextId = 1;

  fail(cause: unknown): void {
    const { message, hint, code } = toOpFailure(cause);
    // The banner of the stop says how to release it.
    if (code !== 'cancelled') this.#add(message, code === 'panic_engaged' ? undefined : hint, false, code);
  }

  /** For a component that shows this failure in its place: no notice repeats it meanwhile. */
  leaveTo(shown: () => OpFailure | null): void {
    $effect(() => {
      const failure = shown();
      if (failure === null) return undefined;
      this.#inPlace.add(failure);
      untrack(() => (this.list = this.list.filter((notice) => notice.message !== failure.message)));
      return () => this.#inPlace.delete(failure);
    });
  }

  tell(message: string, hint?: string): void {
    this.#add(message, hint, false);
  }

  /** Confirms that an action of the person is done. */
  inform(message: string): void {
    this.#add(message, undefined, true);
    this.say(message);
  }

  /** Reports what was done and offers to undo it. Only the latest such offer stays. */
  offerUndo(message: string, undo: () => unknown): void {
    const others = this.list.filter((notice) => notice.undo === undefined);
    this.list = [...others, { id: this.#nextId++, message, hint: undefined, isGood: true, undo }].slice(-noticesMax);
    this.say(message);
  }

  #add(message: string, hint: string | undefined, isGood: boolean, code?: string): void {
    if ([...this.list, ...this.#inPlace].some((shown) => shown.message === message)) return;
    const notice = { id: this.#nextId++, message, hint, isGood, ...(code === undefined ? {} : { code }) };
    this.list = [...this.list, notice].slice(-noticesMax);
  }

  /** The cause of failures with this code is over. */
  isOver(code: string): void {
    if (this.list.some((notice) => notice.code === code)) this.list = this.list.filter((notice) => notice.code !== code);
  }

  dismiss(id: number): void {
    this.list = this.list.filter((notice) => notice.id !== id);
  }

  say(text: string): void {
    this.spoken = [...(this.#isSaying ? this.spoken : []), { id: this.#nextId++, text }];
    this.#isSaying = true;
    void tick().then(() => (this.#isSaying = false));
  }
}
