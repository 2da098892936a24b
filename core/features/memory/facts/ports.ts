// Ports of memory inside the runtime: its store, and recall. The ports that a program can implement are in core/contracts. Types only.

import type { AnyDraft } from '../../../contracts/events.ts';
import type { Memory, MemoryHit } from '../../../contracts/features/memory.ts';
import type { TaintSource } from '../../../contracts/tools.ts';
import type { Near } from '../recall/recall-path.ts';
import type { MemoryRows } from './memory-rows.ts';

type Kept = 'texts' | 'find' | 'at' | 'findSame' | 'list' | 'pinned' | 'counts' | 'seenIn' | 'contradictionsOf';

/** The memory store. Each change is an event: `append` records it, and the rows are updated in the same transaction. */
export interface MemoryStore extends Pick<MemoryRows, Kept> {
  append(drafts: readonly AnyDraft[]): void;
  /** Runs the work in one transaction. */
  transact<T>(work: () => T): T;
  /**
   * Memories of these scopes with a similar meaning, best first. Empty if there are no vectors. Never rejects; a failure returns no
   * memories.
   */
  findMeaning(query: string, scopes: readonly string[], limit: number, signal: AbortSignal): Promise<readonly Near[]>;
}

export interface RecallRequest {
  readonly query: string;
  readonly agentId: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Finds memories for a question, best first. */
export interface Recall {
  recall(request: RecallRequest): Promise<MemoryHit[]>;
}

export type ProposedBy = Memory['origin'] & { readonly untrusted: readonly TaintSource[] };
