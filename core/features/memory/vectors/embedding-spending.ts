// What an answer of an embedding model came to, and who is asked and told of it. Types only.

export interface EmbeddingUse {
  readonly purpose: 'texts' | 'questions';
  readonly count: number;
  readonly tokens: number;
  readonly tokensReported: boolean;
  readonly tookMs: number;
}

export interface EmbeddingSpending {
  /** Before anything leaves. Fails with over_budget. */
  admit(tokens: number): void;
  /** For every answer, whatever it is good for. */
  record(use: EmbeddingUse): void;
}
