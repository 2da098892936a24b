// The ports of memory inside the runtime: where it is kept, and where a pack gets it from. Those a program can fill are in core/contracts. Types only.

import type { AnyDraft } from '../../../contracts/events.ts';
import type { MemoryHit } from '../../../contracts/features/memory.ts';
import type { KeptMemory } from '../../../contracts/memory-ports.ts';
import type { TaintSource } from '../../../contracts/tools.ts';
import type { Contradiction, MemoryCounts, MemoryFilter } from './memory-rows.ts';

/** Where memories are kept. What changes one is an event; `append` records it and the rows follow in the same transaction. */
export interface MemoryStore {
  append(drafts: readonly AnyDraft[]): void;
  /** All or nothing. */
  transact<T>(work: () => T): T;
  find(memoryId: string): KeptMemory | null;
  at(rows: readonly number[]): KeptMemory[];
  findSame(text: string, scope: string): KeptMemory | null;
  list(filter: MemoryFilter, limit: number, offset?: number): KeptMemory[];
  pinned(scopes: readonly string[], limit: number): KeptMemory[];
  counts(): MemoryCounts;
  seenIn(memoryId: string): number;
  contradictionsOf(memoryId: string): Contradiction[];
  /** Best first, of every scope and state. */
  findWords(query: string, limit: number): readonly { readonly row: number; readonly score: number }[];
  /** The share, 0 to 1, of what the query's words tell that stands in the row. */
  coverage(query: string, row: number): number;
  /** Best first, of the scopes; empty where there are no vectors. Never rejects: what fails finds nothing. */
  findMeaning(
    query: string,
    scopes: readonly string[],
    limit: number,
    signal: AbortSignal,
  ): Promise<readonly { readonly row: number; readonly similarity: number }[]>;
}

export interface RecallRequest {
  readonly query: string;
  readonly agentId: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Answers a question out of memory, best first. */
export interface Recall {
  recall(request: RecallRequest): Promise<MemoryHit[]>;
}

export interface ProposedBy {
  readonly by: 'person' | 'agent' | 'turn' | 'import';
  readonly actor: string;
  readonly sessionId: string | null;
  readonly turnId: string | null;
  readonly untrusted: readonly TaintSource[];
}
