// Checks the citations of a text against the pages that were fetched: every address must be one of them, and a quotation directly before an
// address must be on that page. Pure.

export interface Page {
  readonly url: string;
  readonly text: string;
}

export interface CitationCheck {
  readonly cited: number;
  readonly valid: number;
  /** One sentence for each invalid citation. */
  readonly faults: readonly string[];
}

const QUOTE_CHARS_MIN = 12;
/** The maximum distance, in characters, between an address and the beginning of its quotation. */
const NEAR_CHARS = 400;

export function checkCitations(text: string, pages: readonly Page[]): CitationCheck {
  const fetched = new Map<string, string>();
  for (const { url, text: page } of pages) fetched.set(plainUrl(url), `${fetched.get(plainUrl(url)) ?? ''}\n${page}`);
  const faults: string[] = [];
  let cited = 0;
  let from = 0;
  for (const match of text.matchAll(/https?:\/\/[^\s<>()[\]"'”]+/g)) {
    cited += 1;
    const url = match[0].replace(/[.,;:!?]+$/, '');
    const page = fetched.get(plainUrl(url));
    const before = text.slice(Math.max(from, match.index - NEAR_CHARS), match.index);
    from = match.index + match[0].length;
    if (page === undefined) {
      faults.push(`${url} was not fetched.`);
      continue;
    }
    const missing = quotationsIn(before).find((quote) => !squeeze(page).includes(squeeze(quote)));
    if (missing !== undefined) faults.push(`"${missing}" is not on ${url}.`);
  }
  return { cited, valid: cited - faults.length, faults };
}

function quotationsIn(text: string): string[] {
  return [...text.matchAll(/["“]([^"“”]+)["”]/g)].flatMap(([, quote = '']) => (quote.length >= QUOTE_CHARS_MIN ? [quote] : []));
}

/** Normalizes an address: the fragment, a trailing slash and the case of the host do not matter. */
function plainUrl(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return url;
  parsed.hash = '';
  return parsed.href.replace(/\/$/, '');
}

function squeeze(text: string): string {
  return text
    .replace(/[‘’]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
