// Request bodies as one growing buffer per conversation: prefix, then each message serialised once, then a suffix. A buffer that is being
// sent is never modified. The cost of a step therefore depends on its new messages, not on the length of the session.

import type { ChatMessage, ModelRequest, ToolSchema } from '../../contracts/llm.ts';
import { groupMessages, nextAssistant, spoken, type MessageGroup, type Spoken } from './message-groups.ts';

/** The state of the message region: empty, complete, or open for the separator before the next message. */
export type Tail = 'empty' | 'closed' | 'open';

export interface WireFormat {
  /** Everything before the first message. `tail` tells whether it already contains a message. */
  prefix(request: ModelRequest): { readonly text: string; readonly tail: Tail };
  /** The text to append for a group, including separators, and the resulting state of the region. */
  group(group: MessageGroup, tail: Tail): { readonly text: string; readonly tail: Tail };
  /** Additional user text after a settled group. */
  spoken(said: Spoken, tail: Tail): { readonly text: string; readonly tail: Tail };
  /** The last text, which is not kept, and the end of the body. */
  suffix(request: ModelRequest, tail: Tail): string;
}

/** A body for one request. Call `release` when the request is over, with `isClean` only if the server certainly read all of it. */
export interface BodyLease {
  readonly bytes: Buffer;
  /** Returns whether the conversation already has a call with this id. */
  isCallIdTaken(id: string): boolean;
  release(isClean: boolean): void;
}

/** Sent after an answer that is followed by nothing or by another answer: vendors refuse that, or continue the answer mid-sentence. */
const GO_ON = 'Go on.';

const SLAB_BYTES_MIN = 16 * 1024;
const PREFIXES_KEPT = 4;

export class RequestBodies {
  readonly #format: WireFormat;
  readonly #prefixes = new WeakMap<readonly ToolSchema[], Prefix[]>();
  readonly #conversations = new WeakMap<readonly ChatMessage[], Conversation>();

  constructor(format: WireFormat) {
    this.#format = format;
  }

  lease(request: ModelRequest): BodyLease {
    const prefix = this.#prefixOf(request);
    let conversation = this.#conversations.get(request.messages);
    if (conversation === undefined) {
      conversation = new Conversation(this.#format);
      this.#conversations.set(request.messages, conversation);
    }
    return conversation.lease(request, prefix);
  }

  #prefixOf(request: ModelRequest): Prefix {
    const kept = this.#prefixes.get(request.tools) ?? [];
    const found = kept.find((one) => one.system === request.system && one.modelId === request.modelId);
    if (found !== undefined) return found;
    const { text, tail } = this.#format.prefix(request);
    const prefix: Prefix = { system: request.system, modelId: request.modelId, bytes: Buffer.from(text, 'utf8'), tail };
    this.#prefixes.set(request.tools, [prefix, ...kept].slice(0, PREFIXES_KEPT));
    return prefix;
  }
}

interface Prefix {
  readonly system: string;
  readonly modelId: string;
  readonly bytes: Buffer;
  readonly tail: Tail;
}

/** A position in the message region: this many messages take this many bytes. */
interface Mark {
  readonly count: number;
  readonly sizeBytes: number;
  readonly tail: Tail;
  /** Whether an answer is the last message. */
  readonly endsInAnswer: boolean;
}

/** A buffer, and whether a request may still be reading it. */
class Slab {
  readonly bytes: Buffer;
  users = 0;
  isSpoiled = false;

  constructor(capacityBytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(capacityBytes);
  }
}

class Conversation {
  readonly #format: WireFormat;
  readonly #callIds = new Set<string>();
  #slab = new Slab(0);
  #prefix: Prefix | null = null;
  #at: Mark = { count: 0, sizeBytes: 0, tail: 'empty', endsInAnswer: false };
  #groupStart: Mark = this.#at;
  #isSettled = true;
  #last: ChatMessage | undefined;

  constructor(format: WireFormat) {
    this.#format = format;
  }

  lease(request: ModelRequest, prefix: Prefix): BodyLease {
    this.#settlePrefix(prefix);
    if (this.#slab.users > 0 || this.#slab.isSpoiled) this.#move(prefix.bytes.length, this.#slab.bytes.length);
    this.#catchUp(request.messages);
    const length = this.#write(this.#suffix(request));
    return this.#hold(prefix.bytes.length + this.#at.sizeBytes + length);
  }

  /** Text at the end of this request is never kept: the next request may continue differently. */
  #suffix(request: ModelRequest): string {
    const { tail, endsInAnswer } = this.#at;
    const isOpenEnded = endsInAnswer && request.tail === undefined;
    return this.#format.suffix(isOpenEnded ? { ...request, tail: GO_ON } : request, tail);
  }

