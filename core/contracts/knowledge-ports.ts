// The port through which a host program adds document sources that answer queries directly. Types only.

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
