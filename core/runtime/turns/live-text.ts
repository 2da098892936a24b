// Streams text to listeners and redacts secrets across its pieces. Pieces that arrive in the same event-loop turn are sent as one, because
// processing each separately would cost as much as the rest of a turn. Without listeners the text is only kept, for listeners who join
// later. Records nothing.

import type { DeltaNotice } from '../../contracts/events.ts';
import type { RedactedStream, TurnDeps } from './ports.ts';

interface WatchedTurn {
  readonly deps: Pick<TurnDeps, 'deltas' | 'redactStream'>;
  /** Writes the events recorded before the text. Returns whether there were any. */
  writeAhead(): boolean;
  /** The texts that are streaming, each from its beginning to its end. */
  readonly texts: Set<LiveText>;
}

interface Arrival {
  text: string;
  /** True if events had to be written before this text: it is sent only once listeners can read those events. */
  readonly wroteAhead: boolean;
  readonly given: Promise<void>;
}

/**
 * How much of a text is kept for listeners who join later. Of a longer text only the end is kept, which may contain the beginning of a
 * secret.
 */
const KEPT_LENGTH_MAX = 65_536;

export class LiveText {
  readonly #turn: WatchedTurn;
  readonly #about: Omit<DeltaNotice, 'text'>;
  #stream: RedactedStream | null = null;
  /** The text as received, including pieces not sent yet. */
  #kept = '';
  #isCut = false;
  /** The text sent so far, or that would have been sent with listeners. Empty once the text was cut. */
  #said = '';
  /** Text that has arrived and is not sent yet. */
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
    // Cut only occasionally, because cutting at each small piece would copy the whole text each time.
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

  /** Sends the text once the events that led to it are in the log and followers of the log have read them. */
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
      // The text had no listeners so far. The part of it that the stream holds back belongs to the next piece.
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
