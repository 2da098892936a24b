// Follows one turn live: its streamed text, its calls, its approvals. The recorded text is authoritative, because deltas may be lost or
// late; nothing is printed twice because of that.

import type { Claw } from '../../contracts/claw.ts';
import type { AnyEvent, DeltaNotice, EventOf } from '../../contracts/events.ts';
import { brokeOffWords, failoverWords, unpricedWords } from '../../contracts/turn-words.ts';
import { callInWords } from './turn-progress.ts';

const earlyMax = 10_000;

export interface TurnListener {
  onText(text: string): void;
  onCallFinished(event: EventOf<'tool.finished'>): void;
  /** An approval was decided, here or elsewhere. */
  onDecided(approvalId: string): void;
  /** A warning for the person; each is reported once. */
  onWarning(text: string): void;
  /** The current work of the turn in a few words; null while its text is printed. */
  onDoing(doing: string | null): void;
}

const thinking = 'Thinking';

export class TurnFollower {
  readonly #claw: Claw;
  readonly #listener: TurnListener;
  readonly #over = new AbortController();
  readonly #early: (AnyEvent | DeltaNotice)[] = [];
  #stopDeltas: (() => void) | null = null;
  #turnId: string | null = null;
  /** The text of the current stretch printed so far. */
  #open = '';
  /** Recorded text that was printed before its deltas arrived. */
  #ahead = '';
  #lastWhole = '';
  /** The text of a stretch that was finished before its record arrived. */
  #unrecorded: string | null = null;
  #needsBreak = false;
  /** The calls that run, in words, by their id. */
  readonly #calls = new Map<string, string>();

  constructor(claw: Claw, listener: TurnListener) {
    this.#claw = claw;
    this.#listener = listener;
  }

  /** Call this before the turn starts, so that no event is missed. */
  start(): void {
    const events = this.#claw.events({ after: 'latest', signal: this.#over.signal });
    void this.#pump(events[Symbol.asyncIterator]());
    this.#stopDeltas = this.#claw.onDelta((delta) => this.#takeEarly(delta));
  }

  /** Sets the turn to follow and processes the buffered events. */
  follow(turnId: string): void {
    this.#turnId = turnId;
    this.#open = this.#ahead = this.#lastWhole = '';
    this.#unrecorded = null;
    this.#listener.onDoing(thinking);
    for (const item of this.#early.splice(0)) this.#take(item);
  }

  /** Completes the printed text up to `text`: prints the rest of the current stretch, or all of it. */
  finishText(text: string): void {
    if (this.#open !== '' || this.#lastWhole === '' || !text.startsWith(this.#lastWhole)) {
      if (text !== '') this.#unrecorded = text;
      return this.#finishStretch(text);
    }
    // The last stretch is printed. The runtime's note, for example that the answer was cut off, follows it.
    const rest = text.slice(this.#lastWhole.length);
    if (rest === '') return;
    this.#needsBreak = false;
    this.#print(rest);
  }

  stop(): void {
    this.#over.abort();
    this.#stopDeltas?.();
  }

  async #pump(events: AsyncIterator<AnyEvent>): Promise<void> {
    try {
      for (let item = await events.next(); item.done !== true; item = await events.next()) this.#takeEarly(item.value);
    } catch {
      // A lost subscription costs only progress lines. The result comes from turn.wait.
    }
  }

  #takeEarly(item: AnyEvent | DeltaNotice): void {
    if (this.#turnId !== null) this.#take(item);
    else if (this.#early.length < earlyMax) this.#early.push(item);
  }

  #take(item: AnyEvent | DeltaNotice): void {
    if (item.turnId !== this.#turnId || this.#over.signal.aborted) return;
    if ('kind' in item) {
      if (item.kind === 'text') this.#takeDelta(item.text);
      return;
    }
    if (item.type === 'model.finished') this.#takeRecord(item.body.text);
    if (item.type === 'model.failed' && item.body.again === true) this.#startOver(brokeOffWords(item.body));
    if (item.type === 'model.failed' && item.body.failover !== undefined) this.#startOver(failoverWords(item.body));
    if (item.type === 'tool.requested') this.#takeCall(item.body.callId, callInWords(item.body.tool, item.body.args));
    if (item.type === 'tool.finished') {
      this.#listener.onCallFinished(item);
      this.#takeCall(item.body.callId, null);
    }
    if (item.type === 'budget.unpriced') this.#listener.onWarning(unpricedWords(item.body));
    if (item.type === 'mcp.asked') this.#listener.onWarning(askedWords(item.body));
    if (item.type === 'approval.decided') this.#listener.onDecided(item.body.approvalId);
  }

  #takeCall(callId: string, words: string | null): void {
    if (words === null) this.#calls.delete(callId);
    else this.#calls.set(callId, words);
    this.#listener.onDoing([...this.#calls.values()].at(-1) ?? thinking);
  }

  #takeRecord(text: string): void {
    if (text !== this.#unrecorded) this.#finishStretch(text);
    else this.#unrecorded = null;
  }

  #takeDelta(text: string): void {
    if (this.#ahead.startsWith(text)) {
      this.#ahead = this.#ahead.slice(text.length);
      return;
    }
    this.#ahead = '';
    this.#open += text;
    this.#print(text);
  }

  /** Printed text cannot be removed, so it is marked, and the answer starts below it. */
  #startOver(why: string): void {
    if (this.#open !== '') this.#print('\n');
    this.#open = this.#ahead = '';
    this.#listener.onWarning(why);
  }

  #finishStretch(text: string): void {
    const isBehind = this.#open !== text && this.#open.startsWith(text);
    if (isBehind) {
      // Deltas of the next stretch arrived before this record, whose text is already printed.
      this.#open = this.#open.slice(text.length);
    } else if (text.startsWith(this.#open)) {
      const rest = text.slice(this.#open.length);
      // Appended, because the deltas of the previous stretch may still arrive too.
      this.#ahead += rest;
      this.#print(rest);
    } else {
      this.#needsBreak = true;
      this.#print(text);
    }
    if (text !== '') this.#lastWhole = text;
    if (isBehind) return;
    this.#needsBreak ||= text !== '';
    this.#open = '';
  }

  #print(text: string): void {
    if (text === '') return;
    this.#listener.onDoing(null);
    this.#listener.onText(this.#needsBreak ? '\n' + text : text);
    this.#needsBreak = false;
  }
}

function askedWords({ server, message, questionId }: EventOf<'mcp.asked'>['body']): string {
  return `The MCP server ${server} asks: ${message}\nAnswer from another terminal: trayclaw mcp answer ${questionId} FIELDS_AS_JSON`;
}
