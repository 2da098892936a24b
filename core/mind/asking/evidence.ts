// Decides whether a quotation is evidence: it must be a passage of the work, and must neither address the judge nor praise the work. Pure.

/** Text that addresses the judge, talks about the judging, or praises the work itself. */
const appeals = [
  /\b(?:judge|grader|evaluator|rubric|verdict|grading|marking scheme)\b/i,
  /\b(?:ignore|disregard|forget)\b.{0,40}\b(?:previous|above|earlier|other|all|instructions?)\b/i,
  /\b(?:full|maximum|perfect|highest|top) (?:marks?|scores?|points?|grade|rating)\b/i,
  /\b(?:10|100|5)\s*(?:\/|out of)\s*(?:10|100|5)\b/i,
  /\b(?:meets?|satisf(?:y|ies)|fulfils?|fulfills?|passes|covers|addresses) (?:all|every|each|the|any)\b.{0,30}\b(?:points?|criteri(?:on|a)|requirements?|standards?|tests?)\b/i,
  /\b(?:this|my|the) (?:answer|response|reply|work|solution|report|text) (?:is|was|has been|clearly|fully|correctly|completely|perfectly|thoroughly|meets|satisfies|answers|covers)\b/i,
  /"?\bmet\b"?\s*[:=]\s*"?(?:true|yes)/i,
  /\bmark (?:this|it|every|all)\b.{0,30}\b(?:met|pass(?:ed)?|correct)\b/i,
];

/** A point about the absence of something can be met by work that does not mention it. */
const absence = /\b(?:no|not|never|without|avoids?|free of|at most|only|nothing|none|doesn't|isn't|brief|short|concise)\b/i;

const reports =
  /\b(?:it|this|answer|text|report|work)\s+(?:also\s+)?(?:names|mentions|says|states|contains|covers|explains|describes|lists|gives|includes|shows)\b/i;
/** The share of common words, relative to the longer text. */
const REPEATED_SHARE = 0.7;

/** A shorter quotation would be found in any text. */
const QUOTE_CHARS_MIN = 2;

export function isAppeal(quote: string): boolean {
  return appeals.some((pattern) => pattern.test(quote));
}

export function mayHaveNoQuote(point: string): boolean {
  return absence.test(point);
}

/** Returns whether the work contains the passage. Ignores differences in case, white space and quotation marks. */
export function quotes(work: string, quote: string): boolean {
  const wanted = plain(quote);
  return wanted.length >= QUOTE_CHARS_MIN && plain(work).includes(wanted);
}

/** Returns whether a quotation only claims that the work does what the point asks. */
export function repeats(point: string, quote: string): boolean {
  if (!reports.test(quote)) return false;
  const [asked, said] = [words(point), words(quote)];
  const shared = [...said].filter((word) => asked.has(word)).length;
  return shared / Math.max(asked.size, said.size) >= REPEATED_SHARE;
}

function plain(text: string): string {
  return text
    .replace(/[“”„«»]/g, '"')
    .replace(/[‘’]/g, "'")
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

function words(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []);
}
