// Text on its way to whoever watches, redacted across its pieces. Costs nothing while nobody watches; recorded nowhere.

import type { DeltaNotice } from '../../contracts/events.ts';
import type { RedactedStream, TurnDeps } from './ports.ts';

type LiveTextDeps = Pick<TurnDeps, 'wantsDeltas' | 'publishDelta' | 'redactStream'>;

/** So much of what passed unwatched is looked at again for whoever joins: the beginning of a secret may lie in it. */
const UNSEEN_LENGTH_MAX = 16_384;

export class LiveText {
  readonly #deps: LiveTextDeps;
  readonly #about: Omit<DeltaNotice, 'text'>;
  #stream: RedactedStream | null = null;
  #unseen = '';

  constructor(deps: LiveTextDeps, about: Omit<DeltaNotice, 'text'>) {
    this.#deps = deps;
    this.#about = about;
  }

  push(piece: string): void {
    if (!this.#deps.wantsDeltas()) {
      this.#unseen = (this.#unseen + piece).slice(-UNSEEN_LENGTH_MAX);
      this.#stream = null;
      return;
    }
    this.#publish(this.#open().push(piece));
  }

  /** What was held back, now that nothing follows. */
  end(): void {
    if (this.#stream !== null) this.#publish(this.#stream.end());
    this.#stream = null;
    this.#unseen = '';
  }

  #open(): RedactedStream {
    if (this.#stream === null) {
      this.#stream = this.#deps.redactStream();
      // What it gives out of this was not watched; what it holds back belongs to what follows.
      if (this.#unseen !== '') this.#stream.push(this.#unseen);
      this.#unseen = '';
    }
    return this.#stream;
  }

  #publish(text: string): void {
    if (text !== '') this.#deps.publishDelta({ ...this.#about, text });
  }
}
