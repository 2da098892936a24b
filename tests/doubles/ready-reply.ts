// Prepares a scripted reply for the wire: assigns ids and serialises arguments.

export interface ReadyCall {
  readonly id: string;
  readonly tool: string;
  readonly args: string;
}

export interface ReadyReply {
  readonly model: string;
  readonly id: string;
  readonly text: string;
  readonly reasoning: string;
  /** The request that the reasoning belongs to; empty if it may follow another. */
  readonly before: string;
  readonly calls: readonly ReadyCall[];
  readonly isCutShort: boolean;
  readonly usage: { readonly input: number; readonly output: number; readonly cached?: number } | null;
  readonly pieces: (text: string) => string[];
}

export const CREATED_S = 1_750_000_000;
