// Finds passages for a question, by words and by meaning, and asks the sources that answer by themselves. What it returns says where each
// thing stands and whose words it is.

import { join } from 'node:path';
import { fuseWordsAndMeaning } from '../../../base/rank-fusion.ts';
import type { Evidence } from '../../../contracts/features/memory.ts';
import type { KeptPassage } from './knowledge-rows.ts';
import type { KnowledgeResolver } from '../../../contracts/knowledge-ports.ts';
import type { ConfiguredSource, KnowledgeStore, UntrustedOf } from './ports.ts';

export interface SearchDeps {
  readonly store: KnowledgeStore;
  readonly sources: readonly ConfiguredSource[];
  readonly resolvers: readonly KnowledgeResolver[];
  readonly untrustedOf: UntrustedOf;
}

export interface SearchRequest {
  readonly query: string;
  readonly source?: string | undefined;
  readonly limit: number;
  readonly signal: AbortSignal;
}

export interface Found {
  readonly evidence: Evidence[];
  /** Cosine of the best passage, where meaning was searched. */
  readonly similarity: number | null;
}

const RANKED = 60;
const RESOLVED_WITHIN_MS = 2_000;
const RESOLVED_CHARS_MAX = 4_000;
/** Of one document at most, so that others are heard as well. */
const PER_DOCUMENT_MAX = 3;

const foundBy = ['words', 'meaning'] as const;

export async function searchKnowledge(deps: SearchDeps, { query, source, limit, signal }: SearchRequest): Promise<Found> {
  const { store, sources } = deps;
  const named = new Map(sources.map((one) => [one.name, one]));
  const wanted = (passage: KeptPassage): boolean => named.has(passage.source) && (source === undefined || passage.source === source);
  const [meaning, resolved] = await Promise.all([
    store.findMeaning(query, RANKED, signal),
    askResolvers(deps, { query, source, limit, signal }),
  ]);
  const words = store.findWords(query, RANKED);
  const fused = fuseWordsAndMeaning(
    words.map(({ row, score }) => ({ key: row, score })),
    meaning.map(({ row, similarity }) => ({ key: row, score: similarity })),
    (best) => store.coverage(query, best),
  );
  const passages = new Map(store.at(fused.map(({ key }) => key)).map((passage) => [passage.passageId, passage]));
  const perDocument = new Map<string, number>();
  const evidence: Evidence[] = [];
  for (const { key, score, rankings } of fused) {
    const passage = passages.get(key);
    const from = passage === undefined ? undefined : named.get(passage.source);
    if (passage === undefined || from === undefined || !wanted(passage)) continue;
    const document = `${passage.source}\n${passage.path}`;
    const count = (perDocument.get(document) ?? 0) + 1;
    if (count > PER_DOCUMENT_MAX) continue;
    perDocument.set(document, count);
    evidence.push(evidenceOf(passage, from, { score, foundBy: foundBy.filter((_, index) => rankings.includes(index)) }, deps.untrustedOf));
    if (evidence.length >= limit) break;
  }
  const all = [...evidence, ...resolved].sort((a, b) => b.score - a.score).slice(0, limit);
  return { evidence: all, similarity: meaning[0]?.similarity ?? null };
}

function evidenceOf(
  passage: KeptPassage,
  source: ConfiguredSource,
  found: Pick<Evidence, 'score' | 'foundBy'>,
  untrustedOf: UntrustedOf,
): Evidence {
  const { startLine, endLine, page, heading, text, path } = passage;
  const untrusted = source.kind === 'directory' ? [...untrustedOf(join(source.folder, ...path.split('/')))] : [];
  return { citation: citationOf(passage, source), source: source.name, path, startLine, endLine, page, heading, text, untrusted, ...found };
}

/** `notes/plan.md:12-40`, `manual.pdf p. 3`, `page.html § Heading`, `inline:prices:1-4`. */
function citationOf({ path, startLine, endLine, page, heading }: KeptPassage, source: ConfiguredSource): string {
  const place = source.kind === 'inline' ? `inline:${source.name}` : `${source.name}/${path}`;
  if (page !== null) return `${place} p. ${page}`;
  if (startLine === null) return heading === '' ? place : `${place} § ${heading}`;
  return `${place}:${startLine}${endLine === startLine ? '' : `-${endLine}`}`;
}

/** One that fails or is slow is left out, and told to stop. */
async function askResolvers({ resolvers }: SearchDeps, { query, source, limit, signal }: SearchRequest): Promise<Evidence[]> {
  const asked = resolvers.filter(({ name }) => source === undefined || name === source);
  if (asked.length === 0 || signal.aborted) return [];
  const over = new AbortController();
  const limited = AbortSignal.any([signal, over.signal]);
  const lateTimer = setTimeout(() => over.abort(), RESOLVED_WITHIN_MS);
  const late = new Promise<readonly []>((resolve) => {
    limited.addEventListener('abort', () => resolve([]), { once: true });
  });
  const answers = await Promise.all(
    asked.map(async (resolver) => {
      // `async`, so that one that throws at once is left out as well.
      const answer = (async () => resolver.resolve(query, limit, limited))().catch(() => []);
      const found = await Promise.race([answer, late]);
      return found.slice(0, limit).map((one, index): Evidence => ({
        citation: `${resolver.name}: ${one.citation}`,
        source: resolver.name,
        path: one.citation,
        startLine: null,
        endLine: null,
        page: null,
        heading: one.title,
        text: one.text.slice(0, RESOLVED_CHARS_MAX),
        score: Math.min(1, Math.max(0, one.score ?? 1 / (index + 1))),
        foundBy: ['resolver'],
        untrusted: [{ kind: 'mcp', where: resolver.name }],
      }));
    }),
  );
  clearTimeout(lateTimer);
  over.abort();
  return answers.flat();
}
