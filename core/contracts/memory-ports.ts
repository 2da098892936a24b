// The ports of memory that a program around the runtime can fill: what is worth remembering, what contradicts what, and memories kept
// elsewhere. Types only.

import type { Memory, MemoryKind, MemoryState } from './features/memory.ts';
import type { TaintSource } from './tools.ts';

/** A memory as it stands now. */
export interface KeptMemory extends Memory {
  /** A number of its own in the store; smaller is older. */
  readonly row: number;
  readonly state: MemoryState;
  readonly rule: string | null;
  readonly pinned: boolean;
  readonly createdAtMs: number;
  /** When it was last brought up, recalled or read in anew. */
  readonly usedAtMs: number;
  readonly uses: number;
}

/** A person's message of a turn, as it was said. */
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

/** Finds in a turn what is worth remembering. What it proposes becomes a candidate and no more. */
export interface MemoryExtractor {
  extract(turn: ExtractedTurn): readonly Proposal[];
}

/** Tells which of the memories at hand cannot be so beside the text. */
export interface MemoryResolver {
  contradictions(text: string, among: readonly KeptMemory[]): readonly { readonly otherId: string; readonly reason: string }[];
}

/** What a source remembers about a question. */
export interface RecalledText {
  /** Its name in the source, by which a person finds it there. */
  readonly id: string;
  readonly text: string;
  readonly kind?: MemoryKind;
  /** 0 to 1, as the source sees it. */
  readonly score?: number;
  readonly atMs?: number;
}

/** A memory that is kept here, as a store elsewhere is told of it. */
export interface RememberedText {
  /** The same each time it is handed over. A recall that answers with this id is not shown beside the own memory. */
  readonly id: string;
  readonly text: string;
  readonly kind: MemoryKind;
  /** `shared`, or `agent:` and the id of the agent it is for. */
  readonly scope: string;
  readonly importance: number;
  readonly atMs: number;
  /** Whose words it may hold beside the person's own; empty for none. */
  readonly untrusted: readonly TaintSource[];
}

/**
 * A memory kept elsewhere: a notebook, a service, another program. Asked whenever the agent recalls, beside its own memory; its words count
 * as those of others. One that fails or is slow is left out. With `remember` it is also a store: what is kept here is handed over, what was
 * kept before as well.
 */
export interface MemorySource {
  /** Letters, digits, - and _. */
  readonly name: string;
  recall(
    query: { readonly text: string; readonly agentId: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly RecalledText[]>;
  /** Takes over a memory, one after the other in their order. When it rejects, or takes ten seconds, the same is tried again later: one with a known `id` replaces. */
  remember?(memory: RememberedText, signal: AbortSignal): Promise<void>;
  /** A memory that was handed over is no longer to be used. One it does not know is no error. */
  forget?(id: string, signal: AbortSignal): Promise<void>;
}
