// Chooses the passages of the person's documents that a turn adds to the model's context. It adds passages only if the message asks for
// something they contain, and never exceeds its share of the context pack.

import type { PackPart, PackSourceRequest } from '../../../contracts/pack-source.ts';
import type { Found, SearchRequest } from './search.ts';
import { isRelevant, isWorthSearching } from './retrieval-gate.ts';

export interface KnowledgePackDeps {
  readonly knowledge: { readonly hasSources: boolean; find(request: SearchRequest): Promise<Found> };
  readonly enabled: boolean;
  readonly evidenceMax: number;
  readonly estimate: (text: string) => number;
}

export class KnowledgePackSource {
  readonly section = 'knowledge' as const;
  readonly #deps: KnowledgePackDeps;

  constructor(deps: KnowledgePackDeps) {
    this.#deps = deps;
  }

  async select({ query, tokensMax, signal }: Pick<PackSourceRequest, 'query' | 'tokensMax' | 'signal'>): Promise<readonly PackPart[]> {
    const { knowledge, enabled, evidenceMax, estimate } = this.#deps;
    if (!enabled || !knowledge.hasSources || !isWorthSearching(query)) return [];
    const { evidence, similarity } = await knowledge.find({ query, limit: evidenceMax, signal });
    const parts: PackPart[] = [];
    let room = tokensMax;
    for (const one of evidence) {
      if (!one.foundBy.includes('resolver') && !isRelevant(query, one, one === evidence[0] ? similarity : null)) continue;
      room -= estimate(one.text) + estimate(one.citation);
      if (room < 0) break;
      parts.push({
        id: one.citation,
        title: one.heading === '' ? one.path : one.heading,
        text: one.text,
        source: one.citation,
        score: one.score,
        ...(one.untrusted.length === 0 ? {} : { tainted: one.untrusted }),
      });
    }
    return parts;
  }
}
