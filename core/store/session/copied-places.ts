// Maps log positions of a session to those of its fork, so that a copied event refers to positions in the fork. Pure.

import type { AnyDraft } from '../../contracts/events.ts';

export class CopiedPlaces {
  /** Both lists are in ascending order. */
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

  /** Returns the position, in the fork, of the last copied event at or before a position of the original. */
  #lastUpTo(place: number): number {
    const index = this.#from.findLastIndex((from) => from <= place);
    return this.#to[index] ?? 0;
  }
}
