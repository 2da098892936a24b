// The usage of an embedding call, and the port that checks and records it. Types only.

import type { EventBodies } from '../../../contracts/events.ts';

export type EmbeddingUse = Omit<EventBodies['embedding.used'], 'model' | 'costUsd'>;

export interface EmbeddingSpending {
  /** Called before texts are sent. Fails with over_budget. */
  admit(tokens: number): void;
  /** Called for every answer, usable or not. */
  record(use: EmbeddingUse): void;
}
