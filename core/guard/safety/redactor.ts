// Finds secrets in text: registered values in any of their forms first, then recognisable patterns, and replaces them.
// Looks at the text as it stands, as it reads with its escapes undone, and into runs of base64 and hex. Keeps no text.

import { stillRedacted, type Redacted } from '../../base/redacted.ts';
import { createContextRules } from './context-rules.ts';
import { encodedRuns, openRun } from './encoded-runs.ts';
import { rankOfSecret, type PatternRule } from './pattern-rule.ts';
import { findPersonalData, openPersonalData, type PersonalKind } from './personal-data.ts';
import { createProviderRules } from './provider-rules.ts';
import { isTellable, secretForms } from './secret-forms.ts';
import { mergeSpans, renderSpans, type Span } from './span.ts';
import { TriggerScanner } from './trigger-scanner.ts';
import { openEscape, unescapedView } from './unescaped-view.ts';
import { ValueFinder, type FoundForm } from './value-finder.ts';

export interface Redaction {
  /** The very same string when nothing was found. */
  readonly text: Redacted;
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

export interface RedactorOptions {
  /** Personal data taken out besides secrets. */
  readonly personal: readonly PersonalKind[];
}

export const valueLengthMin = 8;
const VALUES_MAX = 2000;
/** Shorter text holds no secret: the shortest rule asks for more. */
const TELLABLE_MIN = 8;
/** Texts known to hold nothing: how many, how long each may be, and all together. */
const CLEAN_MAX = 1_000;
/** A whole result of a tool is no longer. */
const CLEAN_LENGTH_MAX = 65_536;
const CLEAN_TOTAL_LENGTH_MAX = 1_000_000;
/** Escapes inside escapes: JSON in JSON in a URL. */
const UNESCAPED_MAX = 3;
/** Base64 of base64. */
const DECODED_MAX = 2;
/** Around an escape this much is looked at, or the longest value where that is longer. */
const REACH_MIN = 512;
const REACH_MAX = 16_384;

interface Find {
  readonly spans: Span[];
  openValue: number;
  openPattern: number;
}

export class Redactor {
  readonly #values = new Map<string, string>();
  readonly #rules: readonly PatternRule[] = [...createProviderRules(), ...createContextRules()];
  readonly #triggers: TriggerScanner;
  readonly #rulesOfTrigger: readonly (readonly PatternRule[])[];
  readonly #personal: readonly PersonalKind[];
  #finder: ValueFinder | null = null;
  #reach = REACH_MIN;
  readonly #clean = new Set<string>();
  #cleanLength = 0;
  #version = 0;

