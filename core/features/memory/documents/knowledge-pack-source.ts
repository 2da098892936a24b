// Chooses the passages of the person's documents that a turn adds to the model's context. It adds passages only if the message asks for
// something they contain, and never exceeds its share of the context pack.

import type { PackPart, PackSourceRequest } from '../../../contracts/pack-source.ts';
import { searchedWords, wordsIn } from '../../../store/storage/storage.ts';
import type { Found, SearchRequest } from './search.ts';

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

// Decides whether a message is worth a search of the documents, and whether the results are relevant enough to include. Pure.

/** A message with at least this many searchable words asks about something. A shorter one continues the conversation. */
const WORDS_MIN = 2;
/** A passage is relevant if it contains at least this share of the words in the question. */
const COVERED_MIN = 0.5;
const SIMILAR_MIN = 0.55;

const chatter =
  /^(?:(?:ok(?:ay)?|yes|no|yep|nope|thanks?|thank you|please|go on|continue|stop|great|good|fine|sure|hi|hello|hey|ja|nein|danke|bitte|weiter|gut|hallo)[\s,.!]*)+$/iu;

export function isWorthSearching(query: string): boolean {
  const text = query.trim();
  return text !== '' && !chatter.test(text) && searchedWords(text).length >= WORDS_MIN;
}

interface Judged {
  readonly text: string;
  readonly heading: string;
  readonly path: string;
}

function isRelevant(query: string, passage: Judged, similarity: number | null): boolean {
  if (similarity !== null && similarity >= SIMILAR_MIN) return true;
  const asked = searchedWords(query).map((word) => stemOf(word.slice(1, -1)));
  const held = new Set(wordsIn(`${passage.heading} ${passage.path} ${passage.text}`).map(stemOf));
  return asked.filter((word) => held.has(word)).length >= Math.max(WORDS_MIN, Math.ceil(asked.length * COVERED_MIN));
}

/** A crude stem: the beginning of the word without common endings. Enough to match "documents" with "documenting". */
function stemOf(word: string): string {
  return word.replace(/(?:ies|es|s|ing|ed|en|er|e)$/, '').slice(0, 12) || word;
}
