// Finds passages for a question by full-text and vector search, and queries the sources that have their own search. Each result names its
// origin and whether it is untrusted.

import { join } from 'node:path';
import type { Evidence } from '../../../contracts/knowledge-ops.ts';
import type { KeptPassage } from './knowledge-rows.ts';
import type { KnowledgeResolver } from '../../../contracts/memory-ports.ts';
import { askWithin, findTexts, scoreAt } from '../recall/recall-path.ts';
import type { ConfiguredSource, FindPassages, KnowledgeStore, UntrustedOf } from './ports.ts';

export interface SearchDeps {
  readonly store: KnowledgeStore;
  readonly findMeaning: FindPassages;
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
  /** Cosine similarity of the best passage; null if there was no vector search. */
  readonly similarity: number | null;
}

const RANKED = 60;
const RESOLVED_WITHIN_MS = 2_000;
const RESOLVED_CHARS_MAX = 4_000;
/** The maximum number of passages of one document, so that other documents are found too. */
const PER_DOCUMENT_MAX = 3;

export async function searchKnowledge(deps: SearchDeps, request: SearchRequest): Promise<Found> {
  const { store, findMeaning, sources, untrustedOf } = deps;
  const { query, source, limit, signal } = request;
  const named = new Map(sources.map((one) => [one.name, one]));
  const counts = (passage: KeptPassage): boolean => named.has(passage.source) && (source === undefined || passage.source === source);
  const searched = {
    texts: store.texts,
    at: (rows: readonly number[]) => store.at(rows),
    rowOf: ({ passageId }: KeptPassage) => passageId,
    findMeaning,
  };
  const [{ hits, near }, resolved] = await Promise.all([
    findTexts(searched, { query, ranked: RANKED, wanted: limit, counts, signal }),
    askResolvers(deps, request),
  ]);
  const perDocument = new Map<string, number>();
  const evidence = hits
    .filter(({ text: { source: name, path } }) => {
      const document = `${name}\n${path}`;
      const count = (perDocument.get(document) ?? 0) + 1;
      perDocument.set(document, count);
      return count <= PER_DOCUMENT_MAX;
    })
    .slice(0, limit)
    .flatMap(({ text, score, foundBy }) => {
      const from = named.get(text.source);
      return from === undefined ? [] : [evidenceOf(text, from, { score, foundBy }, untrustedOf)];
    });
  const all = [...evidence, ...resolved].sort((a, b) => b.score - a.score).slice(0, limit);
  return { evidence: all, similarity: near[0]?.similarity ?? null };
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

/** For example `notes/plan.md:12-40`, `manual.pdf p. 3`, `page.html § Heading`, `inline:prices:1-4`. */
function citationOf({ path, startLine, endLine, page, heading }: KeptPassage, source: ConfiguredSource): string {
  const place = source.kind === 'inline' ? `inline:${source.name}` : `${source.name}/${path}`;
  if (page !== null) return `${place} p. ${page}`;
  if (startLine === null) return heading === '' ? place : `${place} § ${heading}`;
  return `${place}:${startLine}${endLine === startLine ? '' : `-${endLine}`}`;
}

async function askResolvers({ resolvers }: SearchDeps, { query, source, limit, signal }: SearchRequest): Promise<Evidence[]> {
  const asked = resolvers.filter(({ name }) => source === undefined || name === source);
  const answers = await askWithin(asked, { ms: RESOLVED_WITHIN_MS, signal }, async (resolver, limited) => {
    const found = await resolver.resolve(query, limit, limited);
    return found.slice(0, limit).map((one, index): Evidence => ({
      citation: `${resolver.name}: ${one.citation}`,
      source: resolver.name,
      path: one.citation,
      startLine: null,
      endLine: null,
      page: null,
      heading: one.title,
      text: one.text.slice(0, RESOLVED_CHARS_MAX),
      score: scoreAt(one.score, index),
      foundBy: ['resolver'],
      untrusted: [{ kind: 'mcp', where: resolver.name }],
    }));
  });
  return answers.flat();
}
