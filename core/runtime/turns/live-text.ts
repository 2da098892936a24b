// Streams text to listeners, redacted across its pieces. Pieces that arrive at one moment are sent as one: processing each separately would
// cost as much as the rest of a turn. Without listeners it is only kept, for one who joins in the middle. Records nothing.

import type { DeltaNotice } from '../../contracts/events.ts';
import type { RedactedStream, TurnDeps } from './ports.ts';

interface WatchedTurn {
  readonly deps: Pick<TurnDeps, 'deltas' | 'redactStream'>;
  /** Writes the events recorded before the text. Returns whether there were any. */
  writeAhead(): boolean;
  /** Texts that are streaming: each is in it from its beginning to its end. */
  readonly texts: Set<LiveText>;
}

interface Arrival {
  text: string;
  /** The listener could see this text before the events it follows: it waits until they can be read. */
  readonly wroteAhead: boolean;
  readonly given: Promise<void>;
}

/** How much of a text is kept for a listener who joins; of a longer one only its end, which may contain the beginning of a secret. */
const KEPT_LENGTH_MAX = 65_536;

export class LiveText {
  readonly #turn: WatchedTurn;
  readonly #about: Omit<DeltaNotice, 'text'>;
  #stream: RedactedStream | null = null;
  /** As it came, including what arrived at this moment. */
  #kept = '';
  #isCut = false;
  /** The text sent so far, or that would have been with listeners; not kept of a text that was cut. */
  #said = '';
  /** Arrived at this moment. */
  #arrived: Arrival | null = null;

  constructor(turn: WatchedTurn, about: Omit<DeltaNotice, 'text'>) {
    this.#turn = turn;
    this.#about = about;
    turn.texts.add(this);
  }

  /** The text sent so far, for a listener who joins; null if it is too long to be kept. */
  soFar(): DeltaNotice | null {
    if (this.#isCut) return null;
    this.#open();
    return this.#said === '' ? null : { ...this.#about, text: this.#said, from: 0 };
  }

  push(piece: string): void {
    this.#kept += piece;
    // Now and then: cutting at each small piece would copy the whole each time.
    if (this.#kept.length > 2 * KEPT_LENGTH_MAX) {
      this.#kept = this.#kept.slice(-KEPT_LENGTH_MAX);
      this.#said = '';
      this.#isCut = true;
    }
    if (this.#turn.deps.deltas.size === 0) {
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
    if (arrived === null) return;
    const stream = this.#open();
    this.#arrived = null;
    this.#publish(stream.push(arrived.text));
  }

  #finish(): void {
    if (this.#stream !== null) this.#publish(this.#stream.end());
    this.#stream = null;
    this.#kept = '';
    this.#turn.texts.delete(this);
  }

  #open(): RedactedStream {
    if (this.#stream === null) {
      this.#stream = this.#turn.deps.redactStream();
      // It was not watched until here; what the stream holds back of it belongs to what follows.
      const before = this.#kept.slice(0, this.#kept.length - (this.#arrived?.text.length ?? 0));
      if (before !== '') this.#said = this.#stream.push(before);
    }
    return this.#stream;
  }

  #publish(text: string): void {
    if (text === '') return;
    const place = this.#isCut ? { continues: true as const } : { from: this.#said.length };
    if (!this.#isCut) this.#said += text;
    this.#turn.deps.deltas.emit({ ...this.#about, text, ...place });
  }
}
