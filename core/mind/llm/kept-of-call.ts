// What an answer said beside its calls and its vendor wants back with them: reasoning, signatures. Of the newest answers only, and only
// while the program runs; a format has a way to do without.

const REPLIES_KEPT = 256;

export interface KeptOfCall {
  /** What the model thought before the call. */
  readonly reasoning?: string;
  /** JSON text of a field of the call (Gemini's signature). */
  readonly extra?: string;
  /** JSON texts of signed blocks before the call (Anthropic). */
  readonly blocks?: readonly string[];
}

export class KeptOfCalls {
  readonly #kept = new Map<string, KeptOfCall>();

  of(callId: string): KeptOfCall | undefined {
    return this.#kept.get(callId);
  }

  keep(callId: string, what: KeptOfCall): void {
    this.#kept.set(callId, what);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > REPLIES_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}
