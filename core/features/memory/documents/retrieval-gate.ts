// Decides whether a message is worth a search of the documents, and whether the results are relevant enough to include. Pure.

import { searchedWords, wordsIn } from '../../../store/storage/storage.ts';

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

export interface Judged {
  readonly text: string;
  readonly heading: string;
  readonly path: string;
}

export function isRelevant(query: string, passage: Judged, similarity: number | null): boolean {
  if (similarity !== null && similarity >= SIMILAR_MIN) return true;
  const asked = searchedWords(query).map((word) => stemOf(word.slice(1, -1)));
  const held = new Set(wordsIn(`${passage.heading} ${passage.path} ${passage.text}`).map(stemOf));
  return asked.filter((word) => held.has(word)).length >= Math.max(WORDS_MIN, Math.ceil(asked.length * COVERED_MIN));
}

/** A crude stem: the beginning of the word without common endings. Enough to match "documents" with "documenting". */
function stemOf(word: string): string {
  return word.replace(/(?:ies|es|s|ing|ed|en|er|e)$/, '').slice(0, 12) || word;
}
