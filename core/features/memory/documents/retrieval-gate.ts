// Decides whether a message is worth a search of the documents, and whether the results are worth their room. Pure.

import { searchedWords } from '../../../store/storage/storage.ts';

/** Marks a message that asks about something, unlike one that continues the conversation. */
const WORDS_MIN = 2;
/** A passage with at least this share of the words in the question is relevant. */
const COVERED_MIN = 0.5;
const SIMILAR_MIN = 0.55;

const chatter =
  /^(?:(?:ok(?:ay)?|yes|no|yep|nope|thanks?|thank you|please|go on|continue|stop|great|good|fine|sure|hi|hello|hey|ja|nein|danke|bitte|weiter|gut|hallo)[\s,.!]*)+$/iu;

export function isWorthALook(query: string): boolean {
  const text = query.trim();
  return text !== '' && !chatter.test(text) && searchedWords(text).length >= WORDS_MIN;
}

export interface Judged {
  readonly text: string;
  readonly heading: string;
  readonly path: string;
}

export function isWorthTheRoom(query: string, passage: Judged, similarity: number | null): boolean {
  if (similarity !== null && similarity >= SIMILAR_MIN) return true;
  const asked = searchedWords(query).map((word) => stemOf(word.slice(1, -1)));
  const held = new Set(
    (`${passage.heading} ${passage.path} ${passage.text}`.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).map(stemOf),
  );
  return asked.filter((word) => held.has(word)).length >= Math.max(WORDS_MIN, Math.ceil(asked.length * COVERED_MIN));
}

/** Close enough to match "documents" with "documenting": its beginning. */
function stemOf(word: string): string {
  return word.replace(/(?:ies|es|s|ing|ed|en|er|e)$/, '').slice(0, 12) || word;
}