  constructor(options: RedactorOptions) {
    this.#personal = options.personal;
    const rulesOf = new Map<string, PatternRule[]>();
    for (const rule of this.#rules) for (const trigger of rule.triggers) rulesOf.set(trigger, [...(rulesOf.get(trigger) ?? []), rule]);
    this.#triggers = new TriggerScanner([...rulesOf.keys()]);
    this.#rulesOfTrigger = [...rulesOf.values()];
  }

  /** Another number whenever other things are taken out than before: what was looked through by then has to be again. */
  get version(): number {
    return this.#version;
  }

  /**
   * From now on the value is redacted as `[redacted:NAME]`, also folded, escaped, quoted, reversed, and inside base64 and hex.
   * False for a value under 8 characters (white space, quotes, backslashes and plus not counted), which is not taken.
   * Beyond 2,000 values the one registered longest ago is forgotten.
   */
  register(value: string, name: string): boolean {
    if (value.length < valueLengthMin || !isTellable(value)) return false;
    const cleanName = name.replace(/[^A-Za-z0-9._:-]/g, '_').slice(0, 100);
    if (this.#values.get(value) !== cleanName) {
      this.#finder = null;
      this.#forgetClean();
    }
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
    if (text.length < TELLABLE_MIN || this.#clean.has(text)) return { text: stillRedacted(text), found: [] };
    const { spans } = this.analyse(text, false);
    if (spans.length === 0) {
      this.#remember(text);
      return { text: stillRedacted(text), found: [] };
    }
    return { text: stillRedacted(renderSpans(text, spans)), found: [...new Set(spans.map((span) => span.name))] };
  }

  /** Registered values only, wherever they stand. */
  redactValues(text: string): string {
    this.#finder ??= this.#createFinder();
    const spans: Span[] = [];
    this.#finder.scan(text, (value) => spans.push(spanOfValue(text, value)));
    return spans.length === 0 ? text : renderSpans(text, mergeSpans(spans));
  }

  /** The same text passes several sinks one after the other: it is looked through at the first. */
  #remember(text: string): void {
    if (text.length > CLEAN_LENGTH_MAX) return;
    this.#clean.add(text);
    this.#cleanLength += text.length;
    if (this.#clean.size <= CLEAN_MAX && this.#cleanLength <= CLEAN_TOTAL_LENGTH_MAX) return;
    for (const oldest of this.#clean) {
      this.#clean.delete(oldest);
      this.#cleanLength -= oldest.length;
      if (this.#clean.size <= CLEAN_MAX && this.#cleanLength <= CLEAN_TOTAL_LENGTH_MAX) return;
    }
  }

  #forgetClean(): void {
    this.#version += 1;
    this.#clean.clear();
    this.#cleanLength = 0;
  }

  /** `isOpen`: more text may follow. Costs a little more, because every beginning is followed to where it ends. */
  analyse(text: string, isOpen: boolean): Analysis {
    const found = this.#inspect(text, isOpen);
    found.spans.push(...findPersonalData(text, this.#personal));
    this.#inspectUnescaped(text, isOpen, found);
    this.#inspectEncoded(text, found.spans, DECODED_MAX);
    const spans = mergeSpans(found.spans);
    if (!isOpen) return { spans, openValue: text.length, openPattern: text.length };
    // An escape cut in two hides what stands before it.
    const whole = text.slice(0, openEscape(text));
    if (whole !== text) {
      const before = this.#inspect(whole, true);
      found.openValue = Math.min(found.openValue, whole.length, before.openValue);
      found.openPattern = Math.min(found.openPattern, before.openPattern, openWord(whole));
    }
    const openPattern = Math.min(found.openPattern, openPersonalData(text, this.#personal), openWord(text), openRun(text));
    return { spans, openValue: found.openValue, openPattern };
  }

  /** The text as it stands. */
  #inspect(text: string, isOpen: boolean): Find {
    const found: Find = { spans: [], openValue: text.length, openPattern: isOpen ? this.#triggers.openAt(text) : text.length };
    this.#finder ??= this.#createFinder();
    found.openValue = this.#finder.scan(text, (value) => {
      found.spans.push(spanOfValue(text, value));
      // The character after it may still come.
      if (value.form.isBase64 && value.end + 3 > text.length) found.openPattern = Math.min(found.openPattern, value.start);
    });
    if (isOpen) found.openValue = Math.min(found.openValue, this.#finder.openBeginning(text));
    this.#triggers.scan(text, (id, start) => {
      for (const rule of this.#rulesOfTrigger[id] ?? []) {
        const from = rule.before === undefined ? start : walkBack(text, start, rule.before);
        const span = matchRule(text, rule, from);
        if (span !== null) found.spans.push(span);
        if (isOpen && from < found.openPattern && reaches(text, rule, start)) found.openPattern = from;
      }
    });
    return found;
  }

  #inspectUnescaped(text: string, isOpen: boolean, found: Find): void {
    const shown = (source: string): string => (isOpen ? source.slice(0, openEscape(source)) : source);
    let source = shown(text);
    let view = unescapedView(source, this.#reach);
    let places = view?.places;
    for (let round = 1; view !== null && places !== undefined; round++) {
      const original = places;
      const place = (index: number): number => original[index] ?? text.length;
      const inside = this.#inspect(view.text, isOpen);
      for (const span of inside.spans) found.spans.push({ ...span, start: place(span.start), end: place(span.end) });
      const encoded: Span[] = [];
      this.#inspectEncoded(view.text, encoded, DECODED_MAX);
      for (const span of encoded) found.spans.push({ ...span, start: place(span.start), end: place(span.end) });
      // A view that ends before the text does is open at no place of it.
      if (view.places.at(-1) === source.length) {
        found.openValue = Math.min(found.openValue, place(inside.openValue));
        found.openPattern = Math.min(found.openPattern, place(inside.openPattern), place(openWord(view.text)));
      }
      if (round === UNESCAPED_MAX) return;
      source = shown(view.text);
      view = unescapedView(source, this.#reach);
      places = view?.places.map((index) => original[index] ?? text.length);
    }
  }

  #inspectEncoded(text: string, spans: Span[], depth: number): void {
    for (const run of encodedRuns(text)) {
      const inside = this.#inspect(run.text, false).spans;
      if (depth > 1) this.#inspectEncoded(run.text, inside, depth - 1);
      for (const span of inside) spans.push({ ...span, ...run.placeOf(span.start, span.end) });
    }
  }

  #createFinder(): ValueFinder {
    const forms = [...this.#values].flatMap(([value, name]) => secretForms(value).map((form) => ({ ...form, name })));
    const longest = [...this.#values.keys()].reduce((length, value) => Math.max(length, value.length), 0);
    // An escape has up to twelve characters for one.
    this.#reach = Math.min(REACH_MAX, Math.max(REACH_MIN, longest * 2));
    return new ValueFinder(forms);
  }
}

/** In base64 the character after a value shares bits with it; padding belongs to it. */
function spanOfValue(text: string, { form, start, end }: FoundForm): Span {
  const span = { start, end, name: form.name, rank: rankOfSecret };
  if (!form.isBase64) return span;
  let last = /[A-Za-z0-9+/_-]/.test(text.charAt(end)) ? end + 1 : end;
  for (let padding = 0; padding < 2 && text.charAt(last) === '='; padding++) last += 1;
  return { ...span, end: last };
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
