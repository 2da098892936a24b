// Finds the skills that match a message: an in-memory index with BM25 scores over weighted fields. Bounded; knows words, but neither trust
// nor requirements.

import { searchedParts } from '../../base/unspaced-scripts.ts';
import { SKILLS_MAX } from './skill-folders.ts';

export interface IndexedSkill {
  readonly name: string;
  readonly description: string;
  /** Headings and other words about its purpose. */
  readonly topics: string;
}

export interface Scored {
  readonly name: string;
  readonly score: number;
}

const TERMS_MAX = 400;
const QUERY_TERMS_MAX = 64;
/** The maximum number of words in the cache of stems. */
const STEMS_MAX = 2_000;
/** The usual constants of BM25 (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
const weights = { name: 3, description: 2, topics: 1 } as const;
/** A skill below this share of the best score is a chance match, which would only fill the context. */
const SHARE_MIN = 0.5;
/** A lower score comes only from words that many skills share, such as "write" and "file". */
const SCORE_MIN = 1.5;
const COLLECTION_MIN = 12;
/** A skill that shares fewer of the message's words than this, but at most three, is a chance match too. */
const WORD_SHARE_MIN = 0.2;
const WORDS_MIN_MAX = 3;

const common = new Set(
  'a about all also am an and any anything are as at be been but by can could did do does else everything for from get give had has have he her his how i if in into is it its just let like make may me might more most must my need no not nothing now of on one only or other our out over own please same shall she should so some something such than that the their them then there these they thing this those to too up us use used user using want was we were what when where which while who why will with would you your'.split(
    ' ',
  ),
);

interface Document {
  readonly name: string;
  readonly length: number;
}

/** The documents that contain a term, and its weighted frequency in each. */
interface Holders {
  readonly at: number[];
  readonly frequency: number[];
}

export class SkillIndex {
  readonly #documents: readonly Document[];
  readonly #holders = new Map<string, Holders>();
  readonly #averageLength: number;
  /** Stems of the words in messages, cached because people use the same words repeatedly. */
  #stems = new Map<string, string>();

  constructor(skills: readonly IndexedSkill[]) {
    // Shared between all skills, because they have most words in common.
    const stems = new Map<string, string>();
    this.#documents = skills.slice(0, SKILLS_MAX).map((skill, at) => this.#add(skill, at, stems));
    const total = this.#documents.reduce((sum, { length }) => sum + length, 0);
    this.#averageLength = Math.max(1, total / Math.max(1, this.#documents.length));
  }

  /** Best first. Leaves out skills that match only by chance. `accepts` filters before the limit applies. */
  find(query: string, limit: number, accepts: (name: string) => boolean = () => true): Scored[] {
    const terms = this.#termsOf(query);
    const { scores, shared } = this.#match(terms);
    const sharedMin = Math.min(terms.size * WORD_SHARE_MIN, WORDS_MIN_MAX);
    const found: Scored[] = [];
    for (let at = 0; at < scores.length; at += 1) {
      const score = Math.round((scores[at] ?? 0) * 1000) / 1000;
      if (score >= SCORE_MIN && (shared[at] ?? 0) >= sharedMin) found.push({ name: this.#documents[at]?.name ?? '', score });
    }
    found.sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
    return bestOf(found, limit, accepts);
  }

  /** The score of each document, and the number of terms that it shares. */
  #match(terms: ReadonlySet<string>): { readonly scores: Float64Array; readonly shared: Uint8Array } {
    const scores = new Float64Array(this.#documents.length);
    const shared = new Uint8Array(this.#documents.length);
    // A minimum, because a handful of skills says little about how rare a word is.
    const size = Math.max(this.#documents.length, COLLECTION_MIN);
    for (const term of terms) {
      const holders = this.#holders.get(term);
      if (holders === undefined) continue;
      const rarity = Math.log(1 + (size - holders.at.length + 0.5) / (holders.at.length + 0.5));
      for (let held = 0; held < holders.at.length; held += 1) {
        const at = holders.at[held] ?? 0;
        const frequency = holders.frequency[held] ?? 0;
        const norm = K1 * (1 - B + (B * (this.#documents[at]?.length ?? 0)) / this.#averageLength);
        shared[at] = (shared[at] ?? 0) + 1;
        scores[at] = (scores[at] ?? 0) + (rarity * frequency * (K1 + 1)) / (frequency + norm);
      }
    }
    return { scores, shared };
  }

  #termsOf(query: string): ReadonlySet<string> {
    if (this.#stems.size > STEMS_MAX) this.#stems = new Map();
    return new Set(termsOf(query, QUERY_TERMS_MAX, this.#stems));
  }

  #add(skill: IndexedSkill, at: number, stems: Map<string, string>): Document {
    const terms = new Map<string, number>();
    let length = 0;
    for (const field of ['name', 'description', 'topics'] as const) {
      for (const term of termsOf(skill[field], TERMS_MAX, stems)) {
        terms.set(term, (terms.get(term) ?? 0) + weights[field]);
        length += 1;
      }
    }
    for (const [term, frequency] of terms) {
      const holders = this.#holders.get(term) ?? { at: [], frequency: [] };
      holders.at.push(at);
      holders.frequency.push(frequency);
      this.#holders.set(term, holders);
    }
    return { name: skill.name, length };
  }
}

/** Stops at the limit, so that `accepts` is not called more often than necessary. */
function bestOf(found: readonly Scored[], limit: number, accepts: (name: string) => boolean): Scored[] {
  const taken: Scored[] = [];
  for (const one of found) {
    if (taken.length === limit || one.score < (taken[0]?.score ?? 0) * SHARE_MIN) break;
    if (accepts(one.name)) taken.push(one);
  }
  return taken;
}

/** Drops stop words and stems the others; scripts without spaces give pairs of letters. Returns at most `max` terms. */
export function termsOf(text: string, max = Number.POSITIVE_INFINITY, stems = new Map<string, string>()): string[] {
  const terms: string[] = [];
  for (const word of (text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).flatMap(searchedParts)) {
    if (word.length < 2 || word.length >= 40 || common.has(word)) continue;
    const known = stems.get(word) ?? stem(word);
    stems.set(word, known);
    terms.push(known);
    if (terms.length >= max) break;
  }
  return terms;
}

/** A subset of Porter's first steps, sufficient to match "summarising", "summarised" and "summaries". */
export function stem(word: string): string {
  if (!/^[a-z]+$/.test(word) || word.length < 4) return word;
  let text = word.replaceAll(/is(e|ed|es|ing|ation|er)$/g, 'iz$1');
  text = text
    .replace(/ies$/, 'y')
    .replace(/(ss|sh|ch|x|z)es$/, '$1')
    .replace(/([^su])s$/, '$1');
  if (text.length > 5) text = text.replace(/(?:ing|ed)$/, (ending) => (/[aeiouy]/.test(text.slice(0, -ending.length)) ? '' : ending));
  text = text.replace(/([bdgklmnprt])\1$/, '$1');
  if (text.length > 6) text = text.replace(/(?:ation|er|ment|ly)$/, '');
  return text.length > 4 ? text.replace(/[ey]$/, '') : text;
}
