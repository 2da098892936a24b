// Finds the skills that fit a message: an index in memory, scored like BM25 over weighted fields. Bounded; knows words, not trust or
// requirements.

export interface IndexedSkill {
  readonly name: string;
  readonly description: string;
  /** Headings and further words about its purpose. */
  readonly topics: string;
}

export interface Scored {
  readonly name: string;
  readonly score: number;
}

const DOCUMENTS_MAX = 2_000;
const TERMS_MAX = 400;
const QUERY_TERMS_MAX = 64;
/** The usual constants (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
const weights = { name: 3, description: 2, topics: 1 } as const;
/** A skill below this share of the best score matches by chance. */
const SHARE_MIN = 0.15;
/** Words that many skills share ("write", "file") score less, a word that distinguishes a skill scores more. */
const SCORE_MIN = 1.5;
const COLLECTION_MIN = 12;

const common = new Set(
  'a about all also am an and any anything are as at be been but by can could did do does else everything for from get give had has have he her his how i if in into is it its just let like make may me might more most must my need no not nothing now of on one only or other our out over own please same shall she should so some something such than that the their them then there these they thing this those to too up us use used user using want was we were what when where which while who why will with would you your'.split(
    ' ',
  ),
);

interface Document {
  readonly name: string;
  /** Weighted frequency by term. */
  readonly terms: ReadonlyMap<string, number>;
  readonly length: number;
}

export class SkillIndex {
  readonly #documents: readonly Document[];
  readonly #holders = new Map<string, number[]>();
  readonly #averageLength: number;

  constructor(skills: readonly IndexedSkill[]) {
    this.#documents = skills.slice(0, DOCUMENTS_MAX).map(documentOf);
    let total = 0;
    for (const [at, { terms, length }] of this.#documents.entries()) {
      total += length;
      for (const term of terms.keys()) {
        const holders = this.#holders.get(term);
        if (holders === undefined) this.#holders.set(term, [at]);
        else holders.push(at);
      }
    }
    this.#averageLength = Math.max(1, total / Math.max(1, this.#documents.length));
  }

  /** Best first; leaves out skills that match only common words. `accepts` filters before the limit applies. */
  find(query: string, limit: number, accepts: (name: string) => boolean = () => true): Scored[] {
    const scores = new Map<number, number>();
    // A handful of skills says little about how rare a word is.
    const size = Math.max(this.#documents.length, COLLECTION_MIN);
    for (const term of new Set(termsOf(query).slice(0, QUERY_TERMS_MAX))) {
      const holders = this.#holders.get(term);
      if (holders === undefined) continue;
      const rarity = Math.log(1 + (size - holders.length + 0.5) / (holders.length + 0.5));
      for (const at of holders) {
        const document = this.#documents[at];
        const frequency = document?.terms.get(term) ?? 0;
        const norm = K1 * (1 - B + (B * (document?.length ?? 0)) / this.#averageLength);
        scores.set(at, (scores.get(at) ?? 0) + (rarity * frequency * (K1 + 1)) / (frequency + norm));
      }
    }
    const found = [...scores]
      .map(([at, score]) => ({ name: this.#documents[at]?.name ?? '', score: Math.round(score * 1000) / 1000 }))
      .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1));
    return bestOf(found, limit, accepts);
  }
}

/** Asks no further than needed. */
function bestOf(found: readonly Scored[], limit: number, accepts: (name: string) => boolean): Scored[] {
  const taken: Scored[] = [];
  for (const one of found) {
    const least = Math.max(SCORE_MIN, (taken[0]?.score ?? 0) * SHARE_MIN);
    if (taken.length === limit || one.score < least) break;
    if (accepts(one.name)) taken.push(one);
  }
  return taken;
}

function documentOf(skill: IndexedSkill): Document {
  const terms = new Map<string, number>();
  let length = 0;
  for (const field of ['name', 'description', 'topics'] as const) {
    for (const term of termsOf(skill[field]).slice(0, TERMS_MAX)) {
      terms.set(term, (terms.get(term) ?? 0) + weights[field]);
      length += 1;
    }
  }
  return { name: skill.name, terms, length };
}

/** Removes stop words and reduces each word to one form. */
export function termsOf(text: string): string[] {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.filter((word) => word.length > 1 && word.length < 40 && !common.has(word)).map(stem);
}

/** Enough of Porter's first steps that "summarising", "summarised" and "summaries" meet. */
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
