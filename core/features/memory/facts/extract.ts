// Finds statements worth remembering in a person's messages by the form of the sentence. It uses no model, so that nothing is invented:
// every candidate is a sentence the person wrote. English and German. Pure.

import type { MemoryKind } from '../../../contracts/features/memory.ts';
import type { ExtractedTurn, MemoryExtractor, Proposal } from '../../../contracts/memory-ports.ts';

interface Form {
  readonly kind: MemoryKind;
  readonly importance: number;
  readonly form: RegExp;
}

const asked =
  /^(?:please\s+|bitte\s+)?(?:remember|note|keep in mind|don't forget|do not forget|merk(?:e)? dir|denk daran|vergiss nicht)(?:\s+(?:that|this))?[:,]?\s+(?:dass\s+)?/iu;

const forms: readonly Form[] = [
  {
    kind: 'lesson',
    importance: 0.7,
    form: /\b(?:don't do (?:that|this|it) again|next time\b|the mistake was|lesson learned|it turned out|beim nächsten mal|der fehler war)/iu,
  },
  {
    kind: 'procedure',
    importance: 0.7,
    form: /^(?:always|never|from now on|whenever|before you|after you|make sure (?:to|that|you)|every time|immer|niemals|nie|ab (?:jetzt|sofort)|von nun an|bevor du|jedes mal|achte darauf)\b/iu,
  },
  {
    kind: 'preference',
    importance: 0.6,
    form: /^(?:i|we)\s+(?:really\s+|always\s+|never\s+|usually\s+)?(?:prefer|like|love|hate|dislike|don't like|do not like|don't want|would like you to|want you to|'d like you to)\b|^(?:i'd like you to|ich (?:mag|bevorzuge|hasse|möchte, dass du|will, dass du|hätte gern))\b/iu,
  },
  {
    kind: 'fact',
    importance: 0.5,
    form: /^(?:my|our)\s+[\p{L}\p{N} '_-]{2,60}\s+(?:is|are)\s+\S|^(?:i live in|i work (?:at|for|as)|i am (?:a|an|allergic|called)|i'm (?:a|an|allergic|called)|we use|we work)\b|^(?:mein|meine|unser|unsere)\s+[\p{L}\p{N} '_-]{2,60}\s+(?:ist|sind|heißt|lautet)\s+\S|^ich (?:heiße|wohne|arbeite|bin (?:ein|eine|allergisch))\b/iu,
  },
];

const SENTENCE_MIN = 8;
const SENTENCE_MAX = 300;
const PER_MESSAGE_MAX = 5;
const TEXT_LOOKED_AT = 20_000;
const ASKED_IMPORTANCE = 0.8;

/** Accepts only direct statements of the person in whole sentences: no questions, quotations or code. */
export const formExtractor: MemoryExtractor = {
  extract({ text }: ExtractedTurn): readonly Proposal[] {
    const found: Proposal[] = [];
    for (const sentence of sentencesOf(text.slice(0, TEXT_LOOKED_AT))) {
      const proposal = propose(sentence);
      if (proposal !== null) found.push(proposal);
      if (found.length >= PER_MESSAGE_MAX) break;
    }
    return found;
  },
};

function propose(sentence: string): Proposal | null {
  const wasAsked = asked.test(sentence);
  const text = capitalised(sentence.replace(asked, '').trim());
  if (text.length < SENTENCE_MIN || text.length > SENTENCE_MAX || text.includes('[redacted:')) return null;
  const form = forms.find((one) => one.form.test(text));
  if (form === undefined && !wasAsked) return null;
  return { kind: form?.kind ?? 'fact', text, importance: wasAsked ? ASKED_IMPORTANCE : (form?.importance ?? ASKED_IMPORTANCE) };
}

function sentencesOf(text: string): string[] {
  const own = text
    .replaceAll(/```[\s\S]*?(?:```|$)/g, '\n')
    .split('\n')
    .filter((line) => !/^\s*(?:>|\||#|[{}<])/.test(line))
    .map((line) => line.replace(/^\s*(?:[-*•]|\d+[.)])\s+/, ''))
    .join('\n');
  return own
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => !sentence.endsWith('?') && !/^["'“„»]/.test(sentence));
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
