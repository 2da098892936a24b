// Detects statements that contradict each other by their form: two values for one thing, or yes and no to the same. Knows English and
// German forms; a sentence it cannot parse contradicts nothing. Pure.

import type { MemoryResolver } from '../../../contracts/memory-ports.ts';

interface Statement {
  /** The subject of the statement. Only statements with the same subject are compared. */
  readonly subject: string;
  readonly value: string;
  readonly negated: boolean;
  /** Whether the subject has a single value, so that a different value contradicts it. */
  readonly single: boolean;
}

type Reader = (sentence: string) => Statement | null;

const negation =
  /\b(?:not|never|no longer|don't|do not|doesn't|does not|isn't|aren't|can't|nicht|nie|niemals|kein|keine|keinen|nicht mehr)\b/;

const readers: readonly Reader[] = [
  // "my editor is vim", "our build folder: out", "die Adresse ist …"
  (sentence) => {
    const [, subject = '', middle = '', value = ''] =
      /^(?:(?:my|our|the|mein|meine|unser|unsere|der|die|das)\s+)?([\p{L}\p{N}' _-]{2,60}?)(?:\s+(?:is|are|was|ist|sind|lautet|heißt|=)\s+|\s*:\s+)((?:not|nicht|kein|keine|no longer|nicht mehr)\s+)?(.{1,200})$/u.exec(
        sentence,
      ) ?? [];
    return subject === '' || /^(?:i|we|ich|wir|it|es|this|that|there)$/.test(subject)
      ? null
      : { subject: `of ${wordsOf(subject)}`, value: wordsOf(value), negated: middle !== '', single: true };
  },
  // "I live in Bonn", "ich arbeite bei …": a single value.
  (sentence) => {
    const [, who = '', no = '', verb = '', value = ''] =
      /^(i|we|ich|wir)\s+(?:(don't|do not|no longer|never)\s+)?(live in|work at|work for|am called|wohne in|arbeite bei|heiße)\s+(.{1,200})$/u.exec(
        sentence,
      ) ?? [];
    return who === '' ? null : { subject: `${who} ${verb}`, value: wordsOf(value), negated: no !== '', single: true };
  },
  // "I prefer tabs over spaces", "I prefer tabs for indentation"
  (sentence) => {
    const [, who = '', value = '', other = '', place = ''] =
      /^(i|we|ich|wir)\s+(?:prefer|bevorzuge|bevorzugen)\s+(.{1,80}?)(?:\s+(?:over|to|rather than|instead of|gegenüber|statt)\s+(.{1,80}?))?(?:\s+((?:for|in|when|bei|für)\s+.{1,80}))?$/u.exec(
        sentence,
      ) ?? [];
    if (who === '') return null;
    const about = place !== '' ? wordsOf(place) : other !== '' ? [wordsOf(value), wordsOf(other)].sort().join(' or ') : '';
    return about === '' ? null : { subject: `${who} prefer ${about}`, value: wordsOf(value), negated: false, single: true };
  },
  // "I like tea", "I don't like tea", "always run the tests", "never run the tests"
  (sentence) => {
    const plain = sentence.replace(/^(?:please|bitte)\s+/, '');
    const [, who = '', verb = '', rest = ''] =
      /^(i|we|ich|wir)\s+(?:(?:really|always|never|do|don't|do not|no longer)\s+)*(like|love|hate|dislike|use|eat|drink|want|need|mag|liebe|hasse|benutze|nutze|esse|trinke|will|brauche)\s+(.{1,200})$/u.exec(
        plain,
      ) ?? [];
    const isDislike = /^(?:hate|dislike|hasse)$/.test(verb);
    if (who !== '')
      return {
        subject: `${who} ${/^(?:like|love|hate|dislike|mag|liebe|hasse)$/.test(verb) ? 'like' : verb} ${wordsOf(rest)}`,
        value: '',
        negated: negation.test(plain) !== isDislike,
        single: false,
      };
    const [, rule = '', what = ''] = /^(always|never|do not|don't|immer|nie|niemals)\s+(.{1,200})$/u.exec(plain) ?? [];
    return rule === '' ? null : { subject: `rule ${wordsOf(what)}`, value: '', negated: !/^(?:always|immer)$/.test(rule), single: false };
  },
];

/** Works on the form of the sentences alone, without a model. */
export const formResolver: MemoryResolver = {
  contradictions(text, among) {
    const own = readStatement(text);
    if (own === null) return [];
    return among.flatMap((memory) => {
      const other = readStatement(memory.text);
      const reason = other === null ? null : conflictOf(own, other);
      return reason === null ? [] : [{ otherId: memory.memoryId, reason }];
    });
  },
};

function conflictOf(a: Statement, b: Statement): string | null {
  if (a.subject !== b.subject) return null;
  if (a.value === b.value) return a.negated === b.negated ? null : 'One says the opposite of the other.';
  return a.single && b.single && !a.negated && !b.negated ? 'They name different values of the same thing.' : null;
}

export function readStatement(text: string): Statement | null {
  const sentence = text
    .toLowerCase()
    .replaceAll('’', "'")
    .replace(/^(?:the person(?: said)?:?|remember(?: that)?|note that|merk dir,?(?: dass)?)\s+/, '')
    .replace(/[\s.!]+$/, '')
    .trim();
  if (sentence === '' || sentence.length > 300 || sentence.includes('?')) return null;
  // From the last reader to the first, so that "I like …" is not read as "my … is …".
  for (const reader of readers.toReversed()) {
    const statement = reader(sentence);
    if (statement !== null && statement.subject.trim() !== '') return statement;
  }
  return null;
}

function wordsOf(text: string): string {
  return (text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).filter((word) => !/^(?:the|a|an|der|die|das|den|ein|eine|einen)$/.test(word)).join(' ');
}
