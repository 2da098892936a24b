// Data of an answer that a vendor wants back with its calls: reasoning, signatures. Kept only for the newest answers and only in memory;
// every format works without it.

import { NewestMap } from '../../base/newest-map.ts';

const REPLIES_KEPT = 256;

export interface KeptOfCall {
  /** The model's reasoning before the call. */
  readonly reasoning?: string;
  /** The JSON text of a field of the call (Gemini's signature). */
  readonly extra?: string;
  /** JSON texts of signed blocks between the previous call and this one, with `WORDS_HERE` (Anthropic, OpenAI's Responses). */
  readonly blocks?: readonly string[];
}

/** Marks the position of the answer's text among the blocks kept before a call. */
export const WORDS_HERE = '';

/** A part of an answer, as it arrived. `sealed` is the JSON text of a block to be sent back; '' for any other part. */
interface AnswerPart {
  readonly type: string;
  readonly sealed: string;
}

/** For each call of an answer, in order: the blocks since the previous call, and the position of the text. */
export function blocksBeforeCalls(parts: readonly AnswerPart[], types: { readonly text: string; readonly call: string }): string[][] {
  const found: string[][] = [];
  let since: string[] = [];
  for (const { type, sealed } of parts) {
    if (type === types.text) since.push(WORDS_HERE);
    if (sealed !== '') since.push(sealed);
    if (type !== types.call) continue;
    found.push(since);
    since = [];
  }
  return found;
}

/** Returns the JSON texts of an answer's parts in the order in which they arrived. `words` is its text, or null if there is none. */
export function inArrivalOrder<Call extends { readonly id: string }>(
  calls: readonly Call[],
  words: string | null,
  options: { readonly before: (callId: string) => readonly string[]; readonly callText: (call: Call) => string },
): string[] {
  const parts: string[] = [];
  let unsaid = words;
  const say = (): void => {
    if (unsaid !== null) parts.push(unsaid);
    unsaid = null;
  };
  for (const call of calls) {
    for (const block of options.before(call.id)) {
      if (block === WORDS_HERE) say();
      else parts.push(block);
    }
    say();
    parts.push(options.callText(call));
  }
  say();
  return parts;
}

export class KeptOfCalls {
  readonly #kept = new NewestMap<string, KeptOfCall>(REPLIES_KEPT);

  of(callId: string): KeptOfCall | undefined {
    return this.#kept.get(callId);
  }

  keep(callId: string, what: KeptOfCall): void {
    this.#kept.set(callId, what);
  }

  clear(): void {
    this.#kept.clear();
  }
}
