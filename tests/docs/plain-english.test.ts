// Phrases that made the documents and the window read like a translation do not come back: each hides its subject or has a plainer form.

import { expect, test } from 'vitest';
import { english } from '../../renderer/lib/i18n/english/english.ts';
import { documentNames, readDocument, referenceNames } from './documents.ts';

/** A phrase, a sentence that has it, and the same sentence in plain English. */
const phrases: readonly (readonly [phrase: RegExp, riddle: string, plain: string])[] = [
  [/\bof (?:its|their) own\b/i, 'Each works in a session of its own.', 'Each works in its own session.'],
  [/\bby (?:itself|themselves)\b/i, 'It is sent again by itself.', 'It is resent automatically.'],
  [/\bnobody\b/i, 'Nobody watches such a turn.', 'Such a turn is unattended.'],
  [/\b(?:whoever|somebody)\b/i, 'Whoever holds it can act as you.', 'Anyone with it can act as you.'],
  [/\banew\b/i, 'Read anew', 'Reload'],
  [/\bgo(?:es)? on\b/i, 'It goes on at the next start.', 'It continues at the next start.'],
  [/\bwords of others\b/i, 'Words of others came in.', 'Untrusted content came in.'],
  [/\bstands? (?:for|in|below|there)\b/i, 'It stands in config.yaml.', 'It is in config.yaml.'],
  [/\blooks? after\b/i, 'It looks after its subagents.', 'It manages its subagents.'],
  [/\bbrings? along\b/i, 'The app brings the command along; it can bring along more.', 'The app includes the command.'],
  [/\ball the same\b/i, 'It asks all the same.', 'It still asks.'],
  [/\bearlier yes\b/i, 'Covered by an earlier yes.', 'Covered by a grant.'],
];

/** The phrases in a text, with what surrounds them. Code between backticks is no English. */
function findPhrases(text: string): string[] {
  const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/`[^`\n]*`/g, '');
  return phrases.flatMap(([phrase]) => {
    const found = phrase.exec(prose.replaceAll(/\s+/g, ' '));
    return found === null ? [] : [found.input.slice(Math.max(0, found.index - 40), found.index + 60)];
  });
}

/** Every text of a catalogue; of a function its source, which holds its words. */
function textsOf(words: object): string[] {
  return Object.values(words).flatMap((value: unknown) => {
    if (typeof value === 'string') return [value];
    if (typeof value === 'function') return [String(value)];
    return typeof value === 'object' && value !== null ? textsOf(value) : [];
  });
}

test.each([...documentNames, ...referenceNames])('%s has no phrase that reads like a translation', (name) => {
  expect(findPhrases(readDocument(name))).toEqual([]);
});

test('the words of the window have none either', () => {
  const all = textsOf(english);
  expect(all.length).toBeGreaterThan(1_000);
  expect(all.filter((text) => findPhrases(text.replaceAll('`', ' ')).length > 0)).toEqual([]);
});

test.each(phrases)('%s is found where it is, and only there', (_phrase, riddle, plain) => {
  expect([findPhrases(riddle).length, findPhrases(`Before. ${riddle.replace(' ', '\n')}`).length, findPhrases(plain).length]).toEqual([
    1, 1, 0,
  ]);
});
