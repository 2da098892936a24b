// Finds secrets in text: registered values in any of their forms first, then recognisable patterns, and replaces them.
// One scan over the text finds the beginnings of both; text without any costs that scan and nothing else.

import { createContextRules } from './context-rules.ts';
import { LiteralScanner } from './literal-scanner.ts';
import { rankOfSecret, type PatternRule } from './pattern-rule.ts';
import { findPersonalData, openPersonalData } from './personal-data.ts';
import { createProviderRules } from './provider-rules.ts';
import { secretForms, type SecretForm } from './secret-forms.ts';
import { mergeSpans, renderSpans, type Span } from './span.ts';

export interface Redaction {
  /** The very same string when nothing was found. */
  readonly text: string;
  /** Names of what was found, each once, in order. */
  readonly found: readonly string[];
}

/** What a text contains, and from where on more text could change the answer. */
export interface Analysis {
  readonly spans: readonly Span[];
  /** Where a registered value may have begun that the text does not finish; the length of the text when none has. */
  readonly openValue: number;
  /** The same for patterns. */
  readonly openPattern: number;
}

interface NamedForm extends SecretForm {
  readonly name: string;
}

/** Ids of literals below `forms.length` are forms, those above are triggers. */
interface Index {
  readonly scanner: LiteralScanner;
  readonly forms: readonly NamedForm[];
  readonly rulesOfTrigger: readonly (readonly PatternRule[])[];
}

export const valueLengthMin = 8;
const VALUES_MAX = 2000;
/** The scanner knows this much of a form; the rest is compared on a hit. Keeps its table small when secrets are long. */
const HEAD_LENGTH = 32;

export class Redactor {
  readonly #values = new Map<string, string>();
  readonly #rules = [...createProviderRules(), ...createContextRules()];
  #index: Index | null = null;

  /**
   * From now on the value is redacted as `[redacted:NAME]`, also inside base64, hex, URLs, JSON, HTML and shell quotes.
   * False for a value under 8 characters, which is not taken. Beyond 2,000 values the one registered longest ago is forgotten.
   */
  register(value: string, name: string): boolean {
    if (value.length < valueLengthMin) return false;
    const cleanName = name.replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, 100);
    if (this.#values.get(value) !== cleanName) this.#index = null;
    this.#values.delete(value);
    this.#values.set(value, cleanName);
    if (this.#values.size > VALUES_MAX) {
      for (const oldest of this.#values.keys()) {
        this.#values.delete(oldest);
        break;
      }
    }
    return true;
  }

  redact(text: string): Redaction {
    const { spans } = this.analyse(text, false);
    if (spans.length === 0) return { text, found: [] };
    return { text: renderSpans(text, spans), found: [...new Set(spans.map((span) => span.name))] };
  }

  /** `isOpen`: more text may follow. Costs a little more, because every beginning is followed to where it ends. */
  analyse(text: string, isOpen: boolean): Analysis {
    const index = (this.#index ??= this.#buildIndex());
    const spans: Span[] = [];
    const open = { value: text.length, pattern: text.length };
    const unfinished = index.scanner.scan(text, (id, start, end) => {
      const form = index.forms[id];
      if (form !== undefined) {
        const found = matchForm(text, form, start, end);
        if (found !== null && found.span !== null) spans.push(found.span);
        if (found !== null && found.isOpen) open.value = Math.min(open.value, start);
        return;
      }
      for (const rule of index.rulesOfTrigger[id - index.forms.length] ?? []) {
        const from = rule.before === undefined ? start : walkBack(text, start, rule.before);
        const span = matchRule(text, rule, from);
        if (span !== null) spans.push(span);
        if (isOpen && from < open.pattern && reaches(text, rule, start)) open.pattern = from;
      }
    });
    spans.push(...findPersonalData(text));
    if (!isOpen) return { spans: mergeSpans(spans), openValue: text.length, openPattern: text.length };
    return {
      spans: mergeSpans(spans),
      openValue: Math.min(open.value, unfinished),
      openPattern: Math.min(open.pattern, openPersonalData(text), openWord(text)),
    };
  }

  #buildIndex(): Index {
    const forms = [...this.#values].flatMap(([value, name]) => secretForms(value).map((form) => ({ ...form, name })));
    const rulesOfTrigger = new Map<string, PatternRule[]>();
    for (const rule of this.#rules) {
      for (const trigger of rule.triggers) rulesOfTrigger.set(trigger, [...(rulesOfTrigger.get(trigger) ?? []), rule]);
    }
    const literals = [...forms.map((form) => form.text.slice(0, HEAD_LENGTH)), ...rulesOfTrigger.keys()];
    return { scanner: new LiteralScanner(literals), forms, rulesOfTrigger: [...rulesOfTrigger.values()] };
  }
}

/** Compares what follows the head, line breaks ignored. Null: it is another text. */
function matchForm(text: string, form: NamedForm, start: number, headEnd: number): { span: Span | null; isOpen: boolean } | null {
  let end = headEnd;
  for (let i = HEAD_LENGTH; i < form.text.length; end++) {
    if (end >= text.length) return { span: null, isOpen: true };
    const code = text.charCodeAt(end);
    if (code === 0x0a || code === 0x0d) continue;
    if (code !== form.text.charCodeAt(i)) return null;
    i += 1;
  }
  const span = { start, end, name: form.name, rank: rankOfSecret };
  if (!form.isBase64) return { span, isOpen: false };
  return { span: widenBase64(text, span), isOpen: end + 3 > text.length };
}

/** The character after it shares bits with the secret; padding belongs to it. */
function widenBase64(text: string, span: Span): Span {
  let end = /[A-Za-z0-9+/_-]/.test(text.charAt(span.end)) ? span.end + 1 : span.end;
  for (let padding = 0; padding < 2 && text.charAt(end) === '='; padding++) end += 1;
  return { ...span, end };
}

function matchRule(text: string, rule: PatternRule, from: number): Span | null {
  rule.pattern.lastIndex = from;
  const match = rule.pattern.exec(text);
  if (match === null) return null;
  const end = match.index + match[0].length;
  const secret = match[1] ?? match[0];
  if (rule.accept !== undefined && !rule.accept(secret, text.charAt(end))) return null;
  return { start: end - secret.length, end, name: rule.name, rank: rule.rank };
}

function walkBack(text: string, start: number, before: { readonly chars: RegExp; readonly max: number }): number {
  let from = start;
  while (from > 0 && start - from < before.max && before.chars.test(text.charAt(from - 1))) from -= 1;
  return from;
}

function reaches(text: string, rule: PatternRule, from: number): boolean {
  rule.reach.lastIndex = from;
  return rule.reach.test(text) && rule.reach.lastIndex === text.length;
}

/**
 * Rules that look back from their trigger need what stands before it: the last letters of a word, all of it where it has a digit.
 */
function openWord(text: string): number {
  const word = /[A-Za-z0-9_~.-]{1,16}$/.exec(text.slice(-16))?.[0] ?? '';
  return text.length - (/\d/.test(word) ? word.length : Math.min(word.length, 3));
}
