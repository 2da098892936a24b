// Streams text to listeners, redacted across its pieces. Pieces that arrive at one moment are sent as one: processing each separately would
// cost as much as the rest of a turn. Costs nothing without listeners; records nothing.

import type { DeltaNotice } from '../../contracts/events.ts';
import type { RedactedStream, TurnDeps } from './ports.ts';

interface WatchedTurn {
  readonly deps: Pick<TurnDeps, 'wantsDeltas' | 'publishDelta' | 'redactStream'>;
  /** Writes the events recorded before the text. Returns whether there were any. */
  writeAhead(): boolean;
}

interface Arrival {
  text: string;
  /** The listener could see this text before the events it follows: it waits until they can be read. */
  readonly wroteAhead: boolean;
  readonly given: Promise<void>;
}

/** How much unwatched text is rescanned for a new listener: it may contain the beginning of a secret. */
const UNSEEN_LENGTH_MAX = 16_384;

export class LiveText {
  readonly #turn: WatchedTurn;
  readonly #about: Omit<DeltaNotice, 'text'>;
  #stream: RedactedStream | null = null;
  #unseen = '';
  /** Arrived at this moment. */
  #arrived: Arrival | null = null;

  constructor(turn: WatchedTurn, about: Omit<DeltaNotice, 'text'>) {
    this.#turn = turn;
    this.#about = about;
  }

  push(piece: string): void {
    if (!this.#turn.deps.wantsDeltas()) {
      this.#unseen += (this.#arrived?.text ?? '') + piece;
      // Now and then: cutting at each small piece would copy the whole each time.
      if (this.#unseen.length > 2 * UNSEEN_LENGTH_MAX) this.#unseen = this.#unseen.slice(-UNSEEN_LENGTH_MAX);
      this.#arrived = null;
      this.#stream = null;
      return;
    }
    this.#arrived ??= this.#giveOutSoon();
    this.#arrived.text += piece;
  }

  /** Resolves when everything is sent, including text held back; nothing follows. Null if that is already the case. */
  end(): Promise<void> | null {
    const given = this.settle();
    if (given !== null) return given.then(() => this.#finish());
    this.#finish();
    return null;
  }

  /** Resolves when all arrived text is sent, except text held back; null if that is already the case. */
  settle(): Promise<void> | null {
    if (this.#arrived?.wroteAhead === true) return this.#arrived.given;
    this.#giveOut();
    return null;
  }

  /** The events that led to the text are in the log by then, and followers of the log have read them. */
  #giveOutSoon(): Arrival {
    const wroteAhead = this.#turn.writeAhead();
    const given = new Promise<void>((resolve) => {
      setImmediate(() => {
        this.#giveOut();
        resolve();
      });
    });
    return { text: '', wroteAhead, given };
  }

  #giveOut(): void {
    const arrived = this.#arrived;
    this.#arrived = null;
    if (arrived !== null) this.#publish(this.#open().push(arrived.text));
  }

  #finish(): void {
    if (this.#stream !== null) this.#publish(this.#stream.end());
    this.#stream = null;
    this.#unseen = '';
  }

  #open(): RedactedStream {
    if (this.#stream === null) {
      this.#stream = this.#turn.deps.redactStream();
      // The output for this part was not watched; the text it holds back belongs to what follows.
      if (this.#unseen !== '') this.#stream.push(this.#unseen.slice(-UNSEEN_LENGTH_MAX));
      this.#unseen = '';
    }
    return this.#stream;
  }

  #publish(text: string): void {
    if (text !== '') this.#turn.deps.publishDelta({ ...this.#about, text });
  }
}
