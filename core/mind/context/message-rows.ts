// The messages of one conversation with their sizes, log positions and turns. Decides which messages are dropped and which are cut.
// `messages` is one array that only grows until something is dropped. Knows no events except summaries.

import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import type { EventBodies } from '../../contracts/events.ts';
import type { ChatMessage } from '../../contracts/llm.ts';
import { cutMessage, forceShorter, type Shortened } from './shorten-messages.ts';
import { fitSteps, noSteps, showSteps, withSteps, type StepsDigest } from './steps-digest.ts';
import { showSummary } from './summary-note.ts';

export interface Dropped {
  readonly count: number;
  readonly tokens: number;
}

export interface Cut {
  readonly what: string;
  readonly fromTokens: number;
  readonly toTokens: number;
}

/** A token counter; the id distinguishes counters. */
export interface TokenCounter {
  readonly id: string;
  count(text: string): number;
}

/** The newest summary, and the position up to which it covers the session. */
export interface HeldSummary {
  readonly summaryId: string;
  readonly text: Redacted;
  readonly toSessionSeq: number;
}

/** The position of a message, and the turn that removes the message when it is superseded. */
export interface Place {
  readonly sessionSeq: number;
  readonly turnId: string | null;
}

/** Per-message overhead of the wire formats, in tokens. */
const MESSAGE_TOKENS = 4;
/** Roughly what vendors count for a large image. */
const IMAGE_TOKENS = 1_600;
/** The range of the last resort: messages are cut to this many characters at first, then in halves down to the minimum. */
const FORCED_CHARS_FROM = 4_096;
const FORCED_CHARS_TO = 8;
/** The share of the room for the lines that replace dropped steps. */
const DIGEST_SHARE = 0.15;

export class MessageRows {
  #messages: Redacted<ChatMessage>[] = [];
  #tokens: number[] = [];
  #seqs: number[] = [];
  #turns: (string | null)[] = [];
  #totalTokens = 0;
  #summary: HeldSummary | null = null;
  /** 1 if `messages` begins with a summary, else 0. */
  #head = 0;
  /** Messages since the summary, including dropped ones. */
  #unsummed = { messages: 0, tokens: 0 };
  #counter: TokenCounter;
  /** The note that replaces dropped steps of the newest exchange, and its content. */
  #digest: { readonly note: Redacted<ChatMessage>; readonly steps: StepsDigest } | null = null;

  constructor(counter: TokenCounter) {
    this.#counter = counter;
  }

  get messages(): readonly Redacted<ChatMessage>[] {
    return this.#messages;
  }

  get totalTokens(): number {
    return this.#totalTokens;
  }

  get count(): number {
    return this.#messages.length;
  }

  /** The session sequence number of the oldest message kept; 0 if there is none. */
  get fromSessionSeq(): number {
    return this.#seqs[this.#head] ?? 0;
  }

  get summary(): HeldSummary | null {
    return this.#summary;
  }

  /** The size of the messages that no summary covers, including those dropped for lack of room. */
  get unsummed(): { readonly messages: number; readonly tokens: number } {
    return this.#unsummed;
  }

  /** True if every message that no summary covers is still here. */
  get isWhole(): boolean {
    return this.#unsummed.messages === this.#messages.length - this.#head;
  }

