// The port by which a program around the runtime adds sources of knowledge that answer by themselves. Types only.

export interface ResolvedEvidence {
  readonly title: string;
  readonly text: string;
  /** What a person can look up: an address, a number, a name. */
  readonly citation: string;
  /** 0 to 1, as the resolver sees it. */
  readonly score?: number;
}

/** A source that is asked at the time of the question: a catalogue, a database, a service. Its words count as those of others. */
export interface KnowledgeResolver {
  readonly name: string;
  resolve(query: string, limit: number, signal: AbortSignal): Promise<readonly ResolvedEvidence[]>;
}
