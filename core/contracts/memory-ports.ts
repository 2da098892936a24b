// The ports of memory that a host program can implement: extraction of memories, contradictions, external memories, and document sources
// that answer queries directly. Types only.

import type { Memory, MemoryKind, MemoryState } from './features/memory.ts';
import type { TaintSource } from './tools.ts';

/** A memory in its current state. */
export interface KeptMemory extends Memory {
  /** Its row number in the store. A smaller number is older. */
  readonly row: number;
  readonly state: MemoryState;
  readonly rule: string | null;
  readonly pinned: boolean;
  readonly createdAtMs: number;
  /** When it was last mentioned, recalled or reread. */
  readonly usedAtMs: number;
  readonly uses: number;
}

/** A person's message in a turn, unchanged. */
export interface ExtractedTurn {
  readonly sessionId: string;
  readonly turnId: string | null;
  readonly text: string;
}

export interface Proposal {
  readonly kind: MemoryKind;
  readonly text: string;
  readonly importance: number;
}

/** Finds facts worth remembering in a turn. Its proposals only become candidates. */
export interface MemoryExtractor {
  extract(turn: ExtractedTurn): readonly Proposal[];
}

/** Returns the given memories that contradict the text. */
export interface MemoryResolver {
  contradictions(text: string, among: readonly KeptMemory[]): readonly { readonly otherId: string; readonly reason: string }[];
}

/** A memory that a source recalls for a query. */
export interface RecalledText {
  /** The id in the source, by which a person can find it there. */
  readonly id: string;
  readonly text: string;
  readonly kind?: MemoryKind;
  /** From 0 to 1, as the source rates it. */
  readonly score?: number;
  readonly atMs?: number;
}

/** A stored memory in the form that an external store receives. */
export interface RememberedText {
  /** Stable across deliveries. If a recall returns this id, the memory is not shown twice. */
  readonly id: string;
  readonly text: string;
  readonly kind: MemoryKind;
  /** `shared`, or `agent:` and the id of an agent. */
  readonly scope: string;
  readonly importance: number;
  readonly atMs: number;
  /** The untrusted sources from which it may derive; empty if there are none. */
  readonly untrusted: readonly TaintSource[];
}

/**
 * An external memory: a notebook, a service, another program. Queried on every recall, in addition to the built-in memory; its text is
 * untrusted content. A source that fails or is slow is left out. With `remember` it is also a store that receives new and existing
 * memories.
 */
export interface MemorySource {
  /** Letters, digits, - and _. */
  readonly name: string;
  recall(
    query: { readonly text: string; readonly agentId: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly RecalledText[]>;
  /**
   * Stores a memory. Called for one memory after the other, in order. After a rejection, or after ten seconds, the same memory is tried
   * again later. A memory with a known `id` replaces the earlier one.
   */
  remember?(memory: RememberedText, signal: AbortSignal): Promise<void>;
  /** Removes a stored memory. An unknown id is not an error. */
  forget?(id: string, signal: AbortSignal): Promise<void>;
}

export interface ResolvedEvidence {
  readonly title: string;
  readonly text: string;
  /** A reference that a person can look up: an address, a number, a name. */
  readonly citation: string;
  /** From 0 to 1, as the resolver rates it. */
  readonly score?: number;
}

/** A source that is queried when a question is asked: a catalogue, a database, a service. Its answers are untrusted content. */
export interface KnowledgeResolver {
  readonly name: string;
  resolve(query: string, limit: number, signal: AbortSignal): Promise<readonly ResolvedEvidence[]>;
}
