// Where events of a session stand in a fork of it: what a copied event says of places is said of the places there. Pure.

import type { AnyDraft } from '../../contracts/events.ts';

export class CopiedPlaces {
  /** Ascending in both. */
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  note(from: number, to: number): void {
    this.#from.push(from);
    this.#to.push(to);
  }

  moved(draft: AnyDraft): AnyDraft {
    if (draft.type !== 'summary.written') return draft;
    const { fromSessionSeq, toSessionSeq } = draft.body.covers;
    return {
      ...draft,
      body: { ...draft.body, covers: { fromSessionSeq: this.#lastUpTo(fromSessionSeq), toSessionSeq: this.#lastUpTo(toSessionSeq) } },
    };
  }

  /** The place of the last copied event that stood at or before a place. */
  #lastUpTo(place: number): number {
    const index = this.#from.findLastIndex((from) => from <= place);
    return this.#to[index] ?? 0;
  }
}
