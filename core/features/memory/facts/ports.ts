// The ports of memory inside the runtime: its store, and its source for packs. The ports a program can fill are in core/contracts. Types only.

import type { AnyDraft } from '../../../contracts/events.ts';
import type { MemoryHit } from '../../../contracts/features/memory.ts';
import type { TaintSource } from '../../../contracts/tools.ts';
import type { Near } from '../recall/recall-path.ts';
import type { MemoryRows } from './memory-rows.ts';

type Kept = 'texts' | 'find' | 'at' | 'findSame' | 'list' | 'pinned' | 'counts' | 'seenIn' | 'contradictionsOf';

/** The store of memories. Each change is an event; `append` records it and the rows follow in the same transaction. */
export interface MemoryStore extends Pick<MemoryRows, Kept> {
  append(drafts: readonly AnyDraft[]): void;
  /** All or nothing. */
  transact<T>(work: () => T): T;
  /** Best first, of the scopes; empty if there are no vectors. Never rejects: a failure finds nothing. */
  findMeaning(query: string, scopes: readonly string[], limit: number, signal: AbortSignal): Promise<readonly Near[]>;
}

export interface RecallRequest {
  readonly query: string;
  readonly agentId: string;
  readonly limit: number;
  readonly signal: AbortSignal;
}

/** Answers a question from memory, best first. */
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
