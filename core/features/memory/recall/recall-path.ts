// Finds texts for a question, for memories and documents alike: fuses full-text hits with vector hits above the similarity floor. The
// caller decides which texts count and how many it needs.

import { fuseWordsAndMeaning } from '../../../base/rank-fusion.ts';
import type { SearchedTexts } from './searched-texts.ts';

/** A searchable set of texts. */
export interface Searched<T> {
  readonly texts: Pick<SearchedTexts, 'findWords' | 'coverage'>;
  /** Returns the texts in the given order; missing rows are left out. */
  at(rows: readonly number[]): T[];
  rowOf(text: T): number;
  /** Best first, none below the similarity floor. Empty if there are no vectors. Never rejects; a failure returns no rows. */
  findMeaning(query: string, limit: number, signal: AbortSignal): Promise<readonly Near[]>;
}

export interface Near {
  readonly row: number;
  readonly similarity: number;
}

export interface Asked<T> {
  readonly query: string;
  /** The size of each ranking before filtering. */
  readonly ranked: number;
  /** If fewer texts than this count, the full-text search is repeated with a higher limit. */
  readonly wanted: number;
  readonly counts: (text: T) => boolean;
  readonly signal: AbortSignal;
}

export interface Hit<T> {
  readonly text: T;
  readonly score: number;
  readonly foundBy: ('words' | 'meaning')[];
}

/** The factor by which the full-text search widens when filtering removes most hits. */
const WIDER = 10;
const rankingNames = ['words', 'meaning'] as const;

/** Best first. */
export async function findTexts<T>(
  searched: Searched<T>,
  { query, ranked, wanted, counts, signal }: Asked<T>,
): Promise<{ hits: Hit<T>[]; near: readonly Near[] }> {
  const near = await searched.findMeaning(query, ranked, signal);
  const ofRows = (rows: readonly { readonly row: number; readonly score: number }[]) => {
    const scores = new Map(rows.map(({ row, score }) => [row, score]));
    const texts = searched.at([...scores.keys()]).filter(counts);
    return texts.map((text) => ({ text, key: searched.rowOf(text), score: scores.get(searched.rowOf(text)) ?? 0 }));
  };
  const found = searched.texts.findWords(query, ranked);
  const counted = ofRows(found);
  const isEnough = counted.length >= Math.min(wanted, ranked) || found.length < ranked;
  const words = isEnough ? counted : ofRows(searched.texts.findWords(query, ranked * WIDER)).slice(0, ranked);
  const meaning = ofRows(near.map(({ row, similarity }) => ({ row, score: similarity })));
  const known = new Map([...words, ...meaning].map(({ key, text }) => [key, text]));
  const hits = fuseWordsAndMeaning(words, meaning, (best) => searched.texts.coverage(query, best)).flatMap(({ key, score, rankings }) => {
    const text = known.get(key);
    return text === undefined ? [] : [{ text, score, foundBy: rankingNames.filter((_, index) => rankings.includes(index)) }];
  });
  return { hits, near };
}

/** Asks external sources in parallel. A source that fails or is late contributes nothing; its signal is aborted. */
export async function askWithin<S, A>(
  sources: readonly S[],
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  ask: (source: S, signal: AbortSignal) => Promise<readonly A[]> | readonly A[],
): Promise<(readonly A[])[]> {
  if (sources.length === 0 || signal.aborted) return [];
  const over = new AbortController();
  const limited = AbortSignal.any([signal, over.signal]);
  const timer = setTimeout(() => over.abort(), ms);
  const late = new Promise<readonly []>((resolve) => {
    limited.addEventListener('abort', () => resolve([]), { once: true });
  });
  // `async`, so that a synchronous throw is caught as well.
  const answers = sources.map((source) => Promise.race([(async () => ask(source, limited))().catch(() => []), late]));
  const found = await Promise.all(answers);
  clearTimeout(timer);
  over.abort();
  return found;
}

/** From 0 to 1. Derived from the rank if the source gave no score. */
export function scoreAt(score: number | undefined, index: number): number {
  return Math.min(1, Math.max(0, score ?? 1 / (index + 1)));
}