  /** Indexes of `messages` that start a turn with no open call before them: a summary may end there. */
  get boundaries(): number[] {
    const found: number[] = [];
    for (let i = this.#head + 1; i < this.#messages.length; i++) {
      const isFirst = this.#messages[i]?.role === 'user' && this.#turns[i] !== this.#turns[i - 1];
      if (isFirst && (this.#seqs[i] ?? 0) > (this.#seqs[i - 1] ?? 0)) found.push(i);
    }
    return found;
  }

  /** The position, turn and size of the message at an index. */
  at(index: number): { readonly sessionSeq: number; readonly turnId: string | null; readonly tokens: number } {
    return { sessionSeq: this.#seqs[index] ?? 0, turnId: this.#turns[index] ?? null, tokens: this.#tokens[index] ?? 0 };
  }

  /** Switches to another counter and recounts all messages once. */
  countWith(counter: TokenCounter): void {
    if (counter.id === this.#counter.id) return;
    this.#counter = counter;
    this.#countAgain();
  }

  #countAgain(): void {
    const dropped = this.#dropped;
    this.#tokens = this.#messages.map((message) => this.#count(message));
    this.#totalTokens = sum(this.#tokens);
    this.#unsummed = { ...this.#unsummed, tokens: this.#heldTokens + dropped.tokens };
  }

  add(message: Redacted<ChatMessage>, { sessionSeq, turnId }: Place): void {
    // When the log is reread, a summary may arrive before the messages it covers.
    if (this.#summary !== null && sessionSeq <= this.#summary.toSessionSeq) return;
    const tokens = this.#count(message);
    this.#messages.push(message);
    this.#tokens.push(tokens);
    this.#seqs.push(sessionSeq);
    this.#turns.push(turnId);
    this.#totalTokens += tokens;
    this.#unsummed = { messages: this.#unsummed.messages + 1, tokens: this.#unsummed.tokens + tokens };
  }

  /** Redacts all messages again, because more secrets are known. If anything changes, `messages` becomes a new array. */
  protected lookAgain(safe: (message: ChatMessage) => Redacted<ChatMessage>, redact: (text: string) => Redacted): void {
    const messages = this.#messages.map(safe);
    if (this.#summary !== null) this.#summary = { ...this.#summary, text: redact(this.#summary.text) };
    if (this.#digest !== null) {
      const { note, steps } = this.#digest;
      const now = messages[this.#messages.indexOf(note)] ?? note;
      this.#digest = { note: now, steps: { ...steps, lines: steps.lines.map(redact) } };
    }
    if (messages.every((message, index) => message === this.#messages[index])) return;
    this.#messages = messages;
    this.#countAgain();
  }

  /** Removes a whole turn. */
  takeOut(turnId: string): void {
    if (!this.#turns.includes(turnId)) return;
    const dropped = this.#dropped;
    const stays = this.#turns.map((turn) => turn !== turnId);
    this.#messages = this.#messages.filter((_, index) => stays[index]);
    this.#seqs = this.#seqs.filter((_, index) => stays[index]);
    this.#tokens = this.#tokens.filter((_, index) => stays[index]);
    this.#turns = this.#turns.filter((turn) => turn !== turnId);
    this.#totalTokens = sum(this.#tokens);
    this.#unsummed = { messages: this.#messages.length - this.#head + dropped.messages, tokens: this.#heldTokens + dropped.tokens };
  }

  /** Drops the oldest whole exchanges until at most `keepTokens` remain. Always keeps the newest exchange and the summary. */
  dropOldest(keepTokens: number): Dropped {
    const head = this.#head;
    let cut = head;
    let tokens = 0;
    let passedTokens = 0;
    let lastUserSeq = this.#messages[head]?.role === 'user' ? this.#seqs[head] : undefined;
    for (let i = head; i < this.#messages.length; i++) {
      // A message of the person begins an exchange: no call before it is still waiting for a result.
      if (i > head && this.#messages[i]?.role === 'user' && this.#seqs[i] !== lastUserSeq) {
        lastUserSeq = this.#seqs[i];
        cut = i;
        tokens = passedTokens;
        if (this.#totalTokens - passedTokens <= keepTokens) break;
      }
      passedTokens += this.#tokens[i] ?? 0;
    }
    if (cut > head) this.#forget(head, cut);
    return { count: cut - head, tokens };
  }

  /**
   * Drops the oldest whole steps inside the newest exchange and replaces them by a note with one line each. Keeps the person's message and
   * the last step.
   */
  dropSteps(keepTokens: number): Dropped {
    const none = { count: 0, tokens: 0 };
    const first = this.#messages.findLastIndex((message) => message.role === 'user');
    const last = this.#messages.findLastIndex((message) => message.role === 'assistant');
    const from = Math.max(first + 1, this.#head);
    const to = last < from ? this.#messages.length - 1 : last;
    const known = this.#messages[from] === this.#digest?.note ? this.#digest : null;
    if (to - from <= (known === null ? 0 : 1) || this.#totalTokens <= keepTokens) return none;
    const digestTokens = Math.floor(keepTokens * DIGEST_SHARE);
    let end = from;
    let tokens = 0;
    // Continues to the next step, because a call and its results are dropped together.
    while (end < to && (this.#totalTokens - tokens > keepTokens - digestTokens || this.#messages[end]?.role === 'tool')) {
      tokens += this.#tokens[end] ?? 0;
      end += 1;
    }
    const place = this.at(end);
    const all = withSteps(known?.steps ?? noSteps, this.#messages.slice(known === null ? from : from + 1, end));
    const steps = fitSteps(all, digestTokens, (text) => this.#counter.count(text));
    const note = stillRedacted<ChatMessage>({ role: 'note', text: showSteps(steps) });
    this.#digest = { note, steps };
    const noteTokens = this.#count(note);
    const put = <T>(list: readonly T[], item: T): T[] => [...list.slice(0, from), item, ...list.slice(end)];
    this.#messages = put(this.#messages, note);
    this.#seqs = put(this.#seqs, place.sessionSeq);
    this.#turns = put(this.#turns, place.turnId);
    this.#tokens = put(this.#tokens, noteTokens);
    this.#totalTokens += noteTokens - tokens;
    return { count: end - from, tokens: tokens - noteTokens };
  }

  /** Keeps only messages at or after a log position: the first message of a past pack. */
  keepFrom(sessionSeq: number): void {
    if ((this.#seqs[this.#head] ?? sessionSeq) >= sessionSeq) return;
    // A pack that does not start at the beginning of the session starts with a message of the person; results may have the same position.
    const cut = this.#seqs.findIndex((seq, index) => index >= this.#head && seq >= sessionSeq && this.#messages[index]?.role === 'user');
    if (cut > this.#head) this.#forget(this.#head, cut);
  }

  /** Cuts the longest tool results and call arguments down to `keepTokens` each. Returns the cuts. */
  truncateLongest(keepTokens: number): Cut[] {
    return this.#shorten((message, tokens) => (tokens <= keepTokens ? null : cutMessage(message, keepTokens / tokens)));
  }

  /** The last resort: cuts every message until all of them together take at most `keepTokens` or cannot be made smaller. */
  squeeze(keepTokens: number): Cut[] {
    const cuts: Cut[] = [];
    for (let keepChars = FORCED_CHARS_FROM; keepChars >= FORCED_CHARS_TO && this.#totalTokens > keepTokens; keepChars /= 2) {
      cuts.push(...this.#shorten((message) => forceShorter(message, keepChars)));
    }
    return cuts;
  }

  #shorten(shorter: (message: ChatMessage, tokens: number) => Shortened | null): Cut[] {
    const cuts: Cut[] = [];
    const messages = this.#messages.map((message, index) => {
      const tokens = this.#tokens[index] ?? 0;
      const cut = shorter(message, tokens);
      if (cut === null) return message;
      const toTokens = this.#count(cut.message);
      cuts.push({ what: cut.what, fromTokens: tokens, toTokens });
      this.#totalTokens += toTokens - tokens;
      this.#tokens[index] = toTokens;
      return stillRedacted(cut.message);
    });
    if (cuts.length > 0) this.#messages = messages;
    return cuts;
  }

  #forget(from: number, to: number): void {
    for (const tokens of this.#tokens.slice(from, to)) this.#totalTokens -= tokens;
    const without = <T>(list: readonly T[]): T[] => [...list.slice(0, from), ...list.slice(to)];
    this.#messages = without(this.#messages);
    this.#tokens = without(this.#tokens);
    this.#seqs = without(this.#seqs);
    this.#turns = without(this.#turns);
  }

  /** Removes the messages that a summary covers and keeps later ones. Ignores a summary that reaches no further than the current one. */
  sumUp(
    { summaryId, text, covers }: Pick<EventBodies['summary.written'], 'summaryId' | 'text' | 'covers'>,
    redact: (text: string) => Redacted,
  ): void {
    const { toSessionSeq } = covers;
    if (this.#summary !== null && this.#summary.toSessionSeq >= toSessionSeq) return;
    const kept = this.#seqs.findIndex((seq, index) => index >= this.#head && seq > toSessionSeq);
    this.#forget(0, kept < 0 ? this.#messages.length : kept);
    const safe = redact(text);
    this.#summary = { summaryId, text: safe, toSessionSeq };
    const note = stillRedacted<ChatMessage>({ role: 'note', text: showSummary(safe) });
    const tokens = this.#count(note);
    this.#unsummed = { messages: this.#messages.length, tokens: this.#totalTokens };
    this.#head = 1;
    this.#messages = [note, ...this.#messages];
    this.#tokens = [tokens, ...this.#tokens];
    this.#seqs = [toSessionSeq, ...this.#seqs];
    this.#turns = [null, ...this.#turns];
    this.#totalTokens += tokens;
  }

  /** The messages since the summary that were dropped for lack of room. */
  get #dropped(): { readonly messages: number; readonly tokens: number } {
    const { messages, tokens } = this.#unsummed;
    return { messages: messages - (this.#messages.length - this.#head), tokens: tokens - this.#heldTokens };
  }

  get #heldTokens(): number {
    return this.#totalTokens - sum(this.#tokens.slice(0, this.#head));
  }

  #count(message: ChatMessage): number {
    let tokens = this.#counter.count(message.text) + MESSAGE_TOKENS;
    if ('images' in message) tokens += (message.images?.length ?? 0) * IMAGE_TOKENS;
    if (message.role === 'assistant') for (const call of message.calls) tokens += this.#counter.count(call.args) + MESSAGE_TOKENS;
    return tokens;
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
