// The ports of memory that a program around the runtime can fill: what is worth remembering, what contradicts what, and memories kept
// elsewhere. Types only.

import type { Memory, MemoryKind, MemoryState } from './memory.ts';

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

/**
 * A memory kept elsewhere: a notebook, a service, another program. Asked whenever the agent recalls, beside its own memory; its words count
 * as those of others. One that fails or is slow is left out.
 */
export interface MemorySource {
  /** Letters, digits, - and _. */
  readonly name: string;
  recall(
    query: { readonly text: string; readonly agentId: string; readonly limit: number },
    signal: AbortSignal,
  ): Promise<readonly RecalledText[]>;
}
