// Data of an answer that a vendor wants back with its calls: reasoning, signatures. Kept only for the newest answers and only in memory;
// every format works without it.

import { NewestMap } from '../../base/newest-map.ts';

const REPLIES_KEPT = 256;

export interface KeptOfCall {
  /** The model's reasoning before the call. */
  readonly reasoning?: string;
  /** The JSON text of a field of the call (Gemini's signature). */
  readonly extra?: string;
  /** JSON texts of signed blocks before the call (Anthropic, OpenAI's Responses). */
  readonly blocks?: readonly string[];
}

export class KeptOfCalls {
  readonly #kept = new NewestMap<string, KeptOfCall>(REPLIES_KEPT);

  of(callId: string): KeptOfCall | undefined {
    return this.#kept.get(callId);
  }

  keep(callId: string, what: KeptOfCall): void {
    this.#kept.set(callId, what);
  }
}
