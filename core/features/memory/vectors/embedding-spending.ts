// The usage of an embedding call, and the port that checks and records it. Types only.

export interface EmbeddingUse {
  readonly purpose: 'texts' | 'questions';
  readonly count: number;
  readonly tokens: number;
  readonly tokensReported: boolean;
  readonly tookMs: number;
}

export interface EmbeddingSpending {
  /** Before texts are sent. Fails with over_budget. */
  admit(tokens: number): void;
  /** For every answer, usable or not. */
  record(use: EmbeddingUse): void;
}