  #hold(sizeBytes: number): BodyLease {
    const slab = this.#slab;
    const callIds = this.#callIds;
    slab.users += 1;
    let isHeld = true;
    return {
      bytes: slab.bytes.subarray(0, sizeBytes),
      isCallIdTaken: (id) => callIds.has(id),
      release: (isClean) => {
        if (!isHeld) return;
        isHeld = false;
        slab.users -= 1;
        // The socket of an abandoned request may still hold these bytes, so this slab is never written again.
        if (!isClean) slab.isSpoiled = true;
      },
    };
  }

  #settlePrefix(prefix: Prefix): void {
    const before = this.#prefix;
    if (before === prefix) return;
    this.#prefix = prefix;
    if (before === null || before.tail !== prefix.tail) this.#restart(prefix);
    const sizeBytes = prefix.bytes.length + this.#at.sizeBytes;
    this.#move(before === null ? 0 : before.bytes.length, Math.max(SLAB_BYTES_MIN, sizeBytes * 2));
  }

  #restart(prefix: Prefix): void {
    this.#at = { count: 0, sizeBytes: 0, tail: prefix.tail, endsInAnswer: false };
    this.#groupStart = this.#at;
    this.#isSettled = true;
    this.#last = undefined;
    this.#callIds.clear();
  }

  /** Switches to a new slab with the current prefix and the message bytes, which began at `messagesFrom` in the old one. */
  #move(messagesFrom: number, capacityBytes: number): void {
    const prefix = this.#prefix?.bytes ?? Buffer.alloc(0);
    const moved = new Slab(capacityBytes);
    prefix.copy(moved.bytes, 0);
    this.#slab.bytes.copy(moved.bytes, prefix.length, messagesFrom, messagesFrom + this.#at.sizeBytes);
    this.#slab = moved;
  }

  #catchUp(messages: readonly ChatMessage[]): void {
    const { count } = this.#at;
    const isBroken = messages.length < count || (count > 0 && messages[count - 1] !== this.#last);
    if (isBroken && this.#prefix !== null) this.#restart(this.#prefix);
    let at = this.#joinLastGroup(messages);
    while (at < messages.length) {
      const end = nextAssistant(messages, at + 1);
      this.#appendGroup(messages, at, end);
      at = end;
    }
    this.#last = messages[messages.length - 1];
  }

  /**
   * Adds messages that continue the last group: user text is appended, anything else rewrites the group. Returns the index to continue at.
   */
  #joinLastGroup(messages: readonly ChatMessage[]): number {
    const { count } = this.#at;
    if (count === 0 || count >= messages.length || messages[count]?.role === 'assistant') return count;
    const end = nextAssistant(messages, count);
    const isOnlySpoken = messages.slice(count, end).every((message) => message.role === 'user' || message.role === 'note');
    if (!this.#isSettled || !isOnlySpoken) {
      this.#at = this.#groupStart;
      return this.#at.count;
    }
    for (let i = count; i < end; i++) {
      const message = messages[i];
      if (message?.role !== 'user' && message?.role !== 'note') continue;
      this.#append(this.#format.spoken(spoken(message), this.#at.tail), i + 1, false);
    }
    return end;
  }

  #appendGroup(messages: readonly ChatMessage[], start: number, end: number): void {
    const group = groupMessages(messages, start, end);
    this.#groupStart = this.#at;
    this.#isSettled = group.isSettled;
    for (const call of group.assistant?.calls ?? []) this.#callIds.add(call.id);
    const { assistant, results, said } = group;
    if (assistant !== null && this.#at.endsInAnswer) {
      this.#append(this.#format.spoken(spoken({ role: 'note', text: GO_ON }), this.#at.tail), this.#at.count, false);
    }
    const endsInAnswer = assistant === null ? said.length === 0 && this.#at.endsInAnswer : results.length + said.length === 0;
    this.#append(this.#format.group(group, this.#at.tail), end, endsInAnswer);
  }

  #append(piece: { readonly text: string; readonly tail: Tail }, count: number, endsInAnswer: boolean): void {
    const length = this.#write(piece.text);
    this.#at = { count, sizeBytes: this.#at.sizeBytes + length, tail: piece.tail, endsInAnswer };
  }

  /** Writes after the message region; the caller decides whether the region grows by it. Returns the bytes written. */
  #write(text: string): number {
    const prefixBytes = this.#prefix?.bytes.length ?? 0;
    const from = prefixBytes + this.#at.sizeBytes;
    // UTF-8 takes at most three bytes per UTF-16 unit; the size is measured exactly only if that does not fit.
    if (from + text.length * 3 > this.#slab.bytes.length) {
      const needed = from + Buffer.byteLength(text, 'utf8');
      if (needed > this.#slab.bytes.length) this.#move(prefixBytes, needed * 2);
    }
    return this.#slab.bytes.write(text, from, 'utf8');
  }
}
